//! A decision in the making: a copy of the group to which each write is applied as it is made, so that later parts of the decision
//! see the earlier ones. The copy is made with the first write only. Decides nothing itself, except what follows from any
//! change of holders: rules E2 and O5a.

use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use crate::group::Group;
use crate::names::MemberId;
use crate::numbers::{MetadataVersion, ShardIndex};
use crate::planted::Fault;
use crate::time::{Clock, Timestamp};
use crate::write::Write;

pub(crate) struct Draft<'a> {
    base: &'a Group,
    working: Option<Group>,
    writes: Vec<Write>,
    /// Shards whose target owner or holders changed in this decision.
    touched: BTreeSet<ShardIndex>,
    clock: Clock,
    /// The version that the message under decision met, maintenance done.
    version_met: MetadataVersion,
    /// Whether only the question is asked if anything but leases would change: then nothing is copied, and no write has an effect.
    is_probe: bool,
}

impl<'a> Draft<'a> {
    pub(crate) fn new(base: &'a Group, clock: Clock) -> Self {
        let ignores_absence = base.settings().plants(Fault::AbsenceCounts);
        let clock = if ignores_absence {
            Clock {
                coordination_since: Timestamp::default(),
                ..clock
            }
        } else {
            clock
        };
        Self {
            base,
            working: None,
            writes: Vec::new(),
            touched: BTreeSet::new(),
            clock,
            version_met: base.record.metadata_version,
            is_probe: false,
        }
    }

    /// A draft that is good for nothing if anything but leases changes, and costs no copy of the group if not. Rule H17.
    pub(crate) fn probe(base: &'a Group, clock: Clock) -> Self {
        Self {
            is_probe: true,
            ..Self::new(base, clock)
        }
    }

    /// The group as it is after the writes so far.
    pub(crate) fn group(&self) -> &Group {
        self.working.as_ref().unwrap_or(self.base)
    }

    pub(crate) const fn clock(&self) -> Clock {
        self.clock
    }

    /// From here on a message is decided about.
    pub(crate) fn meet_message(&mut self) {
        self.version_met = self.group().record.metadata_version;
    }

    /// The version that the group had when the message was met.
    pub(crate) const fn version_met(&self) -> MetadataVersion {
        self.version_met
    }

    /// Whether anything but leases changes.
    pub(crate) fn changes_record(&self) -> bool {
        self.writes
            .iter()
            .any(|write| !matches!(write, Write::LeaseSet { .. }))
    }

    pub(crate) fn write(&mut self, write: Write) {
        if !self.is_probe {
            self.note_touched(&write);
            self.working
                .get_or_insert_with(|| self.base.clone())
                .apply_write(&write);
        }
        self.writes.push(write);
    }

    /// Raises the metadata version, once in a decision. Rule E2.
    pub(crate) fn raise_version(&mut self) -> MetadataVersion {
        if self.group().record.metadata_version == self.base.record.metadata_version {
            let to = self.base.record.metadata_version.next();
            self.write(Write::MetadataVersionRaised { to });
        }
        self.group().record.metadata_version
    }

    /// Raises the group epoch. Rule E3.
    pub(crate) fn raise_group_epoch(&mut self) {
        let to = self.group().record.group_epoch.next();
        self.write(Write::GroupEpochRaised { to });
    }

    /// The writes, once all is decided.
    pub(crate) fn finish(mut self) -> Vec<Write> {
        self.raise_since();
        self.writes
    }

    /// Rule O5a: a shard that its target owner holds already and that became assignable to it anew is its own from this version on.
    pub(crate) fn raise_since(&mut self) {
        for shard in core::mem::take(&mut self.touched) {
            let Some(member) = self.group().record.target.owner(shard).cloned() else {
                continue;
            };
            let is_new = is_assignable_to(self.group(), &member, shard)
                && !is_assignable_to(self.base, &member, shard);
            let since = self
                .group()
                .member(&member)
                .and_then(|record| record.holding(shard))
                .map(|holding| holding.since);
            if is_new && since.is_some_and(|since| since < self.group().record.metadata_version) {
                let since = self.raise_version();
                self.write(Write::ShardSinceRaised {
                    member,
                    shard,
                    since,
                });
            }
        }
    }

    fn note_touched(&mut self, write: &Write) {
        let group = self.working.as_ref().unwrap_or(self.base);
        let touched = &mut self.touched;
        match write {
            Write::TargetAssigned { target, .. } => {
                touched.extend(target.changes(&group.record.target))
            }
            Write::ShardReleased { shard, .. } | Write::QuarantineShardReleased { shard, .. } => {
                touched.insert(*shard);
            }
            Write::MemberExpired { member, .. } => {
                if let Some(record) = group.member(member) {
                    touched.extend(record.holdings.iter().map(|holding| holding.shard));
                }
            }
            Write::QuarantineEnded { member, epoch } => {
                let ended = group
                    .record
                    .quarantines
                    .iter()
                    .filter(|it| it.member == *member && it.epoch == *epoch);
                touched.extend(
                    ended
                        .flat_map(|it| &it.holdings)
                        .map(|holding| holding.shard),
                );
            }
            _ => {}
        }
    }
}

fn is_assignable_to(group: &Group, member: &MemberId, shard: ShardIndex) -> bool {
    group.record.target.owner(shard) == Some(member) && !group.is_blocked(member, shard)
}
