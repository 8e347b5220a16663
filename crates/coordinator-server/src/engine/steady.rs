//! The short way: what changes nothing but leases takes no lock and writes no record. Rule H17.

use coordinator_core::input::Input;
use coordinator_core::names::MemberId;
use coordinator_core::step::HeartbeatReply;
use coordinator_core::write::Write;
use store::{MemberProgress, Renewal, Renewed};

use super::EngineError;
use super::group_task::{Ask, Cached, GroupTask, HeartbeatOutcome};

/// What may be said once the record is confirmed.
pub(super) struct Quiet {
    reply: Option<HeartbeatReply>,
    renews: Option<MemberId>,
}

/// Judges by what is in memory: `None` where the record would change.
pub(super) async fn judge(task: &GroupTask, cached: &Cached, ask: &Ask) -> Option<Quiet> {
    match ask {
        Ask::Heartbeat { heartbeat, .. } => {
            let step = cached.group.decide_steady(heartbeat, task.doubted_at())?;
            let renews = step.renews_lease.then(|| heartbeat.member.clone());
            Some(Quiet {
                reply: Some(step.reply),
                renews,
            })
        }
        Ask::Tick(_) => {
            let clock = task.clock(cached.snapshot.now).await.ok()?;
            let step = cached.group.decide(clock, &Input::TickDue).ok()?;
            step.writes.is_empty().then_some(Quiet {
                reply: None,
                renews: None,
            })
        }
        Ask::Tell { .. } | Ask::Look { .. } | Ask::Delete { .. } => None,
    }
}

/// Confirms the record and renews all leases in one step, then answers.
pub(super) async fn confirm(
    task: &mut GroupTask,
    asks: Vec<Ask>,
    quiet: Vec<Quiet>,
) -> Result<Vec<Ask>, (Vec<Ask>, EngineError)> {
    let Some(cached) = &task.cached else {
        return Ok(asks);
    };
    if quiet.iter().all(|quiet| quiet.reply.is_none()) {
        return Ok(Vec::new());
    }
    let renewals: Vec<Renewal> = asks
        .iter()
        .zip(&quiet)
        .filter_map(|(ask, quiet)| renewal(ask, quiet))
        .collect();
    let ttl = task.engine.settings().member_lease_ttl();
    match task
        .engine
        .store()
        .renew(&task.id, &cached.snapshot, &renewals, ttl)
        .await
    {
        Ok(Renewed::Ok { deadline, .. }) => {
            let members = renewals.iter().map(|renewal| &renewal.member);
            task.engine.0.views.renew(&task.id, members, deadline);
            for (ask, quiet) in asks.into_iter().zip(quiet) {
                if let (Ask::Heartbeat { answer, .. }, Some(reply)) = (ask, quiet.reply) {
                    let _ = answer.send(Ok(HeartbeatOutcome::Decided(reply)));
                }
            }
            Ok(Vec::new())
        }
        Ok(Renewed::Stale(snapshot)) => match task.see(Some(snapshot)) {
            Ok(()) => Ok(asks),
            Err(error) => Err((asks, error.into())),
        },
        Ok(Renewed::Gone) => {
            task.cached = None;
            Ok(asks)
        }
        Err(error) => {
            // After a failure nothing is assumed of what the store has.
            task.cached = None;
            Err((asks, error.into()))
        }
    }
}

fn renewal(ask: &Ask, quiet: &Quiet) -> Option<Renewal> {
    let member = quiet.renews.clone()?;
    let believed = quiet
        .reply
        .as_ref()
        .and_then(|reply| believed_progress(ask, reply));
    Some(Renewal {
        member,
        progress: believed.map(|(_, progress)| progress),
    })
}

/// What a member reports of its work, as far as it is believed. Rule O8.
pub(super) fn believed_progress(
    ask: &Ask,
    reply: &HeartbeatReply,
) -> Option<(MemberId, MemberProgress)> {
    let Ask::Heartbeat {
        heartbeat,
        progress,
        ..
    } = ask
    else {
        return None;
    };
    let mut progress = progress.clone();
    progress
        .shards
        .retain(|row| reply.progress.contains(row.shard));
    Some((heartbeat.member.clone(), progress))
}

/// Whether writes are about leases alone, so that the record need not be written.
pub(super) fn only_leases(writes: &[Write]) -> bool {
    writes
        .iter()
        .all(|write| matches!(write, Write::LeaseSet { .. }))
}
