//! Worlds in which messages are lost, late or repeated.

use crate::model::bounds::Bounds;
use crate::model::configuration::Configuration;
use crate::model::seen::Reached;

/// Messages are lost, late and repeated, answers too; nothing else goes wrong.
pub(super) fn messages() -> Configuration {
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
pub(super) fn late_messages() -> Configuration {
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
pub(super) fn joining() -> Configuration {
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

/// A clock at the limit of what rule T2 allows, and requests that arrive late.
pub(super) fn slow_clock() -> Configuration {
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

/// Clients that neither name their process nor number their messages.
pub(super) fn plain() -> Configuration {
    Configuration {
        bounds: Bounds {
            time: 2,
            given_up: 1,
            repeated: 1,
            late: 1,
            ..Bounds::default()
        },
        hears_at_once: false,
        is_plain: true,
        reaches: &[Reached::Handoff, Reached::Expiry],
        ..Configuration::quiet("plain clients")
    }
}
