//! A namespaced, bounded, rebuildable index in front of a source of truth. The source decides what is true; the index only makes the
//! first entries of a namespace cheap to read, and may be lost at any time. It knows nothing of what the entries mean.
#![doc = include_str!("../README.md")]

mod index;
mod metrics;
mod model;
mod projection;
mod source;

pub use index::{
    Answer, Applied, Build, ConnectionLink, Index, IndexError, MemoryIndex, RedisIndex,
};
pub use metrics::{Fallbacks, Metrics};
pub use model::{
    Entry, EntryId, Epoch, InvalidInput, Limit, Namespace, Order, Position, Projected,
    ProjectionName, Range, Stored, Unreadable, Version,
};
pub use projection::{
    FallbackReason, Projection, RebuildError, Rebuilt, ServedBy, Settings, Snapshot, SnapshotError,
    WriteError,
};
pub use source::{Source, SourceError};

/// The driver, whose connections are part of this interface.
pub use redis;
