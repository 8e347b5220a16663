//! Applies committed writes. Total: a write says everything, so that nothing is decided here and nothing can fail. A write about a
//! member that is not there changes nothing.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::group::Group;
use crate::holding::{Holding, Phase, Quarantine};
use crate::member::{MemberRecord, MemberState, remember};
use crate::migration::FINISHED_KEPT;
use crate::names::MemberId;
use crate::numbers::{MemberEpoch, ShardIndex};
use crate::record::Provisioning;
use crate::shard_set::ShardSet;
use crate::time::Timestamp;
use crate::write::{FenceCause, Report, Write};

impl Group {
    /// Applies committed writes, in order. Cannot fail.
    pub fn apply(&mut self, writes: &[Write]) {
        for write in writes {
            self.apply_write(write);
        }
    }

    pub(crate) fn apply_write(&mut self, write: &Write) {
        match write {
            Write::GroupEpochRaised { to } => self.record.group_epoch = *to,
            Write::MetadataVersionRaised { to } => self.record.metadata_version = *to,
            Write::TargetAssigned { epoch, target } => {
                self.record.assignment_epoch = *epoch;
                self.record.target = target.clone();
            }
            Write::ShardCountChanged { to } => self.record.shard_count = *to,
            Write::MigrationStarted { .. }
            | Write::MigrationReopened { .. }
            | Write::MigrationMoved { .. }
            | Write::LeavingShardChanged { .. }
            | Write::MigrationFinished { .. } => self.apply_to_migration(write),
            Write::WritesDoubted {
                at,
                hold_until,
                floor,
            } => {
                self.record.group_epoch = *floor;
                self.record.lineage.epoch_floor = *floor;
                self.record.lineage.doubted_at = Some(*at);
                self.record.lineage.hold_until = Some(*hold_until);
            }
            Write::HoldCut { until } => self.record.lineage.hold_until = Some(*until),
            Write::HoldEnded => self.record.lineage.hold_until = None,
            Write::CorrectionOpened { correction } => {
                self.record.lineage.correction = Some(correction.clone());
            }
            Write::CorrectionClosed => self.record.lineage.correction = None,
            Write::GenerationsNoted { generations } => self.record.generations.note(generations),
            Write::GroupProvisioned => self.record.provisioning = Provisioning::Done,
            Write::QuarantineOpened { quarantine, .. } => self.apply_quarantine_opened(quarantine),
            Write::QuarantineCut {
                member,
                epoch,
                until,
            } => {
                if let Some(quarantine) = self.quarantine_mut(member, *epoch) {
                    quarantine.until = *until;
                }
            }
            Write::QuarantineShardReleased {
                member,
                epoch,
                shard,
            } => {
                self.apply_quarantine_shard_released(member, *epoch, *shard);
            }
            Write::QuarantineEnded { member, epoch } => self.apply_quarantine_ended(member, *epoch),
            about_member => self.apply_to_member(about_member),
        }
    }

    fn apply_to_migration(&mut self, write: &Write) {
        if let Write::MigrationStarted { migration } = write {
            self.record.migration = Some(migration.clone());
        }
        if let Write::MigrationReopened { id } = write {
            let finished = &mut self.record.finished_migrations;
            let place = finished.iter().rposition(|migration| migration.id == *id);
            self.record.migration = place.map(|place| finished.remove(place));
        }
        let Some(migration) = &mut self.record.migration else {
            return;
        };
        match write {
            Write::MigrationMoved {
                state,
                at,
                seen_from,
                leaving,
            } => {
                migration.state = *state;
                migration.updated_at = *at;
                migration.seen_from = *seen_from;
                migration.leaving.clone_from(leaving);
            }
            Write::LeavingShardChanged { leaving } => {
                let mut known = migration.leaving.iter_mut();
                if let Some(known) = known.find(|known| known.shard == leaving.shard) {
                    known.clone_from(leaving);
                }
            }
            Write::MigrationFinished { state, at } => {
                migration.state = *state;
                migration.updated_at = *at;
                self.record
                    .finished_migrations
                    .extend(self.record.migration.take());
                let too_many = self
                    .record
                    .finished_migrations
                    .len()
                    .saturating_sub(FINISHED_KEPT);
                self.record.finished_migrations.drain(..too_many);
                self.record.generations.keep(self.record.shard_count);
            }
            _ => {}
        }
    }

