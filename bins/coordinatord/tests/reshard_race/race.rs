//! Producers, members and two coordinator processes around one stream whose shard count changes, and what must be true afterwards.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use coordinator_client::{CoordinatorClient, Credentials};
use member_client::{MemberClient, RunningClient};
use producer_client::{Producer, PublishError, Record};
use protocol::{Migration, MigrationState, Migrations};
use testkit::{RedisServer, wait_until_async};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::resharding::coordinator::Operator;
use crate::resharding::journal::Journal;
use crate::resharding::streams::Streams;
use crate::support::Daemon;
use crate::support::watched::watched;

pub(crate) const MESSAGES: u64 = 10_000;
const PRODUCERS: u64 = 4;
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
/// As many are published before, between and after the changes; more while each is under way.
pub(crate) const BETWEEN: usize = 1_000;
pub(crate) const DURING: usize = 2_000;

/// How a producer publishes.
#[derive(Clone, Copy)]
enum Way {
    Plain,
    Exact,
    Once,
}

pub(crate) struct Race {
    /// Where everybody looks for Redis.
    redis: String,
    daemons: Vec<Daemon>,
    pub(crate) operator: Operator,
    pub(crate) journal: Journal,
    /// One for each message that may be published.
    permits: Arc<Semaphore>,
    published: Arc<AtomicU64>,
    producers: JoinSet<()>,
}

impl Race {
    /// A coordinator that seals the shards that leave soon after producers were told.
    async fn daemon(redis: &str) -> Daemon {
        Daemon::start(&[
            "--store",
            redis,
            "--heartbeat-interval",
            "200ms",
            "--member-lease-ttl",
            "1s",
            "--routing-lease",
            "1s",
        ])
        .await
    }

    /// Two coordinators, a stream of 8 shards and its producers, all with the same URL of Redis.
    pub(crate) async fn start(redis: String) -> Self {
        let daemons = vec![Self::daemon(&redis).await, Self::daemon(&redis).await];
        daemons[0].ready().await;
        daemons[0].create("orders", 8).await;
        let mut race = Self {
            operator: Operator::new(
                &format!("http://{}", daemons[0].address),
                daemons[0].conformity.judge(),
            ),
            redis,
            daemons,
            journal: Journal::default(),
            permits: Arc::new(Semaphore::new(0)),
            published: Arc::new(AtomicU64::new(0)),
            producers: JoinSet::new(),
        };
        let ways = [Way::Plain, Way::Exact, Way::Plain, Way::Once];
        for (producer, way) in (0..PRODUCERS).zip(ways) {
            race.produce(producer, way);
        }
        race
    }

    fn client(&self) -> CoordinatorClient {
        let urls = self.daemons.iter();
        let urls = urls.map(|daemon| format!("http://{}", daemon.address));
        watched(urls, self.daemons[0].conformity.judge())
            .credentials(Credentials::basic("admin", "admin"))
            .build()
            .unwrap()
    }

    fn produce(&mut self, producer: u64, way: Way) {
        let client = Producer::builder(self.client(), "orders", [&self.redis])
            .refresh_interval(Duration::from_millis(500))
            .build()
            .unwrap();
        let (permits, published) = (Arc::clone(&self.permits), Arc::clone(&self.published));
        self.producers.spawn(async move {
            for number in (producer..MESSAGES).step_by(usize::try_from(PRODUCERS).unwrap()) {
                permits.acquire().await.unwrap().forget();
                publish(&client, way, number).await;
                published.fetch_add(1, Ordering::SeqCst);
            }
            client.close().await;
        });
    }

    pub(crate) fn members(&self, base: &str) -> RunningClient {
        MemberClient::builder(self.journal.clone())
            .coordinator(self.client())
            .redis_urls([&self.redis])
            .stream_prefix("orders")
            .member_base(base)
            .concurrency(3)
            .heartbeat_interval(Duration::from_millis(200))
            .member_lease_ttl(Duration::from_secs(1))
            .block(Duration::from_millis(100))
            .build()
            .unwrap()
            .start()
    }

    /// Lets messages be published, and waits until they are.
    pub(crate) async fn publish(&self, messages: usize) {
        let until = self.published.load(Ordering::SeqCst) + messages as u64;
        self.permits.add_permits(messages);
        let are_out = || async { self.published.load(Ordering::SeqCst) >= until };
        wait_until_async(PATIENCE, are_out).await.unwrap();
    }

    /// The latest change; none where there was none yet, or where nobody can tell just now.
    pub(crate) async fn latest(&self) -> Option<Migration> {
        let found: Migrations = self.operator.migrations("orders", "orders").await.ok()?;
        found.migrations.into_iter().next()
    }

