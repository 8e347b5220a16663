//! What most tests begin with: a Redis with shards, a coordinator, a client whose handler keeps a log. No assertions about
//! the product here.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use member_client::{
    Handler, HandlerError, MemberClient, MemberClientBuilder, Outcome, Record, RunningClient,
};
use redis::AsyncConnectionConfig;
use redis::aio::MultiplexedConnection;
use testkit::{RedisServer, wait_until, wait_until_async};
use tokio::sync::Semaphore;

use crate::coordinator::Coordinator;

pub(crate) const LIMIT: Duration = Duration::from_secs(20);
pub(crate) const GROUP: &str = "workers";

/// One call of the handler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Handled {
    pub(crate) shard: u32,
    pub(crate) id: String,
    pub(crate) body: String,
    pub(crate) epoch: i64,
    pub(crate) attempt: u32,
    pub(crate) deliveries: u64,
}

/// What the handler does with a record: `Ok` to accept it.
type Judge = dyn Fn(&Handled) -> Result<Outcome, HandlerError> + Send + Sync;

/// A handler that keeps a log, can be held, and can refuse.
#[derive(Clone)]
pub(crate) struct Log {
    /// Calls that were begun.
    begun: Arc<Mutex<Vec<Handled>>>,
    /// Calls that were accepted.
    accepted: Arc<Mutex<Vec<Handled>>>,
    gate: Arc<Semaphore>,
    judge: Arc<Judge>,
}

impl Log {
    pub(crate) fn new() -> Self {
        Self::judging(|_| Ok(()))
    }

    /// Says what becomes of each record.
    pub(crate) fn deciding(
        judge: impl Fn(&Handled) -> Result<Outcome, HandlerError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            judge: Arc::new(judge),
            ..Self::new()
        }
    }

    /// Rejects records with this body.
    pub(crate) fn rejecting(body: &'static str) -> Self {
        Self::deciding(move |handled| {
            Ok(if handled.body == body {
                Outcome::Reject("as the test says".to_owned())
            } else {
                Outcome::Ack
            })
        })
    }

    pub(crate) fn judging(
        judge: impl Fn(&Handled) -> Result<(), HandlerError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            begun: Arc::default(),
            accepted: Arc::default(),
            gate: Arc::new(Semaphore::new(Semaphore::MAX_PERMITS)),
            judge: Arc::new(move |handled| judge(handled).map(|()| Outcome::Ack)),
        }
    }

    /// Every call waits until it is let through.
    pub(crate) fn held() -> Self {
        Self {
            gate: Arc::new(Semaphore::new(0)),
            ..Self::new()
        }
    }

    pub(crate) fn let_through(&self, calls: usize) {
        self.gate.add_permits(calls);
    }

    pub(crate) fn begun(&self) -> Vec<Handled> {
        self.begun.lock().unwrap().clone()
    }

    pub(crate) fn accepted(&self) -> Vec<Handled> {
        self.accepted.lock().unwrap().clone()
    }

    pub(crate) fn bodies(&self) -> Vec<String> {
        self.accepted()
            .into_iter()
            .map(|handled| handled.body)
            .collect()
    }

    pub(crate) fn distinct(&self) -> usize {
        self.accepted
            .lock()
            .unwrap()
            .iter()
            .map(|handled| (handled.shard, handled.id.clone()))
            .collect::<BTreeSet<_>>()
            .len()
    }

    pub(crate) async fn wait_for(&self, records: usize) {
        let outcome = wait_until(LIMIT, || self.distinct() >= records).await;
        assert!(
            outcome.is_ok(),
            "{} of {records} records were handled",
            self.distinct()
        );
    }

    pub(crate) async fn wait_for_begun(&self, calls: usize) {
        let outcome = wait_until(LIMIT, || self.begun.lock().unwrap().len() >= calls).await;
        assert!(
            outcome.is_ok(),
            "{:?} instead of {calls} calls",
            self.begun()
        );
    }
}

impl Handler<Outcome> for Log {
    async fn handle(&self, record: Record) -> Result<Outcome, HandlerError> {
        let handled = Handled {
            shard: record.shard().shard_index,
            id: record.id().to_owned(),
            body: String::from_utf8(record.field("body").unwrap_or_default().to_vec())?,
            epoch: record.epoch(),
            attempt: record.attempt(),
            deliveries: record.deliveries(),
        };
        self.begun.lock().unwrap().push(handled.clone());
        self.gate.acquire().await?.forget();
        let outcome = (self.judge)(&handled)?;
        if matches!(outcome, Outcome::Ack | Outcome::AckAndDelete) {
            self.accepted.lock().unwrap().push(handled);
        }
        Ok(outcome)
    }
}

