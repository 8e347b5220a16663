//! What a member or a quarantine holds: shards of equal phase, version and origin written together, since most are equal.

use std::collections::BTreeMap;

use coordinator_core::holding::{Holding, Phase};
use coordinator_core::numbers::{MetadataVersion, ShardIndex};
use coordinator_core::time::Timestamp;
use serde::{Deserialize, Serialize};

/// Shards held in the same phase since the same version.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct HeldShards {
    phase: StoredPhase,
    since: u64,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_claim: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    release_by_ms: Option<u64>,
    shards: Vec<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum StoredPhase {
    Granted,
    Owned,
    Draining,
}

pub(super) fn write(holdings: &[Holding]) -> Vec<HeldShards> {
    let mut groups: BTreeMap<_, Vec<u32>> = BTreeMap::new();
    for holding in holdings {
        let phase = match holding.phase {
            Phase::Granted => StoredPhase::Granted,
            Phase::Owned => StoredPhase::Owned,
            Phase::Draining => StoredPhase::Draining,
        };
        let release_by = holding.release_by.map(Timestamp::as_ms);
        let group = groups
            .entry((phase, holding.since.get(), holding.is_claim, release_by))
            .or_default();
        group.push(holding.shard.get());
    }
    let held = |((phase, since, is_claim, release_by_ms), shards)| HeldShards {
        phase,
        since,
        is_claim,
        release_by_ms,
        shards,
    };
    groups.into_iter().map(held).collect()
}

/// In the order of shards. One that is named twice stays so, and the record is refused for it.
pub(super) fn read(held: Vec<HeldShards>) -> Vec<Holding> {
    let mut holdings: Vec<Holding> = held
        .into_iter()
        .flat_map(|held| {
            let phase = match held.phase {
                StoredPhase::Granted => Phase::Granted,
                StoredPhase::Owned => Phase::Owned,
                StoredPhase::Draining => Phase::Draining,
            };
            let since = MetadataVersion::new(held.since);
            held.shards.into_iter().map(move |shard| Holding {
                shard: ShardIndex::new(shard),
                phase,
                since,
                is_claim: held.is_claim,
                release_by: held.release_by_ms.map(Timestamp::from_ms),
            })
        })
        .collect();
    holdings.sort_by_key(|holding| holding.shard);
    holdings
}
