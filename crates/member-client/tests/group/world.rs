//! A coordinator in this process, a Redis, and members whose handler notes who had which shard from when to when. It asserts
//! only what must hold in every test.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use coordinator_client::{CoordinatorClient, Credentials};
use coordinator_core::assign::Sticky;
use coordinator_core::settings::{Settings, Timing};
use coordinator_core::time::Millis;
use coordinator_server::{Deps, ServerConfig, Witness, serve};
use member_client::{Handler, HandlerError, MemberClient, Record, RunningClient};
use openapi_check::{Conformity, Judge};
use protocol::{CreateStreamRequest, GroupState};
use store::MemoryStore;
use testkit::{RedisServer, wait_until, wait_until_async};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

pub(crate) const LIMIT: Duration = Duration::from_secs(30);
pub(crate) const SHARDS: u32 = 6;

/// One stay of a shard in somebody's hands, from the begin of a call of the handler to its end.
#[derive(Debug, Clone)]
struct Call {
    process: &'static str,
    shard: u32,
    body: String,
    begun: Instant,
    ended: Instant,
    accepted: bool,
}

/// Calls of all processes.
type Journal = Arc<Mutex<Vec<Call>>>;

/// A handler that gets nothing to do.
pub(crate) struct Idle;

impl Handler for Idle {
    async fn handle(&self, _record: Record) -> Result<(), HandlerError> {
        Ok(())
    }
}

/// The handler of one process. Its work takes a moment.
pub(crate) struct Worker {
    process: &'static str,
    journal: Journal,
}

impl Handler for Worker {
    async fn handle(&self, record: Record) -> Result<(), HandlerError> {
        let body = String::from_utf8(record.field("body").unwrap_or_default().to_vec())?;
        let mut note = Note {
            worker: self,
            shard: record.shard().shard_index,
            body,
            begun: Instant::now(),
            accepted: false,
        };
        // waits: the work
        tokio::time::sleep(Duration::from_millis(1)).await;
        note.accepted = true;
        Ok(())
    }
}

/// Notes the end of a call, also if it was dropped half-way.
struct Note<'a> {
    worker: &'a Worker,
    shard: u32,
    body: String,
    begun: Instant,
    accepted: bool,
}

impl Drop for Note<'_> {
    fn drop(&mut self) {
        self.worker.journal.lock().unwrap().push(Call {
            process: self.worker.process,
            shard: self.shard,
            body: std::mem::take(&mut self.body),
            begun: self.begun,
            ended: Instant::now(),
            accepted: self.accepted,
        });
    }
}

/// A coordinator that runs until it is dropped or told to end.
pub(crate) struct Server {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    /// Whatever a test is about, nothing may be answered that is not described.
    pub(crate) conformity: Conformity,
}

/// Shows whatever is answered to a judge.
fn witness(judge: Judge) -> Witness {
    Witness::new(move |seen| {
        let (path, body) = (seen.uri.path(), seen.body.clone());
        judge.see(&seen.method, path, seen.status, &seen.headers, body);
    })
}

impl Server {
    async fn start(deps: Deps) -> Self {
        let timing = Timing {
            heartbeat_interval: Millis::new(150),
            member_lease_ttl: Millis::new(1_000),
            rebalance_timeout: Millis::new(5_000),
            stale_member_retention: Millis::new(60_000),
        };
        let mut config = ServerConfig::new("test");
        config.settings = Settings::validated(timing, &Sticky).unwrap();
        config.shutdown_timeout = Duration::from_secs(1);
        let conformity = Conformity::new();
        config.witness = Some(witness(conformity.judge()));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        tokio::spawn(serve(listener, deps, config, async {
            let _ = stopped.await;
        }));
        Self {
            address,
            stop: Some(stop),
            conformity,
        }
    }

    /// Tells it to end, and waits until nobody listens any more.
    pub(crate) async fn terminate(&mut self) {
        drop(self.stop.take());
        let gone = wait_until_async(LIMIT, || async {
            tokio::net::TcpStream::connect(self.address).await.is_err()
        });
        gone.await.unwrap();
    }
}

/// See the module.
pub(crate) struct World {
    pub(crate) redis: RedisServer,
    pub(crate) servers: Vec<Server>,
    journal: Journal,
    published: u32,
}

