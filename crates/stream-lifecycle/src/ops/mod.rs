//! What can be done with a handle, as capabilities: whoever is given only one of them can do nothing else.

mod admin;
mod batches;
mod consumer;
mod evidence;
mod inspect;
mod producer;
mod record;
mod recovery;
mod redelivery;

pub use admin::{Removal, ShardAdmin};
pub use consumer::{Acknowledged, Ensured, ShardConsumer};
pub use evidence::{DrainEvidence, GroupEvidence};
pub use inspect::{GroupStatus, ShardInspect, Status, StreamStatus};
pub use producer::{Published, ShardProducer};
pub use record::{Batch, Record};
pub use recovery::{Claiming, Lease, Page, ShardRecovery};
pub use redelivery::ShardRedelivery;
