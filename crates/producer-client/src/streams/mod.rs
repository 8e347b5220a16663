//! Adding records to streams on Redis, standalone or cluster. Which stream a record belongs to is not decided here.

mod calls;
mod link;
mod node;
mod reply;
mod single_flight;
mod slots;
mod xadd;

pub(crate) use calls::SlotLink;
pub(crate) use link::Link;
pub(crate) use node::{Dialling, Node};
pub(crate) use reply::Added;
pub(crate) use single_flight::SingleFlight;
pub(crate) use xadd::xadd;

use redis::{RedisError, ServerError};

/// Why nothing is known to have been added.
#[derive(Debug, Clone)]
pub(crate) enum AddError {
    /// Redis answered an error: nothing was added.
    Rejected(ServerError),
    /// No connection: nothing was sent.
    Unreachable { address: String, source: RedisError },
    /// No answer: it may have been added.
    Lost { address: String, source: RedisError },
}
