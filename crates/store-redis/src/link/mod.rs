//! The way to Redis: one connection that is shared by everybody and made anew when it is of no more use.

mod connector;
mod redis_link;
mod server;
mod shared_link;

pub(crate) use connector::{Connector, Failure};
pub(crate) use shared_link::SharedLink;
