//! The rules of the coordinator in a world that fails on purpose, from one seed: the real core, the real member machine, and a store, a
//! network and clocks that misbehave. For development only; nothing of the product depends on it.

pub mod model;

mod action;
mod calm;
mod choices;
mod convert;
mod coordinator;
mod counts;
mod fleet;
mod invariants;
mod journal;
mod member;
mod options;
#[cfg(feature = "planted")]
pub mod planted;
mod record_store;
mod replay;
mod run;
mod schedule;
mod setup;
mod shrink;
mod streams;
mod violation;
mod world;

pub use action::Action;
pub use counts::Counts;
pub use fleet::{Fleet, simulate_many};
pub use options::{Happening, Options, StoreFaults, Weights};
pub use replay::{Replay, ReplayError};
pub use run::{Outcome, events_of, replay, simulate};
pub use shrink::shrink;
pub use violation::{Invariant, Violation};
