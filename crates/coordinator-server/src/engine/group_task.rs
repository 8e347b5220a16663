//! The task of one group: takes what is asked of it in batches, so that everything which waits shares one renewal or one commit.

use std::sync::Arc;

use coordinator_core::input::{Heartbeat, Input};
use coordinator_core::names::GroupId;
use coordinator_core::numbers::GroupEpoch;
use coordinator_core::record::GroupRecord;
use coordinator_core::state::GroupState;
use coordinator_core::step::{HeartbeatReply, Reply};
use coordinator_core::time::{Clock, Timestamp};
use coordinator_core::{Group, decide_without_group};
use store::{Begun, Change, GroupLock, MemberProgress, Snapshot, Stamp, StoreError};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::due::Visit;
use super::hub::VersionHub;
use super::news::News;
use super::recorded::restored;
use super::resharding::Looked;
use super::{Engine, EngineError, GROUP_IDLE, change, describe, steady};
use crate::metrics;

/// The most that is decided together.
const BATCH: usize = 1_024;
/// How often a change that lost a race is tried again.
const ATTEMPTS: usize = 8;

/// How a heartbeat came out.
#[derive(Clone, Debug)]
pub(crate) enum HeartbeatOutcome {
    /// It was decided and, where that is due, recorded.
    Decided(HeartbeatReply),
    /// It found no turn; nothing changed and the client keeps what it has (rule T3).
    Retry,
}

/// What is asked of a group.
pub(super) enum Ask {
    Heartbeat {
        heartbeat: Box<Heartbeat>,
        progress: MemberProgress,
        answer: Answer<HeartbeatOutcome>,
    },
    /// To be looked at, perhaps as a visit that ends with that.
    Tick(Option<Visit>),
    /// A fact about the group's shards, or an operator's request.
    Tell {
        input: Box<Input>,
        /// Under which doubt it was looked into: a newer one makes it void (rule C8). None where it holds under any.
        under: Option<Option<Timestamp>>,
        answer: Answer<Told>,
    },
    /// What the record asks to be done to the shard streams.
    Look { answer: Answer<Looked> },
    Delete {
        force: bool,
        answer: Answer<Arc<GroupRecord>>,
    },
}

/// What became of something that a group was told.
#[derive(Clone, Debug)]
pub(super) struct Told {
    pub(super) record: Arc<GroupRecord>,
    pub(super) reply: Reply,
}

pub(super) type Answer<T> = oneshot::Sender<Result<T, EngineError>>;

/// A group as it was last seen, and what proves it.
pub(super) struct Cached {
    pub(super) snapshot: Snapshot,
    pub(super) group: Group,
}

impl Cached {
    /// What was read, checked.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] where no decision could have led to it (rule C6).
    pub(super) fn new(engine: &Engine, snapshot: Snapshot) -> Result<Self, StoreError> {
        let group = restored(&snapshot.record, engine.settings())?;
        Ok(Self { snapshot, group })
    }
}

/// The right to change a group, and the store's time when it was read.
pub(super) struct Right {
    pub(super) lock: GroupLock,
    pub(super) now: Timestamp,
}

pub(super) struct GroupTask {
    pub(super) engine: Engine,
    pub(super) id: GroupId,
    pub(super) hub: Arc<VersionHub>,
    pub(super) cached: Option<Cached>,
    /// The latest version of the record that this coordinator knows of, also when it trusts no copy of it, and when it was seen, by the store's clock.
    latest: Option<(Stamp, Timestamp)>,
    /// The highest group epoch that this coordinator has seen (rule C7).
    known_epoch: GroupEpoch,
    /// When the store last had an older record than this coordinator knows of (rule C8).
    went_back_at: Option<Timestamp>,
    /// Since when members do not have what they should.
    unsettled_since: Option<Instant>,
}

