//! The periodic work: leaves the mark of rule M6 and visits the groups that are due (rule M5). Decides nothing.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use coordinator_core::time::Timestamp;
use tokio::time::MissedTickBehavior;

use super::Engine;
use super::group_task::Ask;
use crate::metrics;

/// How the periodic work fares.
#[derive(Clone, Debug, Default)]
pub(crate) struct LoopStatus {
    /// When it last ran to its end, in the store's time.
    pub(crate) last_tick_at: Option<Timestamp>,
    /// Why it last came to nothing; none if it did not.
    pub(crate) last_error: Option<String>,
}

#[derive(Default)]
pub(super) struct StatusCell(Mutex<LoopStatus>);

impl StatusCell {
    fn change(&self, change: impl FnOnce(&mut LoopStatus)) {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Engine {
    /// How the periodic work fares.
    pub(crate) fn loop_status(&self) -> LoopStatus {
        self.0
            .status
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// Runs until the engine is stopped.
pub(super) async fn run(engine: Engine) {
    let mut ticks = tokio::time::interval(engine.0.watchtower.tick());
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = ticks.tick() => tick(&engine).await,
            () = engine.stopped() => return,
        }
    }
}

/// Visits the groups that are due, and tells the indexes what comes of it, until the engine is stopped.
pub(super) async fn visit(engine: Engine) {
    let visits = async {
        loop {
            let visit = engine.0.due.next_visit().await;
            // The task notes the next due time once it has looked; a failure to ask means that the engine ends.
            let _ = engine.ask(&visit.group.clone(), Ask::Tick(Some(visit)));
        }
    };
    tokio::select! {
        () = visits => {}
        () = engine.0.due.tell_index() => {}
        () = engine.0.listing.tell_index() => {}
        () = engine.stopped() => {}
    }
}

async fn tick(engine: &Engine) {
    let started = Instant::now();
    match engine.0.watchtower.refresh().await {
        Ok(coordination) => {
            engine.0.due.want_due(coordination.now).await;
            engine.0.status.change(|status| {
                if status.last_error.is_some() {
                    tracing::info!("ticks work again");
                }
                status.last_tick_at = Some(coordination.now);
                status.last_error = None;
            });
        }
        Err(error) => {
            engine.0.status.change(|status| {
                // Said once, not with every tick.
                if status.last_error.is_none() {
                    tracing::warn!(%error, "ticks fail; nobody is expired meanwhile");
                }
                status.last_error = Some(error.to_string());
            });
        }
    }
    metrics::ticked(started.elapsed());
}
