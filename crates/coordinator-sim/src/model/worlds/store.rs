//! Worlds in which the decisions of two coordinators cross, or the store goes back.

use crate::model::bounds::Bounds;
use crate::model::configuration::Configuration;
use crate::model::seen::Reached;

/// Two coordinators whose decisions cross.
pub(super) fn split() -> Configuration {
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

/// Two processes of one member, and two coordinators whose decisions cross.
pub(super) fn split_twins() -> Configuration {
    Configuration {
        members: 1,
        shards: 1,
        bounds: Bounds {
            time: 3,
            twins: 1,
            late: 1,
            ..Bounds::default()
        },
        splits_commits: true,
        reaches: &[
            Reached::StaleCommit,
            Reached::LeaseRenewed,
            Reached::QuarantineEnded,
        ],
        ..Configuration::quiet("split twins")
    }
}

/// The store goes back while a member joins.
pub(super) fn lost_writes() -> Configuration {
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
pub(super) fn lost_release() -> Configuration {
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

/// The store goes back between two processes that begin under one id.
pub(super) fn lost_epochs() -> Configuration {
    Configuration {
        members: 1,
        shards: 1,
        bounds: Bounds {
            time: 1,
            losses: 1,
            twins: 2,
            ..Bounds::default()
        },
        reaches: &[Reached::WritesDoubted, Reached::QuarantineOpened],
        ..Configuration::quiet("lost epochs")
    }
}

/// The same with clients that do not name their process: which of two is the member is not to be seen from what they say.
pub(super) fn lost_twins() -> Configuration {
    Configuration {
        members: 1,
        shards: 1,
        bounds: Bounds {
            time: 3,
            losses: 1,
            twins: 1,
            ..Bounds::default()
        },
        is_plain: true,
        reaches: &[
            Reached::WritesDoubted,
            Reached::QuarantineOpened,
            Reached::HoldEnded,
            Reached::CorrectionOpened,
        ],
        ..Configuration::quiet("lost twins")
    }
}