/// See the module.
pub(crate) struct Scene {
    pub(crate) redis: RedisServer,
    pub(crate) coordinator: Coordinator,
}

impl Scene {
    pub(crate) async fn new(shards: u32) -> Self {
        Self::with(RedisServer::builder().start().unwrap(), shards).await
    }

    pub(crate) async fn with(redis: RedisServer, shards: u32) -> Self {
        let scene = Self {
            redis,
            coordinator: Coordinator::start().await,
        };
        let mut connection = scene.connection().await;
        for shard in 0..shards {
            create_group(&mut connection, shard).await;
        }
        scene
    }

    /// A connection that gives up only when a test would anyway.
    pub(crate) async fn connection(&self) -> MultiplexedConnection {
        let patient = AsyncConnectionConfig::new().set_response_timeout(Some(LIMIT));
        let client = self.redis.client();
        client
            .get_multiplexed_async_connection_with_config(&patient)
            .await
            .unwrap()
    }

    pub(crate) fn builder(&self, base: &str, log: &Log) -> MemberClientBuilder<Log> {
        MemberClient::builder(log.clone())
            .coordinator(self.coordinator.client())
            .redis_urls([self.redis.url()])
            .stream_prefix("orders")
            .consumer_group(GROUP)
            .member_base(base)
            .handler_backoff(Duration::from_millis(10), Duration::from_millis(50))
    }

    pub(crate) fn start(&self, base: &str, log: &Log) -> RunningClient {
        self.builder(base, log).build().unwrap().start()
    }

    pub(crate) async fn publish(
        &self,
        shard: u32,
        bodies: impl IntoIterator<Item = impl ToString>,
    ) -> Vec<String> {
        let mut connection = self.connection().await;
        let mut ids = Vec::new();
        for body in bodies {
            ids.push(publish(&mut connection, shard, &body.to_string()).await);
        }
        ids
    }

    /// Entries that were delivered and not acknowledged.
    pub(crate) async fn pending(&self, shard: u32) -> u64 {
        let mut connection = self.connection().await;
        let (pending, ..): (u64, redis::Value, redis::Value, redis::Value) = redis::cmd("XPENDING")
            .arg(key(shard))
            .arg(GROUP)
            .query_async(&mut connection)
            .await
            .unwrap();
        pending
    }

    pub(crate) async fn wait_for_nothing_pending(&self, shards: u32) {
        let outcome = wait_until_async(LIMIT, || async {
            for shard in 0..shards {
                if self.pending(shard).await > 0 {
                    return false;
                }
            }
            true
        })
        .await;
        assert!(outcome.is_ok(), "something stays pending");
    }

    /// Somebody reads entries and dies.
    pub(crate) async fn leave_pending(&self, shard: u32, consumer: &str, count: usize) {
        let mut connection = self.connection().await;
        redis::cmd("XREADGROUP")
            .arg("GROUP")
            .arg(GROUP)
            .arg(consumer)
            .arg("COUNT")
            .arg(count)
            .arg("STREAMS")
            .arg(key(shard))
            .arg(">")
            .exec_async(&mut connection)
            .await
            .unwrap();
    }
}

pub(crate) fn key(shard: u32) -> String {
    format!("orders:{shard}")
}

pub(crate) async fn create_group(connection: &mut impl redis::aio::ConnectionLike, shard: u32) {
    redis::cmd("XGROUP")
        .arg("CREATE")
        .arg(key(shard))
        .arg(GROUP)
        .arg("0")
        .arg("MKSTREAM")
        .exec_async(connection)
        .await
        .unwrap();
}

pub(crate) async fn publish(
    connection: &mut impl redis::aio::ConnectionLike,
    shard: u32,
    body: &str,
) -> String {
    redis::cmd("XADD")
        .arg(key(shard))
        .arg("*")
        .arg("body")
        .arg(body)
        .query_async(connection)
        .await
        .unwrap()
}

pub(crate) fn numbers(range: std::ops::Range<u32>) -> Vec<String> {
    range.map(|number| number.to_string()).collect()
}