impl World {
    /// Coordinators that share a store, and a stream whose shards have groups.
    pub(crate) async fn new(servers: usize) -> Self {
        let store = Arc::new(MemoryStore::new());
        let deps = Deps::new(store);
        let mut world = Self {
            redis: RedisServer::builder().start().unwrap(),
            servers: Vec::new(),
            journal: Journal::default(),
            published: 0,
        };
        for _ in 0..servers {
            world.servers.push(Server::start(deps.clone()).await);
        }
        let request = CreateStreamRequest {
            initial_shard_count: Some(SHARDS),
            requested_by: "test".into(),
            reason: None,
        };
        world
            .coordinator()
            .create_stream("orders", &request)
            .await
            .unwrap();
        let mut connection = world.redis.connection().await.unwrap();
        for shard in 0..SHARDS {
            let mut create = redis::cmd("XGROUP");
            create
                .arg("CREATE")
                .arg(format!("orders:{shard}"))
                .arg("orders")
                .arg("0")
                .arg("MKSTREAM");
            create.exec_async(&mut connection).await.unwrap();
        }
        world
    }

    pub(crate) fn coordinator(&self) -> CoordinatorClient {
        let urls = self
            .servers
            .iter()
            .map(|server| format!("http://{}", server.address));
        CoordinatorClient::builder(urls)
            .credentials(Credentials::basic("admin", "admin"))
            .build()
            .unwrap()
    }

    pub(crate) fn process(&self, process: &'static str, base: &str) -> RunningClient {
        MemberClient::builder(Worker {
            process,
            journal: Arc::clone(&self.journal),
        })
        .coordinator(self.coordinator())
        .redis_urls([self.redis.url()])
        .stream_prefix("orders")
        .member_base(base)
        .heartbeat_interval(Duration::from_millis(150))
        .member_lease_ttl(Duration::from_millis(1_000))
        .block(Duration::from_millis(300))
        .build()
        .unwrap()
        .start()
    }

    /// Publishes to every shard in turn.
    pub(crate) async fn publish(&mut self, records: u32) {
        let mut connection = self.redis.connection().await.unwrap();
        for number in self.published..self.published + records {
            let mut add = redis::cmd("XADD");
            add.arg(format!("orders:{}", number % SHARDS))
                .arg("*")
                .arg("body")
                .arg(number);
            add.exec_async(&mut connection).await.unwrap();
        }
        self.published += records;
    }

    pub(crate) async fn wait_for_everything(&self) {
        let expected = usize::try_from(self.published).unwrap();
        let outcome = wait_until(LIMIT, || self.accepted().len() == expected).await;
        assert!(
            outcome.is_ok(),
            "{} of {expected} records were handled",
            self.accepted().len()
        );
    }

    fn accepted(&self) -> BTreeSet<String> {
        let journal = self.journal.lock().unwrap();
        journal
            .iter()
            .filter(|call| call.accepted)
            .map(|call| call.body.clone())
            .collect()
    }

    /// How many calls of each process were accepted.
    pub(crate) fn shares(&self) -> BTreeMap<&'static str, usize> {
        let mut shares = BTreeMap::new();
        for call in self
            .journal
            .lock()
            .unwrap()
            .iter()
            .filter(|call| call.accepted)
        {
            *shares.entry(call.process).or_default() += 1;
        }
        shares
    }

    /// Waits until the group has so many members and all of them have what they are to have.
    pub(crate) async fn wait_for_stable(&self, members: usize) {
        let coordinator = self.coordinator();
        let outcome = wait_until_async(LIMIT, || async {
            let group = coordinator.group("orders", "orders").await;
            group.is_ok_and(|group| {
                group.state == GroupState::Stable
                    && group.current_assignment_summary.len() == members
            })
        })
        .await;
        if outcome.is_err() {
            panic!(
                "not stable: {:?}",
                coordinator.group("orders", "orders").await
            );
        }
    }

    /// Invariant I2: no two calls for one shard overlap, whoever made them. And what is pending is nothing.
    pub(crate) async fn check(&self) {
        let mut journal = self.journal.lock().unwrap().clone();
        journal.sort_by_key(|call| (call.shard, call.begun));
        for pair in journal
            .windows(2)
            .filter(|pair| pair[0].shard == pair[1].shard)
        {
            assert!(
                pair[0].ended <= pair[1].begun,
                "two readers of one shard: {pair:#?}"
            );
        }
        let connection = self.redis.connection().await.unwrap();
        for shard in 0..SHARDS {
            let outcome = wait_until_async(LIMIT, || {
                let mut connection = connection.clone();
                async move {
                    let mut ask = redis::cmd("XPENDING");
                    ask.arg(format!("orders:{shard}")).arg("orders");
                    let (pending, ..): (u64, redis::Value, redis::Value, redis::Value) =
                        ask.query_async(&mut connection).await.unwrap();
                    pending == 0
                }
            })
            .await;
            assert!(outcome.is_ok(), "shard {shard} has pending entries");
        }
    }
}
