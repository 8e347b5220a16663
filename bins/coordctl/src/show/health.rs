//! How a coordinator fares.

use protocol::{Health, HealthStatus};

use super::Look;
use super::grid::pairs;
use super::text::{printable, wire};

/// How long a reason may be, in characters, to stand in a line with others.
const SHORT: usize = 100;

/// One coordinator.
pub(crate) fn one(health: &Health, look: &Look) -> String {
    let latency = health.redis_latency_ms.map(|took| format!("{took} ms"));
    let ran = health
        .last_tick_at
        .map(|at| format!("last ran {}", look.time(at)));
    let (store, store_more) = part(health.redis, health.redis_detail.as_deref(), latency);
    let (work, work_more) = part(health.tick_loop, health.loop_detail.as_deref(), ran);
    let mut text = pairs([
        ("Coordinator", health.coordinator_id.clone()),
        ("Status", wire(health.status)),
        ("Store", store),
        ("Periodic work", work),
    ]);
    for (name, more) in [("Store", store_more), ("Periodic work", work_more)] {
        text.extend(more.map(|more| format!("\n\n{name}: {}", printable(&more))));
    }
    text
}

/// A part in one line, and what is too long for one.
fn part(
    status: HealthStatus,
    detail: Option<&str>,
    number: Option<String>,
) -> (String, Option<String>) {
    let is_short = detail.is_none_or(|detail| detail.chars().count() <= SHORT);
    let (inside, below) = if is_short {
        (detail, None)
    } else {
        (None, detail)
    };
    let inside = inside.map(str::to_owned).into_iter().chain(number);
    let inside: Vec<String> = inside.collect();
    let line = if inside.is_empty() {
        wire(status)
    } else {
        format!("{} ({})", wire(status), inside.join(", "))
    };
    (line, below.map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_for_a_line_stands_below() {
        let long = "word ".repeat(60);
        let (line, below) = part(HealthStatus::Down, Some(&long), Some("3 ms".to_owned()));
        assert_eq!((line.as_str(), below), ("DOWN (3 ms)", Some(long)));
        let (line, below) = part(HealthStatus::Down, Some("refused"), None);
        assert_eq!((line.as_str(), below), ("DOWN (refused)", None));
    }
}
