//! How a coordinator fares.

use protocol::{Health, HealthStatus};

use super::Look;
use super::grid::pairs;
use super::text::wire;

/// One coordinator.
pub(crate) fn one(health: &Health, look: &Look) -> String {
    let latency = health.redis_latency_ms.map(|took| format!("{took} ms"));
    let ran = health
        .last_tick_at
        .map(|at| format!("last ran {}", look.time(at)));
    pairs([
        ("Coordinator", health.coordinator_id.clone()),
        ("Status", wire(health.status)),
        (
            "Store",
            part(health.redis, [health.redis_detail.clone(), latency]),
        ),
        (
            "Periodic work",
            part(health.tick_loop, [health.loop_detail.clone(), ran]),
        ),
    ])
}

fn part(status: HealthStatus, details: [Option<String>; 2]) -> String {
    let details: Vec<String> = details.into_iter().flatten().collect();
    if details.is_empty() {
        return wire(status);
    }
    format!("{} ({})", wire(status), details.join(", "))
}