    /// Begins a change while messages are being published, and waits until it is so far.
    pub(crate) async fn scale_until(&self, target: u32, state: MigrationState) {
        self.permits.add_permits(DURING);
        assert_eq!(self.operator.scale("orders", target).await.unwrap(), 202);
        self.reached(state).await;
    }

    pub(crate) async fn reached(&self, state: MigrationState) {
        let is_so_far = || async { self.is(state).await };
        let outcome = wait_until_async(PATIENCE, is_so_far).await;
        assert!(outcome.is_ok(), "not {state:?}: {:?}", self.latest().await);
    }

    pub(crate) async fn is(&self, state: MigrationState) -> bool {
        self.latest()
            .await
            .is_some_and(|latest| latest.state == state)
    }

    /// Lets messages be published, and waits for none of them.
    pub(crate) fn permit(&self, messages: usize) {
        self.permits.add_permits(messages);
    }

    /// Publishes the rest, waits until all is handled, and judges.
    pub(crate) async fn finish(self, members: RunningClient, server: &RedisServer) {
        let all: Vec<u64> = (0..MESSAGES).collect();
        let streams = self
            .finish_with(members, server, async |_| all.clone())
            .await;
        let mut entries = 0;
        for key in &streams.all().await {
            entries += streams.numbers(key).await.len();
        }
        assert!(entries >= usize::try_from(MESSAGES).unwrap(), "{entries}");
    }

    /// The same after a failover that lost what was written last: what the new master had when it took over must be handled, and what came after.
    pub(crate) async fn finish_with_survivors(
        self,
        members: RunningClient,
        server: &RedisServer,
        survivors: BTreeSet<u64>,
    ) {
        self.finish_with(members, server, async |streams: &Streams| {
            let mut wanted = survivors.clone();
            wanted.extend(numbers(streams).await);
            wanted.into_iter().collect()
        })
        .await;
    }

    async fn finish_with(
        mut self,
        members: RunningClient,
        server: &RedisServer,
        wanted: impl AsyncFn(&Streams) -> Vec<u64>,
    ) -> Streams {
        self.permits.add_permits(usize::try_from(MESSAGES).unwrap());
        while let Some(ended) = self.producers.join_next().await {
            ended.unwrap();
        }
        let streams = Streams::on(server, "orders").await;
        let wanted = wanted(&streams).await;
        let left = || {
            let handled = self.journal.numbers();
            wanted.iter().filter(|it| !handled.contains(it)).count()
        };
        let outcome = wait_until_async(PATIENCE, || async { left() == 0 }).await;
        assert!(outcome.is_ok(), "{} of {} lost", left(), wanted.len());
        members.shutdown().await;
        assert_eq!(self.journal.overlaps(), 0);
        println!("{} handled twice", self.journal.repetitions());
        check_streams(&streams).await;
        streams
    }
}

/// What is in all streams, retired ones included.
pub(crate) async fn numbers(streams: &Streams) -> BTreeSet<u64> {
    let mut found = BTreeSet::new();
    for key in &streams.all().await {
        found.extend(streams.numbers(key).await);
    }
    found
}

/// Nothing is left in a stream, be it live or retired, and only live ones bear their names.
async fn check_streams(streams: &Streams) {
    let all = streams.all().await;
    for key in &all {
        let is_retired = key.contains(":retired:");
        let is_live = (0..8).any(|shard| *key == streams.key(shard));
        assert!(is_live || is_retired, "{key}");
        let groups = streams.groups(key).await;
        assert_eq!(groups, [("orders".to_owned(), 0)], "{key}");
        assert!(!streams.has_unread(key).await, "{key}");
    }
    // 12 to 5 retires 7 shards, of which 3 are made anew.
    assert_eq!(all.len(), 8 + 7, "{all:?}");
}

/// Publishes until it is told that it was published.
async fn publish(client: &Producer, way: Way, number: u64) {
    let text = number.to_string();
    let key = format!("key-{}", number % 997);
    let record = Record::new(&key).field("n", &text);
    let last = std::sync::Mutex::new(String::new());
    let is_out = || async {
        let outcome: Result<(), PublishError> = match way {
            Way::Plain => client.publish(&key, [("n", &text)]).await.map(drop),
            Way::Exact => client.publish_exact(&record).await.map(drop),
            Way::Once => client.publish_once(&text, &record).await.map(drop),
        };
        match outcome {
            Ok(()) => true,
            Err(error) => {
                assert!(error.is_retryable(), "{number}: {error}");
                *last.lock().unwrap() = error.to_string();
                false
            }
        }
    };
    let outcome = wait_until_async(PATIENCE, is_out).await;
    assert!(outcome.is_ok(), "{number}: {}", last.lock().unwrap());
}
