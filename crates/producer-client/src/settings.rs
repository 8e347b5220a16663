//! Settings of a producer after validation. Which values are allowed is known to the builder.

use std::num::NonZeroU32;
use std::time::Duration;

/// How long a shard's stream may get.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MaxLen {
    /// As long as it gets: nothing is trimmed.
    #[default]
    Unlimited,
    /// About so many records (`MAXLEN ~`): the cheap way.
    Approximate(u64),
    /// Exactly so many records (`MAXLEN =`).
    Exact(u64),
}

/// What the parts of a producer need to know.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) stream_prefix: String,
    pub(crate) consumer_group: String,
    pub(crate) refresh_interval: Duration,
    pub(crate) routing_lease: Duration,
    pub(crate) max_len: MaxLen,
    pub(crate) max_in_flight: NonZeroU32,
}
