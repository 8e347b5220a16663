//! Worlds in which processes end, begin anew, are there twice, or do not do what they should.

use crate::model::bounds::Bounds;
use crate::model::configuration::Configuration;
use crate::model::seen::Reached;

/// Processes that end and begin anew.
pub(super) fn restarts() -> Configuration {
    Configuration {
        bounds: Bounds {
            time: 3,
            restarts: 1,
            late: 1,
            ..Bounds::default()
        },
        reaches: &[
            Reached::Handoff,
            Reached::QuarantineOpened,
            Reached::QuarantineEnded,
            Reached::Expiry,
        ],
        ..Configuration::quiet("restarts")
    }
}

/// Processes that begin under the id of one that lives on.
pub(super) fn twins() -> Configuration {
    Configuration {
        shards: 1,
        bounds: Bounds {
            time: 3,
            twins: 1,
            ..Bounds::default()
        },
        reaches: &[
            Reached::Handoff,
            Reached::QuarantineOpened,
            Reached::QuarantineEnded,
        ],
        ..Configuration::quiet("twins")
    }
}

/// Members that leave.
pub(super) fn leaving() -> Configuration {
    Configuration {
        settled: 2,
        bounds: Bounds {
            time: 3,
            late: 1,
            shutdowns: 1,
            ..Bounds::default()
        },
        reaches: &[Reached::Left, Reached::Expiry, Reached::Handoff],
        ..Configuration::quiet("leaving")
    }
}

/// Members that crash, and coordinators that are away.
pub(super) fn absence() -> Configuration {
    Configuration {
        settled: 2,
        bounds: Bounds {
            time: 3,
            crashes: 1,
            absences: 1,
            ..Bounds::default()
        },
        reaches: &[Reached::Expiry, Reached::Handoff],
        ..Configuration::quiet("absence")
    }
}

/// Members that keep a shard for too long.
pub(super) fn overdue() -> Configuration {
    Configuration {
        bounds: Bounds {
            time: 3,
            ..Bounds::default()
        },
        has_news: true,
        rebalance_timeout: 1,
        reaches: &[
            Reached::Fence,
            Reached::QuarantineOpened,
            Reached::QuarantineEnded,
            Reached::Handoff,
        ],
        ..Configuration::quiet("overdue")
    }
}

/// A process keeps a shard for too long, and another begins under its id.
pub(super) fn overdue_twins() -> Configuration {
    Configuration {
        bounds: Bounds {
            time: 2,
            twins: 1,
            ..Bounds::default()
        },
        rebalance_timeout: 1,
        reaches: &[Reached::Fence, Reached::QuarantineOpened],
        ..Configuration::quiet("overdue twins")
    }
}
