//! The store of group records on Redis. Each step of it is one script; this is where their replies become what the coordinator knows.

mod audit;
mod calls;
mod change;
mod directory;
mod groups;
mod index;
mod open;
mod progress;
mod read;
mod renew;
mod replace;
mod rights;
mod watch;

pub use index::IndexNameError;
pub use open::RedisStore;
