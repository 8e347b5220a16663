//! The way to Redis: one connection that is shared by everybody and made anew when it is of no more use.

mod connector;
mod redis_link;
mod server;

pub(crate) use connector::{Connector, Failure};
