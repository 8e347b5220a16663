//! Waiting for a group to change. A watch is a hint to heartbeat at once and never carries a decision.

use serde::{Deserialize, Serialize};

/// The longest a watch may be asked to wait, in milliseconds.
pub const WATCH_WAIT_MAX_MS: u64 = 30_000;

/// How long a watch waits that does not say, in milliseconds.
pub const WATCH_WAIT_DEFAULT_MS: u64 = 30_000;

/// The query of a watch: `?after=<metadataVersion>&waitMs=<milliseconds>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WatchQuery {
    /// The version the caller knows; absent: 0.
    #[serde(default)]
    pub after: u64,
    /// How long to wait for a higher one, at most [`WATCH_WAIT_MAX_MS`]; absent: [`WATCH_WAIT_DEFAULT_MS`].
    #[serde(default = "default_wait_ms")]
    pub wait_ms: u64,
}

const fn default_wait_ms() -> u64 {
    WATCH_WAIT_DEFAULT_MS
}

/// What a watch saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WatchResponse {
    /// The group's version now.
    pub metadata_version: u64,
    /// Whether it is above the one asked about.
    pub changed: bool,
}