/// Serves a group until nobody asks for it any more.
pub(super) async fn run(
    engine: Engine,
    id: GroupId,
    mut asks: mpsc::UnboundedReceiver<Ask>,
    hub: Arc<VersionHub>,
) {
    let feed = Arc::clone(&engine.0.deps.feed);
    let mut news = News::of(&*feed, id.clone()).await;
    let mut task = GroupTask {
        engine,
        id,
        hub,
        cached: None,
        latest: None,
        known_epoch: GroupEpoch::default(),
        went_back_at: None,
        unsettled_since: None,
    };
    let mut batch = Vec::new();
    loop {
        tokio::select! {
            count = asks.recv_many(&mut batch, BATCH) => {
                if count == 0 {
                    return;
                }
                let is_gone = task.serve(core::mem::take(&mut batch)).await;
                // Anybody may ask for names that are no group's: no task stays for them.
                if is_gone && task.engine.0.registry.forget_if_idle(&task.id, &asks, &task.hub) {
                    return;
                }
            }
            change = news.next(&*feed) => task.hear(change).await,
            () = tokio::time::sleep(GROUP_IDLE) => {
                if task.engine.0.registry.forget_if_idle(&task.id, &asks, &task.hub) {
                    return;
                }
            }
            () = task.engine.0.stop.cancelled() => return,
        }
    }
}

impl GroupTask {
    /// Serves what was asked. Says whether there is no such group.
    async fn serve(&mut self, asks: Vec<Ask>) -> bool {
        let (alone, asks): (Vec<_>, Vec<_>) = asks
            .into_iter()
            .partition(|ask| matches!(ask, Ask::Delete { .. } | Ask::Look { .. }));
        let mut failed = self.decide_all(asks).await.is_err();
        for ask in alone {
            match ask {
                Ask::Delete { force, answer } => {
                    let outcome = self.delete(force).await;
                    failed |= matches!(outcome, Err(EngineError::Store(_)));
                    let _ = answer.send(outcome);
                }
                Ask::Look { answer } => {
                    let outcome = self.look().await;
                    failed |= matches!(outcome, Err(EngineError::Store(_)));
                    let _ = answer.send(outcome);
                }
                _ => {}
            }
        }
        self.note_due(failed);
        self.note_migration();
        self.show(failed);
        self.cached.is_none() && !failed
    }

    /// Shows the group to whoever only looks. After a failure it stays as it was last seen.
    fn show(&mut self, failed: bool) {
        match &self.cached {
            Some(cached) => {
                let views = &self.engine.0.views;
                let record = &cached.snapshot.record;
                let stamp = &cached.snapshot.stamp;
                views.show(&self.id, record, stamp, || cached.group.state());
                let is_settled = is_settled(&cached.group);
                self.unsettled_since = match self.unsettled_since {
                    _ if is_settled => None,
                    None => Some(Instant::now()),
                    since => since,
                };
            }
            None if !failed => self.engine.0.views.forget(&self.id),
            None => {}
        }
    }

    /// The group was changed: if that settled it, a round of handing over is through.
    pub(super) fn note_round(&self, after: &Group) {
        let is_through = is_settled(after) && after.live_members().next().is_some();
        if let Some(since) = self.unsettled_since.filter(|_| is_through) {
            metrics::rebalanced_within(since.elapsed());
        }
    }

    /// A change of the shard count is driven as long as a record has one, whoever began it.
    fn note_migration(&self) {
        let record = self.cached.as_ref().map(|cached| cached.group.record());
        if record.is_some_and(|record| record.migration.is_some()) {
            self.engine.drive(&self.id.stream);
        }
    }

    /// Decides what is asked: quietly if nothing but leases changes, else under the right to change the group.
    async fn decide_all(&mut self, mut asks: Vec<Ask>) -> Result<(), EngineError> {
        for _ in 0..ATTEMPTS {
            if asks.is_empty() {
                return Ok(());
            }
            asks = match self.decide_once(asks).await {
                Ok(left) => left,
                Err((asks, error)) => {
                    if let EngineError::Store(_) = &error {
                        self.engine.0.watchtower.trust_no_longer();
                    }
                    answer_all(asks, &error);
                    return Err(error);
                }
            };
        }
        for ask in asks {
            match ask {
                Ask::Heartbeat { answer, .. } => {
                    let _ = answer.send(Ok(HeartbeatOutcome::Retry));
                }
                other => answer_all(vec![other], &EngineError::Conflict),
            }
        }
        Err(EngineError::Conflict)
    }

