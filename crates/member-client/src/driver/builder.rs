//! Settings of a client, checked before anything is started. It connects to nothing.

use std::sync::Arc;
use std::time::Duration;

use coordinator_client::CoordinatorClient;

use super::backoff::Backoff;
use super::build_error::{BuildError, from_settings};
use super::client::{MemberClient, Parts};
use super::handler::{AnyHandler, Handler, Handling, Outcome, call};
use super::member::Shared;
use super::metrics::Counters;
use super::naming;
use super::record::Record;
use super::redis_side::Connector;
use super::settings::{Exhausted, WorkerSettings};
use super::troubles::Troubles;
use crate::machine::MachineSettings;

/// Settings of a [`MemberClient`]. Needed are the coordinator, a Redis URL and the stream prefix.
#[derive(Debug, Clone)]
pub struct MemberClientBuilder<H> {
    handler: H,
    call: fn(Arc<H>, Record) -> Handling,
    coordinator: Option<CoordinatorClient>,
    redis_urls: Vec<String>,
    stream_prefix: String,
    consumer_group: Option<String>,
    member_base: Option<String>,
    concurrency: u32,
    machine: MachineSettings,
    request_timeout: Option<Duration>,
    read_count: usize,
    block: Duration,
    handler_backoff: (Duration, Duration),
    recheck_interval: Duration,
    max_attempts: u32,
    exhausted: Exhausted,
    unordered: Option<usize>,
    watch: bool,
}

