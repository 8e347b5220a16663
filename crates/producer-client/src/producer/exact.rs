//! Publishing through the life of a shard: only into the generation that the routing tells, and where asked for only once.
//! One attempt on one handle is in `attempt`.

use std::sync::Arc;

use stream_lifecycle::{Fields, OnceKey, Published as Outcome};

use crate::counters::Counters;
use crate::error::{PublishError, ShardProblem};
use crate::producer::Producer;
use crate::producer::attempt::{Obstacle, Work};
use crate::producer::publish::published;
use crate::record::{Published, PublishedOnce, Record};
use crate::router::{Fetched, RefreshError};
use crate::routing_table::Route;

impl Producer {
    /// Publishes a record into the very generation of its shard that the routing tells, by one script that checks it: never
    /// into a stream that was retired, sealed or made anew meanwhile, even under the same name.
    ///
    /// Works with streams that the coordinator made. The length of the stream is kept as the shard was made with; the producer's
    /// own setting `max_len` is not used.
    ///
    /// A shard that does not take it means that the routing is out of date: it is asked for anew, once for all that wait for it,
    /// the shard is opened anew, and the record is tried once more (C43). Where Redis cannot take it just now, or is not reached,
    /// it is repeated up to three times within about half a second. Where no answer came it is not repeated, since it may have
    /// been added: [`PublishError::Ambiguous`].
    ///
    /// ```no_run
    /// use producer_client::{PublishError, Record};
    ///
    /// # async fn example(producer: producer_client::Producer) -> Result<(), PublishError> {
    /// let record = Record::new("customer-7").field("order", "o-1");
    /// match producer.publish_exact(&record).await {
    ///     Ok(published) => println!("{} in {}", published.id, published.stream_key),
    ///     Err(PublishError::ShardUnusable { problem, .. }) => println!("nothing was added: {problem}"),
    ///     Err(error) if error.may_have_been_added() => println!("unknown: {error}"),
    ///     Err(error) => return Err(error),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Why the record was not added, or may not have been; see [`PublishError`].
    pub async fn publish_exact(&self, record: &Record) -> Result<Published, PublishError> {
        let outcome = match fields_of(record) {
            Ok(fields) => self.deliver(record, &Work::Add(&fields)).await,
            Err(error) => Err(error),
        };
        let outcome = outcome.map(PublishedOnce::into_published);
        self.count(&outcome);
        outcome
    }

    /// Publishes a record unless one was published with the same event id before (C46), whichever producer did, over whichever
    /// connection. As [`publish_exact`](Self::publish_exact), but safe to repeat: where no answer came it is repeated here,
    /// up to three times, and may be repeated by the caller afterwards.
    ///
    /// The event id has at most 512 bytes without control characters. It is remembered by the shard for at least as long as the
    /// shard was made with, ten minutes unless set, and for less than twice as long. An event id that comes again with other fields is
    /// refused: [`PublishError::EventIdTaken`].
    ///
    /// **Once per shard, and per generation of it.** The record's key chooses the shard, and each shard remembers its own event ids.
    /// A change of the shard count may send the same key to another shard, which knows nothing of what the first one took; so
    /// does another key with the same event id, and a shard that was made anew. This call never moves on to another shard or generation
    /// after an attempt without an answer: it ends as [`PublishError::Ambiguous`]. Whoever repeats it then, across such a change,
    /// may add the record a second time. Where that matters, put the event id into a field and let consumers pass over what
    /// they have handled, or change the shard count only when no repetition is open.
    ///
    /// ```no_run
    /// use producer_client::{PublishError, PublishedOnce, Record};
    ///
    /// # async fn example(producer: producer_client::Producer) -> Result<(), PublishError> {
    /// let record = Record::new("customer-7").field("event", "payment-17").field("amount", "12.50");
    /// match producer.publish_once("payment-17", &record).await? {
    ///     PublishedOnce::Added(published) => println!("added as {}", published.id),
    ///     PublishedOnce::Duplicate(published) => println!("it was {} already", published.id),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Why the record was not added, or may not have been; see [`PublishError`].
    pub async fn publish_once(
        &self,
        event_id: impl AsRef<str>,
        record: &Record,
    ) -> Result<PublishedOnce, PublishError> {
        let outcome = match fields_of(record).and_then(|fields| {
            let key = OnceKey::new(event_id.as_ref())?;
            Ok((fields, key))
        }) {
            Ok((fields, key)) => self.deliver(record, &Work::AddOnce(&key, &fields)).await,
            Err(error) => Err(error),
        };
        match &outcome {
            Ok(PublishedOnce::Duplicate(_)) => Counters::count(&self.shared.counters.duplicates),
            outcome => self.count(outcome),
        }
        outcome
    }

    async fn deliver(
        &self,
        record: &Record,
        work: &Work<'_>,
    ) -> Result<PublishedOnce, PublishError> {
        let _on_its_way = self.admit(1).await?;
        let fetched = self.shared.router.valid().await?;
        let route = fetched.table.route(record.key())?;
        let problem = match self.attempt(&fetched, route, None, work).await {
            Ok(outcome) => return Ok(told(route, outcome)),
            Err(Obstacle::Failed(error)) => return Err(error),
            Err(Obstacle::Stale(problem)) => problem,
        };
        Counters::count(&self.shared.counters.stale_routes);
        let newer = match self.shared.router.newer_than(fetched.answer).await {
            Ok(newer) => newer,
            Err(source) => return Err(self.shard_stale(&fetched, route, problem, source)),
        };
        let route = newer.table.route(record.key())?;
        let at_least = match problem {
            ShardProblem::WritesLost { expected, .. } => Some(expected),
            _ => None,
        };
        match self.attempt(&newer, route, at_least, work).await {
            Ok(outcome) => Ok(told(route, outcome)),
            Err(Obstacle::Failed(error)) => Err(error),
            Err(Obstacle::Stale(problem)) => Err(PublishError::ShardUnusable {
                shard: route.shard,
                stream_key: route.stream_key.clone(),
                metadata_version: newer.table.metadata_version(),
                problem,
            }),
        }
    }

    /// The error of a record whose shard did not take it, when `source` kept it from being routed anew.
    fn shard_stale(
        &self,
        fetched: &Fetched,
        route: &Route,
        problem: ShardProblem,
        source: Arc<RefreshError>,
    ) -> PublishError {
        if source.is_no_group() {
            return self.shared.router.no_group();
        }
        PublishError::ShardStale {
            shard: route.shard,
            stream_key: route.stream_key.clone(),
            metadata_version: fetched.table.metadata_version(),
            problem,
            source,
        }
    }
}

fn fields_of(record: &Record) -> Result<Fields, PublishError> {
    if record.fields().is_empty() {
        return Err(PublishError::NoFields);
    }
    Ok(Fields::new(record.fields().iter().cloned())?)
}

fn told(route: &Route, outcome: Outcome) -> PublishedOnce {
    let published = published(route, outcome.id().to_string());
    match outcome {
        Outcome::Added(_) => PublishedOnce::Added(published),
        Outcome::Duplicate(_) => PublishedOnce::Duplicate(published),
    }
}
