//! The numbers that the coordinator shows to Prometheus. Names and labels are those of the protocol; nothing here decides anything.

use std::sync::OnceLock;
use std::time::Duration;

use coordinator_core::names::GroupId;
use metrics::{counter, gauge, histogram};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};

const TICK_DURATION: &str = "redis_stream_coord_tick_duration";
const API_DURATION: &str = "redis_stream_coord_api_request_duration";
const SECONDS: &[f64] = &[
    0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
];

/// The process has one set of numbers, however many servers run in it.
static HANDLE: OnceLock<Option<PrometheusHandle>> = OnceLock::new();

/// Begins to keep numbers. Repeated calls change nothing.
pub(crate) fn install() {
    HANDLE.get_or_init(|| {
        let durations = [TICK_DURATION, API_DURATION];
        let builder = durations
            .into_iter()
            .try_fold(PrometheusBuilder::new(), |builder, name| {
                builder.set_buckets_for_metric(Matcher::Full(name.to_owned()), SECONDS)
            });
        match builder.and_then(PrometheusBuilder::install_recorder) {
            Ok(handle) => Some(handle),
            Err(error) => {
                tracing::warn!(%error, "no metrics: the process keeps its numbers elsewhere");
                None
            }
        }
    });
    gauge!("redis_stream_coord_up").set(1.0);
}

/// All numbers in Prometheus' text form.
pub(crate) fn render() -> String {
    HANDLE
        .get()
        .and_then(Option::as_ref)
        .map(PrometheusHandle::render)
        .unwrap_or_default()
}

fn of_group(group: &GroupId) -> [(&'static str, String); 2] {
    [
        ("stream_prefix", group.stream.as_str().to_owned()),
        ("consumer_group", group.group.as_str().to_owned()),
    ]
}

/// A heartbeat was answered.
pub(crate) fn heartbeat(status: &'static str) {
    counter!("redis_stream_coord_heartbeat_total", "status" => status).increment(1);
}

/// A lease was over (rule M1).
pub(crate) fn member_expired(group: &GroupId) {
    counter!("redis_stream_coord_member_expired_total", &of_group(group)).increment(1);
}

/// A member claimed a shard outside its authority (rule O7).
pub(crate) fn ownership_violation(group: &GroupId) {
    counter!(
        "redis_stream_coord_ownership_violation_total",
        &of_group(group)
    )
    .increment(1);
}

/// A target was computed (rule E4).
pub(crate) fn rebalanced(group: &GroupId) {
    counter!("redis_stream_coord_rebalance_total", &of_group(group)).increment(1);
}

/// The invariants were checked (rule M4).
pub(crate) fn invariant_violations(group: &GroupId, count: usize) {
    let labels = of_group(group);
    #[allow(clippy::cast_precision_loss)]
    gauge!("redis_stream_coord_invariant_violations", &labels).set(count as f64);
    counter!("redis_stream_coord_invariant_violation_total", &labels).increment(count as u64);
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

/// A change of a shard count was asked for.
pub(crate) fn scale_request(is_refused: bool) {
    counter!("redis_stream_coord_scale_request_total").increment(1);
    if is_refused {
        counter!("redis_stream_coord_scale_request_failed_total").increment(1);
    }
}

/// An audit event could not be kept where the store keeps them.
pub(crate) fn audit_failed() {
    counter!("redis_stream_coord_audit_failed_total").increment(1);
}

/// A producer asked for the routing.
pub(crate) fn producer_routing(status: u16) {
    counter!("redis_stream_coord_producer_routing_request_total", "status" => status.to_string())
        .increment(1);
}

/// A request was answered.
pub(crate) fn api_request(method: &str, route: &str, status: u16, took: Duration) {
    let labels = [
        ("method", method.to_owned()),
        ("route", route.to_owned()),
        ("status", status.to_string()),
    ];
    counter!("redis_stream_coord_api_request_total", &labels).increment(1);
    histogram!(API_DURATION, &labels[..2]).record(took);
}