impl<H: Send + Sync + 'static> MemberClientBuilder<H> {
    pub(super) fn new<T: Into<Outcome>>(handler: H) -> Self
    where
        H: Handler<T>,
    {
        Self {
            handler,
            call: call::<H, T>,
            coordinator: None,
            redis_urls: Vec::new(),
            stream_prefix: String::new(),
            consumer_group: None,
            member_base: None,
            concurrency: 1,
            machine: MachineSettings::new("", ""),
            request_timeout: None,
            read_count: 100,
            block: Duration::from_secs(1),
            handler_backoff: (Duration::from_millis(100), Duration::from_secs(10)),
            recheck_interval: Duration::from_secs(30),
            max_attempts: 5,
            exhausted: Exhausted::DeadLetter,
            unordered: None,
            watch: true,
        }
    }

    /// The coordinator, with credentials if it asks for any.
    #[must_use]
    pub fn coordinator(mut self, client: CoordinatorClient) -> Self {
        self.coordinator = Some(client);
        self
    }

    /// Where Redis is: one URL of a server, or several of nodes of one cluster.
    #[must_use]
    pub fn redis_urls<I>(mut self, urls: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        self.redis_urls = urls.into_iter().map(Into::into).collect();
        self
    }

    /// The logical stream to consume.
    #[must_use]
    pub fn stream_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.stream_prefix = prefix.into();
        self
    }

    /// The consumer group; named like the prefix unless set.
    #[must_use]
    pub fn consumer_group(mut self, group: impl Into<String>) -> Self {
        self.consumer_group = Some(group.into());
        self
    }

    /// What the members are called: `<base>-m0`, `<base>-m1`, … Unless set, the first of: the environment's `POD_IP`, the
    /// name of the host, a random name. Two processes must not use the same; where two run on one host, set it, to
    /// something that is the same after a restart.
    #[must_use]
    pub fn member_base(mut self, base: impl Into<String>) -> Self {
        self.member_base = Some(base.into());
        self
    }

    /// A name for people, shown in monitoring.
    #[must_use]
    pub fn member_name(mut self, name: impl Into<String>) -> Self {
        self.machine.member_name = Some(name.into());
        self
    }

    /// Where the process runs, for placement policies.
    #[must_use]
    pub fn rack(mut self, rack: impl Into<String>) -> Self {
        self.machine.rack = Some(rack.into());
        self
    }

    /// How many members the process is: the share of shards it gets, compared to other processes. 1 unless set. Each shard
    /// is read by a task of its own, whatever this is.
    #[must_use]
    pub fn concurrency(mut self, members: u32) -> Self {
        self.concurrency = members;
        self
    }

    /// How often to send heartbeats until the coordinator says otherwise; 3 s unless set.
    #[must_use]
    pub fn heartbeat_interval(mut self, interval: Duration) -> Self {
        self.machine.heartbeat_interval_ms = millis(interval);
        self
    }

    /// How long a member lives without heartbeats until the coordinator says otherwise; 15 s unless set.
    #[must_use]
    pub fn member_lease_ttl(mut self, ttl: Duration) -> Self {
        self.machine.member_lease_ttl_ms = millis(ttl);
        self
    }

    /// By how many percent the client's own lease is shorter (rule T2); 10 unless set.
    #[must_use]
    pub fn lease_margin_percent(mut self, percent: u32) -> Self {
        self.machine.lease_margin_percent = percent;
        self
    }

    /// How long one heartbeat may take before it counts as lost; the heartbeat interval unless set.
    #[must_use]
    pub fn request_timeout(mut self, limit: Duration) -> Self {
        self.request_timeout = Some(limit);
        self
    }

    /// How long leaving may take; 30 s unless set. A process that is not in the group when it is told to end takes one heartbeat
    /// interval at most.
    #[must_use]
    pub fn shutdown_timeout(mut self, limit: Duration) -> Self {
        self.machine.shutdown_timeout_ms = millis(limit);
        self
    }

    /// How many entries to read at once; 100 unless set.
    #[must_use]
    pub fn read_count(mut self, entries: usize) -> Self {
        self.read_count = entries;
        self
    }

    /// How long a read waits for entries; 1 s unless set. Reads that must end earlier are ended at the server; where the
    /// rights for that are lacking, giving up a shard takes this long.
    #[must_use]
    pub fn block(mut self, wait: Duration) -> Self {
        self.block = wait;
        self
    }

    /// The first and the longest pause before a record that the handler refused is handed over again; 100 ms and 10 s.
    #[must_use]
    pub fn handler_backoff(mut self, first: Duration, longest: Duration) -> Self {
        self.handler_backoff = (first, longest);
        self
    }

    /// How often an idle worker looks for entries that were left pending behind its back; 30 s unless set.
    #[must_use]
    pub fn recheck_interval(mut self, interval: Duration) -> Self {
        self.recheck_interval = interval;
        self
    }

    /// How many attempts are made at a record, on shards whose lives are told apart; 5 unless set. Attempts are counted beside
    /// the shard before they are made, so that those count too of which a process died (case C21). Only the first costs
    /// nothing: of a record that was delivered and not acknowledged, one attempt is taken for made. With 1, whatever an
    /// earlier owner left is given up without another look.
    #[must_use]
    pub fn max_attempts(mut self, attempts: u32) -> Self {
        self.max_attempts = attempts;
        self
    }

    /// What happens to a record after its last attempt; it becomes a dead letter unless set.
    #[must_use]
    pub fn when_exhausted(mut self, what: Exhausted) -> Self {
        self.exhausted = what;
        self
    }

    /// Gives up the order within a shard: up to so many of its records are handled at once, and one that is postponed does not
    /// hold up others. Unless set, a shard's records are handled one after another, in order.
    #[must_use]
    pub fn unordered_in_flight(mut self, records: usize) -> Self {
        self.unordered = Some(records);
        self
    }

    /// Whether to wait at the coordinator for changes, so that they are seen at once. On unless set.
    #[must_use]
    pub fn watch(mut self, on: bool) -> Self {
        self.watch = on;
        self
    }

    /// Checks the settings.
    ///
    /// # Errors
    ///
    /// The first setting that can't work, by the name of its method.
    pub fn build(mut self) -> Result<MemberClient, BuildError> {
        let coordinator = self
            .coordinator
            .take()
            .ok_or_else(|| BuildError::new("coordinator", "is missing"))?;
        let consumer_group = self
            .consumer_group
            .take()
            .unwrap_or_else(|| self.stream_prefix.clone());
        self.check(&consumer_group)?;
        let connector = Connector::new(&self.redis_urls).map_err(BuildError::RedisUrl)?;
        let base = self.member_base.take().unwrap_or_else(naming::default_base);
        let members = self.members(&base)?;
        let interval = Duration::from_millis(self.machine.heartbeat_interval_ms);
        let (handler, call) = (Arc::new(self.handler), self.call);
        let handler: Arc<AnyHandler> = Arc::new(move |record| call(Arc::clone(&handler), record));
        let shared = Shared {
            coordinator,
            connector: Arc::new(connector),
            handler,
            stream_prefix: self.stream_prefix.into(),
            consumer_group: consumer_group.into(),
            request_timeout: self.request_timeout.unwrap_or(interval),
            worker: WorkerSettings {
                read_count: self.read_count,
                block: self.block,
                handler_backoff: Backoff::new(self.handler_backoff.0, self.handler_backoff.1),
                redis_backoff: Backoff::new(Duration::from_millis(50), Duration::from_secs(2)),
                recheck: self.recheck_interval,
                max_attempts: self.max_attempts,
                exhausted: self.exhausted,
                unordered: self.unordered,
            },
            counters: Arc::new(Counters::default()),
            troubles: Arc::new(Troubles::default()),
        };
        Ok(MemberClient::new(Parts {
            shared: Arc::new(shared),
            members,
            watch: self.watch,
        }))
    }

    fn check(&self, consumer_group: &str) -> Result<(), BuildError> {
        protocol::check_stream_prefix(&self.stream_prefix)
            .map_err(|error| BuildError::new("stream_prefix", error.problem.to_string()))?;
        protocol::check_consumer_group(consumer_group)
            .map_err(|error| BuildError::new("consumer_group", error.problem.to_string()))?;
        if self.redis_urls.is_empty() {
            return Err(BuildError::new("redis_urls", "at least one is needed"));
        }
        if self.concurrency == 0 {
            return Err(BuildError::new("concurrency", "must not be 0"));
        }
        if self.read_count == 0 {
            return Err(BuildError::new("read_count", "must not be 0"));
        }
        if self.max_attempts == 0 {
            return Err(BuildError::new("max_attempts", "must not be 0"));
        }
        if self.unordered == Some(0) {
            return Err(BuildError::new("unordered_in_flight", "must not be 0"));
        }
        if millis(self.block) == 0 || millis(self.block) > self.machine.member_lease_ttl_ms / 2 {
            let most = self.machine.member_lease_ttl_ms / 2;
            let problem = format!(
                "is {:?}, must be from 1 ms to half of member_lease_ttl ({most} ms)",
                self.block
            );
            return Err(BuildError::new("block", problem));
        }
        if self.request_timeout.is_some_and(|limit| limit.is_zero()) {
            return Err(BuildError::new("request_timeout", "must not be 0"));
        }
        let (first, longest) = self.handler_backoff;
        if first.is_zero() || longest < first {
            let problem =
                format!("is {first:?} to {longest:?}, must be longer than 0 and not go down");
            return Err(BuildError::new("handler_backoff", problem));
        }
        Ok(())
    }

    /// Settings of each member. They share the name of this incarnation of the process.
    fn members(&self, base: &str) -> Result<Vec<MachineSettings>, BuildError> {
        let instance_id = uuid::Uuid::new_v4().to_string();
        let member = |index| {
            let (_, jitter_seed) = uuid::Uuid::new_v4().as_u64_pair();
            let settings = MachineSettings {
                member_id: naming::member_id(base, index),
                instance_id: instance_id.clone(),
                jitter_seed,
                ..self.machine.clone()
            };
            settings.check().map(|()| settings)
        };
        (0..self.concurrency)
            .map(member)
            .collect::<Result<_, _>>()
            .map_err(from_settings)
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
