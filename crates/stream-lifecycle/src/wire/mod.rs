//! The way to Redis: connections, scripts, replies, and what errors mean.

mod classify;
mod link;
mod probe;
mod reconnecting;
mod refusal;
mod reply;
mod script;

pub use link::RedisLink;
pub use reconnecting::Reconnecting;

pub(crate) use classify::classify;
pub(crate) use probe::has_command;
pub(crate) use refusal::{Context, accept};
pub(crate) use reply::{Reply, entries, history, stored_retention, unexpected};
pub(crate) use script::{Call, run, run_all, scripts};
