//! How records are written down. Released forms never change: what is new gets a new schema version, and the old ones are still read.

mod aggregate;
mod generations;
mod holdings;
mod lineage;
mod member;
mod migration;
mod progress;
mod quarantine;

pub use aggregate::{Aggregate, DecodeError, LAYOUT_VERSION, SCHEMA_VERSION};
pub use progress::{decode_progress, encode_progress};
