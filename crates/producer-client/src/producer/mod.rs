//! The producer: what it consists of, when it starts and ends. How records get to Redis is in `publish`, `batch`
//! and `exact`.

mod attempt;
mod batch;
mod exact;
mod publish;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use coordinator_client::CoordinatorClient;
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::builder::ProducerBuilder;
use crate::counters::{Counters, ProducerCounters};
use crate::error::PublishError;
use crate::router::Router;
use crate::settings::Settings;
use crate::shards::Shards;
use crate::streams::Link;

/// Publishes records to the shards of a stream. Clones are the same producer; it ends with [`Producer::close`] or when
/// the last clone is dropped.
#[derive(Debug, Clone)]
pub struct Producer {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    settings: Settings,
    router: Arc<Router>,
    link: Arc<Link>,
    shards: Shards,
    counters: Arc<Counters>,
    permits: Semaphore,
    closing: AtomicBool,
    refreshing: CancellationToken,
    /// Ends the refreshing with the last clone.
    _end_of_refreshing: DropGuard,
}

impl Producer {
    /// Settings for a producer that learns from `coordinator` where the shards of `stream_prefix` are, and writes to the Redis
    /// at `redis_urls`: one, or several nodes of one cluster.
    ///
    /// ```
    /// use coordinator_client::CoordinatorClient;
    /// use producer_client::Producer;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let coordinator = CoordinatorClient::builder(["http://127.0.0.1:8080"]).build().expect("settings that work");
    /// let error = Producer::builder(coordinator.clone(), "orders", ["redis://127.0.0.1:6379"])
    ///     .max_in_flight(0)
    ///     .build()
    ///     .expect_err("nothing could ever be published");
    /// assert_eq!(error.setting(), "max_in_flight");
    ///
    /// let producer = Producer::builder(coordinator, "orders", ["redis://127.0.0.1:6379"]).build();
    /// assert!(producer.is_ok());
    /// # }
    /// ```
    #[must_use]
    pub fn builder<I, U>(
        coordinator: CoordinatorClient,
        stream_prefix: impl Into<String>,
        redis_urls: I,
    ) -> ProducerBuilder
    where
        I: IntoIterator<Item = U>,
        U: Into<String>,
    {
        let redis_urls = redis_urls.into_iter().map(Into::into).collect();
        ProducerBuilder::new(coordinator, stream_prefix.into(), redis_urls)
    }

    pub(crate) fn start(
        runtime: &Handle,
        coordinator: CoordinatorClient,
        settings: Settings,
        link: Link,
    ) -> Self {
        let counters = Arc::new(Counters::default());
        let router = Arc::new(Router::new(coordinator, &settings, Arc::clone(&counters)));
        let refreshing = CancellationToken::new();
        runtime.spawn(
            refreshing
                .clone()
                .run_until_cancelled_owned(keep_fresh(Arc::clone(&router))),
        );
        let permits =
            usize::try_from(settings.max_in_flight.get()).unwrap_or(Semaphore::MAX_PERMITS);
        let shared = Shared {
            settings,
            router,
            link: Arc::new(link),
            shards: Shards::default(),
            counters,
            permits: Semaphore::new(permits),
            closing: AtomicBool::new(false),
            _end_of_refreshing: refreshing.clone().drop_guard(),
            refreshing,
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// What the producer has done so far.
    ///
    /// ```no_run
    /// # fn example(producer: producer_client::Producer) {
    /// println!("{} published", producer.counters().published);
    /// # }
    /// ```
    #[must_use]
    pub fn counters(&self) -> ProducerCounters {
        self.shared.counters.snapshot()
    }

    /// Takes no further records, waits for those on their way, and stops asking for the routing.
    ///
    /// ```no_run
    /// # async fn example(producer: producer_client::Producer) {
    /// producer.close().await;
    /// assert!(producer.publish("k", [("f", "v")]).await.is_err());
    /// # }
    /// ```
    pub async fn close(&self) {
        self.shared.closing.store(true, Ordering::Release);
        // All permits at once: everything on its way has ended. An error means that another close was quicker.
        let _all = self
            .shared
            .permits
            .acquire_many(self.shared.settings.max_in_flight.get())
            .await;
        self.shared.permits.close();
        self.shared.refreshing.cancel();
    }

    /// Room for `records` more on their way, waited for.
    async fn admit(&self, records: u32) -> Result<SemaphorePermit<'_>, PublishError> {
        if self.shared.closing.load(Ordering::Acquire) {
            return Err(PublishError::Closed);
        }
        self.shared
            .permits
            .acquire_many(records)
            .await
            .map_err(|_| PublishError::Closed)
    }

    fn count<T>(&self, outcome: &Result<T, PublishError>) {
        let counters = &self.shared.counters;
        match outcome {
            Ok(_) => Counters::count(&counters.published),
            Err(error) => {
                Counters::count(&counters.failures);
                if error.may_have_been_added() {
                    Counters::count(&counters.ambiguous);
                }
            }
        }
    }
}

/// Asks for the routing whenever it is due.
async fn keep_fresh(router: Arc<Router>) {
    loop {
        let pause = router.refresh_if_due().await;
        tokio::time::sleep(pause).await;
    }
}
