//! A rebuild that is held: however its end comes, the next one need not wait for its lease.

use std::sync::Arc;
use std::time::Duration;

use crate::index::{Build, Index};

/// How often an index that does not answer is told, and how long it is left alone between two tries.
const TRIES: u32 = 50;
const PAUSE: Duration = Duration::from_millis(200);

/// A rebuild that is given up unless it is kept.
pub(super) struct Held {
    index: Arc<dyn Index>,
    pub(super) build: Build,
    is_over: bool,
}

impl Held {
    pub(super) fn new(index: &Arc<dyn Index>, build: Build) -> Self {
        Self {
            index: Arc::clone(index),
            build,
            is_over: false,
        }
    }

    /// It is in place, or was never this one's.
    pub(super) fn keep(mut self) {
        self.is_over = true;
    }

    /// It came to nothing. Where giving it up fails, that is tried on beside the caller.
    pub(super) async fn give_up(mut self) {
        self.is_over = self.index.abandon(self.build.clone()).await.is_ok();
    }
}

/// Nobody waits any more: the time was over, the caller has gone, or the index does not answer. An index that hangs may yet do what it was sent, over a
/// connection that is closed by now: the end has to come after that.
impl Drop for Held {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(abandoned(Arc::clone(&self.index), self.build.clone()));
        }
    }
}

/// Tries to give a rebuild up until the index answers; not much longer than its lease would last anyway.
async fn abandoned(index: Arc<dyn Index>, build: Build) {
    for _ in 0..TRIES {
        if index.abandon(build.clone()).await.is_ok() {
            return;
        }
        tokio::time::sleep(PAUSE).await;
    }
}
