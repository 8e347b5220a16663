//! Visits every group of the directory now and then, so that none is forgotten that another coordinator made or left behind. Paced, so that many
//! groups do not crowd out the rest.

use std::collections::BTreeSet;
use std::time::Duration;

use coordinator_core::names::GroupId;
use store::{PageCursor, StoreError};
use tokio::time::MissedTickBehavior;

use super::Engine;
use super::group_task::Ask;

/// The most groups that are visited in a second.
const GROUPS_PER_SECOND: u32 = 200;

/// Runs until the engine is stopped.
pub(super) async fn run(engine: Engine) {
    let interval = Duration::from_millis(engine.settings().member_lease_ttl().get());
    let mut sweeps = tokio::time::interval(interval);
    sweeps.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = sweeps.tick() => {}
            () = engine.stopped() => return,
        }
        tokio::select! {
            outcome = sweep(&engine) => if let Err(error) = outcome {
                tracing::warn!(%error, "could not walk the directory of groups; trying again");
            },
            () = engine.stopped() => return,
        }
    }
}

async fn sweep(engine: &Engine) -> Result<(), StoreError> {
    let mut pace = tokio::time::interval(Duration::from_secs(1) / GROUPS_PER_SECOND);
    let mut cursor = PageCursor::default();
    let mut unlisted: BTreeSet<GroupId> = engine.0.views.names().into_iter().collect();
    loop {
        let page = engine.store().groups(&cursor).await?;
        for group in page.groups {
            pace.tick().await;
            unlisted.remove(&group);
            let _ = engine.ask(&group, Ask::Tick);
        }
        match page.next {
            Some(next) => cursor = next,
            None => break,
        }
    }
    // What another coordinator deleted is shown no longer than that.
    for group in unlisted {
        pace.tick().await;
        let _ = engine.ask(&group, Ask::Tick);
    }
    Ok(())
}
