//! Worlds in which shards are added and leave, under producers.

use crate::model::bounds::Bounds;
use crate::model::configuration::Configuration;
use crate::model::seen::Reached;

/// A shard leaves while producers still write to it.
pub(super) fn scale_in() -> Configuration {
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
pub(super) fn scale_out() -> Configuration {
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
