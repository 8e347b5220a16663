//! The memory store as the coordinator sees it: waits for rights, tells the time and publishes changes. What a step does is the
//! state's business.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use coordinator_core::names::{ConsumerGroup, GroupId, MemberId, StreamPrefix};
use coordinator_core::numbers::MetadataVersion;
use coordinator_core::record::GroupRecord;
use coordinator_core::time::{Millis, Timestamp};
use tokio::sync::Notify;
use tokio::time::timeout;

use super::feed::Feed;
use super::state::State;
use super::watch::Watch;
use crate::{
    AuditSink, Begun, Change, ChangeFeed, ChangeStream, Commit, CommitError, Coordination,
    CreateError, Doubt, GroupLock, GroupStore, LockLimits, MemberProgress, Page, PageCursor,
    Readiness, Renewal, Renewed, Snapshot, Stamp, StoreClock, StoreError, SystemClock,
};

/// How many groups a page of the directory has.
const PAGE: usize = 100;
/// How often a waiting `begin` looks whether a right ran out; one that is given back wakes it at once.
const POLL: Duration = Duration::from_millis(10);

/// What a store had at one moment.
#[cfg(feature = "testing")]
#[derive(Clone, Debug)]
pub struct SavedState(State);

/// A store in memory. Clones share what is stored.
#[derive(Clone)]
pub struct MemoryStore {
    limits: LockLimits,
    shared: Arc<Shared>,
}

struct Shared {
    clock: Arc<dyn StoreClock>,
    state: Mutex<State>,
    released: Notify,
    feed: Feed,
}

impl MemoryStore {
    /// An empty store on the system's clock.
    #[must_use]
    pub fn new() -> Self {
        Self::with(Arc::new(SystemClock), LockLimits::default())
    }

    /// An empty store on a clock of one's own.
    #[must_use]
    pub fn with(clock: Arc<dyn StoreClock>, limits: LockLimits) -> Self {
        Self {
            limits,
            shared: Arc::new(Shared {
                clock,
                state: Mutex::default(),
                released: Notify::new(),
                feed: Feed::default(),
            }),
        }
    }

    /// The same data under other limits.
    #[must_use]
    pub fn under(&self, limits: LockLimits) -> Self {
        Self {
            limits,
            shared: Arc::clone(&self.shared),
        }
    }

    /// Names a group in the directory without storing it, as a creation does that is cut off half way.
    #[cfg(feature = "testing")]
    pub fn name_in_directory(&self, group: &GroupId) {
        self.state().directory.insert(group.clone());
    }

    /// Everything that is stored, to go back to.
    #[cfg(feature = "testing")]
    #[must_use]
    pub fn save(&self) -> SavedState {
        SavedState(self.state().clone())
    }

