//! What the application gives: a handler of records, and what it is handed. How records are read is not known here.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::sync::Arc;

use protocol::ShardId;

/// Handles the records of all shards that this process owns.
///
/// Per shard, records are handed over one after another in the order of the stream; different shards run side by side. A
/// record is acknowledged after `handle` returned `Ok`. After an error the same record is handed over again, after a growing
/// pause and for as long as the shard is owned: later records of the shard wait. A handler that wants to give a record up
/// stores it elsewhere and returns `Ok`.
///
/// Processing is at least once: a record can be handed over again, to this or another process, after a crash, a lost
/// connection or a lost lease. When the lease is lost, the future of `handle` is dropped where it waits.
///
/// ```
/// use member_client::{Handler, HandlerError, Record};
///
/// struct Print;
///
/// impl Handler for Print {
///     async fn handle(&self, record: Record) -> Result<(), HandlerError> {
///         let body = record.field("body").ok_or("a record without a body")?;
///         println!("{} {}: {}", record.stream_key(), record.id(), std::str::from_utf8(body)?);
///         Ok(())
///     }
/// }
/// ```
pub trait Handler: Send + Sync + 'static {
    /// Handles one record.
    fn handle(&self, record: Record) -> impl Future<Output = Result<(), HandlerError>> + Send;
}

/// Why a record could not be handled. Made from any error, or from a text, by `?` or `into`.
pub struct HandlerError(Box<dyn Error + Send + Sync>);

impl<E: Into<Box<dyn Error + Send + Sync>>> From<E> for HandlerError {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

impl fmt::Display for HandlerError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl fmt::Debug for HandlerError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// Names and values as they are in the stream, in their order.
pub(crate) type Fields = Vec<(Vec<u8>, Vec<u8>)>;

/// One record of one shard. Clones share its content.
#[derive(Clone)]
pub struct Record {
    pub(crate) shard: ShardId,
    pub(crate) stream_key: Arc<str>,
    pub(crate) member_id: Arc<str>,
    pub(crate) epoch: i64,
    pub(crate) id: Arc<str>,
    pub(crate) fields: Arc<Fields>,
    pub(crate) attempt: u32,
    pub(crate) deliveries: u64,
}

impl Record {
    /// The shard.
    #[must_use]
    pub fn shard(&self) -> ShardId {
        self.shard
    }

    /// The key of the shard's stream.
    #[must_use]
    pub fn stream_key(&self) -> &str {
        &self.stream_key
    }

    /// The member that owns the shard. A process with a concurrency above 1 is several members.
    #[must_use]
    pub fn member_id(&self) -> &str {
        &self.member_id
    }

    /// The member's epoch when it was given the shard: the same for all records of one ownership.
    #[must_use]
    pub fn epoch(&self) -> i64 {
        self.epoch
    }

    /// The id in the stream.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Names and values in the order of the stream; a name may occur more than once.
    #[must_use]
    pub fn fields(&self) -> &[(Vec<u8>, Vec<u8>)] {
        &self.fields
    }

    /// The first value of that name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&[u8]> {
        self.fields
            .iter()
            .find(|(found, _)| found == name.as_bytes())
            .map(|(_, value)| value.as_slice())
    }

    /// The how-manieth time this worker hands the record over, from 1.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// How often Redis has delivered the record, this time included. More than 1: an earlier owner, or an earlier connection
    /// of this one, had it and did not acknowledge it, perhaps because it died of it.
    #[must_use]
    pub fn deliveries(&self) -> u64 {
        self.deliveries
    }
}

/// Without the content, which may be confidential.
impl fmt::Debug for Record {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Record")
            .field("stream_key", &self.stream_key)
            .field("epoch", &self.epoch)
            .field("id", &self.id)
            .field("fields", &self.fields.len())
            .field("attempt", &self.attempt)
            .field("deliveries", &self.deliveries)
            .finish_non_exhaustive()
    }
}
