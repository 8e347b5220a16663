//! The worker of one owned shard: it connects, recovers what is pending, then reads, hands over and acknowledges, until it
//! is told to end. It does not decide whether the shard is owned.

mod acks;
mod again;
mod board;
mod duty;
mod hand_over;
mod mending;
mod recovery;
mod step;
mod unordered;

use std::sync::Arc;
use std::time::Duration;

use protocol::ShardId;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

pub(crate) use duty::{Duty, Order};

use super::handler::AnyHandler;
use super::metrics::Counters;
use super::redis_side::{Connector, Entry, Identity, Reader, ShardStream, Trouble};
use super::settings::WorkerSettings;
use super::troubles::{TroubleKind, TroublesOfShard};
use crate::machine::{Event, GrantId};
use acks::Acks;
use unordered::Running;

/// Between two attempts to end a read's wait.
const WAKE_PAUSE: Duration = Duration::from_millis(20);
/// Between two signs of life of an owner, at most.
const REFRESH: Duration = Duration::from_secs(5);

/// How far a worker has come.
#[derive(Debug, Clone, Default)]
pub(crate) struct Progress {
    pub(crate) last_delivered: Option<Arc<str>>,
    pub(crate) last_acked: Option<Arc<str>>,
    pub(crate) pending: u64,
}

/// Why a worker has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// It was told to.
    Told,
    /// The shard is in another life than was told, or has another owner.
    Superseded,
}

/// See the module.
pub(crate) struct Worker {
    pub(crate) shard: ShardId,
    pub(crate) grant: GrantId,
    pub(crate) stream: ShardStream,
    pub(crate) connector: Arc<Connector>,
    pub(crate) handler: Arc<AnyHandler>,
    pub(crate) settings: WorkerSettings,
    pub(crate) counters: Arc<Counters>,
    pub(crate) troubles: TroublesOfShard,
    pub(crate) duty: Duty,
    pub(crate) events: mpsc::UnboundedSender<Event>,
    pub(crate) progress: watch::Sender<Progress>,
    pub(crate) state: State,
}

/// What a worker remembers from one connection to the next.
#[derive(Default)]
pub(crate) struct State {
    acks: Acks,
    /// The connection that was lost, if it was.
    earlier: Option<Identity>,
    /// The node of the last connection.
    node: Option<Arc<str>>,
    /// Failures in a row.
    failures: u32,
    /// Whether the shard was found to be all right.
    is_fine: bool,
    /// How many new entries were given since the last sign of life; unknown after a read that was given up.
    delivered: Option<u64>,
    /// How many entries are known as trimmed unread, once that was asked.
    trimmed: Option<u64>,
    /// When the last sign of life was given.
    refreshed: Option<Instant>,
    /// The entry that is not to be handled yet, and until when.
    held: Option<(Arc<str>, Instant)>,
    /// The entry at which the shard has stopped.
    halted: Option<Arc<str>>,
    /// Calls of the handler under way, where several are allowed.
    running: Running,
}

impl Worker {
    /// Works until it is told to end, or until the shard turns out to be another's. The end of this future is the end of all
    /// reading, handling and acknowledging.
    pub(crate) async fn run(mut self) -> End {
        self.report(Event::WorkerStarted {
            shard: self.shard,
            grant: self.grant,
        });
        while !self.duty.is_over() {
            let Err(trouble) = self.session().await else {
                continue;
            };
            if let Err(why) = self.mend(trouble).await {
                return self.give_up_the_shard(&why);
            }
        }
        self.finish_running().await;
        self.tidy_up().await;
        self.troubles.clear();
        End::Told
    }

    fn report(&self, event: Event) {
        // Nobody listens any more only when the whole client is being dropped.
        let _ = self.events.send(event);
    }

    /// The life of one connection. `Ok`: the duty is over.
    async fn session(&mut self) -> Result<(), Trouble> {
        let Some(mut reader) = self.connect().await? else {
            return Ok(());
        };
        self.stream.register(&reader).await?;
        (self.state.delivered, self.state.refreshed) = (None, None);
        self.acknowledge(&mut reader).await?;
        self.take_over(&mut reader).await?;
        match self.settings.unordered {
            None => self.work_in_order(&mut reader).await?,
            Some(most) => self.work_unordered(&mut reader, most).await?,
        }
        self.state.earlier = None;
        Ok(())
    }

