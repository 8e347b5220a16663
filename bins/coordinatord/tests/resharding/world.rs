//! One run: a stream, its groups, and who is the coordinator just now.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use coordinator_client::CoordinatorClient;
use protocol::{CreateGroupRequest, ErrorCode, GroupState, Migration, MigrationState, Routing};
use testkit::wait_until_async;
use tokio::task::JoinHandle;

use super::PATIENCE;
use super::coordinator::Operator;
use super::ledger::Ledger;
use super::streams::Streams;

/// What readers, the producer and the test share.
pub struct World {
    pub streams: Streams,
    pub groups: Vec<String>,
    pub ledger: Arc<Ledger>,
    /// Whether readers take over what they are told; if not, they live and have not seen it.
    pub listens: AtomicBool,
    /// Whether readers read.
    pub reads: AtomicBool,
    produces: AtomicBool,
    coordinator: Mutex<(CoordinatorClient, Operator)>,
}

impl World {
    pub fn new(
        streams: Streams,
        groups: Vec<String>,
        ledger: Arc<Ledger>,
        client: CoordinatorClient,
        operator: Operator,
    ) -> Arc<Self> {
        Arc::new(Self {
            streams,
            groups,
            ledger,
            listens: AtomicBool::new(true),
            reads: AtomicBool::new(false),
            produces: AtomicBool::new(true),
            coordinator: Mutex::new((client, operator)),
        })
    }

    pub fn client(&self) -> CoordinatorClient {
        self.coordinator.lock().unwrap().0.clone()
    }

    pub fn operator(&self) -> Operator {
        self.coordinator.lock().unwrap().1.clone()
    }

    pub fn turn_to(&self, client: CoordinatorClient, operator: Operator) {
        *self.coordinator.lock().unwrap() = (client, operator);
    }

    pub fn name(&self) -> &str {
        &self.streams.name
    }

    /// Creates a further group, or finds it made; gives a status as of a request.
    pub async fn create_group(&self, group: &str) -> Option<u16> {
        let request = CreateGroupRequest {
            initial_shard_count: None,
            requested_by: "test".to_owned(),
            reason: None,
        };
        let created = self
            .client()
            .create_group(self.name(), group, &request)
            .await;
        match created {
            Ok(_) => Some(202),
            Err(error) if error.code() == Some(&ErrorCode::GroupAlreadyExists) => Some(202),
            Err(_) => None,
        }
    }

    /// Waits until every group has what it should have.
    pub async fn settled(&self) {
        for group in &self.groups {
            let is_stable = || async {
                let found = self.client().group(self.name(), group).await;
                found.is_ok_and(|found| found.state == GroupState::Stable)
            };
            wait_until_async(PATIENCE, is_stable).await.unwrap();
        }
    }

    /// Publishes a number of entries to each of the first shards.
    pub async fn publish_to_each(&self, shards: u32, entries: usize) {
        for shard in 0..shards {
            for _ in 0..entries {
                let key = self.streams.key(shard);
                assert!(self.streams.publish(&key, &self.ledger).await, "{key}");
            }
        }
    }

    /// A plain producer, which goes on with its last route while nobody tells it another one.
    pub fn produce(self: &Arc<Self>) -> JoinHandle<()> {
        let world = Arc::clone(self);
        tokio::spawn(async move {
            let mut routing: Option<Routing> = None;
            while world.produces.load(Ordering::SeqCst) {
                let client = world.client();
                let asking = client.producer_routing(world.name(), &world.groups[0]);
                if let Ok(Ok(found)) =
                    tokio::time::timeout(Duration::from_millis(100), asking).await
                {
                    routing = Some(found);
                }
                for shard in routing.iter().flat_map(|routing| &routing.shards) {
                    world
                        .streams
                        .publish(&shard.stream_key, &world.ledger)
                        .await;
                }
                // waits: the pace of the producer
                tokio::time::sleep(Duration::from_millis(25)).await;
            }
        })
    }

    /// Ends the producer.
    pub async fn end_producing(&self, producer: JoinHandle<()>) {
        self.produces.store(false, Ordering::SeqCst);
        producer.await.unwrap();
    }

    /// The latest change of each group, as far as it can be asked for.
    pub async fn changes(&self) -> Option<Vec<Migration>> {
        let mut changes = Vec::new();
        for group in &self.groups {
            let found = self.operator().migrations(self.name(), group).await.ok()?;
            changes.push(found.migrations.into_iter().next()?);
        }
        Some(changes)
    }

    /// Waits until the latest change is over in every group, and gives how it ended in each.
    pub async fn ended(&self) -> Result<Vec<MigrationState>, String> {
        let is_over = |state| {
            matches!(
                state,
                MigrationState::Deprecated | MigrationState::RolledBack
            )
        };
        let are_over = || async {
            // waits: asking is no small work for all of them
            tokio::time::sleep(Duration::from_millis(15)).await;
            let changes = self.changes().await;
            changes.is_some_and(|changes| changes.iter().all(|it| is_over(it.state)))
        };
        let ended = wait_until_async(PATIENCE, are_over).await;
        let changes = self.changes().await;
        match (ended, &changes) {
            (Ok(()), Some(changes)) => Ok(changes.iter().map(|it| it.state).collect()),
            _ => Err(format!("the change does not end: {changes:?}")),
        }
    }

    /// Waits until every group has handled whatever was published.
    pub async fn all_handled(&self) -> Result<(), String> {
        for group in &self.groups {
            let is_done = || async { self.ledger.left(group).is_empty() };
            if wait_until_async(PATIENCE, is_done).await.is_err() {
                let left = self.ledger.left(group);
                return Err(format!(
                    "group {group} never saw {} of {}: {left:?}",
                    left.len(),
                    self.ledger.count()
                ));
            }
        }
        Ok(())
    }
}
