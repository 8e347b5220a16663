//! Whether a shard is proven drained: rule G4. The evidence is read by others; here it is judged.

use alloc::vec;
use alloc::vec::Vec;

use crate::names::ConsumerGroup;

/// What was read of one consumer group of a shard's stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupEvidence {
    /// The consumer group.
    pub group: ConsumerGroup,
    /// Entries delivered and not acknowledged.
    pub pending: u64,
    /// Entries not delivered, where Redis can tell. By itself it proves nothing: it can be unknown, stick above 0 with nothing left, or be 0
    /// with entries unread.
    pub lag: Option<u64>,
    /// Whether the stream has an entry after the last one that was delivered to the group.
    pub has_unread: bool,
}

/// What was read of a shard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShardEvidence {
    /// There is no data plane to look at: members alone decide, nothing stands against it (rule G11).
    NotApplicable,
    /// The stream does not exist: nothing can be unread in it, so that this is proof (rule G4).
    Missing,
    /// The stream has these consumer groups.
    Groups(Vec<GroupEvidence>),
}

/// What counts as proof.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DrainProof {
    /// Nothing pending, a known lag of zero, and no entry left to deliver.
    #[default]
    Lag,
    /// Nothing pending and no entry left to deliver, whatever the lag. For servers whose lag stays unknown.
    Entries,
}

/// What stands against a shard's being drained.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct OpenCondition {
    /// In which consumer group.
    pub group: ConsumerGroup,
    /// What.
    pub condition: Open,
}

/// What stands against it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Open {
    /// A coordinator's group that the stream does not have: whether it was handled there is not known.
    GroupMissing,
    /// Entries delivered and not acknowledged.
    Pending(u64),
    /// Entries not delivered; none where Redis can't tell.
    Lag(Option<u64>),
    /// An entry after the last delivered one.
    Unread,
}

impl ShardEvidence {
    /// What stands against the shard's being drained; empty if it is proven. Rule G4.
    ///
    /// Every consumer group of the stream counts, also those that no coordinator knows, and every coordinator's group must be among them.
    #[must_use]
    pub fn open_conditions(
        &self,
        coordinated: &[ConsumerGroup],
        proof: DrainProof,
    ) -> Vec<OpenCondition> {
        let Self::Groups(groups) = self else {
            return Vec::new();
        };
        let missing = coordinated
            .iter()
            .filter(|group| !groups.iter().any(|found| found.group == **group));
        let missing = missing.map(|group| OpenCondition {
            group: group.clone(),
            condition: Open::GroupMissing,
        });
        let open = groups.iter().flat_map(|found| {
            let conditions = found.open(proof).into_iter();
            conditions.map(|condition| OpenCondition {
                group: found.group.clone(),
                condition,
            })
        });
        missing.chain(open).collect()
    }
}

impl GroupEvidence {
    fn open(&self, proof: DrainProof) -> Vec<Open> {
        let mut open = vec![];
        if self.pending > 0 {
            open.push(Open::Pending(self.pending));
        }
        if proof == DrainProof::Lag && self.lag != Some(0) {
            open.push(Open::Lag(self.lag));
        }
        if self.has_unread {
            open.push(Open::Unread);
        }
        open
    }
}
