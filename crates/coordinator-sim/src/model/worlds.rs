//! The small worlds that are searched in the test run. Each looks at one kind of trouble, so that all together stay small.

use super::bounds::Bounds;
use super::configuration::Configuration;
use super::seen::Reached;

/// Every world that is searched.
#[must_use]
pub fn configurations() -> Vec<Configuration> {
    vec![
        messages(),
        late_messages(),
        joining(),
        restarts(),
        twins(),
        split(),
        leaving(),
        absence(),
        slow_clock(),
        overdue(),
        scale_in(),
        scale_out(),
        lost_writes(),
        lost_release(),
    ]
}

/// Messages are lost, late and repeated, answers too; nothing else goes wrong.
fn messages() -> Configuration {
    Configuration {
        bounds: Bounds {
            time: 2,
            given_up: 1,
            repeated: 1,
            late: 1,
            ..Bounds::default()
        },
        hears_at_once: false,
        promises_peace: true,
        reaches: &[Reached::Handoff, Reached::ShortWay],
        ..Configuration::quiet("messages")
    }
}

/// The same for longer.
fn late_messages() -> Configuration {
    Configuration {
        bounds: Bounds {
            time: 3,
            given_up: 1,
            repeated: 1,
            late: 1,
            ..Bounds::default()
        },
        promises_peace: true,
        reaches: &[Reached::Handoff, Reached::Expiry],
        ..Configuration::quiet("late messages")
    }
}

/// Three members, two of which come at once.
fn joining() -> Configuration {
    Configuration {
        members: 3,
        shards: 3,
        bounds: Bounds {
            time: 1,
            given_up: 1,
            late: 1,
            ..Bounds::default()
        },
        hears_at_once: false,
        promises_peace: true,
        reaches: &[Reached::Handoff],
        ..Configuration::quiet("joining")
    }
}

/// Processes that end and begin anew.
fn restarts() -> Configuration {
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
fn twins() -> Configuration {
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

/// Two coordinators whose decisions cross.
fn split() -> Configuration {
    Configuration {
        bounds: Bounds {
            time: 2,
            given_up: 1,
            late: 1,
            aborts: 1,
            ..Bounds::default()
        },
        splits_commits: true,
        reaches: &[
            Reached::Handoff,
            Reached::StaleCommit,
            Reached::LeaseRenewed,
            Reached::Expiry,
        ],
        ..Configuration::quiet("split")
    }
}

/// Members that leave.
fn leaving() -> Configuration {
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
fn absence() -> Configuration {
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

/// A clock at the limit of what rule T2 allows, and requests that arrive late.
fn slow_clock() -> Configuration {
    Configuration {
        bounds: Bounds {
            time: 4,
            given_up: 1,
            late: 1,
            ..Bounds::default()
        },
        has_slow_clock: true,
        shards: 1,
        reaches: &[Reached::Expiry, Reached::Handoff],
        ..Configuration::quiet("slow clock")
    }
}

/// Members that keep a shard for too long.
fn overdue() -> Configuration {
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

/// A shard leaves while producers still write to it.
fn scale_in() -> Configuration {
    Configuration {
        settled: 2,
        scale_to: 1,
        bounds: Bounds {
            time: 1,
            scales: 1,
            rollbacks: 1,
            published: 2,
            aborts: 1,
            ..Bounds::default()
        },
        has_news: true,
        reaches: &[
            Reached::Retired,
            Reached::RetireRefused,
            Reached::MigrationDone,
            Reached::RolledBack,
        ],
        ..Configuration::quiet("scale-in")
    }
}

/// A shard is added, and perhaps taken away again; Redis may count its lag wrongly.
fn scale_out() -> Configuration {
    Configuration {
        settled: 2,
        scale_to: 3,
        bounds: Bounds {
            time: 1,
            scales: 1,
            rollbacks: 1,
            published: 1,
            aborts: 1,
            false_lags: 1,
            ..Bounds::default()
        },
        has_news: true,
        reaches: &[
            Reached::Retired,
            Reached::MigrationDone,
            Reached::RolledBack,
        ],
        ..Configuration::quiet("scale-out")
    }
}

/// The store goes back while a member joins.
fn lost_writes() -> Configuration {
    Configuration {
        bounds: Bounds {
            time: 3,
            losses: 1,
            ..Bounds::default()
        },
        reaches: &[
            Reached::WritesDoubted,
            Reached::HoldEnded,
            Reached::CorrectionOpened,
            Reached::CorrectionClosed,
            Reached::Handoff,
        ],
        ..Configuration::quiet("lost writes")
    }
}

/// The store goes back while a member leaves and another takes over.
fn lost_release() -> Configuration {
    Configuration {
        settled: 2,
        shards: 1,
        bounds: Bounds {
            time: 3,
            losses: 1,
            shutdowns: 1,
            ..Bounds::default()
        },
        reaches: &[Reached::WritesDoubted, Reached::HoldEnded, Reached::Left],
        ..Configuration::quiet("lost release")
    }
}
