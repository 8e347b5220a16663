//! The periodic work: leaves the mark of rule M6 and visits the groups that are due (rule M5). Decides nothing.

use std::time::{Duration, Instant};

use tokio::time::MissedTickBehavior;

use super::Engine;
use super::group_task::Ask;
use crate::metrics;

/// When no tick has ended for so long, the work is taken to stand still: ten of the longest intervals, and longer than a Redis that hangs is waited for.
pub(super) const STILL: Duration = Duration::from_secs(5);

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

async fn tick(engine: &Engine) {
    let started = Instant::now();
    match engine.0.watchtower.refresh().await {
        Ok(coordination) => {
            for group in engine.0.due.take_due(coordination.now) {
                // The task notes the next due time once it has looked; a failure to ask means that the engine ends.
                let _ = engine.ask(&group, Ask::Tick);
            }
            engine.0.status.note_tick(coordination.now);
        }
        Err(error) => engine.0.status.note_failure(&error),
    }
    metrics::ticked(started.elapsed());
}
