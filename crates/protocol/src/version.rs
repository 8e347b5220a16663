//! Which versions of the coordination protocol there are, and the timing that goes with each.

use serde::{Deserialize, Serialize};

/// The version that this crate speaks.
pub const PROTOCOL_VERSION: u32 = 1;

/// The oldest version that is understood.
pub const MIN_PROTOCOL_VERSION: u32 = 1;

/// The newest version that is understood.
pub const MAX_PROTOCOL_VERSION: u32 = 1;

/// Rule T1: how often a member sends, in milliseconds.
pub const DEFAULT_HEARTBEAT_INTERVAL_MS: u64 = 3_000;

/// Rule T1: how long a member lives without sending, in milliseconds.
pub const DEFAULT_MEMBER_LEASE_TTL_MS: u64 = 15_000;

/// Rule T1: how long a member may take to give shards up, in milliseconds.
pub const DEFAULT_REBALANCE_TIMEOUT_MS: u64 = 60_000;

/// Whether a request of this version is understood (rule H1).
#[must_use]
pub const fn is_supported(protocol_version: u32) -> bool {
    MIN_PROTOCOL_VERSION <= protocol_version && protocol_version <= MAX_PROTOCOL_VERSION
}

/// What the coordinator understands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Compatibility {
    /// The version it prefers.
    pub current_coordination_version: u32,
    /// Those it understands.
    pub supported_coordination_versions: SupportedVersions,
    /// What is known of each; sorted by version.
    pub coordination_versions: Vec<CoordinationVersion>,
}

impl Compatibility {
    /// The version table of this crate.
    #[must_use]
    pub fn current() -> Self {
        Self {
            current_coordination_version: PROTOCOL_VERSION,
            supported_coordination_versions: SupportedVersions {
                min: MIN_PROTOCOL_VERSION,
                max: MAX_PROTOCOL_VERSION,
            },
            coordination_versions: vec![CoordinationVersion {
                version: 1,
                status: VersionStatus::Active,
                introduced_in: "0.1.0".to_owned(),
                deprecated_in: None,
                removed_in: None,
                timing_defaults: TimingDefaults::default(),
            }],
        }
    }
}

/// The versions from `min` to `max`, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct SupportedVersions {
    /// The oldest.
    pub min: u32,
    /// The newest.
    pub max: u32,
}

/// One version of the coordination protocol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct CoordinationVersion {
    /// The `protocolVersion` that requests carry.
    pub version: u32,
    /// Whether it is to be used.
    pub status: VersionStatus,
    /// The release that brought it.
    pub introduced_in: String,
    /// The release that advises against it; null while none does.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub deprecated_in: Option<String>,
    /// The release that no longer understands it; null while all do.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub removed_in: Option<String>,
    /// The timing that clients begin with.
    pub timing_defaults: TimingDefaults,
}

/// Whether a version is to be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum VersionStatus {
    /// It is.
    Active,
    /// It works, and another is better.
    Deprecated,
    /// It no longer works.
    Removed,
}

/// The timing that clients of a version begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct TimingDefaults {
    /// How often a member sends.
    pub heartbeat_interval_ms: u64,
    /// How long it lives without sending.
    pub member_lease_ttl_ms: u64,
    /// How long it may take to give shards up.
    pub rebalance_timeout_ms: u64,
}

impl Default for TimingDefaults {
    /// Those of version 1.
    fn default() -> Self {
        Self {
            heartbeat_interval_ms: DEFAULT_HEARTBEAT_INTERVAL_MS,
            member_lease_ttl_ms: DEFAULT_MEMBER_LEASE_TTL_MS,
            rebalance_timeout_ms: DEFAULT_REBALANCE_TIMEOUT_MS,
        }
    }
}
