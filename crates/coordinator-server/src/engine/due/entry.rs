//! When a group wants to be looked at, as the index keeps it.

use coordinator_core::names::GroupId;
use coordinator_core::time::Timestamp;
use projection::{EntryId, Namespace, Order, Projected, Stored, Unreadable, Version};

use crate::engine::entry_id::{entry_id, group_of, part_of};

/// How many parts the index has: each is read and rebuilt for itself.
pub(in crate::engine) const PARTS: u16 = 16;
/// The largest number that an index tells apart from its neighbours.
const LARGEST: u64 = (1 << 53) - 1;

/// A group that waits for something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::engine) struct DueGroup {
    pub(in crate::engine) group: GroupId,
    /// When it wants to be looked at.
    pub(in crate::engine) due: Timestamp,
    /// When this was found out, by the store's clock. It is the version of the entry: leases are renewed without a new revision of the record.
    pub(in crate::engine) seen_at: Timestamp,
}

/// The order of a time.
pub(in crate::engine) fn order_of(time: Timestamp) -> Order {
    let ms = i64::try_from(time.as_ms().min(LARGEST)).expect("2^53 is no more than an i64 holds");
    Order::new(ms).expect("it is no larger than the largest")
}

/// The version of what was found out at a time.
pub(in crate::engine) fn version_of(seen_at: Timestamp) -> Version {
    Version::new(seen_at.as_ms().min(LARGEST)).expect("it is no larger than the largest")
}

impl Projected for DueGroup {
    fn namespace(&self) -> Namespace {
        part_of(&self.group, PARTS)
    }

    fn id(&self) -> EntryId {
        entry_id(&self.group)
    }

    fn order(&self) -> Order {
        order_of(self.due)
    }

    fn version(&self) -> Version {
        version_of(self.seen_at)
    }

    fn payload(&self) -> Vec<u8> {
        Vec::new()
    }

    fn restore(stored: Stored<'_>) -> Result<Self, Unreadable> {
        let ms = u64::try_from(stored.order.get());
        let ms = ms.map_err(|_| Unreadable("a time before all times".to_owned()))?;
        Ok(Self {
            group: group_of(stored.id)?,
            due: Timestamp::from_ms(ms),
            seen_at: Timestamp::from_ms(stored.version.get()),
        })
    }
}
