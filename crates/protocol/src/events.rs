//! What the event stream for the console carries. Like a watch it is a hint, not a decision.

use serde::{Deserialize, Serialize};

use crate::GroupState;

/// The data of one server-sent event: a group has changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct GroupChanged {
    /// The logical stream.
    pub stream_prefix: String,
    /// The consumer group.
    pub consumer_group: String,
    /// Its version now.
    pub metadata_version: u64,
    /// Its state now; absent once the group is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub state: Option<GroupState>,
}
