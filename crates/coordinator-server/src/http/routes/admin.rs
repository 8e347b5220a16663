//! What administrators ask: the metadata as a file, and back. How lines are made and read stands beside this.

mod lines;
mod restore;
mod save;
mod spool;

pub(in crate::http) use restore::restore;
pub(in crate::http) use save::save;

use sha2::{Digest, Sha256};

/// SHA-256 in hex.
fn hex_digest(text: &[u8]) -> String {
    hex(&Sha256::digest(text))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
