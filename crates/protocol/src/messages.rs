//! Pages of a shard's records, for looking only: reading them here delivers nothing to anyone.

use serde::{Deserialize, Serialize};

use crate::IsoTimestamp;

/// Records of a page that does not say.
pub const MESSAGE_LIMIT_DEFAULT: u32 = 25;

/// The most records of a page; the least is 1.
pub const MESSAGE_LIMIT_MAX: u32 = 1_000;

/// The query of a page: `?direction=BACKWARD&cursor=&limit=25`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams))]
#[cfg_attr(feature = "openapi", into_params(parameter_in = Query))]
#[serde(rename_all = "camelCase")]
pub struct MessageQuery {
    /// Which way to go; absent: from the newest.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", param(inline))]
    pub direction: PageDirection,
    /// `nextCursor` of the page before; absent or empty: the first page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "openapi",
        param(nullable = false, pattern = "^([0-9]{1,19}-[0-9]{1,19})?$")
    )]
    pub cursor: Option<String>,
    /// Records wanted; absent: 25.
    #[serde(default = "default_limit")]
    #[cfg_attr(feature = "openapi", param(minimum = 1, maximum = 1_000, default = 25))]
    pub limit: u32,
}

const fn default_limit() -> u32 {
    MESSAGE_LIMIT_DEFAULT
}

/// Which way a page goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum PageDirection {
    /// Oldest first.
    Forward,
    /// Newest first.
    #[default]
    Backward,
}

/// One page of a shard's records.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct MessagePage {
    /// The logical stream.
    pub stream_prefix: String,
    /// The consumer group.
    pub consumer_group: String,
    /// Position of the shard.
    pub shard_index: u32,
    /// Key of its stream.
    pub stream_key: String,
    /// Which way the page goes.
    pub direction: PageDirection,
    /// Records that were asked for.
    pub limit: u32,
    /// The records.
    pub records: Vec<MessageRecord>,
    /// Where the next page begins; null after the last.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub next_cursor: Option<String>,
}

/// One record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct MessageRecord {
    /// Its id in the stream.
    pub record_id: String,
    /// The time in its id.
    pub record_time: IsoTimestamp,
    /// Its fields in their order; a name may occur twice.
    pub fields: Vec<MessageField>,
}

/// One field of a record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct MessageField {
    /// Its name; bytes that are no UTF-8 are replaced.
    pub name: String,
    /// Its value, likewise; null where it is longer than 256 KiB, or than what is left of the 4 MiB that are read for a page.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub value: Option<String>,
    /// How long the value is.
    pub value_bytes: u64,
}
