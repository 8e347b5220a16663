//! The words of the crate: names, numbers, entries. Nothing here talks to a server.

mod entry;
mod names;
mod numbers;

pub use entry::{Entry, Position, Projected, Range, Stored, Unreadable};
pub(crate) use names::escaped;
pub use names::{EntryId, InvalidInput, Namespace, ProjectionName};
pub use numbers::{Epoch, Limit, Order, Version};
