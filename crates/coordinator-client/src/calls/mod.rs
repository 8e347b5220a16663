//! The calls of the API, one file per audience.

mod admin;
mod events;
mod member;
mod monitoring;
mod observing;
mod probes;
mod producer;
mod resharding;
mod snapshot;

pub use events::{Event, Events};