    /// Loses what was written since: what is stored is as it was saved, and belongs to another history (rule C8).
    #[cfg(feature = "testing")]
    pub fn go_back_to(&self, saved: &SavedState) {
        let mut state = self.state();
        let history = state.history + 1;
        *state = saved.0.clone();
        state.history = history;
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        // No step of the state can be cut off half way.
        self.shared
            .state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Timestamp {
        self.shared.clock.now()
    }

    fn try_begin(&self, group: &GroupId, known: Option<&Snapshot>) -> Option<Begun> {
        let (mut state, now) = (self.state(), self.now());
        let lock = state.try_lock(group, now, in_millis(self.limits.ttl))?;
        Some(Begun {
            lock,
            snapshot: state.read(group, known, now),
            now,
        })
    }

    fn unlock(&self, lock: &GroupLock) {
        self.state().unlock(lock);
        self.shared.released.notify_waiters();
    }

    fn publish(&self, group: &GroupId, version: Option<MetadataVersion>) {
        self.shared.feed.publish(Change {
            group: group.clone(),
            version,
        });
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let groups = self.state().groups.len();
        f.debug_struct("MemoryStore")
            .field("groups", &groups)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl GroupStore for MemoryStore {
    async fn begin(&self, group: &GroupId, known: Option<&Snapshot>) -> Result<Begun, StoreError> {
        let started = Instant::now();
        loop {
            let mut released = std::pin::pin!(self.shared.released.notified());
            // From here on no release is missed.
            released.as_mut().enable();
            if let Some(begun) = self.try_begin(group, known) {
                return Ok(begun);
            }
            let waited = started.elapsed();
            let Some(left) = self.limits.wait.checked_sub(waited) else {
                return Err(StoreError::Locked {
                    waited_ms: in_millis(waited).get(),
                });
            };
            // Whether it was woken or not, it looks again.
            let _ = timeout(left.min(POLL), released).await;
        }
    }

    async fn commit(&self, lock: GroupLock, commit: Commit<'_>) -> Result<Stamp, CommitError> {
        let outcome = {
            let (mut state, now) = (self.state(), self.now());
            state.commit(&lock, &commit, now)
        };
        self.unlock(&lock);
        if outcome.is_ok() {
            self.publish(&lock.group, Some(commit.record.metadata_version));
        }
        outcome
    }

    async fn release(&self, lock: GroupLock) {
        self.unlock(&lock);
    }

    async fn renew(
        &self,
        group: &GroupId,
        known: &Snapshot,
        renewals: &[Renewal],
        lease_ttl: Millis,
    ) -> Result<Renewed, StoreError> {
        let (mut state, now) = (self.state(), self.now());
        Ok(state.renew(group, known, renewals, now, lease_ttl))
    }

    async fn load(
        &self,
        group: &GroupId,
        known: Option<&Snapshot>,
    ) -> Result<Option<Snapshot>, StoreError> {
        let (state, now) = (self.state(), self.now());
        Ok(state.read(group, known, now))
    }

    async fn create(&self, lock: &GroupLock, record: &GroupRecord) -> Result<Stamp, CreateError> {
        let stamp = {
            let (mut state, now) = (self.state(), self.now());
            state.create(lock, record, now)?
        };
        self.publish(&lock.group, Some(record.metadata_version));
        Ok(stamp)
    }

    async fn replace_unreadable(
        &self,
        group: &GroupId,
        record: &GroupRecord,
    ) -> Result<Stamp, CreateError> {
        // What is kept in memory can always be read.
        let begun = self.begin(group, None).await?;
        let outcome = self.create(&begun.lock, record).await;
        self.unlock(&begun.lock);
        outcome
    }

    async fn remove(&self, lock: GroupLock, expected: &Stamp) -> Result<(), CommitError> {
        let outcome = {
            let (mut state, now) = (self.state(), self.now());
            state.remove(&lock, expected, now)
        };
        self.unlock(&lock);
        if outcome.is_ok() {
            self.publish(&lock.group, None);
        }
        outcome
    }

    async fn groups(&self, cursor: &PageCursor) -> Result<Page, StoreError> {
        let from = parse_cursor(&cursor.0).map_or(Bound::Unbounded, Bound::Excluded);
        let state = self.state();
        let mut rest = state.directory.range((from, Bound::Unbounded));
        let groups: Vec<GroupId> = rest.by_ref().take(PAGE).cloned().collect();
        let next = groups
            .last()
            .filter(|_| rest.next().is_some())
            .map(to_cursor);
        Ok(Page { groups, next })
    }

    async fn groups_of(&self, stream: &StreamPrefix) -> Result<BTreeSet<GroupId>, StoreError> {
        let state = self.state();
        let of_stream = |group: &&GroupId| group.stream == *stream;
        Ok(state.directory.iter().filter(of_stream).cloned().collect())
    }

    async fn progress(
        &self,
        group: &GroupId,
    ) -> Result<BTreeMap<MemberId, MemberProgress>, StoreError> {
        let state = self.state();
        let stored = state.groups.get(group);
        Ok(stored.map_or_else(BTreeMap::new, |stored| stored.progress.clone()))
    }

    async fn watch_over(
        &self,
        gap: Millis,
        mark: Option<Timestamp>,
    ) -> Result<Coordination, StoreError> {
        let (mut state, now) = (self.state(), self.now());
        let watch = Watch::seen_at(state.watch, now, gap, mark);
        state.watch = Some(watch);
        Ok(watch.coordination())
    }

    async fn doubt(&self, at: Timestamp) -> Result<(), StoreError> {
        let (mut state, now) = (self.state(), self.now());
        let watch = state
            .watch
            .unwrap_or_else(|| Watch::seen_at(None, now, Millis::default(), None));
        state.watch = Some(watch.doubted(Doubt { at, lost_from: at }));
        Ok(())
    }

    async fn check_ready(&self) -> Result<Readiness, StoreError> {
        Ok(Readiness::Ready)
    }

    fn audit(self: Arc<Self>) -> Option<Arc<dyn AuditSink>> {
        Some(self)
    }
}

#[async_trait]
impl ChangeFeed for MemoryStore {
    async fn subscribe(&self, group: &GroupId) -> Result<ChangeStream, StoreError> {
        Ok(self.shared.feed.subscribe(group))
    }
}

fn in_millis(span: Duration) -> Millis {
    Millis::new(u64::try_from(span.as_millis()).unwrap_or(u64::MAX))
}

/// Names have no control characters, so that a line break can't be part of one.
fn to_cursor(group: &GroupId) -> PageCursor {
    PageCursor(format!("{}\n{}", group.stream, group.group))
}

fn parse_cursor(text: &str) -> Option<GroupId> {
    let (stream, group) = text.split_once('\n')?;
    Some(GroupId {
        stream: StreamPrefix::parse(stream).ok()?,
        group: ConsumerGroup::parse(group).ok()?,
    })
}
