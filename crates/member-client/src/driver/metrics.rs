//! Plain counters of one client. How they are exported is the application's business.

use std::sync::atomic::{AtomicU64, Ordering};

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// The counters themselves, shared by all parts of one client.
        #[derive(Debug, Default)]
        pub(crate) struct Counters {
            $(pub(crate) $name: Counter,)*
        }

        /// What a client has counted since it was started.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        #[non_exhaustive]
        pub struct MetricsSnapshot {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl Counters {
            pub(crate) fn snapshot(&self) -> MetricsSnapshot {
                MetricsSnapshot { $($name: self.$name.0.load(Ordering::Relaxed),)* }
            }
        }
    };
}

counters! {
    /// Records handed over successfully.
    records_handled,
    /// Records acknowledged.
    records_acked,
    /// Acknowledged ids that Redis did not know as pending (any more).
    acks_unknown,
    /// Records handed over again that had been delivered before and not acknowledged.
    records_recovered,
    /// Pending entries whose record had been deleted or trimmed, and that were cleared away (case C15).
    records_lost,
    /// Acknowledgements that were not sent any more, or refused, because the shard was another's (case C36).
    acks_refused,
    /// Records acknowledged and deleted from their stream.
    records_deleted,
    /// Records that were to be deleted and were only acknowledged, because the lives of their shard are not told apart.
    deletes_skipped,
    /// Entries that were trimmed before anybody had read them (case C30).
    trimmed_unread,
    /// Errors returned by the handler.
    handler_errors,
    /// Attempts at a record that were followed by a pause and another attempt.
    retries,
    /// Records moved to the stream of dead letters.
    dead_letters,
    /// Times a shard stopped at a record after the last attempt.
    shards_halted,
    /// Times a shard was given up because it is in another life than was told, or has another owner.
    shards_superseded,
    /// Workers that ended because the handler panicked.
    handler_panics,
    /// Workers started.
    shards_started,
    /// Times a worker created its shard's consumer group anew (case C01).
    group_repairs,
    /// Times a stream was found to be lost and made anew: what was in it is gone.
    streams_lost,
    /// Times a worker had to begin again with a new connection.
    reconnects,
    /// Heartbeats sent.
    heartbeats_sent,
    /// Heartbeats that got no answer.
    heartbeats_failed,
    /// Times a member dropped everything: refused, or out of its lease.
    abandonments,
    /// Hints of the watch.
    hints,
}

/// One counter.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self, count: usize) {
        self.0.fetch_add(count as u64, Ordering::Relaxed);
    }

    pub(crate) fn increment(&self) {
        self.add(1);
    }
}
