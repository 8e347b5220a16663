//! One record: routed, added, and where its stream was not there, routed anew and tried once more.

use std::sync::Arc;

use crate::counters::Counters;
use crate::error::PublishError;
use crate::producer::Producer;
use crate::record::{Published, Record};
use crate::router::{Fetched, RefreshError};
use crate::routing_table::Route;
use crate::streams::{Added, xadd};

impl Producer {
    /// Publishes a record with these fields to the shard of `key`.
    ///
    /// A stream that is not where the routing says means that the routing is out of date: it is asked for anew, once for all
    /// that wait for it, and the record is tried once more (C43). Records that one task publishes one after the other are
    /// added in that order. Dropping the future abandons the record: it may have been added.
    ///
    /// ```no_run
    /// # async fn example(producer: producer_client::Producer) -> Result<(), producer_client::PublishError> {
    /// match producer.publish("customer-7", [("order", "o-1")]).await {
    ///     Ok(published) => println!("{} in {}", published.id, published.stream_key),
    ///     Err(error) if error.may_have_been_added() => println!("unknown: {error}"),
    ///     Err(error) if error.is_retryable() => println!("later: {error}"),
    ///     Err(error) => return Err(error),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Why the record was not added, or may not have been; see [`PublishError`].
    pub async fn publish<K, F, N, V>(&self, key: K, fields: F) -> Result<Published, PublishError>
    where
        K: AsRef<[u8]>,
        F: IntoIterator<Item = (N, V)>,
        N: AsRef<[u8]>,
        V: AsRef<[u8]>,
    {
        let record = fields
            .into_iter()
            .fold(Record::new(key), |record, (name, value)| {
                record.field(name, value)
            });
        let outcome = self.publish_record(&record).await;
        self.count(&outcome);
        outcome
    }

    async fn publish_record(&self, record: &Record) -> Result<Published, PublishError> {
        if record.fields().is_empty() {
            return Err(PublishError::NoFields);
        }
        let _on_its_way = self.admit(1).await?;
        let fetched = self.shared.router.valid().await?;
        let route = fetched.table.route(record.key())?;
        if let Some(id) = self.add(route, record).await? {
            return Ok(published(route, id));
        }
        Counters::count(&self.shared.counters.stale_routes);
        let newer = match self.shared.router.newer_than(fetched.answer).await {
            Ok(newer) => newer,
            Err(source) => return Err(self.stale_route(&fetched, route, source)),
        };
        let route = newer.table.route(record.key())?;
        match self.add(route, record).await? {
            Some(id) => Ok(published(route, id)),
            None => Err(no_route(&newer, route)),
        }
    }

    /// The id of the record; none where the stream does not exist.
    async fn add(&self, route: &Route, record: &Record) -> Result<Option<String>, PublishError> {
        let command = xadd(&route.stream_key, self.shared.settings.max_len, record);
        match self.shared.link.add(route.slot, &[command]).await?.pop() {
            Some(Added::Id(id)) => Ok(Some(id)),
            Some(Added::Refused(error)) => Err(PublishError::from(&error)),
            Some(Added::NoStream) | None => Ok(None),
        }
    }

    /// The error of a record whose `route` led to no stream, when `source` kept it from being routed anew.
    pub(super) fn stale_route(
        &self,
        fetched: &Fetched,
        route: &Route,
        source: Arc<RefreshError>,
    ) -> PublishError {
        if source.is_no_group() {
            return self.shared.router.no_group();
        }
        PublishError::StaleRoute {
            shard: route.shard,
            stream_key: route.stream_key.clone(),
            metadata_version: fetched.table.metadata_version(),
            source,
        }
    }
}

pub(super) fn published(route: &Route, id: String) -> Published {
    Published {
        shard: route.shard,
        stream_key: route.stream_key.clone(),
        id,
    }
}

pub(super) fn no_route(fetched: &Fetched, route: &Route) -> PublishError {
    PublishError::NoRoute {
        shard: route.shard,
        stream_key: route.stream_key.clone(),
        metadata_version: fetched.table.metadata_version(),
    }
}
