//! The whole world of a run: store, streams, network, processes, coordinators, and true time. It changes by actions only and draws nothing at
//! random, so that the same actions lead to the same world.

mod apply;
mod network;
mod operators;
mod processes;
mod time;
mod watch;

use coordinator_core::names::{ConsumerGroup, GroupId, StreamPrefix};
use coordinator_core::numbers::ShardCount;
use coordinator_core::record::{GroupRecord, Provisioning};

pub(crate) use network::Network;
pub(crate) use watch::Watch;

use crate::coordinator::Coordinator;
use crate::counts::Counts;
use crate::journal::Journal;
use crate::member::Process;
use crate::options::Options;
use crate::record_store::RecordStore;
use crate::setup::{MOST_PROCESSES, MOST_SHARDS, Setup};
use crate::streams::Streams;
use crate::violation::{Invariant, Violation};

/// How many coordinators there are.
pub(crate) const COORDINATORS: usize = 2;

/// A producer: the number of shards that it knows of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Producer {
    pub(crate) count: u32,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) setup: Setup,
    pub(crate) options: Options,
    /// True time, in milliseconds since the beginning.
    pub(crate) now: u64,
    pub(crate) step: usize,
    pub(crate) store: RecordStore,
    pub(crate) streams: Streams,
    pub(crate) network: Network,
    pub(crate) processes: Vec<Process>,
    pub(crate) coordinators: Vec<Coordinator>,
    pub(crate) producers: Vec<Producer>,
    pub(crate) changes: u32,
    /// How many processes one member may have.
    pub(crate) most_processes: usize,
    pub(crate) watch: Watch,
    pub(crate) counts: Counts,
    pub(crate) journal: Journal,
    pub(crate) violation: Option<Violation>,
}

impl World {
    pub(crate) fn new(seed: u64, options: &Options, keeps_journal: bool) -> Self {
        let setup = Setup::of(seed, options);
        let stream = StreamPrefix::parse("orders").expect("a good name");
        let names =
            ["orders", "audit"].map(|name| ConsumerGroup::parse(name).expect("a good name"));
        let names = names[..setup.groups].to_vec();
        let record = |group: &ConsumerGroup| {
            let id = GroupId {
                stream: stream.clone(),
                group: group.clone(),
            };
            GroupRecord::new(id, ShardCount::new(setup.shards), Provisioning::Done)
        };
        let records: Vec<GroupRecord> = names.iter().map(record).collect();
        let watch = Watch::new(&records, &setup);
        let mut world = Self {
            options: options.clone(),
            now: 0,
            step: 0,
            store: RecordStore::new(seed, records, options.store_faults.clone()),
            streams: Streams::new(names, setup.shards),
            network: Network::default(),
            processes: Vec::new(),
            coordinators: (0..COORDINATORS)
                .map(|_| Coordinator::new(setup.groups, 0))
                .collect(),
            producers: vec![
                Producer {
                    count: setup.shards
                };
                setup.producers
            ],
            changes: 0,
            most_processes: MOST_PROCESSES,
            watch,
            counts: Counts {
                seeds: 1,
                ..Counts::default()
            },
            journal: Journal::new(keeps_journal),
            violation: None,
            setup,
        };
        for member in 0..world.setup.members.len() {
            world.start_process(member);
        }
        world
    }

    /// Something that must never be. The first one counts.
    pub(crate) fn found(&mut self, invariant: Invariant, seen: String) {
        self.note("violation", || format!("{invariant:?}: {seen}"));
        let (step, at_ms) = (self.step, self.now);
        self.violation.get_or_insert(Violation {
            invariant,
            seen,
            step,
            at_ms,
        });
    }

    pub(crate) fn note(&mut self, event: &str, text: impl FnOnce() -> String) {
        self.journal.note(self.step, self.now, event, text);
    }

    /// Every shard that there can be.
    pub(crate) fn all_shards() -> impl Iterator<Item = u32> {
        0..MOST_SHARDS
    }
}
