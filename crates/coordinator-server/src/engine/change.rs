//! The long way: begin, decide about everything that waits, commit it together, apply, publish, answer. Nothing is said before it is
//! committed (rule H16).

use std::sync::Arc;

use coordinator_core::Group;
use coordinator_core::names::MemberId;
use coordinator_core::step::{Effect, HeartbeatReply, HeartbeatStatus, Rejection, Reply};
use coordinator_core::time::Timestamp;
use coordinator_core::write::{FenceCause, Write};
use store::{Commit, CommitError, MemberProgress, Snapshot};

use super::group_task::{Ask, Cached, GroupTask, HeartbeatOutcome, Told};
use super::{EngineError, Tally, describe, steady};
use crate::metrics;

type Left = Result<Vec<Ask>, (Vec<Ask>, EngineError)>;

/// What was decided for one of the asks.
type Decided = Result<Reply, Rejection>;

/// Decides under the right to change the group. Gives back what lost a race.
pub(super) async fn change(task: &mut GroupTask, asks: Vec<Ask>) -> Left {
    let begun = match task.begin().await {
        Ok(begun) => begun,
        Err(error) => return Err((asks, error.into())),
    };
    let (Some(begun), Some(cached)) = (begun, &task.cached) else {
        return Ok(asks);
    };
    let asks = without_void(task, asks);
    let clock = match task.clock(begun.now).await {
        Ok(clock) => clock,
        Err(error) => {
            task.engine.store().release(begun.lock).await;
            return Err((asks, error.into()));
        }
    };
    let mut group = cached.group.clone();
    let mut writes = Vec::new();
    let mut replies: Vec<Decided> = Vec::with_capacity(asks.len());
    let mut doubt = None;
    for ask in &asks {
        replies.push(group.decide(clock, &ask.input()).map(|step| {
            group.apply(&step.writes);
            writes.extend(step.writes);
            doubt = doubt.max(doubt_of(&step.effects));
            step.reply
        }));
    }
    if writes.is_empty() {
        task.engine.store().release(begun.lock).await;
        return answer_unchanged(task, asks, replies);
    }
    // A lease that a tick cuts or gives anew (rule M7) is no renewal: only a commit sets it.
    let is_tick = |ask: &Ask| matches!(ask, Ask::Tick(_));
    if steady::only_leases(&writes) && !asks.iter().any(is_tick) {
        // Somebody else made the change meanwhile: the short way does for what is left.
        task.engine.store().release(begun.lock).await;
        return Ok(asks);
    }
    if let Some(at) = doubt
        && let Err(error) = task.engine.0.watchtower.spread_doubt(at).await
    {
        // Rule C8: the other groups could go on granting, and nobody would ever tell them.
        task.engine.store().release(begun.lock).await;
        return Err((asks, error.into()));
    }
    let progress = believed(&asks, &replies);
    let commit = Commit {
        expected: &cached.snapshot,
        record: group.record(),
        writes: &writes,
        progress: &progress,
    };
    match task.engine.store().commit(begun.lock, commit).await {
        Ok(stamp) => {
            note_writes(task, cached, &group, &writes);
            task.note_round(&group);
            let record = Arc::new(group.record().clone());
            let snapshot = Snapshot {
                record: Arc::clone(&record),
                stamp,
                now: begun.now,
                doubted_at: None,
            };
            task.hub.correct(group.metadata_version());
            if writes.iter().any(is_new_ground) {
                // What was lost may be what this group had recorded of a change.
                task.engine.drive(&task.id.stream);
            }
            task.keep(snapshot, group);
            answer(asks, replies, &record);
            Ok(Vec::new())
        }
        Err(CommitError::Store(error)) => {
            // Whether it was written is not known: nothing is assumed.
            task.cached = None;
            Err((asks, error.into()))
        }
        Err(error) => {
            metrics::state_conflict("commit");
            tracing::debug!(group = describe(&task.id), %error, "lost a race, trying again");
            Ok(asks)
        }
    }
}

/// What was looked into before writes were lost is not told any more: what was seen then may be lost, too (rule C8).
fn without_void(task: &GroupTask, asks: Vec<Ask>) -> Vec<Ask> {
    let doubt = task.latest_doubt();
    let (void, asks): (Vec<_>, Vec<_>) = asks
        .into_iter()
        .partition(|ask| matches!(ask, Ask::Tell { under: Some(seen), .. } if *seen != doubt));
    super::group_task::answer_all(void, &EngineError::Conflict);
    asks
}

/// Refusals and repeated answers that change nothing were confirmed by the read itself.
fn answer_unchanged(task: &GroupTask, asks: Vec<Ask>, replies: Vec<Decided>) -> Left {
    let Some(cached) = &task.cached else {
        return Ok(asks);
    };
    let record = Arc::clone(&cached.snapshot.record);
    answer(asks, replies, &record);
    Ok(Vec::new())
}