    /// One attempt. Gives back what lost a race.
    async fn decide_once(&mut self, asks: Vec<Ask>) -> Result<Vec<Ask>, (Vec<Ask>, EngineError)> {
        let wants_leases = asks.iter().any(|ask| matches!(ask, Ask::Tick(_)));
        if (wants_leases || self.cached.is_none())
            && let Err(error) = self.load().await
        {
            return Err((asks, error.into()));
        }
        let Some(cached) = &self.cached else {
            answer_gone(asks);
            return Ok(Vec::new());
        };
        let mut quiet = Vec::with_capacity(asks.len());
        for ask in &asks {
            match steady::judge(self, cached, ask).await {
                Some(step) => quiet.push(step),
                None => return change::change(self, asks).await,
            }
        }
        steady::confirm(self, asks, quiet).await
    }

    /// Reads the group anew, its leases included.
    pub(super) async fn load(&mut self) -> Result<(), StoreError> {
        let known = self.cached.as_ref().map(|cached| &cached.snapshot);
        let snapshot = self.engine.store().load(&self.id, known).await?;
        self.see(snapshot)
    }

    /// Takes the right to change the group and sees it as it is. None where there is no such group: the right is given back then, as after a
    /// failure.
    pub(super) async fn begin(&mut self) -> Result<Option<Right>, StoreError> {
        let known = self.cached.as_ref().map(|cached| &cached.snapshot);
        let Begun {
            lock,
            snapshot,
            now,
        } = self.engine.store().begin(&self.id, known).await?;
        let seen = self.see(snapshot);
        if seen.is_err() || self.cached.is_none() {
            self.engine.store().release(lock).await;
            return seen.map(|()| None);
        }
        Ok(Some(Right { lock, now }))
    }

    /// Takes over what was read.
    pub(super) fn see(&mut self, snapshot: Option<Snapshot>) -> Result<(), StoreError> {
        self.cached = None;
        self.note_stamp(snapshot.as_ref());
        if let Some(snapshot) = snapshot {
            let mut cached = Cached::new(&self.engine, snapshot)?;
            cached.group = cached.group.knowing(self.known_epoch);
            self.known_epoch = cached.group.known_epoch();
            self.hub.correct(cached.group.metadata_version());
            self.cached = Some(cached);
        }
        Ok(())
    }

    /// The group is gone: one that is made anew under its name begins anew.
    pub(super) fn forget(&mut self) {
        self.cached = None;
        self.latest = None;
        self.known_epoch = GroupEpoch::default();
    }

    /// Takes over what this coordinator committed itself.
    pub(super) fn keep(&mut self, snapshot: Snapshot, group: Group) {
        self.note_stamp(Some(&snapshot));
        self.known_epoch = group.known_epoch();
        let engine = &self.engine.0;
        let at = engine.watchtower.next_moment();
        let record = Arc::clone(&snapshot.record);
        engine.listing.changed(record, snapshot.stamp.clone(), at);
        self.cached = Some(Cached { snapshot, group });
    }

    /// Rule C8: a record that is older than one that is known to have been committed, or another one of its revision. Where it was doubted since that one
    /// was seen, that loss is known already.
    fn note_stamp(&mut self, snapshot: Option<&Snapshot>) {
        let is_older = |latest: &Stamp, found: &Stamp| {
            found.revision < latest.revision
                || (found.revision == latest.revision && found.etag != latest.etag)
        };
        if let (Some((latest, seen_at)), Some(snapshot)) = (&self.latest, snapshot)
            && is_older(latest, &snapshot.stamp)
            && snapshot.record.lineage.doubted_at < Some(*seen_at)
        {
            tracing::warn!(group = describe(&self.id), known = %latest.revision, found = %snapshot.stamp.revision, "writes may be lost: the store has an older record than is known");
            self.went_back_at = snapshot.clone().doubted().doubted_at;
        }
        self.latest = snapshot.map(|snapshot| (snapshot.stamp.clone(), snapshot.now));
    }

