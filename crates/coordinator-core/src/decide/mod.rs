//! The decisions. Each takes a group as it is and answers with what must change; none changes anything.

mod answer;
mod correction;
mod fence;
mod heartbeat;
mod incarnation;
mod join;
mod maintenance;
mod migration;
mod recompute;
mod release;
mod report;
mod settle;

use crate::draft::Draft;
use crate::group::Group;
use crate::input::{Heartbeat, Input};
use crate::lineage::is_plausible;
use crate::record::Provisioning;
use crate::step::{HeartbeatReply, HeartbeatStatus, Rejection, Reply, SteadyStep, Step};
use crate::time::{Clock, Timestamp};
use crate::write::Write;

impl Group {
    /// Decides about an input. The reply may be given once the writes are committed (rule H16).
    ///
    /// One `now` serves the whole decision (rule T4). Maintenance comes first (rule H4).
    ///
    /// # Errors
    /// [`Rejection`] where a request is refused; nothing changes then.
    pub fn decide(&self, clock: Clock, input: &Input) -> Result<Step, Rejection> {
        let mut draft = Draft::new(self, clock);
        let reply = match input {
            Input::HeartbeatReceived(heartbeat) => {
                Reply::Heartbeat(decide_heartbeat(&mut draft, heartbeat))
            }
            Input::TickDue => {
                maintenance::maintain(&mut draft);
                Reply::Done
            }
            about_shards @ (Input::ScaleRequested { .. }
            | Input::MigrationProvisioned { .. }
            | Input::DrainObserved { .. }
            | Input::ShardsRetired { .. }
            | Input::RetireRefused { .. }
            | Input::RollbackRequested { .. }) => {
                maintenance::maintain(&mut draft);
                decide_migration(&mut draft, about_shards)?
            }
            Input::ProvisioningFinished {
                generations,
                epochs_from,
            } => {
                maintenance::maintain(&mut draft);
                if self.record.provisioning == Provisioning::Pending {
                    migration::note_generations(&mut draft, generations);
                    draft.write(Write::GroupProvisioned);
                    draft.raise_version();
                    if *epochs_from > draft.group().record.group_epoch {
                        draft.write(Write::GroupEpochRaised { to: *epochs_from });
                        recompute::recompute_if_due(&mut draft);
                    }
                }
                Reply::Done
            }
            Input::DeletionRequested { force } => {
                maintenance::maintain(&mut draft);
                correction::check_settled(draft.group())?;
                if !*force {
                    correction::check_known(draft.group())?;
                }
                check_deletable(draft.group(), *force)?;
                Reply::Done
            }
        };
        // What the decision made possible takes place with it: no later tick has anything to add (rule M5).
        correction::close_if_settled(&mut draft);
        migration::advance(&mut draft);
        draft.raise_since();
        let mut effects = migration::effects(draft.group());
        let writes = draft.finish();
        effects.extend(correction::spread(&writes, clock));
        Ok(Step {
            writes,
            reply,
            effects,
        })
    }

    /// Decides about a heartbeat of a quiet group: `Some` where nothing but the lease would be written. Rule H17.
    ///
    /// No maintenance is done, since the leases in memory may be old; whoever uses this answer must first have confirmed
    /// that the record is still the current one, in the same step that renews the lease.
    ///
    /// `doubted_at` is that of [`Clock`]: a doubt that the group has not acted on yet is no quiet (rule C8).
    #[must_use]
    pub fn decide_steady(
        &self,
        heartbeat: &Heartbeat,
        doubted_at: Option<Timestamp>,
    ) -> Option<SteadyStep> {
        if self.record.lineage.is_news(doubted_at) {
            return None;
        }
        let start = Timestamp::default();
        // Whether such an epoch is to be believed depends on the time (rule H5), which is not known here.
        let epoch = u64::try_from(heartbeat.epoch).unwrap_or_default();
        if !is_plausible(epoch, self.known_epoch(), start) {
            return None;
        }
        let mut draft = Draft::probe(
            self,
            Clock {
                now: start,
                coordination_since: start,
                doubted_at: None,
            },
        );
        let reply = match refuse_unjudged(heartbeat) {
            Some(refusal) => refusal,
            None => heartbeat::judge(&mut draft, heartbeat),
        };
        let writes = draft.finish();
        let steady = writes
            .iter()
            .all(|write| matches!(write, Write::LeaseSet { .. }));
        steady.then_some(SteadyStep {
            renews_lease: !writes.is_empty(),
            reply,
        })
    }
}

/// How a heartbeat is answered where there is no group. Rules H1 to H3: members never create groups.
#[must_use]
pub fn decide_without_group(heartbeat: &Heartbeat) -> HeartbeatReply {
    refuse_unjudged(heartbeat)
        .unwrap_or_else(|| HeartbeatReply::without_group(HeartbeatStatus::UnknownMember))
}

fn decide_heartbeat(draft: &mut Draft<'_>, heartbeat: &Heartbeat) -> HeartbeatReply {
    if let Some(refusal) = refuse_unjudged(heartbeat) {
        return refusal;
    }
    maintenance::maintain(draft);
    heartbeat::judge(draft, heartbeat)
}

/// Rules G1 to G11: what is asked, or has happened, of a change of the shard count.
fn decide_migration(draft: &mut Draft<'_>, input: &Input) -> Result<Reply, Rejection> {
    match input {
        Input::ScaleRequested { resharding, target } => {
            correction::check_settled(draft.group())?;
            return migration::scale(draft, resharding, *target).map(Reply::Scale);
        }
        Input::RollbackRequested {
            resharding,
            is_decided,
        } => {
            correction::check_settled(draft.group())?;
            migration::rollback(draft, resharding, *is_decided)?;
        }
        Input::MigrationProvisioned {
            resharding,
            generations,
        } => migration::provisioned(draft, resharding, generations),
        Input::DrainObserved {
            resharding,
            evidence,
            coordinated,
        } => {
            migration::drain_observed(draft, resharding, evidence, coordinated);
        }
        Input::ShardsRetired { resharding, shards } => {
            migration::shards_retired(draft, resharding, shards)
        }
        Input::RetireRefused {
            resharding,
            shard,
            open,
        } => {
            migration::retire_refused(draft, resharding, *shard, open);
        }
        _ => {}
    }
    Ok(Reply::Done)
}

/// Rules H1 and H2: what is refused whoever sends it, without a look at the group.
fn refuse_unjudged(heartbeat: &Heartbeat) -> Option<HeartbeatReply> {
    let status = if heartbeat.protocol_version != crate::input::PROTOCOL_VERSION {
        HeartbeatStatus::UnsupportedProtocol
    } else if heartbeat.addressed_to != heartbeat.member
        || heartbeat.claim().is_none()
        || heartbeat.impossible_shard().is_some()
    {
        HeartbeatStatus::InvalidRequest
    } else {
        return None;
    };
    Some(HeartbeatReply::without_group(status))
}

/// A member that is leaving and holds nothing any more does not stand in the way. A process in quarantine does: a group made anew would know
/// nothing of what it may still be reading (rule O6).
fn check_deletable(group: &Group, force: bool) -> Result<(), Rejection> {
    let live = group
        .live_members()
        .filter(|(_, member)| member.is_target() || !member.holdings.is_empty());
    let active = live.count() + group.record.quarantines.len();
    if active > 0 && !force {
        return Err(Rejection::GroupHasActiveMembers { active });
    }
    Ok(())
}