    async fn work_in_order(&mut self, reader: &mut Reader) -> Result<(), Trouble> {
        self.recover(reader).await?;
        let mut looked = Instant::now();
        while !self.duty.is_over() {
            self.refresh_if_due(reader).await?;
            let entries = self.read(reader, self.settings.block).await?;
            if !entries.is_empty() {
                self.work_through(reader, entries, &[]).await?;
                self.acknowledge(reader).await?;
            } else if looked.elapsed() >= self.settings.recheck && !self.duty.is_over() {
                // Everything of ours is acknowledged: what is pending now was left by somebody else, after we had looked.
                if self.stream.has_pending(reader).await? {
                    self.take_over(reader).await?;
                    self.recover(reader).await?;
                }
                looked = Instant::now();
            }
        }
        Ok(())
    }

    /// `None`: told to end meanwhile.
    async fn connect(&mut self) -> Result<Option<Reader>, Trouble> {
        let connecting = async {
            let link = self.connector.open(&self.stream.key).await?;
            Reader::new(link).await
        };
        let mut reader = tokio::select! {
            biased;
            reader = connecting => reader?,
            () = self.duty.until(Order::Stop) => return Ok(None),
        };
        if let Some(earlier) = self.state.earlier.take() {
            reader.end_earlier(&earlier).await?;
        }
        self.state.earlier = reader.identity().cloned();
        self.state.node = Some(Arc::clone(reader.node()));
        self.progress.send_modify(|progress| progress.pending = 0);
        self.stream.bind(&mut reader).await?;
        Ok(Some(reader))
    }

    /// One blocking read. It is never dropped half-way: when the worker is told to end, the wait is ended at the server, its connection with
    /// it, and that is awaited (case C23). What it brings then stays pending for the next owner.
    async fn read(&mut self, reader: &mut Reader, block: Duration) -> Result<Vec<Entry>, Trouble> {
        let entries = self.wait_for_entries(reader, block).await?;
        self.note_read(entries.len());
        Ok(entries)
    }

    async fn wait_for_entries(
        &self,
        reader: &mut Reader,
        block: Duration,
    ) -> Result<Vec<Entry>, Trouble> {
        let mut waker = reader.waker();
        let reading = self
            .stream
            .read_new(reader, self.settings.read_count, block);
        tokio::pin!(reading);
        tokio::select! {
            biased;
            entries = &mut reading => return entries,
            () = self.duty.until(Order::Stop) => {}
        }
        let mut is_ended = false;
        loop {
            // Again and again, because the first may have come before the wait began.
            let waking = waker.wake();
            tokio::pin!(waking);
            let entries = tokio::select! {
                biased;
                entries = &mut reading => {
                    // Of a connection that broke by itself the server may know nothing yet: then somebody has to end it.
                    is_ended = is_ended || entries.is_err() && waking.await;
                    entries
                }
                ended = &mut waking => {
                    is_ended |= ended;
                    match tokio::time::timeout(WAKE_PAUSE, &mut reading).await {
                        Ok(entries) => entries,
                        Err(_) => continue,
                    }
                }
            };
            return match entries {
                Err(_) if is_ended => Ok(Vec::new()),
                entries => entries,
            };
        }
    }

    /// A read was answered: the shard is all right.
    fn note_read(&mut self, entries: usize) {
        self.state.failures = 0;
        self.state.delivered = self.state.delivered.map(|known| known + entries as u64);
        if !self.state.is_fine {
            self.troubles.clear();
            self.state.is_fine = true;
        }
    }

    /// The shard is not all right.
    fn note_trouble(&mut self, kind: TroubleKind, entry: Option<&str>, reason: &str) {
        self.state.is_fine = false;
        self.troubles.note(kind, entry, reason);
    }

    /// Where lives are told apart: a sign of life, and a look at what was trimmed unread (case C30).
    async fn refresh_if_due(&mut self, reader: &mut Reader) -> Result<(), Trouble> {
        let interval = REFRESH.min(self.settings.recheck);
        let known = self.state.refreshed;
        if known.is_some_and(|at| at.elapsed() < interval) {
            return Ok(());
        }
        if self.state.trimmed.is_none() {
            self.state.trimmed = self.stream.trimmed_before(reader).await?;
        }
        let trimmed = self.stream.refresh(reader, self.state.delivered).await?;
        if let (Some(before), Some(trimmed)) = (self.state.trimmed, trimmed)
            && trimmed > before
        {
            let more = trimmed - before;
            self.counters
                .trimmed_unread
                .add(usize::try_from(more).unwrap_or(usize::MAX));
            tracing::warn!(stream_key = %self.stream.key, entries = more, "entries were trimmed before they were read");
            self.state.trimmed = Some(trimmed);
        }
        (self.state.delivered, self.state.refreshed) = (Some(0), Some(Instant::now()));
        Ok(())
    }
}
