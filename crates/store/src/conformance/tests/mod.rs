//! The cases, by what they are about. Each panics where the store does not mean what it should.

pub mod audit;
pub mod commit;
pub mod create;
pub mod directory;
pub mod feed;
pub mod lease;
pub mod lock;
pub mod progress;
pub mod read;
pub mod renew;
pub mod watch;
