//! The numbers that the coordinator shows to Prometheus. Names and labels are those of the protocol; nothing here decides anything. What is about the process
//! is kept here; what is about groups, members and shards is made when it is asked for, since what is gone must not be shown any more.

mod asked;
mod consumers;
mod groups;
mod indexes;
mod members;
mod now;
mod process;
mod scrape;
mod shards;
mod shared;
mod text;

use std::future::Future;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;

use coordinator_core::time::Millis;
use metrics::{counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};

use crate::engine::Engine;

const TICK_DURATION: &str = "redis_stream_coord_tick_duration";
const REBALANCE_DURATION: &str = "redis_stream_coord_rebalance_duration";
const API_DURATION: &str = "redis_stream_coord_api_request_duration";
const SECONDS: &[f64] = &[
    0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
];

const LONG_SECONDS: &[f64] = &[
    0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0,
];

/// How often what histograms were given is summed up. Until then they keep each single number.
const UPKEEP: Duration = Duration::from_secs(5);

/// What the process' numbers mean.
const HELP: [(&str, &str); 3] = [
    ("tick_total", "Rounds of periodic work."),
    (
        "state_conflict_total",
        "Changes that lost a race and were decided anew.",
    ),
    (
        "audit_failed_total",
        "Audit events that are in the log only.",
    ),
];

/// The process has one set of numbers, however many servers run in it.
static HANDLE: OnceLock<Option<PrometheusHandle>> = OnceLock::new();

/// Begins to keep numbers. Repeated calls change nothing.
pub(crate) fn install() {
    HANDLE.get_or_init(|| {
        let durations = [
            (TICK_DURATION, SECONDS),
            (API_DURATION, SECONDS),
            (REBALANCE_DURATION, LONG_SECONDS),
        ];
        let builder =
            durations
                .into_iter()
                .try_fold(PrometheusBuilder::new(), |builder, (name, buckets)| {
                    builder.set_buckets_for_metric(Matcher::Full(name.to_owned()), buckets)
                });
        match builder.and_then(PrometheusBuilder::install_recorder) {
            Ok(handle) => Some(handle),
            Err(error) => {
                tracing::warn!(%error, "no metrics: the process keeps its numbers elsewhere");
                None
            }
        }
    });
    describe_gauge!("redis_stream_coord_up", "1 while the coordinator runs.");
    gauge!("redis_stream_coord_up").set(1.0);
    for (name, help) in HELP {
        describe_counter!(format!("redis_stream_coord_{name}"), help);
    }
    describe_counter!(
        "redis_stream_coord_api_request_total",
        "Requests, by answer."
    );
    describe_histogram!(TICK_DURATION, "Seconds that a round of periodic work took.");
    describe_histogram!(API_DURATION, "Seconds that a request took.");
    let help = "Seconds until everybody had what it should again.";
    describe_histogram!(REBALANCE_DURATION, help);
    begin();
}

/// Series that are there before their first event, so that the first one is seen as a rise.
fn begin() {
    counter!("redis_stream_coord_tick_total").increment(0);
    counter!("redis_stream_coord_audit_failed_total").increment(0);
    for operation in ["commit", "remove"] {
        counter!("redis_stream_coord_state_conflict_total", "operation" => operation).increment(0);
    }
}

// A day is far below what can be told exactly.
#[allow(clippy::cast_precision_loss)]
fn seconds(span: Millis) -> f64 {
    span.get() as f64 / 1_000.0
}

fn handle() -> Option<&'static PrometheusHandle> {
    HANDLE.get().and_then(Option::as_ref)
}

/// The process' numbers in Prometheus' text form. Those of groups come from [`scrape`].
fn render() -> String {
    handle().map(PrometheusHandle::render).unwrap_or_default()
}

/// Sums up what histograms were given, now and then, whether anybody scrapes or not. Runs until it is stopped.
pub(crate) async fn keep_up(stopped: impl Future<Output = ()>) {
    every(UPKEEP, stopped, || {
        if let Some(handle) = handle() {
            handle.run_upkeep();
        }
    })
    .await;
}

async fn every(period: Duration, stopped: impl Future<Output = ()>, work: impl Fn()) {
    let mut stopped = std::pin::pin!(stopped);
    loop {
        tokio::select! {
            () = tokio::time::sleep(period) => work(),
            () = &mut stopped => return,
        }
    }
}

/// The text of scrapes. Those that come at about the same time share one.
#[derive(Default)]
pub(crate) struct Scrapes(shared::Shared<Vec<Bytes>>);

impl Scrapes {
    /// The whole text, in parts.
    pub(crate) async fn text(&self, engine: &Engine) -> Arc<Vec<Bytes>> {
        let engine = engine.clone();
        self.0.get(move || scrape::text(&engine)).await
    }
}

/// Everybody has what it should again.
pub(crate) fn rebalanced_within(span: Duration) {
    histogram!(REBALANCE_DURATION).record(span);
}

/// A tick came to its end.
pub(crate) fn ticked(took: Duration) {
    counter!("redis_stream_coord_tick_total").increment(1);
    histogram!(TICK_DURATION).record(took);
}

/// A write found another version than it was built on (rule E1).
pub(crate) fn state_conflict(operation: &'static str) {
    counter!("redis_stream_coord_state_conflict_total", "operation" => operation).increment(1);
}

/// An audit event could not be kept where the store keeps them.
pub(crate) fn audit_failed() {
    counter!("redis_stream_coord_audit_failed_total").increment(1);
}

/// A method as a label. Clients may send any word: those that HTTP does not know share one label.
fn method_label(method: &str) -> &'static str {
    const KNOWN: [&str; 9] = [
        "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH",
    ];
    let known = KNOWN.into_iter().find(|known| *known == method);
    known.unwrap_or("OTHER")
}

/// A request was answered. The route is one that the router has.
pub(crate) fn api_request(method: &str, route: &str, status: u16, took: Duration) {
    let labels = [
        ("method", method_label(method).to_owned()),
        ("route", route.to_owned()),
        ("status", status.to_string()),
    ];
    counter!("redis_stream_coord_api_request_total", &labels).increment(1);
    histogram!(API_DURATION, &labels[..2]).record(took);
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn upkeep_is_done_again_and_again_until_it_is_stopped() {
        let done = AtomicU32::new(0);
        // waits: the clock is the test's
        let stopped = tokio::time::sleep(UPKEEP * 7 / 2);
        every(UPKEEP, stopped, || {
            done.fetch_add(1, Ordering::SeqCst);
        })
        .await;
        assert_eq!(done.load(Ordering::SeqCst), 3);
    }
}
