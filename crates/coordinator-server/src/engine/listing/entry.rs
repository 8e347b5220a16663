//! A group as it is listed, and as the index keeps it: what is shown of it, unless that is much, and of which record that was made.

use coordinator_core::Group;
use coordinator_core::names::{GroupId, MemberId};
use coordinator_core::numbers::StoreRevision;
use coordinator_core::settings::Settings;
use coordinator_core::time::Timestamp;
use projection::{EntryId, Namespace, Order, Projected, Stored, Unreadable, Version};
use serde::{Deserialize, Serialize};
use store::{Etag, GroupStore, Stamp, StoreError};

use crate::convert::{self, GroupBrief};
use crate::engine::due::version_of;
use crate::engine::entry_id::{entry_id, group_of, part};
use crate::engine::recorded::recorded;

/// A group as it is listed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ListedGroup {
    /// Which group.
    pub(crate) id: GroupId,
    /// What a line says of it.
    pub(crate) brief: GroupBrief,
    /// What is shown of it; none where that is too much for an index: it is read where it is wanted ([`Engine::shown`](crate::engine::Engine::shown)).
    pub(super) shown: Option<protocol::Group>,
    /// Of which version of its record that was made.
    pub(in crate::engine) stamp: Stamp,
    /// When that was read or committed, by the store's clock. It is the version of the entry: a store that lost writes has lower revisions than before.
    pub(in crate::engine) seen_at: Timestamp,
}

/// What the index keeps beside name and version.
#[derive(Serialize, Deserialize)]
struct Payload {
    revision: u64,
    /// Empty in an entry of an older coordinator: no record has that, so that the group is listed anew.
    #[serde(default)]
    etag: String,
    brief: GroupBrief,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    group: Option<protocol::Group>,
}

/// How much the index keeps of what is shown of a group, in bytes of names and rows. A page of the list is a thousand of them at most.
const SHOWN_AT_MOST: usize = 2_048;
/// What a row takes beside its name.
const ROW: usize = 16;
/// What a shard on its way out takes, and each condition under which it may go.
const LEAVING: usize = 128;

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
            Ok(found) => {
                Ok(found.map(|(group, snapshot)| Self::of(&group, snapshot.stamp, snapshot.now)))
            }
            Err(error @ StoreError::Corrupt { .. }) => {
                tracing::error!(group = %id, %error, "the group is left out of the listing");
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    pub(in crate::engine) fn of(group: &Group, stamp: Stamp, seen_at: Timestamp) -> Self {
        Self {
            id: group.record().id.clone(),
            brief: GroupBrief::of(group),
            shown: is_little(group).then(|| convert::group(group)),
            stamp,
            seen_at,
        }
    }
}

/// Whether an index keeps all that is shown of a group.
fn is_little(group: &Group) -> bool {
    let record = group.record();
    let row = |id: &MemberId| id.as_str().len() + ROW;
    let target = record.target.iter().map(|(id, _)| row(id));
    let current = group.live_members().map(|(id, _)| row(id));
    let leaving = record.migration.iter().flat_map(|it| &it.leaving);
    let leaving = leaving.map(|it| LEAVING * (1 + it.open.as_ref().map_or(0, Vec::len)));
    target.chain(current).chain(leaving).sum::<usize>() <= SHOWN_AT_MOST
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
            revision: self.stamp.revision.get(),
            etag: self.stamp.etag.as_str().to_owned(),
            brief: self.brief,
            group: self.shown.clone(),
        };
        serde_json::to_vec(&payload).expect("names and numbers have a text")
    }

    fn restore(stored: Stored<'_>) -> Result<Self, Unreadable> {
        let payload: Result<Payload, _> = serde_json::from_slice(stored.payload);
        let payload = payload.map_err(|error| Unreadable(error.to_string()))?;
        Ok(Self {
            id: group_of(stored.id)?,
            brief: payload.brief,
            shown: payload.group,
            stamp: Stamp {
                revision: StoreRevision::new(payload.revision),
                etag: Etag::from_stored(&payload.etag),
            },
            seen_at: Timestamp::from_ms(stored.version.get()),
        })
    }
}