fn answer(
    asks: Vec<Ask>,
    replies: Vec<Decided>,
    record: &Arc<coordinator_core::record::GroupRecord>,
) {
    for (ask, decided) in asks.into_iter().zip(replies) {
        match (ask, decided) {
            (Ask::Heartbeat { answer, .. }, Ok(Reply::Heartbeat(reply))) => {
                let _ = answer.send(Ok(HeartbeatOutcome::Decided(reply)));
            }
            (Ask::Tell { answer, .. }, Ok(reply)) => {
                let record = Arc::clone(record);
                let _ = answer.send(Ok(Told { record, reply }));
            }
            (ask, Err(rejection)) => super::group_task::answer_all(vec![ask], &rejection.into()),
            (
                Ask::Tick(_) | Ask::Look { .. } | Ask::Delete { .. } | Ask::Heartbeat { .. },
                Ok(_),
            ) => {}
        }
    }
}

/// Whether the group is settled again after writes were lost.
const fn is_new_ground(write: &Write) -> bool {
    matches!(write, Write::HoldEnded | Write::CorrectionClosed)
}

/// Rule C8: a loss of writes that the other groups are to hear of.
fn doubt_of(effects: &[Effect]) -> Option<Timestamp> {
    let doubt = |effect: &Effect| match effect {
        Effect::DoubtWrites { at } => Some(*at),
        Effect::Provision { .. } | Effect::ReadDrainEvidence { .. } | Effect::Retire { .. } => None,
    };
    effects.iter().filter_map(doubt).max()
}

fn believed(asks: &[Ask], replies: &[Decided]) -> Vec<(MemberId, MemberProgress)> {
    let heartbeat = |decided: &Decided| match decided {
        Ok(Reply::Heartbeat(reply)) if is_accepted(reply.status) => Some(reply.clone()),
        _ => None,
    };
    let replies: Vec<Option<HeartbeatReply>> = replies.iter().map(heartbeat).collect();
    let rows = asks.iter().zip(&replies);
    rows.filter_map(|(ask, reply)| steady::believed_progress(ask, reply.as_ref()?))
        .collect()
}

/// Whether the member may go on (rule T3a).
fn is_accepted(status: HeartbeatStatus) -> bool {
    matches!(
        status,
        HeartbeatStatus::Ok | HeartbeatStatus::SyncMetadata | HeartbeatStatus::RevokePending
    )
}

/// Counts what happened, and checks the group (rule M4): a violation is counted and logged, never a panic.
fn note_writes(task: &GroupTask, before: &Cached, after: &Group, writes: &[Write]) {
    let count = |count: fn(&mut Tally)| task.engine.0.views.count(&task.id, count);
    for write in writes {
        match write {
            Write::MemberExpired { member, .. } => {
                count(|tally| tally.expired += 1);
                tracing::info!(group = describe(&task.id), %member, "member expired");
            }
            Write::MemberFenced { member, cause, .. } => {
                if let FenceCause::OutsideAuthority { .. } = cause {
                    count(|tally| tally.trespassed += 1);
                }
                tracing::warn!(group = describe(&task.id), %member, ?cause, "member fenced");
            }
            Write::MemberJoined { member, .. } => {
                tracing::info!(group = describe(&task.id), %member, "member joined");
            }
            Write::MemberLeft { member } => {
                tracing::info!(group = describe(&task.id), %member, "member leaves");
            }
            Write::WritesDoubted { hold_until, .. }
                if after.record().lineage.hold_until.is_some() =>
            {
                tracing::warn!(
                    group = describe(&task.id),
                    until_ms = hold_until.as_ms(),
                    "writes may be lost: nothing new is granted for one member lease"
                );
            }
            Write::HoldEnded => {
                tracing::info!(
                    group = describe(&task.id),
                    "nothing stands against grants any more"
                );
            }
            Write::CorrectionOpened { correction } => {
                tracing::warn!(group = describe(&task.id), known = %correction.reported, stored = %correction.version, "a member knows what the store has lost: correction round opened");
            }
            Write::CorrectionClosed => {
                tracing::info!(group = describe(&task.id), "correction round closed");
            }
            Write::MigrationStarted { migration } => {
                tracing::info!(group = describe(&task.id), resharding = %migration.id, from = %migration.from, to = %migration.to, "change of the shard count recorded");
            }
            Write::MigrationMoved { state, .. } | Write::MigrationFinished { state, .. } => {
                tracing::info!(
                    group = describe(&task.id),
                    ?state,
                    "change of the shard count goes on"
                );
            }
            Write::TargetAssigned { .. } => count(|tally| tally.rebalanced += 1),
            _ => {}
        }
    }
    let mut violations = after.check_invariants();
    violations.extend(after.check_succession(&before.group));
    for violation in &violations {
        tracing::error!(group = describe(&task.id), %violation, "invariant violated");
    }
    let violations = violations.len() as u64;
    task.engine.0.views.count(&task.id, |tally| {
        tally.violations = violations;
        tally.violated += violations;
    });
}
