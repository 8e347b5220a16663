//! One state of the model: the store, coordinators in the middle of a decision, processes, messages under way, streams. Two states are the same if
//! nothing that can happen from them differs.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use coordinator_core::input::Heartbeat;
use coordinator_core::time::{Clock, Timestamp};

use super::bounds::Bounds;
use super::process::Process;
use super::record_store::{Pending, Stored};
use super::streams::Streams;

/// Where time begins, in steps; far enough from the beginning of the store's time.
const START: u64 = 1_000;

/// A request under way.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    pub(super) process: u8,
    pub(super) heartbeat: Arc<Heartbeat>,
}

impl PartialEq for Sent {
    fn eq(&self, other: &Self) -> bool {
        self.heartbeat.request == other.heartbeat.request
    }
}

/// An invariant that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Wrong {
    pub(super) invariant: &'static str,
    pub(super) what: Arc<str>,
}

/// See the module.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Steps of time.
    pub(super) now: u64,
    /// The step since which some coordinator has been watching (rule M6).
    pub(super) watched_since: u64,
    pub(super) doubted_at: Option<Timestamp>,
    pub(super) store: Arc<Stored>,
    /// Earlier records, to which the store may go back; the latest first.
    pub(super) earlier: Vec<Arc<Stored>>,
    /// The number of the next commit.
    pub(super) editions: u32,
    pub(super) pending: [Option<Arc<Pending>>; 2],
    pub(super) processes: Vec<Option<Arc<Process>>>,
    /// How many processes there have been; names the next one.
    pub(super) born: u8,
    pub(super) requests: Vec<Sent>,
    pub(super) streams: Streams,
    pub(super) left: Bounds,
    pub(super) wrong: Option<Wrong>,
}

impl Hash for State {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.now, self.watched_since, self.doubted_at).hash(state);
        (&self.store, &self.earlier, &self.processes, self.born).hash(state);
        for sent in &self.requests {
            sent.heartbeat.request.hash(state);
        }
        for pending in &self.pending {
            let Some(pending) = pending else {
                0_u8.hash(state);
                continue;
            };
            self.age_of(pending).hash(state);
            pending.now.hash(state);
            let request = pending.heartbeat.as_ref().map(|(_, it)| &it.request);
            (request, pending.after.record()).hash(state);
        }
        (&self.streams, &self.left, &self.wrong).hash(state);
    }
}

impl State {
    /// A world in which nothing has happened yet.
    pub(super) fn new(store: Stored, streams: Streams) -> Self {
        Self {
            now: START,
            watched_since: 0,
            doubted_at: None,
            editions: store.edition + 1,
            store: Arc::new(store),
            earlier: Vec::new(),
            pending: [None, None],
            processes: Vec::new(),
            born: 0,
            requests: Vec::new(),
            streams,
            left: Bounds::default(),
            wrong: None,
        }
    }

    /// Which of the records that the store may have again a decision was built on: 1 for the present one, none if it can't be committed any more.
    fn age_of(&self, pending: &Pending) -> Option<usize> {
        let mut known = std::iter::once(&self.store).chain(&self.earlier);
        known
            .position(|stored| stored.edition == pending.base.edition)
            .map(|position| position + 1)
    }

    /// The true time, and that of the store.
    pub(super) fn now_ms(&self, step_ms: u64) -> u64 {
        self.now * step_ms
    }

    /// What a decision goes by.
    pub(super) fn clock(&self, step_ms: u64) -> Clock {
        Clock {
            now: Timestamp::from_ms(self.now * step_ms),
            coordination_since: Timestamp::from_ms(self.watched_since * step_ms),
            doubted_at: self.doubted_at,
        }
    }

    /// Every process that exists, with its position.
    pub(super) fn living(&self) -> impl Iterator<Item = (u8, &Process)> {
        (0_u8..)
            .zip(&self.processes)
            .filter_map(|(index, process)| Some((index, process.as_deref()?)))
    }

    /// How many processes may be reading a shard.
    pub(super) fn readers(&self, shard: u32, now_ms: u64) -> usize {
        self.living()
            .filter(|(_, process)| process.reads(shard, now_ms))
            .count()
    }

    pub(super) fn process_mut(&mut self, index: u8) -> Option<&mut Process> {
        let process = self.processes.get_mut(usize::from(index))?.as_mut()?;
        Some(Arc::make_mut(process))
    }

    /// Notes the first thing that is wrong.
    pub(super) fn accuse(&mut self, invariant: &'static str, what: impl Into<Arc<str>>) {
        if self.wrong.is_none() {
            self.wrong = Some(Wrong {
                invariant,
                what: what.into(),
            });
        }
    }

    /// A request is on its way. Requests are kept in the order of their names: which was sent first makes no difference.
    pub(super) fn send(&mut self, process: u8, heartbeat: Heartbeat) {
        let name = |sent: &Sent| sent.heartbeat.request.clone();
        let place = self
            .requests
            .partition_point(|sent| name(sent) < heartbeat.request);
        let sent = Sent {
            process,
            heartbeat: Arc::new(heartbeat),
        };
        self.requests.insert(place, sent);
    }

    /// Loses what the network does not keep: of the requests that nobody waits for, those that came first in the lives of their processes.
    pub(super) fn lose_late(&mut self) {
        let is_awaited = |sent: &Sent| {
            let process = self.processes.get(usize::from(sent.process));
            let waits_for = process
                .and_then(Option::as_ref)
                .and_then(|it| it.waits_for.as_deref());
            waits_for == Some(sent.heartbeat.request.as_str())
        };
        let late = self.requests.iter().filter(|sent| !is_awaited(sent));
        let mut late: Vec<_> = late.map(|sent| Arc::clone(&sent.heartbeat)).collect();
        late.sort_by(|a, b| (a.sequence, &a.request).cmp(&(b.sequence, &b.request)));
        late.truncate(late.len().saturating_sub(self.left.late.into()));
        self.requests.retain(|sent| {
            !late
                .iter()
                .any(|lost| lost.request == sent.heartbeat.request)
        });
    }
}