    /// Rule C8: when the store last showed that what it has of this group may be older than what it was given.
    pub(super) fn doubted_at(&self) -> Option<Timestamp> {
        let snapshot = self.cached.as_ref().map(|cached| &cached.snapshot);
        let of_store = snapshot.and_then(|snapshot| self.engine.doubt_of(snapshot));
        self.went_back_at.max(of_store)
    }

    /// The latest doubt that is known of the group, acted on or not.
    pub(super) fn latest_doubt(&self) -> Option<Timestamp> {
        let record = self.cached.as_ref().map(|cached| cached.group.record());
        let acted_on = record.and_then(|record| record.lineage.doubted_at);
        self.doubted_at().max(acted_on)
    }

    /// The clock of a decision on what was read at `now`.
    ///
    /// # Errors
    /// [`StoreError`]: it can't be told.
    pub(super) async fn clock(&self, now: Timestamp) -> Result<Clock, StoreError> {
        let clock = self.engine.0.watchtower.clock(now).await?;
        Ok(Clock {
            doubted_at: self.doubted_at(),
            ..clock
        })
    }

    /// Another coordinator committed, or may have.
    async fn hear(&mut self, change: Change) {
        let seen = self
            .cached
            .as_ref()
            .map(|cached| cached.group.metadata_version());
        if change.version.is_some() && change.version == seen {
            return;
        }
        match change.version {
            Some(version) => self.hub.announce(version),
            None => {
                let loaded = self.load().await;
                self.show(loaded.is_err());
                if let Err(error) = loaded {
                    tracing::debug!(group = describe(&self.id), %error, "could not look at the group after news were missed");
                }
            }
        }
        // What is in memory is old now; when the group wants a tick is not known before it is looked at.
        self.engine
            .0
            .due
            .look_soon(&self.id, self.engine.0.watchtower.estimated_now());
    }

    /// Notes when the group wants its next tick; after a failure, with the next one.
    fn note_due(&self, failed: bool) {
        let (due, now) = (&self.engine.0.due, self.engine.0.watchtower.estimated_now());
        let deadline = match &self.cached {
            Some(cached) => cached.group.next_deadline(),
            None if failed => return due.look_soon(&self.id, now),
            None => None,
        };
        let now = now.unwrap_or_default();
        // After coordinators were away a deadline may be over and not count yet (rule M6): it is looked at again with a later tick.
        due.note(&self.id, deadline.map(|deadline| deadline.max(now)), now);
    }
}

/// Whether everybody has what it should. Rule M3.
fn is_settled(group: &Group) -> bool {
    matches!(group.state(), GroupState::Empty | GroupState::Stable)
}

/// Answers what was asked of a group that does not exist. Rule H3.
fn answer_gone(asks: Vec<Ask>) {
    for ask in asks {
        match ask {
            Ask::Heartbeat {
                heartbeat, answer, ..
            } => {
                let reply = decide_without_group(&heartbeat);
                let _ = answer.send(Ok(HeartbeatOutcome::Decided(reply)));
            }
            other => answer_all(vec![other], &EngineError::GroupNotFound),
        }
    }
}

pub(super) fn answer_all(asks: Vec<Ask>, error: &EngineError) {
    for ask in asks {
        match ask {
            Ask::Heartbeat { answer, .. } => drop(answer.send(Err(error.clone()))),
            Ask::Tell { answer, .. } => drop(answer.send(Err(error.clone()))),
            Ask::Look { answer } => drop(answer.send(Err(error.clone()))),
            Ask::Delete { answer, .. } => drop(answer.send(Err(error.clone()))),
            Ask::Tick(visit) => {
                let was_due = visit.is_some();
                tracing::debug!(%error, was_due, "a tick came to nothing");
            }
        }
    }
}

impl Ask {
    /// What the core is asked.
    pub(super) fn input(&self) -> Input {
        match self {
            Self::Heartbeat { heartbeat, .. } => Input::HeartbeatReceived((**heartbeat).clone()),
            Self::Tell { input, .. } => (**input).clone(),
            Self::Tick(_) | Self::Look { .. } => Input::TickDue,
            Self::Delete { force, .. } => Input::DeletionRequested { force: *force },
        }
    }
}
