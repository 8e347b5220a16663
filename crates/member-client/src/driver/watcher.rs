//! One watch per process: it waits at the coordinator for changes of the group and passes the hint on to every member. It
//! decides nothing, and members do without it.

use std::sync::Arc;
use std::time::Duration;

use coordinator_client::CoordinatorClient;
use tokio::sync::watch;
use tokio::time::Instant;

use super::backoff::Backoff;
use super::metrics::Counters;

const WAIT: Duration = Duration::from_secs(30);
const BACKOFF: Backoff = Backoff::new(Duration::from_millis(200), Duration::from_secs(30));
/// An answer without news that comes sooner than this is answered by a pause: the other side does not really wait.
const SUSPICIOUS: Duration = Duration::from_millis(100);

/// Watches until it is dropped.
pub(crate) async fn watch_group(
    client: CoordinatorClient,
    stream_prefix: Arc<str>,
    consumer_group: Arc<str>,
    hints: watch::Sender<u64>,
    counters: Arc<Counters>,
) {
    let (mut after, mut failures) = (0, 0);
    loop {
        let asked = Instant::now();
        match client
            .watch(&stream_prefix, &consumer_group, after, WAIT)
            .await
        {
            Ok(seen) => {
                // A lower version than before means that the store went back: the watch follows it.
                after = seen.metadata_version;
                if seen.changed {
                    failures = 0;
                    counters.hints.increment();
                    hints.send_replace(seen.metadata_version);
                } else if asked.elapsed() < SUSPICIOUS {
                    failures += 1;
                    tokio::time::sleep(BACKOFF.pause(failures)).await;
                }
            }
            Err(error) => {
                failures = u32::saturating_add(failures, 1);
                tracing::debug!(%error, failures, "the watch failed");
                tokio::time::sleep(BACKOFF.pause(failures)).await;
            }
        }
    }
}
