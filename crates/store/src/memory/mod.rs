//! A store in this process's memory: for trying things out, for tests and for simulations. Nothing outlives it, and it has no
//! shard streams.

mod audit;
mod feed;
mod state;
mod store;
mod watch;

pub use store::MemoryStore;
#[cfg(feature = "testing")]
pub use store::SavedState;
