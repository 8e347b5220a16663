//! Looks at the shard streams and at the members' progress of all groups, one after the other, for the metrics: a scrape asks no store. One coordinator of a
//! fleet is enough for that; it can be switched off in the others.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use coordinator_core::names::GroupId;
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::looks::{Reported, Standing};
use super::shared_reads::Look;
use super::{Engine, EngineError};

/// The most groups that are looked at in a second.
const GROUPS_PER_SECOND: u32 = 100;

/// No round begins sooner after the one before.
const SHORTEST: Duration = Duration::from_millis(100);

/// What was last found of one group.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    /// Where its streams stand; none where there is no Redis of streams.
    pub(crate) standing: Option<Arc<Look<Standing>>>,
    pub(crate) reported: Arc<Look<Reported>>,
}

#[derive(Default)]
pub(super) struct Samples(Mutex<BTreeMap<GroupId, Sample>>);

impl Samples {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<GroupId, Sample>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Engine {
    /// What was last found of each group.
    pub(crate) fn samples(&self) -> BTreeMap<GroupId, Sample> {
        self.0.samples.lock().clone()
    }

    /// How often samples are taken; zero if they are not.
    pub(crate) fn sampling_interval(&self) -> Duration {
        self.0.sampling
    }
}

/// Runs until the engine is stopped.
pub(super) async fn run(engine: Engine) {
    let period = engine.sampling_interval();
    if period.is_zero() {
        return;
    }
    let mut rounds = interval(period.max(SHORTEST));
    rounds.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let round = async {
            rounds.tick().await;
            look_around(&engine, period).await
        };
        tokio::select! {
            outcome = round => if let Err(error) = outcome {
                tracing::warn!(%error, "could not look at the shard streams of all groups; trying again");
            },
            () = engine.stopped() => return,
        }
    }
}

/// One look at each group, spread over the better part of the period.
async fn look_around(engine: &Engine, period: Duration) -> Result<(), EngineError> {
    let ids = engine.group_ids().await?;
    engine.0.samples.lock().retain(|id, _| ids.contains(id));
    let count = u32::try_from(ids.len()).unwrap_or(u32::MAX).max(1);
    let share = period * 4 / 5 / count;
    let fastest = Duration::from_secs(1) / GROUPS_PER_SECOND;
    let mut next = Instant::now();
    for id in ids {
        tokio::time::sleep_until(next).await;
        next = Instant::now().max(next + share.max(fastest));
        let sample = look_at(engine, &id).await;
        let is_gone = matches!(sample.reported.outcome, Err(EngineError::GroupNotFound));
        let mut samples = engine.0.samples.lock();
        if is_gone {
            samples.remove(&id);
        } else {
            samples.insert(id, sample);
        }
    }
    Ok(())
}

async fn look_at(engine: &Engine, id: &GroupId) -> Sample {
    Sample {
        standing: if engine.has_plane() {
            Some(engine.standing(id).await)
        } else {
            None
        },
        reported: engine.reported(id).await,
    }
}
