//! What the coordinator needs of a store, an in-memory store, and the suite every store must pass. Knows nothing of Redis and HTTP.

mod audit;
mod change;
mod clock;
#[cfg(feature = "testing")]
pub mod conformance;
mod effects;
mod error;
mod fitness;
mod group_store;
mod limits;
mod memory;
mod messages;
mod offsets;
mod plane;
mod progress;
pub mod records;
mod snapshot;

pub use audit::{AUDIT_CAP, AuditEntry, AuditFilter, AuditSink};
pub use change::{Change, ChangeFeed, ChangeStream, change_stream};
pub use clock::{ManualClock, StoreClock, SystemClock};
pub use effects::{Effects, LeaseSet};
pub use error::{Cause, CommitError, CreateError, StoreError};
pub use fitness::{Eviction, Readiness};
pub use group_store::{
    Begun, Commit, Coordination, Doubt, GroupLock, GroupStore, Page, PageCursor, Renewal, Renewed,
};
pub use limits::LockLimits;
pub use memory::MemoryStore;
#[cfg(feature = "testing")]
pub use memory::SavedState;
pub use messages::{
    EntryId, Message, MessageField, MessagePage, MessageRange, PAGE_BYTES, VALUE_BYTES,
};
pub use offsets::{GroupOffsets, StreamOffsets};
pub use plane::{Life, Lives, PlaneError, Provision, Provisioned, Retire, Retirement, ShardPlane};
pub use progress::{MemberProgress, ShardProgress};
pub use snapshot::{Etag, Snapshot, Stamp};
