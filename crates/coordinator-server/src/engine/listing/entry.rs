//! A group as it is listed, and as the index keeps it: what is shown of it, and of which record that was made.

use coordinator_core::Group;
use coordinator_core::names::GroupId;
use coordinator_core::numbers::StoreRevision;
use coordinator_core::settings::Settings;
use coordinator_core::time::Timestamp;
use projection::{EntryId, Namespace, Order, Projected, Stored, Unreadable, Version};
use serde::{Deserialize, Serialize};
use store::{GroupStore, StoreError};

use crate::convert::{self, GroupCounts};
use crate::engine::due::version_of;
use crate::engine::entry_id::{entry_id, group_of, part};
use crate::engine::recorded::recorded;

/// A group as it is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ListedGroup {
    /// Which group.
    pub(crate) id: GroupId,
    /// What is shown of it.
    pub(crate) shown: protocol::Group,
    /// How many there are of what is not shown one by one.
    pub(crate) counts: GroupCounts,
    /// Of which revision of its record that was made.
    pub(in crate::engine) revision: StoreRevision,
    /// When that was read or committed, by the store's clock. It is the version of the entry: a store that lost writes has lower revisions than before.
    pub(in crate::engine) seen_at: Timestamp,
}

/// What the index keeps beside name and version.
#[derive(Serialize, Deserialize)]
struct Payload {
    revision: u64,
    group: protocol::Group,
    counts: GroupCounts,
}

/// The namespace of all groups: they are listed in one order.
pub(super) fn all_groups() -> Namespace {
    part(0)
}

/// Where all groups stand: in the order of their ids.
pub(super) fn order() -> Order {
    Order::new(0).expect("nought is small")
}

impl ListedGroup {
    /// A group as it is recorded now; none where there is none that can be read, which is logged.
    pub(super) async fn read(
        store: &dyn GroupStore,
        settings: &Settings,
        id: &GroupId,
    ) -> Result<Option<Self>, StoreError> {
        match recorded(store, settings, id).await {
            Ok(found) => Ok(found
                .map(|(group, snapshot)| Self::of(&group, snapshot.stamp.revision, snapshot.now))),
            Err(error @ StoreError::Corrupt { .. }) => {
                tracing::error!(group = %id, %error, "the group is left out of the listing");
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    pub(in crate::engine) fn of(
        group: &Group,
        revision: StoreRevision,
        seen_at: Timestamp,
    ) -> Self {
        Self {
            id: group.record().id.clone(),
            shown: convert::group(group),
            counts: GroupCounts::of(group),
            revision,
            seen_at,
        }
    }
}

impl Projected for ListedGroup {
    fn namespace(&self) -> Namespace {
        all_groups()
    }

    fn id(&self) -> EntryId {
        entry_id(&self.id)
    }

    fn order(&self) -> Order {
        order()
    }

    fn version(&self) -> Version {
        version_of(self.seen_at)
    }

    fn payload(&self) -> Vec<u8> {
        let payload = Payload {
            revision: self.revision.get(),
            group: self.shown.clone(),
            counts: self.counts,
        };
        serde_json::to_vec(&payload).expect("names and numbers have a text")
    }

    fn restore(stored: Stored<'_>) -> Result<Self, Unreadable> {
        let payload: Result<Payload, _> = serde_json::from_slice(stored.payload);
        let payload = payload.map_err(|error| Unreadable(error.to_string()))?;
        Ok(Self {
            id: group_of(stored.id)?,
            shown: payload.group,
            counts: payload.counts,
            revision: StoreRevision::new(payload.revision),
            seen_at: Timestamp::from_ms(stored.version.get()),
        })
    }
}
