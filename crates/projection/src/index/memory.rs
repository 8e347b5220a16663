//! The index in memory: for tests, and for programs that need no other. It keeps the same promises as the one in Redis.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::ops::Bound;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;

use super::{Answer, Applied, Build, Index, IndexError, all_belong};
use crate::model::{Entry, EntryId, Epoch, Namespace, Position, Range, Version};

const LEASE: Duration = Duration::from_secs(10);
const TOMBSTONES: Duration = Duration::from_secs(3600);
/// How many old tombstones a removal clears at most.
const CLEARED_AT_ONCE: usize = 10;

type Clock = Box<dyn Fn() -> Duration + Send + Sync>;

/// An index in the memory of this process.
pub struct MemoryIndex {
    spaces: Mutex<HashMap<Namespace, Space>>,
    clock: Clock,
}

#[derive(Debug, Default)]
struct Content {
    sorted: BTreeSet<Position>,
    entries: HashMap<EntryId, Entry>,
}

#[derive(Debug, Default)]
struct Space {
    content: Content,
    built: Option<(Epoch, Duration)>,
    gone: HashMap<EntryId, (Version, Duration)>,
    gone_by_time: BTreeSet<(Duration, EntryId)>,
    building: Option<Building>,
}

#[derive(Debug)]
struct Building {
    token: String,
    begun: Duration,
    until: Duration,
    content: Content,
}

impl Content {
    fn put(&mut self, entry: &Entry) -> bool {
        let known = self.entries.get(&entry.id);
        if known.is_some_and(|known| known.version >= entry.version) {
            return false;
        }
        if let Some(known) = known {
            self.sorted.remove(&position(known));
        }
        self.sorted.insert(position(entry));
        self.entries.insert(entry.id.clone(), entry.clone());
        true
    }

    fn take(&mut self, id: &EntryId, version: Version) -> bool {
        match self.entries.get(id) {
            Some(known) if known.version <= version => {
                self.sorted.remove(&position(known));
                self.entries.remove(id);
                true
            }
            _ => false,
        }
    }
}

fn position(entry: &Entry) -> Position {
    Position {
        order: entry.order,
        id: entry.id.clone(),
    }
}

impl Space {
    fn is_gone(&self, id: &EntryId, version: Version) -> bool {
        self.gone.get(id).is_some_and(|(gone, _)| *gone >= version)
    }

    /// The rebuild under way. One whose lease ran out is none, and never becomes one again.
    fn building(&mut self, now: Duration) -> Option<&mut Building> {
        if self
            .building
            .as_ref()
            .is_some_and(|build| build.until <= now)
        {
            self.building = None;
        }
        self.building.as_mut()
    }

    fn mine(&mut self, build: &Build, now: Duration) -> Result<&mut Building, IndexError> {
        self.building(now)
            .filter(|building| building.token == build.token && now - building.begun < TOMBSTONES)
            .ok_or(IndexError::BuildLost)
    }

    fn bury(&mut self, id: &EntryId, version: Version, now: Duration) -> bool {
        if self.is_gone(id, version) {
            return false;
        }
        if let Some((_, time)) = self.gone.insert(id.clone(), (version, now)) {
            self.gone_by_time.remove(&(time, id.clone()));
        }
        self.gone_by_time.insert((now, id.clone()));
        for _ in 0..CLEARED_AT_ONCE {
            match self.gone_by_time.first() {
                Some((time, _)) if *time + TOMBSTONES < now => {}
                _ => break,
            }
            if let Some((_, id)) = self.gone_by_time.pop_first() {
                self.gone.remove(&id);
            }
        }
        true
    }
}

impl MemoryIndex {
    /// An empty index with a clock of its own.
    #[must_use]
    pub fn new() -> Self {
        let start = Instant::now();
        Self::with_clock(move || start.elapsed())
    }

    /// An empty index that takes the time from this function, which must not go back: for tests that let time pass.
    pub fn with_clock(clock: impl Fn() -> Duration + Send + Sync + 'static) -> Self {
        Self {
            spaces: Mutex::default(),
            clock: Box::new(clock),
        }
    }

    fn spaces(&self) -> MutexGuard<'_, HashMap<Namespace, Space>> {
        self.spaces.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for MemoryIndex {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for MemoryIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryIndex").finish_non_exhaustive()
    }
}

