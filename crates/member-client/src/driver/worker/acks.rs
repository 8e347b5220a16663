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
    waiting: Waiting,
    oldest: Option<Instant>,
}

/// What is to be sent.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    /// To be acknowledged.
    pub(super) ids: Vec<Arc<str>>,
    /// To be acknowledged and deleted.
    pub(super) deleting: Vec<Arc<str>>,
}

impl Waiting {
    pub(super) fn is_empty(&self) -> bool {
        self.ids.is_empty() && self.deleting.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.ids.len() + self.deleting.len()
    }
}

impl Acks {
    pub(super) fn add(&mut self, id: Arc<str>) {
        self.oldest.get_or_insert_with(Instant::now);
        self.waiting.ids.push(id);
    }

    pub(super) fn add_deleting(&mut self, id: Arc<str>) {
        self.oldest.get_or_insert_with(Instant::now);
        self.waiting.deleting.push(id);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// When they are to be sent at the latest.
    pub(super) fn due_at(&self) -> Option<Instant> {
        self.oldest.map(|oldest| oldest + LONGEST_WAIT)
    }

    pub(super) fn is_due(&self) -> bool {
        self.waiting.len() >= MOST || self.due_at().is_some_and(|due| due <= Instant::now())
    }

    /// Takes them out, in order to send them.
    pub(super) fn take(&mut self) -> Waiting {
        self.oldest = None;
        std::mem::take(&mut self.waiting)
    }

    /// They could not be sent.
    pub(super) fn put_back(&mut self, waiting: Waiting) {
        self.oldest = Some(Instant::now());
        self.waiting = waiting;
    }
}
