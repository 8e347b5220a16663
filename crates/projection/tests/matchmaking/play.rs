//! The case of B3, played. The servers are started by others.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use projection::redis::aio::{ConnectionManager, ConnectionManagerConfig};
use projection::{
    Limit, Namespace, Position, Projection, ProjectionName, Range, RedisIndex, ServedBy, Settings,
    Source, SourceError, redis,
};
use testkit::{RedisServer, wait_until, wait_until_async};

use crate::postgres::Postgres;
use crate::tickets::{Ticket, Tickets};
use crate::worker::{Round, Worker};

const PATIENCE: Duration = Duration::from_secs(30);
const INDEX_TIMEOUT: Duration = Duration::from_millis(100);
/// What a machine under load may add to any waiting.
const SLACK: Duration = Duration::from_millis(900);
/// How many have to be matched before the next thing happens to Redis.
const ENOUGH: usize = 100;

/// The table, with a note of its slowest answer.
struct Timed {
    tickets: Tickets,
    slowest: std::sync::Mutex<Duration>,
}

#[async_trait]
impl Source<Ticket> for Timed {
    async fn head(&self, namespace: &Namespace, range: &Range) -> Result<Vec<Ticket>, SourceError> {
        let begun = Instant::now();
        let answer = self.tickets.head(namespace, range).await;
        let mut slowest = self.slowest.lock().unwrap();
        *slowest = begun.elapsed().max(*slowest);
        answer
    }

    async fn page(
        &self,
        namespace: &Namespace,
        after: Option<&Position>,
        count: usize,
    ) -> Result<Vec<Ticket>, SourceError> {
        self.tickets.page(namespace, after, count).await
    }
}

struct Scene {
    tickets: Tickets,
    timed: Arc<Timed>,
    projection: Projection<Ticket>,
    redis: RedisServer,
    _postgres: Postgres,
}

fn playlist(name: &str) -> Namespace {
    Namespace::new(name).unwrap()
}

async fn scene() -> Scene {
    let postgres = Postgres::start().await;
    let redis = RedisServer::builder().start().unwrap();
    let tickets = Tickets::connect(&postgres.address()).await.unwrap();
    let timed = Arc::new(Timed {
        tickets: tickets.clone(),
        slowest: std::sync::Mutex::default(),
    });
    let config = ConnectionManagerConfig::new().set_max_delay(Duration::from_millis(100));
    let link = ConnectionManager::new_lazy_with_config(redis.client(), config).unwrap();
    let index = RedisIndex::new(ProjectionName::new("tickets").unwrap(), link);
    let settings = Settings::default()
        .index_timeout(INDEX_TIMEOUT)
        .breaker_pause(Duration::from_millis(200))
        .repair_interval(Duration::from_millis(50));
    let projection = Projection::shared(timed.clone(), Some(Arc::new(index)), settings);
    Scene {
        tickets,
        timed,
        projection,
        redis,
        _postgres: postgres,
    }
}

impl Scene {
    async fn enqueue(&self, name: &str, count: i64, from: i64) -> Vec<String> {
        let mut ids = Vec::new();
        for number in 0..count {
            let id = format!("{name}-{:04}", from + number);
            let ticket = self
                .tickets
                .enqueue(name, &id, from + number)
                .await
                .unwrap();
            let _ = self.projection.upsert(&ticket).await;
            ids.push(id);
        }
        ids
    }

    fn worker(&self, name: &str) -> Worker {
        Worker::new(
            name,
            playlist(name),
            self.tickets.clone(),
            self.projection.clone(),
        )
    }

    async fn rebuild(&self, name: &str) {
        self.projection.rebuild(&playlist(name)).await.unwrap();
    }

    /// All that Redis holds of a playlist.
    async fn bytes(&self, name: &str) -> BTreeMap<String, Option<Vec<u8>>> {
        let mut connection = self.redis.connection().await.unwrap();
        let mut bytes = BTreeMap::new();
        for part in ["z", "h", "d", "t", "m"] {
            let key = format!("{{pj:tickets:{name}}}:{part}");
            let dump = redis::cmd("DUMP")
                .arg(&key)
                .query_async(&mut connection)
                .await
                .unwrap();
            bytes.insert(key, dump);
        }
        bytes
    }
}

