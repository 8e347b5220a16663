//! The index over the store's own connection, which is given up when Redis does not answer on it in time.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use projection::{
    EntryId, Limit, Namespace, Order, Position, Projected, Projection, Range, ServedBy, Settings,
    Source, SourceError, Stored, Unreadable, Version,
};
use store_redis::{RedisConfig, RedisStore};
use testkit::{RedisServer, wait_until_async};

const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Row(EntryId);

impl Projected for Row {
    fn namespace(&self) -> Namespace {
        Namespace::new("all").unwrap()
    }

    fn id(&self) -> EntryId {
        self.0.clone()
    }

    fn order(&self) -> Order {
        Order::new(0).unwrap()
    }

    fn version(&self) -> Version {
        Version::new(1).unwrap()
    }

    fn payload(&self) -> Vec<u8> {
        Vec::new()
    }

    fn restore(stored: Stored<'_>) -> Result<Self, Unreadable> {
        Ok(Self(stored.id.clone()))
    }
}

/// A source with one row.
struct Table(Row);

#[async_trait]
impl Source<Row> for Table {
    async fn head(&self, _: &Namespace, _: &Range) -> Result<Vec<Row>, SourceError> {
        Ok(vec![self.0.clone()])
    }

    async fn page(
        &self,
        _: &Namespace,
        after: Option<&Position>,
        _: usize,
    ) -> Result<Vec<Row>, SourceError> {
        let rows = after.is_none().then(|| self.0.clone());
        Ok(rows.into_iter().collect())
    }
}

/// The beginning of a rebuild that was sent to a server that hangs is done once that goes on, though the connection was given up and nobody holds it.
#[tokio::test]
async fn after_a_hang_a_namespace_is_rebuilt_before_a_lease_is_over() {
    let server = RedisServer::builder().start().unwrap();
    let config = RedisConfig::new(vec![server.url()]);
    let store = RedisStore::connect(config).await.unwrap();
    let row = Row(EntryId::new("x").unwrap());
    let index = store.index("test").unwrap();
    let source = Arc::new(Table(row.clone()));
    let projection = Projection::shared(source, Some(index), Settings::default());
    let all = row.namespace();
    projection.rebuild(&all).await.unwrap();
    let read = || projection.snapshot(&all, Limit::MOST);
    assert_eq!(read().await.unwrap().served_by, ServedBy::Index);
    server.pause();
    projection.upsert(&row).await.unwrap_err();
    assert_ne!(read().await.unwrap().served_by, ServedBy::Index);
    let has_failed = || async { projection.metrics().rebuilds_failed > 0 };
    wait_until_async(PATIENCE, has_failed).await.unwrap();
    server.resume();
    let resumed = Instant::now();
    let is_indexed = || async { read().await.unwrap().served_by == ServedBy::Index };
    wait_until_async(PATIENCE, is_indexed).await.unwrap();
    // What nobody gives up lasts ten seconds.
    assert!(
        resumed.elapsed() < Duration::from_secs(7),
        "{:?}",
        projection.metrics()
    );
}
