//! Acknowledgements that wait to be sent together. Sending is the worker's business.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

/// How long an acknowledgement may wait for others.
const LONGEST_WAIT: Duration = Duration::from_millis(100);
/// How many are sent at once at most.
const MOST: usize = 1_000;

/// Ids of records that were handled. They outlive a lost connection: a record is not handed over twice because its
/// acknowledgement was lost (case C19).
#[derive(Debug, Default)]
pub(super) struct Acks {
    ids: Vec<Arc<str>>,
    oldest: Option<Instant>,
}

impl Acks {
    pub(super) fn add(&mut self, id: Arc<str>) {
        self.oldest.get_or_insert_with(Instant::now);
        self.ids.push(id);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// When they are to be sent at the latest.
    pub(super) fn due_at(&self) -> Option<Instant> {
        self.oldest.map(|oldest| oldest + LONGEST_WAIT)
    }

    pub(super) fn is_due(&self) -> bool {
        self.ids.len() >= MOST || self.due_at().is_some_and(|due| due <= Instant::now())
    }

    /// Takes them out, in order to send them.
    pub(super) fn take(&mut self) -> Vec<Arc<str>> {
        self.oldest = None;
        std::mem::take(&mut self.ids)
    }

    /// They could not be sent.
    pub(super) fn put_back(&mut self, ids: Vec<Arc<str>>) {
        self.oldest = Some(Instant::now());
        self.ids = ids;
    }
}
