//! A group as decisions see it: its record, the settings it lives by, and what is derived from them. Changes only through
//! [`Group::apply`].

use alloc::vec;
use alloc::vec::Vec;

use crate::holding::{Holding, Phase};
use crate::member::MemberRecord;
use crate::migration::LeavingPhase;
use crate::names::{GroupId, MemberId};
use crate::numbers::{GroupEpoch, MetadataVersion, ShardIndex};
use crate::planted::Fault;
use crate::record::{GroupRecord, RecordError};
use crate::settings::Settings;
use crate::shard_set::ShardSet;

/// One group.
#[derive(Clone, Debug)]
pub struct Group {
    pub(crate) record: GroupRecord,
    settings: Settings,
    /// For each shard, how many hold it: live members and quarantines. Derived.
    holders: Vec<u32>,
    /// The highest group epoch that is known to have been there, in a record that the store may have lost since. Not recorded.
    known_epoch: GroupEpoch,
}

impl Group {
    /// A group as it was recorded.
    ///
    /// # Errors
    /// [`RecordError`] if no decision could have led to this record (rule C6).
    pub fn restore(record: GroupRecord, settings: Settings) -> Result<Self, RecordError> {
        record.check()?;
        let mut group = Self {
            record,
            settings,
            holders: Vec::new(),
            known_epoch: GroupEpoch::default(),
        };
        group.holders = group.count_holders();
        Ok(group)
    }

    /// The same, with what is remembered of epochs that the store may have lost: should writes be doubted, the new ones are above it, also where the store
    /// goes back twice to the same record (rule C7).
    #[must_use]
    pub fn knowing(self, epoch: GroupEpoch) -> Self {
        Self {
            known_epoch: self.known_epoch.max(epoch),
            ..self
        }
    }

    /// The highest group epoch that is known to have been there.
    #[must_use]
    pub fn known_epoch(&self) -> GroupEpoch {
        self.known_epoch.max(self.record.group_epoch)
    }

    /// What is recorded of the group.
    #[must_use]
    pub const fn record(&self) -> &GroupRecord {
        &self.record
    }

    /// What is recorded of the group, taken out.
    #[must_use]
    pub fn into_record(self) -> GroupRecord {
        self.record
    }

    /// The settings that the group lives by.
    #[must_use]
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Which group it is.
    #[must_use]
    pub const fn id(&self) -> &GroupId {
        &self.record.id
    }

    /// The version of what clients can see (rule E2).
    #[must_use]
    pub const fn metadata_version(&self) -> MetadataVersion {
        self.record.metadata_version
    }

    /// What is recorded of a member.
    #[must_use]
    pub fn member(&self, id: &MemberId) -> Option<&MemberRecord> {
        self.record.members.get(id).map(|member| &**member)
    }

    /// Every live member, in the order of ids.
    pub fn live_members(&self) -> impl Iterator<Item = (&MemberId, &MemberRecord)> {
        self.record
            .members
            .iter()
            .map(|(id, member)| (id, &**member))
            .filter(|(_, member)| member.is_live())
    }

    /// The shards that must have a target owner: those that producers are routed to, and those that leave and are not yet proven empty.
    /// Rules A1 and G3.
    #[must_use]
    pub fn assignable(&self) -> ShardSet {
        let migration = self.record.migration.iter();
        let leaving = migration
            .filter(|_| !self.settings.plants(Fault::LeavingIsUnassigned))
            .flat_map(|it| it.leaving_in(LeavingPhase::Draining));
        self.record.shard_count.shards().chain(leaving).collect()
    }

    /// Whether a shard must not be given to a member because somebody else may be reading it. Rule O3.
    ///
    /// A quarantine counts against everybody, the member whose earlier process is in it included.
    #[must_use]
    pub fn is_blocked(&self, member: &MemberId, shard: ShardIndex) -> bool {
        if self.settings.plants(Fault::HeldIsGiven) {
            return false;
        }
        let own = self
            .member(member)
            .is_some_and(|member| member.holds(shard));
        if self.settings.plants(Fault::GrantedIsNotHeld) {
            let reported = self.count_holders_of(|holding| holding.phase != Phase::Granted);
            return reported.get(shard.as_usize()).copied().unwrap_or(0) > u32::from(own);
        }
        self.holders(shard) > u32::from(own)
    }

    /// Whether a member may report a shard as its own. Rule O1.
    #[must_use]
    pub fn has_authority(&self, member: &MemberId, shard: ShardIndex) -> bool {
        self.member(member)
            .is_some_and(|record| record.holds(shard))
            || (self.record.target.of(member).contains(shard) && !self.is_blocked(member, shard))
    }

    /// Whether an epoch is one that was issued to a member and is still good: the newest, the last that it sent, or one between them (rules H14 and E6).
    ///
    /// Where writes were doubted between those two, the epochs between those that were issued before and those issued since are nobody's: they may have been
    /// handed out to another process in the lost writes (rules C7 and H15).
    #[must_use]
    pub fn accepts_epoch(&self, member: &MemberRecord, epoch: u64) -> bool {
        let newest = member.epoch.get();
        let sent = member.previous_epoch.unwrap_or(member.epoch);
        let before_loss = member.epoch_before_loss.unwrap_or(sent).get();
        let floor = self.record.lineage.epoch_floor.get();
        let is_of_lost_writes = epoch > before_loss && epoch < floor && newest >= floor;
        (sent.get()..=newest).contains(&epoch) && !is_of_lost_writes
    }

    /// The part of a member's target that it may have now. Rule O4.
    pub fn assigned<'a>(&'a self, member: &'a MemberId) -> impl Iterator<Item = ShardIndex> + 'a {
        self.record
            .target
            .of(member)
            .iter()
            .filter(|shard| !self.is_blocked(member, *shard))
    }

    /// The part of a member's target that somebody else may still be reading. Rule O4.
    pub fn pending<'a>(&'a self, member: &'a MemberId) -> impl Iterator<Item = ShardIndex> + 'a {
        self.record
            .target
            .of(member)
            .iter()
            .filter(|shard| self.is_blocked(member, *shard))
    }

    /// How many hold a shard, quarantines included.
    pub(crate) fn holders(&self, shard: ShardIndex) -> u32 {
        self.holders.get(shard.as_usize()).copied().unwrap_or(0)
    }

    pub(crate) fn add_holder(&mut self, shard: ShardIndex) {
        if self.holders.len() <= shard.as_usize() {
            self.holders.resize(shard.as_usize() + 1, 0);
        }
        self.holders[shard.as_usize()] += 1;
    }

    pub(crate) fn remove_holder(&mut self, shard: ShardIndex) {
        self.holders[shard.as_usize()] -= 1;
    }

    /// Counts the holders anew, from the record alone.
    pub(crate) fn count_holders(&self) -> Vec<u32> {
        self.count_holders_of(|_| true)
    }

    /// Counts, from the record alone, those who hold each shard in a certain way.
    pub(crate) fn count_holders_of(&self, counts: impl Fn(&Holding) -> bool) -> Vec<u32> {
        let held = || {
            let live = self.live_members().flat_map(|(_, member)| &member.holdings);
            live.chain(
                self.record
                    .quarantines
                    .iter()
                    .flat_map(|quarantine| &quarantine.holdings),
            )
        };
        let length = held()
            .map(|holding| holding.shard.as_usize() + 1)
            .max()
            .unwrap_or(0);
        let mut holders = vec![0; length.max(self.record.shard_count.get() as usize)];
        for holding in held().filter(|holding| counts(holding)) {
            holders[holding.shard.as_usize()] += 1;
        }
        holders
    }
}
