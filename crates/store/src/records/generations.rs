//! How the lives of shard streams are written down: as runs, since mostly all are in the same one. Decides nothing.

use coordinator_core::generations::Generations;
use coordinator_core::numbers::{ShardIndex, StreamGeneration};
use serde::{Deserialize, Serialize};

/// Neighbouring shards whose streams are in the same life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct StoredGenerations {
    first: u32,
    count: u32,
    generation: u64,
}

impl StoredGenerations {
    pub(crate) fn write(generations: &Generations) -> Vec<Self> {
        let mut runs: Vec<Self> = Vec::new();
        for (shard, generation) in generations.iter() {
            let (shard, generation) = (shard.get(), generation.get());
            match runs.last_mut() {
                Some(run) if run.generation == generation && run.first + run.count == shard => {
                    run.count += 1;
                }
                _ => runs.push(Self {
                    first: shard,
                    count: 1,
                    generation,
                }),
            }
        }
        runs
    }

    /// What was written; a run beyond the shards that a stream can have is cut after the first such shard, which the record's check refuses.
    pub(crate) fn read(runs: Vec<Self>) -> Generations {
        let most = coordinator_core::numbers::ShardCount::MAX.get();
        let shards = |run: &Self| {
            let end = run
                .first
                .saturating_add(run.count)
                .min(most.saturating_add(1));
            run.first..end.max(run.first.saturating_add(u32::from(run.count > 0)))
        };
        let of_run = |run: Self| {
            let generation = StreamGeneration::new(run.generation);
            shards(&run).map(move |shard| (ShardIndex::new(shard), generation))
        };
        runs.into_iter().flat_map(of_run).collect()
    }
}
