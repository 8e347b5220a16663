//! The periodic work: leaves the mark of rule M6, and finds and visits the groups that are due (rule M5), each beside the other. Decides nothing.

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

/// Finds the groups that are due, with each tick. An index that does not answer must not hold up the mark.
pub(super) async fn find(engine: Engine) {
    let mut ticks = engine.0.ticks.subscribe();
    loop {
        tokio::select! {
            changed = ticks.changed() => if changed.is_err() { return },
            () = engine.stopped() => return,
        }
        let now = *ticks.borrow_and_update();
        engine.0.due.want_due(now).await;
    }
}

/// Visits the groups that are due, until the engine is stopped.
pub(super) async fn visit(engine: Engine) {
    loop {
        let visit = tokio::select! {
            visit = engine.0.due.next_visit() => visit,
            () = engine.stopped() => return,
        };
        // The task notes the next due time once it has looked; a failure to ask means that the engine ends.
        let _ = engine.ask(&visit.group.clone(), Ask::Tick(Some(visit)));
    }
}

/// Tells the index of due work what is found out, until the engine is stopped.
pub(super) async fn tell_due(engine: Engine) {
    tokio::select! {
        () = engine.0.due.tell_index() => {}
        () = engine.stopped() => {}
    }
}

/// The same of the listing.
pub(super) async fn tell_listing(engine: Engine) {
    tokio::select! {
        () = engine.0.listing.tell_index() => {}
        () = engine.stopped() => {}
    }
}

async fn tick(engine: &Engine) {
    let started = Instant::now();
    match engine.0.watchtower.refresh().await {
        Ok(coordination) => {
            engine.0.ticks.send_replace(coordination.now);
            engine.0.status.note_tick(coordination.now);
        }
        Err(error) => engine.0.status.note_failure(&error),
    }
    metrics::ticked(started.elapsed());
}
