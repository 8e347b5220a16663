//! The calls of the API, one file per audience.

mod admin;
mod events;
mod member;
mod monitoring;
mod observing;
mod probes;
mod producer;
mod resharding;

pub use events::{Event, Events};