#[tokio::test]
async fn casual_tickets_ahead_make_no_ranked_answer_short() {
    let scene = scene().await;
    scene.enqueue("casual", 300, 0).await;
    let ranked = scene.enqueue("ranked", 80, 1000).await;
    let limit = Limit::new(64).unwrap();
    for rebuilt in [false, true] {
        if rebuilt {
            scene.rebuild("casual").await;
            scene.rebuild("ranked").await;
        }
        let first = scene
            .projection
            .snapshot(&playlist("ranked"), limit)
            .await
            .unwrap();
        assert!(!rebuilt || first.served_by == ServedBy::Index);
        let ids: Vec<&String> = first.items.iter().map(|ticket| &ticket.id).collect();
        assert_eq!(ids, ranked.iter().take(64).collect::<Vec<_>>());
    }
    let mut worker = scene.worker("ranked");
    let round = worker.round().await.unwrap();
    worker.settle().await;
    assert_eq!((round.proposed.len(), round.claimed.len()), (64, 64));
    let rest = scene
        .projection
        .snapshot(&playlist("ranked"), limit)
        .await
        .unwrap();
    assert_eq!((rest.items.len(), rest.served_by), (16, ServedBy::Index));
}

#[tokio::test]
async fn a_repair_of_one_playlist_leaves_the_other_byte_for_byte() {
    let scene = scene().await;
    for name in ["casual", "ranked"] {
        scene.enqueue(name, 90, 0).await;
        scene.rebuild(name).await;
        let mut worker = scene.worker(name);
        worker.round().await.unwrap();
        worker.settle().await;
    }
    for (repaired, other) in [("casual", "ranked"), ("ranked", "casual")] {
        let before = scene.bytes(other).await;
        assert!(before.values().all(Option::is_some));
        let mut connection = scene.redis.connection().await.unwrap();
        let lost = format!("{{pj:tickets:{repaired}}}:h");
        redis::cmd("DEL")
            .arg(lost)
            .exec_async(&mut connection)
            .await
            .unwrap();
        let repaired_again = wait_until_async(PATIENCE, || async {
            let first = scene
                .projection
                .snapshot(&playlist(repaired), Limit::MOST)
                .await
                .unwrap();
            assert_eq!(first.items.len(), 26);
            first.served_by == ServedBy::Index
        });
        repaired_again.await.unwrap();
        assert_eq!(scene.bytes(other).await, before, "{repaired} was repaired");
    }
}

/// What the index proposes although it is matched already costs one look, and is not proposed again.
#[tokio::test]
async fn two_workers_of_one_playlist_match_nobody_twice() {
    let scene = scene().await;
    scene.enqueue("ranked", 200, 0).await;
    scene.rebuild("ranked").await;
    let run = |name: &'static str| {
        let mut worker = Worker::new(
            name,
            playlist("ranked"),
            scene.tickets.clone(),
            scene.projection.clone(),
        );
        async move {
            let mut matched = Vec::new();
            while matched.len() < 200 {
                let round = worker.round().await.unwrap();
                if round.proposed.is_empty() {
                    break;
                }
                matched.extend(round.claimed.into_iter().map(|ticket| ticket.id));
            }
            matched
        }
    };
    let (one, other) = tokio::join!(run("one"), run("other"));
    let all: BTreeSet<&String> = one.iter().chain(&other).collect();
    assert_eq!((all.len(), one.len() + other.len()), (200, 200));
}

