//! A group as a store had it at one moment, and what proves that it is still so. Rule E1.

use std::collections::BTreeMap;
use std::sync::Arc;

use coordinator_core::names::MemberId;
use coordinator_core::numbers::StoreRevision;
use coordinator_core::record::GroupRecord;
use coordinator_core::time::Timestamp;

/// A random token of one commit. Two contents never share one, not even after the store lost writes (rule E1).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Etag(Arc<str>);

impl Etag {
    /// A token that no commit had before.
    #[must_use]
    pub fn fresh() -> Self {
        Self(uuid::Uuid::new_v4().simple().to_string().into())
    }

    /// The token as it was stored.
    #[must_use]
    pub fn from_stored(text: &str) -> Self {
        Self(text.into())
    }

    /// The token as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What identifies one version of a record. Rule E1: a write commits only if both are unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Rises by one with every commit.
    pub revision: StoreRevision,
    /// Random for every commit.
    pub etag: Etag,
}

/// A group as the store had it at `now`, the deadlines of its leases filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The record; every live member's `lease_deadline` is the stored one, `None` where the store has none.
    pub record: Arc<GroupRecord>,
    /// Which version of it.
    pub stamp: Stamp,
    /// The store's time when it was read.
    pub now: Timestamp,
    /// Rule C8: set if the record was written in another history of the store than the present one (its process was restarted, or another one was promoted), so that later
    /// writes may be lost; later then than any doubt in the record. The next commit belongs to the present history.
    pub doubted_at: Option<Timestamp>,
}

impl Snapshot {
    /// A record as it was stored, with the leases that are kept beside it filled in.
    ///
    /// Where nothing differs the record is shared and not copied. A lease of somebody who is not live in the record counts for nothing.
    #[must_use]
    pub fn assemble(
        record: &Arc<GroupRecord>,
        leases: &BTreeMap<MemberId, Timestamp>,
        stamp: Stamp,
        now: Timestamp,
        is_of_this_history: bool,
    ) -> Self {
        let mut record = Arc::clone(record);
        let differing: Vec<(MemberId, Option<Timestamp>)> = record
            .members
            .iter()
            .map(|(id, member)| {
                let lease = leases.get(id).copied().filter(|_| member.is_live());
                (id, member, lease)
            })
            .filter(|(_, member, lease)| member.lease_deadline != *lease)
            .map(|(id, _, lease)| (id.clone(), lease))
            .collect();
        if !differing.is_empty() {
            let members = &mut Arc::make_mut(&mut record).members;
            for (id, lease) in differing {
                if let Some(member) = members.get_mut(&id) {
                    Arc::make_mut(member).lease_deadline = lease;
                }
            }
        }
        let snapshot = Self {
            record,
            stamp,
            now,
            doubted_at: None,
        };
        if is_of_this_history {
            snapshot
        } else {
            snapshot.doubted()
        }
    }

    /// The same with the doubt that the store kept everything that was written. Rule C8.
    #[must_use]
    pub fn doubted(self) -> Self {
        Self {
            doubted_at: Some(self.now.or_after(self.record.lineage.doubted_at)),
            ..self
        }
    }

    /// Whether a member is live in the record, so that it may have a lease.
    #[must_use]
    pub fn has_live(&self, member: &MemberId) -> bool {
        let record = self.record.members.get(member);
        record.is_some_and(|record| record.is_live())
    }
}
