//! What the application gives: a handler of records, and what it says about each. How records are read is not known here.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use super::record::Record;

/// Handles the records of all shards that this process owns.
///
/// Per shard, records are handed over one after another in the order of the stream, unless
/// [`unordered_in_flight`](crate::MemberClientBuilder::unordered_in_flight) says otherwise; different shards run side by side.
/// `Ok(())` acknowledges the record. After an error it is handed over again, after a growing pause: later records of the shard
/// wait. For more than that, the handler answers with an [`Outcome`].
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
///
/// With outcomes:
///
/// ```
/// use std::time::Duration;
///
/// use member_client::{Handler, HandlerError, Outcome, Record};
///
/// struct Pay;
///
/// impl Handler<Outcome> for Pay {
///     async fn handle(&self, record: Record) -> Result<Outcome, HandlerError> {
///         Ok(match record.field("state") {
///             Some(b"paid") => Outcome::Ack,
///             Some(b"cancelled") => Outcome::AckAndDelete,
///             Some(b"in doubt") => Outcome::RetryLater(Duration::from_secs(30)),
///             _ => Outcome::Reject("a payment without a known state".to_owned()),
///         })
///     }
/// }
/// ```
pub trait Handler<T: Into<Outcome> = ()>: Send + Sync + 'static {
    /// Handles one record.
    fn handle(&self, record: Record) -> impl Future<Output = Result<T, HandlerError>> + Send;
}

/// What is to become of a record.
///
/// `Retry`, `RetryLater` and an error count as attempts. What happens after the last one is a setting:
/// [`when_exhausted`](crate::MemberClientBuilder::when_exhausted).
///
/// On a shard whose lives are not told apart (the coordinator names no generation for it), attempts, pauses and rejections have
/// no place where they outlast the process: there `AckAndDelete` acknowledges without deleting, which is counted, `Reject` is
/// an error like any other, and a record is handed over again for as long as the shard is owned.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// It is done.
    Ack,
    /// It is done, and the entry is deleted from the stream unless another group has not acknowledged it yet.
    AckAndDelete,
    /// Hand it over again after the configured pause, which grows with every attempt.
    Retry,
    /// Hand it over again after this time, by Redis' clock, whoever owns the shard then. Unless handling is unordered, later
    /// records of the shard wait.
    RetryLater(Duration),
    /// Nobody can handle it, for this reason: it is moved to the stream `{<shard>}:dlq:<group>`.
    Reject(String),
}

impl From<()> for Outcome {
    fn from((): ()) -> Self {
        Self::Ack
    }
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

/// One call of a handler under way.
pub(crate) type Handling = Pin<Box<dyn Future<Output = Result<Outcome, HandlerError>> + Send>>;

/// A handler without its type.
pub(crate) type AnyHandler = dyn Fn(Record) -> Handling + Send + Sync;

/// Calls a handler of a known type.
pub(crate) fn call<H, T>(handler: Arc<H>, record: Record) -> Handling
where
    H: Handler<T>,
    T: Into<Outcome>,
{
    Box::pin(async move { handler.handle(record).await.map(Into::into) })
}
