//! Which key goes to which stream, and for how long that may be relied on. Pure: time is passed in, nothing is asked.

use std::time::{Duration, Instant};

use coordinator_core::numbers::ShardCount;
use coordinator_core::routing::{redis_slot, shard_of_key};
use protocol::{Routing, ShardId};

/// One shard and its stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// The shard.
    pub shard: ShardId,
    /// Key of its stream.
    pub stream_key: String,
    /// Which life of the stream this is, where the coordinator tells.
    pub generation: Option<u64>,
    /// Cluster slot of the stream key.
    pub slot: u16,
}

/// How long an answer of the coordinator lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoutingTimes {
    /// When to ask again.
    pub refresh_interval: Duration,
    /// How long to go on without a newer answer, unless the answer itself says.
    pub lease: Duration,
}

/// The coordinator's answer, ready to be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoutingTable {
    metadata_version: u64,
    routes: Vec<Route>,
    asked_at: Instant,
    refresh_after: Duration,
    lease: Duration,
}

/// An answer of the coordinator that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RoutingError {
    /// It is about another stream or group.
    #[error("asked for {asked}, was told about {told}")]
    OtherGroup {
        /// Prefix and group that were asked for.
        asked: String,
        /// Prefix and group of the answer.
        told: String,
    },
    /// It does not list as many shards as it counts.
    #[error("{count} shards are counted and {listed} are listed")]
    Incomplete {
        /// Shards counted.
        count: u32,
        /// Shards listed.
        listed: usize,
    },
    /// Its list does not run through all positions.
    #[error("shard {found} is listed where shard {expected} should be")]
    Misplaced {
        /// Position that should come.
        expected: usize,
        /// Position that came.
        found: u32,
    },
}

/// There is no shard to publish to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the stream has no shards as of version {metadata_version}")]
pub struct NoShards {
    /// Version of the routing that says so.
    pub metadata_version: u64,
}

impl RoutingTable {
    /// The table of an answer that was asked for at `asked_at`: its age counts from the asking, not from the answer.
    ///
    /// ```
    /// use std::time::{Duration, Instant};
    /// use producer_client::{RoutingTable, RoutingTimes};
    /// use protocol::{RoutedShard, Routing};
    ///
    /// let shard = |shard_index| RoutedShard {
    ///     shard_index,
    ///     stream_key: protocol::stream_key("orders", shard_index),
    ///     redis_slot: 0,
    ///     generation: None,
    /// };
    /// let routing = Routing {
    ///     stream_prefix: "orders".to_owned(),
    ///     consumer_group: "orders".to_owned(),
    ///     metadata_version: 7,
    ///     shard_count: 2,
    ///     stream_key_pattern: protocol::stream_key_pattern("orders"),
    ///     shards: vec![shard(0), shard(1)],
    ///     routing_lease_ms: None,
    /// };
    /// let times = RoutingTimes { refresh_interval: Duration::from_secs(3), lease: Duration::from_secs(10) };
    /// let now = Instant::now();
    /// let table = RoutingTable::new(routing, ("orders", "orders"), now, times).expect("a usable answer");
    /// assert_eq!(table.route(b"customer-7").expect("two shards").stream_key, "orders:0");
    /// assert!(table.is_expired(now + Duration::from_secs(10)));
    /// ```
    ///
    /// # Errors
    /// The answer is about another group than `(prefix, group)`, or does not list its shards in order.
    pub fn new(
        routing: Routing,
        (stream_prefix, consumer_group): (&str, &str),
        asked_at: Instant,
        times: RoutingTimes,
    ) -> Result<Self, RoutingError> {
        if routing.stream_prefix != stream_prefix || routing.consumer_group != consumer_group {
            return Err(RoutingError::OtherGroup {
                asked: format!("{stream_prefix}/{consumer_group}"),
                told: format!("{}/{}", routing.stream_prefix, routing.consumer_group),
            });
        }
        let listed = routing.shards.len();
        if usize::try_from(routing.shard_count) != Ok(listed) {
            return Err(RoutingError::Incomplete {
                count: routing.shard_count,
                listed,
            });
        }
        let mut routes = Vec::with_capacity(listed);
        for (expected, shard) in routing.shards.into_iter().enumerate() {
            if usize::try_from(shard.shard_index) != Ok(expected) {
                return Err(RoutingError::Misplaced {
                    expected,
                    found: shard.shard_index,
                });
            }
            let slot = redis_slot(shard.stream_key.as_bytes()).get();
            routes.push(Route {
                shard: ShardId::new(shard.shard_index),
                stream_key: shard.stream_key,
                generation: shard.generation,
                slot,
            });
        }
        let lease = routing
            .routing_lease_ms
            .map_or(times.lease, Duration::from_millis);
        // A lease shorter than the interval must not run out between two questions.
        let refresh_after = times.refresh_interval.min(lease / 2);
        Ok(Self {
            metadata_version: routing.metadata_version,
            routes,
            asked_at,
            refresh_after,
            lease,
        })
    }

    /// Where a key goes.
    ///
    /// # Errors
    /// There is no shard.
    pub fn route(&self, key: &[u8]) -> Result<&Route, NoShards> {
        // The constructor saw a 32-bit count of exactly these routes.
        let count = ShardCount::new(u32::try_from(self.routes.len()).unwrap_or(u32::MAX));
        shard_of_key(key, count)
            .and_then(|index| self.routes.get(usize::try_from(index.get()).ok()?))
            .ok_or(NoShards {
                metadata_version: self.metadata_version,
            })
    }

    /// Version of the metadata that the answer was taken from.
    #[must_use]
    pub const fn metadata_version(&self) -> u64 {
        self.metadata_version
    }

    /// All routes, by shard.
    #[must_use]
    pub fn routes(&self) -> &[Route] {
        &self.routes
    }

    /// How old the answer is at `now`.
    #[must_use]
    pub fn age(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.asked_at)
    }

    /// How long the answer may be relied on.
    #[must_use]
    pub const fn lease(&self) -> Duration {
        self.lease
    }

    /// Whether it is time to ask again.
    #[must_use]
    pub fn is_due(&self, now: Instant) -> bool {
        self.age(now) >= self.refresh_after
    }

    /// How long from `now` until it is time to ask again.
    #[must_use]
    pub fn due_in(&self, now: Instant) -> Duration {
        self.refresh_after.saturating_sub(self.age(now))
    }

    /// Whether the answer is too old to be relied on.
    #[must_use]
    pub fn is_expired(&self, now: Instant) -> bool {
        self.age(now) >= self.lease
    }
}
