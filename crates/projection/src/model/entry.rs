//! What is projected: the trait of the user's type, and what an index keeps of it. It does not keep anything itself.

use super::{EntryId, Namespace, Order, Version};

/// A row of the source, as the index keeps it. The entry itself says where it belongs.
pub trait Projected: Clone + Send + Sync + 'static {
    /// The namespace to which it belongs, and to no other.
    fn namespace(&self) -> Namespace;
    /// What it is called there.
    fn id(&self) -> EntryId;
    /// Where it stands there.
    fn order(&self) -> Order;
    /// The version of the row of the source.
    fn version(&self) -> Version;
    /// Whatever else is to be kept; any bytes. A few hundred are fine.
    fn payload(&self) -> Vec<u8>;
    /// Makes it again from what was kept.
    ///
    /// # Errors
    ///
    /// [`Unreadable`] if the payload is not one that this type writes. The namespace then counts as damaged: the source answers, and the
    /// index is rebuilt.
    fn restore(stored: Stored<'_>) -> Result<Self, Unreadable>;
}

/// What an index kept of an entry.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Stored<'a> {
    /// The namespace that was read.
    pub namespace: &'a Namespace,
    /// The entry's id.
    pub id: &'a EntryId,
    /// The entry's order.
    pub order: Order,
    /// The version of the source's row.
    pub version: Version,
    /// What [`Projected::payload`] gave.
    pub payload: &'a [u8],
}

/// A payload that can't be read, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unreadable(pub String);

/// An entry taken apart, as indexes handle it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The entry's namespace.
    pub namespace: Namespace,
    /// The entry's id.
    pub id: EntryId,
    /// The entry's order.
    pub order: Order,
    /// The version of the source's row.
    pub version: Version,
    /// The rest of it.
    pub payload: Vec<u8>,
}

impl Entry {
    /// Takes an entry apart.
    pub fn of(item: &impl Projected) -> Self {
        Self {
            namespace: item.namespace(),
            id: item.id(),
            order: item.order(),
            version: item.version(),
            payload: item.payload(),
        }
    }

    /// Puts it together again.
    pub(crate) fn restore<T: Projected>(&self) -> Result<T, Unreadable> {
        T::restore(Stored {
            namespace: &self.namespace,
            id: &self.id,
            order: self.order,
            version: self.version,
            payload: &self.payload,
        })
    }
}

/// A place in a namespace: entries are sorted by order, then by the bytes of their ids.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The order of the entry that stands there.
    pub order: Order,
    /// Its id.
    pub id: EntryId,
}

impl Position {
    /// Where an entry stands.
    pub fn of(item: &impl Projected) -> Self {
        Self {
            order: item.order(),
            id: item.id(),
        }
    }
}

/// Which entries of a namespace are asked for: the first ones, perhaps only those behind a place, and only those up to an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Range {
    /// At most so many.
    pub limit: super::Limit,
    /// Only those behind this place, whether or not an entry stands there. `None`: from the beginning.
    pub after: Option<Position>,
    /// Only those whose order is at most this. `None`: all.
    pub upper: Option<Order>,
}

impl Range {
    /// Whether an entry that stands there is in the range, the limit aside.
    #[must_use]
    pub fn has(&self, place: &Position) -> bool {
        let is_behind = self.after.as_ref().is_none_or(|after| place > after);
        is_behind && self.upper.is_none_or(|upper| place.order <= upper)
    }
}
