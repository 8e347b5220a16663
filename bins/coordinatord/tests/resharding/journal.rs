//! What handlers of real members did, and when: judged afterwards without a word of any coordinator.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use member_client::{Handler, HandlerError, Record};

/// One run of a handler.
#[derive(Clone)]
struct Handled {
    shard: u32,
    /// The member, and its epoch when it was given the shard.
    owner: (String, i64),
    start: Instant,
    end: Instant,
    number: u64,
}

/// What was handled.
#[derive(Clone, Default)]
pub struct Journal(Arc<Mutex<Vec<Handled>>>);

impl Handler for Journal {
    async fn handle(&self, record: Record) -> Result<(), HandlerError> {
        let number = record.field("n").ok_or("a record without a number")?;
        let number = std::str::from_utf8(number)?.parse()?;
        let start = Instant::now();
        // waits: the work of the handler
        tokio::time::sleep(Duration::from_micros(300)).await;
        self.0.lock().unwrap().push(Handled {
            shard: record.shard().shard_index,
            owner: (record.member_id().to_owned(), record.epoch()),
            start,
            end: Instant::now(),
            number,
        });
        Ok(())
    }
}

impl Journal {
    /// The numbers of what was handled.
    pub fn numbers(&self) -> BTreeSet<u64> {
        let runs = self.0.lock().unwrap();
        runs.iter().map(|run| run.number).collect()
    }

    /// How often a handler ran beyond the first time of a record.
    pub fn repetitions(&self) -> usize {
        let runs = self.0.lock().unwrap().len();
        runs - self.numbers().len()
    }

    /// How often a run began before one of another owner of the shard had ended.
    pub fn overlaps(&self) -> usize {
        let mut runs = self.0.lock().unwrap().clone();
        runs.sort_by_key(|run| run.start);
        let mut by_shard: BTreeMap<u32, Vec<Handled>> = BTreeMap::new();
        for run in runs {
            by_shard.entry(run.shard).or_default().push(run);
        }
        by_shard.values().map(|runs| overlaps_of(runs)).sum()
    }
}

/// The runs are of one shard, sorted by their start.
fn overlaps_of(runs: &[Handled]) -> usize {
    let mut last_end: HashMap<&(String, i64), Instant> = HashMap::new();
    let mut overlaps = 0;
    for run in runs {
        let others = last_end.iter().filter(|(owner, _)| **owner != &run.owner);
        let latest = others.map(|(_, end)| *end).max();
        overlaps += usize::from(latest.is_some_and(|end| run.start < end));
        let end = last_end.entry(&run.owner).or_insert(run.end);
        *end = run.end.max(*end);
    }
    overlaps
}
