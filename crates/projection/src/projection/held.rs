//! A rebuild that is held: however its end comes, the next one need not wait for its lease.

use std::sync::Arc;

use crate::index::{Build, Index};

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

    /// It came to nothing. If giving it up fails too, its lease runs out.
    pub(super) async fn give_up(mut self) {
        let _ = self.index.abandon(self.build.clone()).await;
        self.is_over = true;
    }
}

/// Nobody waits any more: the time was over, or the caller has gone. What was sent before may still be done by an index that hangs; this comes behind it.
impl Drop for Held {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let (index, build) = (Arc::clone(&self.index), self.build.clone());
            runtime.spawn(async move {
                let _ = index.abandon(build).await;
            });
        }
    }
}
