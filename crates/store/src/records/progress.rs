//! How a member's progress is written down. It is for monitoring only, so that what can't be read is left out and not an error.

use coordinator_core::numbers::ShardIndex;
use coordinator_core::time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{MemberProgress, ShardProgress};

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredProgress {
    available_concurrency: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    shards: Vec<StoredShard>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredShard {
    shard: u32,
    stream_key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_delivered_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_acked_id: Option<String>,
    pending_count: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    updated_at_ms: Option<u64>,
}

/// The text that is stored.
#[must_use]
#[allow(clippy::missing_panics_doc)]
pub fn encode_progress(progress: &MemberProgress) -> String {
    let shards = progress.shards.iter().map(|shard| StoredShard {
        shard: shard.shard.get(),
        stream_key: shard.stream_key.clone(),
        last_delivered_id: shard.last_delivered_id.clone(),
        last_acked_id: shard.last_acked_id.clone(),
        pending_count: shard.pending_count,
        updated_at_ms: shard.updated_at.map(Timestamp::as_ms),
    });
    let stored = StoredProgress {
        available_concurrency: progress.available_concurrency,
        shards: shards.collect(),
    };
    serde_json::to_string(&stored).expect("numbers, texts and lists of them are always JSON")
}

/// What was stored.
///
/// # Errors
/// The text is no progress.
pub fn decode_progress(text: &str) -> Result<MemberProgress, serde_json::Error> {
    let stored: StoredProgress = serde_json::from_str(text)?;
    let shards = stored.shards.into_iter().map(|shard| ShardProgress {
        shard: ShardIndex::new(shard.shard),
        stream_key: shard.stream_key,
        last_delivered_id: shard.last_delivered_id,
        last_acked_id: shard.last_acked_id,
        pending_count: shard.pending_count,
        updated_at: shard.updated_at_ms.map(Timestamp::from_ms),
    });
    Ok(MemberProgress {
        available_concurrency: stored.available_concurrency,
        shards: shards.collect(),
    })
}
