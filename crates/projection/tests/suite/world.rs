//! A source, an index of either kind, and what tests do with them. It asserts only what every test relies on.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use projection::{
    Answer, Build, Entry, Index, IndexError, Limit, MemoryIndex, Projection, ProjectionName, Range,
    RedisIndex, Settings, Snapshot,
};
use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use testkit::{RedisServer, wait_until_async};

use crate::source::{Item, Rows, id, space, version};

pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// How a test lets the leases of rebuilds run out.
enum Time {
    Memory(Arc<AtomicU64>),
    Redis(Box<RedisServer>),
}

pub(crate) struct World {
    pub(crate) rows: Arc<Rows>,
    pub(crate) index: Arc<dyn Index>,
    time: Time,
}

/// Settings under which nothing happens that a test does not cause.
pub(crate) fn calm() -> Settings {
    Settings::default()
        .index_timeout(Duration::from_secs(10))
        .repair_interval(Duration::ZERO)
        .repair_deadline(Duration::from_secs(20))
}

pub(crate) fn all() -> Range {
    Range {
        limit: Limit::MOST,
        after: None,
        upper: None,
    }
}

impl World {
    pub(crate) fn in_memory() -> Self {
        let time = Arc::new(AtomicU64::new(0));
        let clock = Arc::clone(&time);
        let clock = move || Duration::from_millis(clock.load(Ordering::SeqCst));
        Self {
            rows: Arc::default(),
            index: Arc::new(MemoryIndex::with_clock(clock)),
            time: Time::Memory(time),
        }
    }

    pub(crate) async fn in_redis() -> Self {
        let server = RedisServer::builder().start().unwrap();
        Self {
            rows: Arc::default(),
            index: Arc::new(redis_index(&server)),
            time: Time::Redis(Box::new(server)),
        }
    }

    /// The server of an index in Redis.
    pub(crate) fn server(&mut self) -> &mut RedisServer {
        match &mut self.time {
            Time::Redis(server) => server,
            Time::Memory(_) => panic!("there is no server"),
        }
    }

    pub(crate) fn projection(&self, settings: Settings) -> Projection<Item> {
        Projection::shared(self.rows.clone(), Some(Arc::clone(&self.index)), settings)
    }

    /// Lets the lease of the rebuild of a namespace run out.
    pub(crate) async fn lapse(&self, name: &str) {
        match &self.time {
            Time::Memory(time) => {
                assert!(!name.is_empty());
                time.fetch_add(11_000, Ordering::SeqCst);
            }
            Time::Redis(server) => {
                let mut connection = server.connection().await.unwrap();
                let mut command = redis::cmd("HSET");
                command.arg(key(name, "m")).arg("until").arg(1);
                command.exec_async(&mut connection).await.unwrap();
            }
        }
    }

    /// Redis loses everything.
    pub(crate) async fn flush(&mut self) {
        let mut connection = self.server().connection().await.unwrap();
        let flush = redis::cmd("FLUSHALL");
        flush.exec_async(&mut connection).await.unwrap();
    }

    /// Changes a row of the source, not the index.
    pub(crate) fn row(&self, item: &Item) {
        self.rows.put(item);
    }

    pub(crate) async fn upsert(&self, item: &Item) {
        self.index.upsert(&Entry::of(item)).await.unwrap();
    }

    pub(crate) async fn remove(&self, name: &str, entry: &str, number: u64) {
        let (name, entry) = (space(name), id(entry));
        let removed = self.index.remove(&name, &entry, version(number));
        removed.await.unwrap();
    }

    pub(crate) async fn begin(&self, name: &str) -> Build {
        self.try_begin(name).await.unwrap()
    }

    pub(crate) async fn try_begin(&self, name: &str) -> Result<Build, IndexError> {
        let mut build = Build::new(&space(name));
        self.index.begin(&mut build).await.map(|()| build)
    }

    pub(crate) async fn load(&self, build: &mut Build, items: &[Item]) -> Result<(), IndexError> {
        let entries: Vec<Entry> = items.iter().map(Entry::of).collect();
        self.index.load(build, &entries).await
    }

    /// Rebuilds a namespace from all rows of the source, in one page.
    pub(crate) async fn rebuild(&self, name: &str) {
        let mut build = self.begin(name).await;
        self.load(&mut build, &self.rows.all(name)).await.unwrap();
        self.index.commit(build).await.unwrap();
    }

    pub(crate) async fn read(&self, name: &str) -> Result<Answer, IndexError> {
        self.index.read(&space(name), &all()).await
    }

    /// Ids and versions of all that the index holds of a namespace; nothing if it holds nothing.
    pub(crate) async fn held(&self, name: &str) -> Vec<(String, u64)> {
        match self.read(name).await {
            Ok(answer) => {
                let entries = answer.entries.iter();
                entries
                    .map(|entry| (entry.id.to_string(), entry.version.get()))
                    .collect()
            }
            Err(IndexError::Empty) => Vec::new(),
            Err(error) => panic!("{error}"),
        }
    }
}

/// A key of a namespace of the index that tests use.
pub(crate) fn key(name: &str, part: &str) -> String {
    format!("{{pj:test:{name}}}:{part}")
}

/// The index on a server, over a connection that comes back by itself.
pub(crate) fn redis_index(server: &RedisServer) -> RedisIndex<ConnectionManager> {
    let config = ConnectionManagerConfig::new()
        .set_min_delay(Duration::from_millis(10))
        .set_max_delay(Duration::from_millis(50));
    let link = ConnectionManager::new_lazy_with_config(server.client(), config).unwrap();
    RedisIndex::new(ProjectionName::new("test").unwrap(), link)
}

pub(crate) fn pairs(wanted: &[(&str, u64)]) -> Vec<(String, u64)> {
    let wanted = wanted.iter();
    wanted
        .map(|(id, version)| ((*id).to_owned(), *version))
        .collect()
}

pub(crate) async fn first(
    projection: &Projection<Item>,
    name: &str,
    limit: usize,
) -> Snapshot<Item> {
    let limit = Limit::new(limit).unwrap();
    projection.snapshot(&space(name), limit).await.unwrap()
}

/// Waits until reads are served by the index again.
pub(crate) async fn until_indexed(projection: &Projection<Item>, name: &str) {
    let indexed = wait_until_async(PATIENCE, || async {
        first(projection, name, 1).await.epoch.is_some()
    });
    indexed.await.unwrap();
}

/// Makes one test for each kind of index out of each function.
#[macro_export]
macro_rules! on_each_index {
    ($($name:ident),* $(,)?) => {
        mod in_memory {
            $(
                #[tokio::test]
                async fn $name() {
                    super::$name($crate::world::World::in_memory()).await;
                }
            )*
        }

        mod in_redis {
            $(
                #[tokio::test]
                async fn $name() {
                    super::$name($crate::world::World::in_redis().await).await;
                }
            )*
        }
    };
}
