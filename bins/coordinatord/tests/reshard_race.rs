//! Publishing that races changes of the shard count, with two coordinator processes and real members: whatever Redis took is handled, and no shard is read by
//! two at once. Case C47.
#![allow(clippy::unwrap_used)]

mod resharding;
mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use coordinator_client::{CoordinatorClient, Credentials};
use member_client::{MemberClient, RunningClient};
use producer_client::{Producer, PublishError, Record};
use protocol::{Migration, MigrationState, Migrations};
use resharding::coordinator::Operator;
use resharding::journal::Journal;
use resharding::streams::Streams;
use support::Daemon;
use testkit::{RedisServer, wait_until_async};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

const MESSAGES: u64 = 10_000;
const PRODUCERS: u64 = 4;
const PATIENCE: Duration = Duration::from_secs(60);
/// As many are published before, between and after the changes; more while each is under way.
const BETWEEN: usize = 1_000;
const DURING: usize = 2_000;

/// How a producer publishes.
#[derive(Clone, Copy)]
enum Way {
    Plain,
    Exact,
    Once,
}

struct Race {
    redis: RedisServer,
    daemons: Vec<Daemon>,
    operator: Operator,
    journal: Journal,
    /// One for each message that may be published.
    permits: Arc<Semaphore>,
    published: Arc<AtomicU64>,
    producers: JoinSet<()>,
}

impl Race {
    /// A coordinator that seals the shards that leave soon after producers were told.
    async fn daemon(redis: &RedisServer) -> Daemon {
        let url = redis.url();
        Daemon::start(&[
            "--store",
            &url,
            "--heartbeat-interval",
            "200ms",
            "--member-lease-ttl",
            "1s",
            "--routing-lease",
            "1s",
        ])
        .await
    }

    async fn start() -> Self {
        let redis = RedisServer::builder().start().unwrap();
        let daemons = vec![Self::daemon(&redis).await, Self::daemon(&redis).await];
        daemons[0].ready().await;
        daemons[0].create("orders", 8).await;
        let mut race = Self {
            operator: Operator::new(&format!("http://{}", daemons[0].address)),
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
        CoordinatorClient::builder(urls.map(|daemon| format!("http://{}", daemon.address)))
            .credentials(Credentials::basic("admin", "admin"))
            .build()
            .unwrap()
    }

    fn produce(&mut self, producer: u64, way: Way) {
        let client = Producer::builder(self.client(), "orders", [self.redis.url()])
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

    fn members(&self, base: &str) -> RunningClient {
        MemberClient::builder(self.journal.clone())
            .coordinator(self.client())
            .redis_urls([self.redis.url()])
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
    async fn publish(&self, messages: usize) {
        let until = self.published.load(Ordering::SeqCst) + messages as u64;
        self.permits.add_permits(messages);
        let are_out = || async { self.published.load(Ordering::SeqCst) >= until };
        wait_until_async(PATIENCE, are_out).await.unwrap();
    }

    async fn latest(&self) -> Migration {
        let found: Migrations = self.operator.migrations("orders", "orders").await.unwrap();
        found.migrations.into_iter().next().unwrap()
    }

    /// Begins a change while messages are being published, and waits until it is so far.
    async fn scale_until(&self, target: u32, state: MigrationState) {
        self.permits.add_permits(DURING);
        assert_eq!(self.operator.scale("orders", target).await.unwrap(), 202);
        self.reached(state).await;
    }

    async fn reached(&self, state: MigrationState) {
        let is_so_far = || async { self.latest().await.state == state };
        let outcome = wait_until_async(PATIENCE, is_so_far).await;
        assert!(outcome.is_ok(), "not {state:?}: {:?}", self.latest().await);
    }

    /// Publishes the rest, waits until all is handled, and judges.
    async fn finish(mut self, members: RunningClient) {
        let total = usize::try_from(MESSAGES).unwrap();
        self.permits.add_permits(total);
        while let Some(ended) = self.producers.join_next().await {
            ended.unwrap();
        }
        let are_handled = || async { self.journal.numbers().len() == total };
        let outcome = wait_until_async(PATIENCE, are_handled).await;
        let handled = self.journal.numbers();
        let lost: Vec<u64> = (0..MESSAGES).filter(|it| !handled.contains(it)).collect();
        assert!(outcome.is_ok(), "{} lost: {lost:?}", lost.len());
        members.shutdown().await;
        assert_eq!(self.journal.overlaps(), 0);
        println!("{} handled twice", self.journal.repetitions());
        self.check_streams().await;
    }

    /// Nothing is left in a stream, be it live or retired, and only live ones bear their names.
    async fn check_streams(&self) {
        let streams = Streams::on(&self.redis, "orders").await;
        let all = streams.all().await;
        let mut entries = 0;
        for key in &all {
            let is_retired = key.contains(":retired:");
            let is_live = (0..8).any(|shard| *key == streams.key(shard));
            assert!(is_live || is_retired, "{key}");
            entries += streams.numbers(key).await.len();
            let groups = streams.groups(key).await;
            assert_eq!(groups, [("orders".to_owned(), 0)], "{key}");
            assert!(!streams.has_unread(key).await, "{key}");
        }
        assert!(entries >= usize::try_from(MESSAGES).unwrap(), "{entries}");
        // 12 to 5 retires 7 shards, of which 3 are made anew.
        assert_eq!(all.len(), 8 + 7, "{all:?}");
    }
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

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_of_10_000_messages_that_race_8_to_12_to_5_to_8_are_handled_c47() {
    let race = Race::start().await;
    let members = race.members("members");
    race.publish(BETWEEN).await;
    for target in [12, 5, 8] {
        race.scale_until(target, MigrationState::Deprecated).await;
        race.publish(BETWEEN).await;
    }
    race.finish(members).await;
}

/// Rule G6: without members nothing is retired that has something in it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_of_10_000_messages_are_handled_when_every_consumer_was_dead_during_the_scale_in_c47() {
    let race = Race::start().await;
    let members = race.members("members");
    race.publish(BETWEEN).await;
    race.scale_until(12, MigrationState::Deprecated).await;
    drop(members);
    race.publish(BETWEEN).await;
    race.scale_until(5, MigrationState::Draining).await;
    race.publish(BETWEEN).await;
    assert_eq!(race.latest().await.state, MigrationState::Draining);
    let members = race.members("successors");
    race.reached(MigrationState::Deprecated).await;
    race.scale_until(8, MigrationState::Deprecated).await;
    race.finish(members).await;
}
