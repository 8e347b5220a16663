//! How records are written down. Released forms never change: what is new gets a new schema version, and the old ones are still read.

mod aggregate;
mod generations;
mod holdings;
mod lineage;
mod member;
mod migration;
mod progress;
mod quarantine;

pub(crate) use aggregate::{Aggregate, LAYOUT_VERSION, SCHEMA_VERSION};
pub(crate) use progress::{decode_progress, encode_progress};