/// A worker that works until all is matched, and notes what it did.
async fn work(
    mut worker: Worker,
    is_over: Arc<AtomicBool>,
    matched: Arc<AtomicUsize>,
) -> Vec<Round> {
    let mut rounds = Vec::new();
    while !is_over.load(Ordering::SeqCst) {
        let round = worker.round().await.unwrap();
        matched.fetch_add(round.claimed.len(), Ordering::SeqCst);
        rounds.push(round);
        // waits: between two rounds, as workers do
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    rounds
}

/// Players who come all the time until it is over, and an even number in the end; answers how many.
async fn come(
    name: &str,
    tickets: Tickets,
    projection: Projection<Ticket>,
    is_over: Arc<AtomicBool>,
) -> usize {
    let mut count = 0_usize;
    while !is_over.load(Ordering::SeqCst) && count < 20_000 || count % 2 == 1 {
        let id = format!("{name}-{count:05}");
        let queued_at = i64::try_from(count).unwrap();
        let ticket = tickets.enqueue(name, &id, queued_at).await.unwrap();
        let _ = projection.upsert(&ticket).await;
        count += 1;
    }
    count
}

/// Everybody who came is matched once, in pairs.
fn all_are_matched_once(rounds: &[Round], came: usize) {
    let mut matches: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut ids = BTreeSet::new();
    for ticket in rounds.iter().flat_map(|round| &round.claimed) {
        assert!(
            ids.insert(ticket.id.as_str()),
            "{} was matched twice",
            ticket.id
        );
        matches
            .entry(&ticket.match_id)
            .or_default()
            .push(&ticket.id);
    }
    assert_eq!(ids.len(), came, "everybody was matched");
    assert!(matches.values().all(|players| players.len() == 2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_ticket_is_matched_once_with_redis_killed_restarted_and_stopped() {
    let mut scene = scene().await;
    let (is_over, matched) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicUsize::new(0)),
    );
    let (mut workers, mut players) = (Vec::new(), Vec::new());
    for name in ["casual", "ranked"] {
        workers.push(tokio::spawn(work(
            scene.worker(name),
            is_over.clone(),
            matched.clone(),
        )));
        let (tickets, projection) = (scene.tickets.clone(), scene.projection.clone());
        players.push(tokio::spawn(come(
            name,
            tickets,
            projection,
            is_over.clone(),
        )));
    }
    // Matching goes on in each state of Redis.
    for act in [
        "runs",
        "is killed",
        "is back",
        "is stopped",
        "goes on",
        "is killed",
        "is back",
    ] {
        match act {
            "is killed" => scene.redis.kill(),
            "is back" => scene.redis.restart().unwrap(),
            "is stopped" => scene.redis.pause(),
            "goes on" => scene.redis.resume(),
            _ => {}
        }
        let wanted = matched.load(Ordering::SeqCst) + ENOUGH;
        let goes_on = wait_until(PATIENCE, || matched.load(Ordering::SeqCst) >= wanted).await;
        assert!(
            goes_on.is_ok(),
            "Redis {act}: {:?}",
            scene.projection.metrics()
        );
    }
    // From here on nobody comes; whoever is left is matched below.
    is_over.store(true, Ordering::SeqCst);
    let (mut came, mut rounds) = (0, Vec::new());
    for player in players {
        came += player.await.unwrap();
    }
    for worker in workers {
        rounds.extend(worker.await.unwrap());
    }
    for name in ["casual", "ranked"] {
        let (tickets, projection) = (scene.tickets.clone(), scene.projection.clone());
        let mut last = Worker::new(&format!("last-{name}"), playlist(name), tickets, projection);
        loop {
            let round = last.round().await.unwrap();
            let is_done = round.proposed.is_empty();
            rounds.push(round);
            if is_done {
                break;
            }
        }
    }
    all_are_matched_once(&rounds, came);
    let slowest = *scene.timed.slowest.lock().unwrap();
    let longest = rounds.iter().map(|round| round.stood_still).max().unwrap();
    assert!(
        longest <= INDEX_TIMEOUT + slowest + SLACK,
        "{longest:?}, the source {slowest:?}"
    );
    let by_index = rounds
        .iter()
        .filter(|round| round.served_by == ServedBy::Index)
        .count();
    assert!(
        by_index > 0 && by_index < rounds.len(),
        "{by_index} of {}",
        rounds.len()
    );
}
