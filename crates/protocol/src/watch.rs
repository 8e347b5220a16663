//! Waiting for a group to change. A watch is a hint to heartbeat at once and never carries a decision.

use serde::{Deserialize, Serialize};

/// The longest a watch may be asked to wait, in milliseconds.
pub const WATCH_WAIT_MAX_MS: u64 = 30_000;

/// How long a watch waits that does not say, in milliseconds.
pub const WATCH_WAIT_DEFAULT_MS: u64 = 30_000;

/// The query of a watch: `?after=<metadataVersion>&waitMs=<milliseconds>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams))]
#[cfg_attr(feature = "openapi", into_params(parameter_in = Query))]
#[serde(rename_all = "camelCase")]
pub struct WatchQuery {
    /// The version the caller knows; absent: 0.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", param(default = 0))]
    pub after: u64,
    /// How long to wait for a higher one, in milliseconds, at most 30000; absent: 30000.
    #[serde(default = "default_wait_ms")]
    #[cfg_attr(feature = "openapi", param(maximum = 30_000, default = 30_000))]
    pub wait_ms: u64,
}

const fn default_wait_ms() -> u64 {
    WATCH_WAIT_DEFAULT_MS
}

/// What a watch saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct WatchResponse {
    /// The group's version now.
    pub metadata_version: u64,
    /// Whether it is above the one asked about.
    pub changed: bool,
}