    fn apply_to_member(&mut self, write: &Write) {
        match write {
            Write::MemberJoined { member, record } => self.apply_member_joined(member, record),
            Write::MemberPruned { member } => self.apply_member_pruned(member),
            Write::MemberExpired { member, at, .. } => {
                self.apply_member_ended(member, MemberState::Expired, *at)
            }
            Write::MemberFenced { member, at, cause } => {
                if let FenceCause::UnknownVersion { .. } = cause {
                    self.change(member, |record| record.is_distrusted = true);
                }
                self.apply_member_ended(member, MemberState::Fenced, *at);
            }
            Write::MemberReported { member, report } => {
                self.change(member, |record| record.apply_report(report))
            }
            Write::JoinRepeated {
                member,
                request,
                sequence,
            } => self.change(member, |record| {
                record.sequence = *sequence;
                record.apply_earlier_epochs(None, None);
                remember(&mut record.join_requests, request.clone());
            }),
            Write::EpochIssued {
                member,
                epoch,
                previous,
                before_loss,
            } => self.change(member, |record| {
                record.epoch = *epoch;
                record.apply_earlier_epochs(Some(*previous), *before_loss);
            }),
            Write::EpochConfirmed { member, previous } => self.change(member, |record| {
                record.apply_earlier_epochs(*previous, record.epoch_before_loss);
            }),

            Write::LeaseSet { member, deadline } => {
                self.change(member, |record| record.lease_deadline = Some(*deadline));
            }
            Write::ReleaseDemanded { member, shards, by } => {
                self.change(member, |record| record.apply_release_demanded(shards, *by));
            }
            Write::ShardGranted {
                member,
                shard,
                since,
            } => {
                let holding = Holding {
                    shard: *shard,
                    phase: Phase::Granted,
                    since: *since,
                    is_claim: false,
                    release_by: None,
                };
                self.apply_shard_held(member, holding);
            }
            Write::ShardClaimed {
                member,
                shard,
                phase,
                since,
            } => {
                let holding = Holding {
                    shard: *shard,
                    phase: *phase,
                    since: *since,
                    is_claim: true,
                    release_by: None,
                };
                self.apply_shard_held(member, holding);
            }
            Write::ClaimAccepted { member, shard } => {
                self.change_holding(member, *shard, |holding| holding.is_claim = false);
            }
            Write::ShardReported {
                member,
                shard,
                phase,
            } => {
                self.change_holding(member, *shard, |holding| holding.phase = *phase);
            }
            Write::ShardSinceRaised {
                member,
                shard,
                since,
            } => {
                self.change_holding(member, *shard, |holding| holding.since = *since);
            }
            Write::ShardReleased { member, shard, at } => {
                self.change(member, |record| record.released_at = *at);
                self.apply_shard_released(member, *shard);
            }
            Write::MemberLeft { member } => {
                self.change(member, |record| record.state = MemberState::Leaving)
            }
            _ => unreachable!("apply_write handles every write that is not about one member"),
        }
    }

    fn change(&mut self, member: &MemberId, change: impl FnOnce(&mut MemberRecord)) {
        if let Some(record) = self.record.members.get_mut(member) {
            change(Arc::make_mut(record));
        }
    }

    fn change_holding(
        &mut self,
        member: &MemberId,
        shard: ShardIndex,
        change: impl FnOnce(&mut Holding),
    ) {
        self.change(member, |record| {
            if let Ok(position) = record.find(shard) {
                change(&mut record.holdings[position]);
            }
        });
    }

