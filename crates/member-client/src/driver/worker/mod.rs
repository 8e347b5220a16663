//! The worker of one owned shard: it connects, recovers what is pending, then reads, hands over and acknowledges, until it
//! is told to end. It does not decide whether the shard is owned.

mod acks;
mod duty;
mod hand_over;
mod recovery;

use std::sync::Arc;
use std::time::Duration;

use protocol::ShardId;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

pub(crate) use duty::{Duty, Order};

use super::backoff::Backoff;
use super::handler::Handler;
use super::metrics::Counters;
use super::redis_side::{Connector, Entry, Identity, Reader, ShardStream, Trouble};
use crate::machine::{Event, GrantId};
use acks::Acks;

/// Between two attempts to end a read's wait.
const WAKE_PAUSE: Duration = Duration::from_millis(20);
/// How long a worker that ends tries to tidy up behind a connection it lost.
const TIDY_LIMIT: Duration = Duration::from_secs(2);

/// How a worker reads.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WorkerSettings {
    /// Entries per read.
    pub(crate) read_count: usize,
    /// How long a read waits at most.
    pub(crate) block: Duration,
    /// The pauses after errors of the handler.
    pub(crate) handler_backoff: Backoff,
    /// The pauses after errors of Redis.
    pub(crate) redis_backoff: Backoff,
    /// How often an idle worker looks for entries that somebody left pending.
    pub(crate) recheck: Duration,
}

/// How far a worker has come.
#[derive(Debug, Clone, Default)]
pub(crate) struct Progress {
    pub(crate) last_delivered: Option<Arc<str>>,
    pub(crate) last_acked: Option<Arc<str>>,
    pub(crate) pending: u64,
}

/// See the module.
pub(crate) struct Worker<H> {
    pub(crate) shard: ShardId,
    pub(crate) grant: GrantId,
    pub(crate) stream: ShardStream,
    pub(crate) connector: Arc<Connector>,
    pub(crate) handler: Arc<H>,
    pub(crate) settings: WorkerSettings,
    pub(crate) counters: Arc<Counters>,
    pub(crate) duty: Duty,
    pub(crate) events: mpsc::UnboundedSender<Event>,
    pub(crate) progress: watch::Sender<Progress>,
    pub(crate) state: State,
}

/// What a worker remembers from one connection to the next.
#[derive(Debug, Default)]
pub(crate) struct State {
    acks: Acks,
    /// The connection that was lost, if it was.
    earlier: Option<Identity>,
    /// The node of the last connection.
    node: Option<Arc<str>>,
    /// Failures in a row.
    failures: u32,
}

impl<H: Handler> Worker<H> {
    /// Works until it is told to end. The end of this future is the end of all reading, handling and acknowledging.
    pub(crate) async fn run(mut self) {
        self.report(Event::WorkerStarted {
            shard: self.shard,
            grant: self.grant,
        });
        while !self.duty.is_over() {
            if let Err(trouble) = self.session().await {
                self.mend(trouble).await;
            }
        }
        self.tidy_up().await;
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
        self.acknowledge(&mut reader).await?;
        self.recover(&mut reader).await?;
        let mut looked = Instant::now();
        while !self.duty.is_over() {
            let entries = self.read(&mut reader).await?;
            self.state.failures = 0;
            if !entries.is_empty() {
                self.work_through(&mut reader, entries, &[]).await?;
                self.acknowledge(&mut reader).await?;
            } else if looked.elapsed() >= self.settings.recheck && !self.duty.is_over() {
                // Everything of ours is acknowledged: what is pending now was left by somebody else, after we had looked.
                if self.stream.has_pending(&mut reader).await? {
                    self.recover(&mut reader).await?;
                }
                looked = Instant::now();
            }
        }
        self.state.earlier = None;
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
        Ok(Some(reader))
    }

    /// One blocking read. It is never dropped half-way: when the worker is told to end, the wait is ended at the server and
    /// the answer awaited (case C23). What it brings then stays pending for the next owner.
    async fn read(&mut self, reader: &mut Reader) -> Result<Vec<Entry>, Trouble> {
        let mut waker = reader.waker();
        let reading = self
            .stream
            .read_new(reader, self.settings.read_count, self.settings.block);
        tokio::pin!(reading);
        tokio::select! {
            biased;
            entries = &mut reading => return entries,
            () = self.duty.until(Order::Stop) => {}
        }
        loop {
            // Again and again, because the first may have come before the wait began.
            let wake = async {
                waker.wake().await;
                tokio::time::sleep(WAKE_PAUSE).await;
            };
            tokio::select! {
                biased;
                entries = &mut reading => return entries,
                () = wake => {}
            }
        }
    }

    /// After an error: what can be repaired is, and then comes a pause that grows with every error in a row.
    async fn mend(&mut self, trouble: Trouble) {
        self.state.failures = self.state.failures.saturating_add(1);
        self.counters.reconnects.increment();
        let (failures, redis) = (self.state.failures, self.connector.places());
        // Ever more rarely: many shards share one Redis, and it may be away for long.
        if failures.is_power_of_two() {
            tracing::warn!(stream_key = %self.stream.key, grant = %self.grant, redis, failures, error = %trouble, "the shard is read again after a pause");
        } else {
            tracing::debug!(stream_key = %self.stream.key, grant = %self.grant, redis, failures, error = %trouble, "the shard is read again after a pause");
        }
        if let Some(node) = self.state.node.take() {
            self.connector.forget(&node);
        }
        let backoff = self.settings.redis_backoff;
        let pause = match trouble {
            Trouble::GroupMissing(_) => {
                self.repair_group().await;
                backoff.pause(self.state.failures)
            }
            Trouble::Refused(_) => backoff.longest(),
            Trouble::Reconnect(_) | Trouble::Silent(_) => backoff.pause(self.state.failures),
        };
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = self.duty.until(Order::Stop) => {}
        }
    }

    /// Cases C01 and C02: the owner, and nobody else, creates the group anew, at the beginning of the stream. A stream that
    /// does not exist is left alone: creating streams is the coordinator's business.
    async fn repair_group(&mut self) {
        let outcome = match self.connect().await {
            Ok(Some(mut reader)) if !self.duty.is_over() => {
                self.stream.create_group(&mut reader).await
            }
            Ok(_) => return,
            Err(trouble) => Err(trouble),
        };
        match outcome {
            Ok(created) => {
                self.counters.group_repairs.add(usize::from(created));
                tracing::warn!(stream_key = %self.stream.key, created, "the consumer group was missing");
            }
            Err(trouble) if self.state.failures.is_power_of_two() => {
                tracing::warn!(stream_key = %self.stream.key, error = %trouble, "the consumer group could not be created");
            }
            Err(_) => {}
        }
    }

    /// If the last connection was lost: makes sure that it takes no entries any more, and sends what is to be acknowledged.
    async fn tidy_up(&mut self) {
        if self.state.earlier.is_none() && self.state.acks.is_empty() {
            return;
        }
        let tidy = async {
            let link = self.connector.open(&self.stream.key).await?;
            let mut reader = Reader::new(link).await?;
            if let Some(earlier) = self.state.earlier.take() {
                reader.end_earlier(&earlier).await?;
            }
            self.acknowledge(&mut reader).await
        };
        match tokio::time::timeout(TIDY_LIMIT, tidy).await {
            Ok(Ok(())) => {}
            Ok(Err(trouble)) => tracing::debug!(error = %trouble, "nothing could be tidied up"),
            Err(_) => tracing::debug!("tidying up took too long"),
        }
    }
}