#[async_trait]
impl Index for MemoryIndex {
    async fn read(&self, namespace: &Namespace, range: &Range) -> Result<Answer, IndexError> {
        let spaces = self.spaces();
        let space = spaces.get(namespace).ok_or(IndexError::Unbuilt)?;
        let (epoch, at) = space.built.ok_or(IndexError::Unbuilt)?;
        if space.content.sorted.is_empty() {
            return Err(IndexError::Empty);
        }
        let from = match &range.after {
            Some(after) => Bound::Excluded(after),
            None => Bound::Unbounded,
        };
        let behind = space.content.sorted.range((from, Bound::Unbounded));
        let places = behind.take_while(|place| range.has(place));
        let entries = places.take(range.limit.get()).map(|place| {
            let entry = space.content.entries.get(&place.id);
            entry
                .cloned()
                .ok_or_else(|| IndexError::Damaged(format!("{} has no value", place.id)))
        });
        Ok(Answer {
            entries: entries.collect::<Result<_, _>>()?,
            epoch,
            age: (self.clock)().saturating_sub(at),
        })
    }

    async fn upsert(&self, entry: &Entry) -> Result<Applied, IndexError> {
        let (mut spaces, now) = (self.spaces(), (self.clock)());
        let space = spaces.entry(entry.namespace.clone()).or_default();
        if space.is_gone(&entry.id, entry.version) {
            return Ok(Applied::Superseded);
        }
        let mut written = space.content.put(entry);
        if let Some(build) = space.building(now) {
            written |= build.content.put(entry);
        }
        Ok(applied(written))
    }

    async fn remove(
        &self,
        namespace: &Namespace,
        id: &EntryId,
        version: Version,
    ) -> Result<Applied, IndexError> {
        let (mut spaces, now) = (self.spaces(), (self.clock)());
        let space = spaces.entry(namespace.clone()).or_default();
        let mut written = space.bury(id, version, now);
        written |= space.content.take(id, version);
        if let Some(build) = space.building(now) {
            written |= build.content.take(id, version);
        }
        Ok(applied(written))
    }

    async fn begin(&self, build: &mut Build) -> Result<(), IndexError> {
        let (mut spaces, now) = (self.spaces(), (self.clock)());
        let space = spaces.entry(build.namespace.clone()).or_default();
        build.lease = LEASE;
        match space.building(now) {
            // Said again, since the answer was lost.
            Some(own) if own.token == build.token => return Ok(()),
            Some(other) => {
                return Err(IndexError::Busy {
                    remaining: other.until - now,
                });
            }
            None => {}
        }
        space.building = Some(Building {
            token: build.token.clone(),
            begun: now,
            until: now + LEASE,
            content: Content::default(),
        });
        Ok(())
    }

    async fn renew(&self, build: &Build) -> Result<(), IndexError> {
        let (mut spaces, now) = (self.spaces(), (self.clock)());
        let space = spaces.entry(build.namespace.clone()).or_default();
        space.mine(build, now)?.until = now + LEASE;
        Ok(())
    }

    async fn load(&self, build: &mut Build, entries: &[Entry]) -> Result<(), IndexError> {
        all_belong(&build.namespace, entries)?;
        let (mut spaces, now) = (self.spaces(), (self.clock)());
        let space = spaces.entry(build.namespace.clone()).or_default();
        space.mine(build, now)?.until = now + LEASE;
        for entry in entries {
            if !space.is_gone(&entry.id, entry.version)
                && let Some(building) = &mut space.building
            {
                building.content.put(entry);
            }
        }
        build.pages += 1;
        Ok(())
    }

    async fn commit(&self, build: Build) -> Result<Epoch, IndexError> {
        let (mut spaces, now) = (self.spaces(), (self.clock)());
        let space = spaces.entry(build.namespace.clone()).or_default();
        space.content = std::mem::take(&mut space.mine(&build, now)?.content);
        space.building = None;
        let epoch = Epoch(space.built.map_or(0, |(epoch, _)| epoch.get()) + 1);
        space.built = Some((epoch, now));
        Ok(epoch)
    }

    async fn abandon(&self, build: Build) -> Result<(), IndexError> {
        let mut spaces = self.spaces();
        let space = spaces.entry(build.namespace.clone()).or_default();
        if space
            .building
            .as_ref()
            .is_some_and(|building| building.token == build.token)
        {
            space.building = None;
        }
        Ok(())
    }
}

fn applied(written: bool) -> Applied {
    if written {
        Applied::Written
    } else {
        Applied::Superseded
    }
}