    fn apply_member_joined(&mut self, member: &MemberId, record: &Arc<MemberRecord>) {
        self.drop_holdings(member);
        for holding in &record.holdings {
            self.add_holder(holding.shard);
        }
        self.record
            .members
            .insert(member.clone(), Arc::clone(record));
    }

    fn apply_member_pruned(&mut self, member: &MemberId) {
        self.drop_holdings(member);
        self.record.members.remove(member);
    }

    fn apply_member_ended(&mut self, member: &MemberId, state: MemberState, at: Timestamp) {
        self.drop_holdings(member);
        self.change(member, |record| {
            record.state = state;
            record.ended_at = Some(at);
            record.lease_deadline = None;
        });
    }

    fn apply_shard_held(&mut self, member: &MemberId, holding: Holding) {
        let mut added = false;
        self.change(member, |record| {
            if let Err(position) = record.find(holding.shard) {
                record.holdings.insert(position, holding);
                added = true;
            }
        });
        if added {
            self.add_holder(holding.shard);
        }
    }

    fn apply_shard_released(&mut self, member: &MemberId, shard: ShardIndex) {
        let mut removed = false;
        self.change(member, |record| {
            if let Ok(position) = record.find(shard) {
                record.holdings.remove(position);
                removed = true;
            }
        });
        if removed {
            self.remove_holder(shard);
        }
    }

    fn drop_holdings(&mut self, member: &MemberId) {
        let mut dropped = Vec::new();
        self.change(member, |record| {
            dropped = core::mem::take(&mut record.holdings)
        });
        for holding in dropped {
            self.remove_holder(holding.shard);
        }
    }

    fn apply_quarantine_opened(&mut self, quarantine: &Quarantine) {
        for holding in &quarantine.holdings {
            self.add_holder(holding.shard);
        }
        self.record.quarantines.push(quarantine.clone());
        self.drop_holdings(&quarantine.member);
    }

    fn apply_quarantine_shard_released(
        &mut self,
        member: &MemberId,
        epoch: MemberEpoch,
        shard: ShardIndex,
    ) {
        let Some(quarantine) = self.quarantine_mut(member, epoch) else {
            return;
        };
        let Some(position) = quarantine
            .holdings
            .iter()
            .position(|holding| holding.shard == shard)
        else {
            return;
        };
        quarantine.holdings.remove(position);
        self.remove_holder(shard);
    }

    fn apply_quarantine_ended(&mut self, member: &MemberId, epoch: MemberEpoch) {
        let is_it =
            |quarantine: &Quarantine| quarantine.member == *member && quarantine.epoch == epoch;
        let Some(position) = self.record.quarantines.iter().position(is_it) else {
            return;
        };
        for holding in self.record.quarantines.remove(position).holdings {
            self.remove_holder(holding.shard);
        }
    }

    fn quarantine_mut(&mut self, member: &MemberId, epoch: MemberEpoch) -> Option<&mut Quarantine> {
        let mut quarantines = self.record.quarantines.iter_mut();
        quarantines.find(|quarantine| quarantine.member == *member && quarantine.epoch == epoch)
    }
}

impl MemberRecord {
    /// Where no earlier epoch is good any more, none from before a loss is.
    fn apply_earlier_epochs(
        &mut self,
        earliest: Option<MemberEpoch>,
        before_loss: Option<MemberEpoch>,
    ) {
        self.previous_epoch = earliest;
        self.epoch_before_loss = earliest.and(before_loss);
    }

    fn apply_release_demanded(&mut self, shards: &ShardSet, by: Option<Timestamp>) {
        for shard in shards {
            if let Ok(position) = self.find(shard) {
                self.holdings[position].release_by = by;
            }
        }
    }

    fn apply_report(&mut self, report: &Report) {
        self.name.clone_from(&report.name);
        self.instance.clone_from(&report.instance);
        self.max_concurrency = report.max_concurrency;
        self.reported_version = report.version;
        self.sequence = report.sequence;
        self.lease_ttl = report.lease_ttl;
        self.has_reported = true;
    }
}
