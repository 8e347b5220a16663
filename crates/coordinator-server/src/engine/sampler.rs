//! Looks at the shard streams and at the members' progress of all groups, a few at a time, for the metrics: a scrape asks no store. One coordinator of a
//! fleet is enough for that; it can be switched off in the others.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use coordinator_core::names::GroupId;
use futures_util::stream::{self, Stream, StreamExt};
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::looks::{GROUPS_AT_ONCE, Reported, Standing};
use super::shared_reads::Look;
use super::{Engine, EngineError};

/// The most groups that are looked at in a second.
const GROUPS_PER_SECOND: u32 = 100;

/// No round begins sooner after the one before.
const SHORTEST: Duration = Duration::from_millis(100);

/// A sample that is older than so many rounds says nothing any more.
const ROUNDS: u32 = 3;

/// What was last found of one group.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    /// Where its streams stand; none where there is no Redis of streams.
    pub(crate) standing: Option<Arc<Look<Standing>>>,
    pub(crate) reported: Arc<Look<Reported>>,
}

/// What was last found of each group.
pub(super) struct Samples {
    /// How often they are taken; zero if they are not.
    period: Duration,
    /// For how long a look is told again, to the sampler too: a sample may be that old when it is taken.
    keep: Duration,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    samples: BTreeMap<GroupId, Sample>,
    /// When the round that is under way began, and how long the one before it took.
    began: Option<Instant>,
    took: Duration,
}

impl Samples {
    pub(super) fn new(period: Duration, keep: Duration) -> Self {
        Self {
            period,
            keep,
            known: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// For how long a sample says something. Rounds take longer than their period where servers are slow or groups are many.
    fn patience(&self) -> Duration {
        let known = self.lock();
        let under_way = known.began.map_or(Duration::ZERO, |began| began.elapsed());
        self.period.max(known.took).max(under_way) * ROUNDS + self.keep
    }

    fn begin_round(&self, ids: &BTreeSet<GroupId>) {
        let mut known = self.lock();
        known.samples.retain(|id, _| ids.contains(id));
        known.began = Some(Instant::now());
    }

    fn end_round(&self) {
        let mut known = self.lock();
        known.took = known
            .began
            .take()
            .map_or(Duration::ZERO, |began| began.elapsed());
    }

    fn keep(&self, id: GroupId, sample: Sample) {
        let is_gone = matches!(sample.reported.outcome, Err(EngineError::GroupNotFound));
        let mut known = self.lock();
        if is_gone {
            known.samples.remove(&id);
        } else {
            known.samples.insert(id, sample);
        }
    }
}

impl Engine {
    /// What was last found of each group.
    pub(crate) fn samples(&self) -> BTreeMap<GroupId, Sample> {
        self.0.samples.lock().samples.clone()
    }

    /// For how long a sample says something.
    pub(crate) fn sample_patience(&self) -> Duration {
        self.0.samples.patience()
    }
}

/// Runs until the engine is stopped.
pub(super) async fn run(engine: Engine) {
    let period = engine.0.samples.period;
    if period.is_zero() {
        return;
    }
    // One that broke off does not count.
    engine.0.samples.lock().began = None;
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

/// One look at each group, spread over the better part of the period. One that has to be waited for holds up no other, unless there are many such.
async fn look_around(engine: &Engine, period: Duration) -> Result<(), EngineError> {
    let ids = engine.group_ids().await?;
    let samples = &engine.0.samples;
    samples.begin_round(&ids);
    let count = u32::try_from(ids.len()).unwrap_or(u32::MAX).max(1);
    let fastest = Duration::from_secs(1) / GROUPS_PER_SECOND;
    let share = (period * 4 / 5 / count).max(fastest);
    let looks = paced(ids, share).map(|id| async move {
        let sample = look_at(engine, &id).await;
        samples.keep(id, sample);
    });
    let mut looks = std::pin::pin!(looks.buffer_unordered(GROUPS_AT_ONCE));
    while looks.next().await.is_some() {}
    samples.end_round();
    Ok(())
}

/// Each after a share of time, or as soon as there is a place for it.
fn paced<T>(all: impl IntoIterator<Item = T>, share: Duration) -> impl Stream<Item = T> {
    let rest = (all.into_iter(), Instant::now());
    stream::unfold(rest, move |(mut rest, at)| async move {
        let one = rest.next()?;
        tokio::time::sleep_until(at).await;
        Some((one, (rest, Instant::now().max(at + share))))
    })
}

async fn look_at(engine: &Engine, id: &GroupId) -> Sample {
    Sample {
        standing: if engine.has_plane() {
            Some(engine.sampled_standing(id).await)
        } else {
            None
        },
        reported: engine.reported(id).await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn samples_are_believed_for_longer_while_rounds_take_longer() {
        let keep = Duration::from_secs(2);
        let samples = Samples::new(Duration::from_secs(10), keep);
        let patience = |rounds: u32| Duration::from_secs(10) * rounds + keep;
        assert_eq!(samples.patience(), patience(ROUNDS));
        samples.begin_round(&BTreeSet::default());
        tokio::time::advance(Duration::from_secs(40)).await;
        assert_eq!(samples.patience(), patience(4 * ROUNDS), "it is under way");
        samples.end_round();
        samples.begin_round(&BTreeSet::default());
        assert_eq!(samples.patience(), patience(4 * ROUNDS), "it was the last");
        tokio::time::advance(Duration::from_secs(1)).await;
        samples.end_round();
        assert_eq!(samples.patience(), patience(ROUNDS));
    }
}
