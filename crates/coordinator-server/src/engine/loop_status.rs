//! How the periodic work fares, as health tells it: what came of it last, whether it stands still, whether a part of it broke.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use coordinator_core::time::Timestamp;
use tokio::time::Instant;

use super::Engine;

/// For how long it is told that a part broke and was started again.
const REMEMBERED: Duration = Duration::from_secs(60);

/// How the periodic work fares.
#[derive(Clone, Debug)]
pub(crate) struct LoopStatus {
    /// When it last ran to its end, in the store's time.
    pub(crate) last_tick_at: Option<Timestamp>,
    /// What is wrong with it; none if nothing is.
    pub(crate) problem: Option<String>,
}

/// What is known of it.
pub(super) struct StatusCell {
    /// The longest silence that means nothing.
    patience: Duration,
    known: Mutex<Known>,
}

struct Known {
    last_tick_at: Option<Timestamp>,
    last_error: Option<String>,
    /// When a tick last ended, whatever came of it; by this process' own clock.
    ended: Instant,
    /// Which part last broke, and when.
    broken: Option<(&'static str, Instant)>,
}

impl StatusCell {
    /// A tick that takes longer than `patience` is taken to stand still.
    pub(super) fn new(patience: Duration) -> Self {
        let known = Mutex::new(Known {
            last_tick_at: None,
            last_error: None,
            ended: Instant::now(),
            broken: None,
        });
        Self { patience, known }
    }

    /// A tick ran to its end, at a moment of the store.
    pub(super) fn note_tick(&self, now: Timestamp) {
        let mut known = self.lock();
        if known.last_error.take().is_some() {
            tracing::info!("ticks work again");
        }
        known.last_tick_at = Some(now);
        known.ended = Instant::now();
    }

    /// A tick came to nothing.
    pub(super) fn note_failure(&self, error: &store::StoreError) {
        let mut known = self.lock();
        // Said once, not with every tick.
        if known.last_error.is_none() {
            tracing::warn!(%error, "ticks fail; nobody is expired meanwhile");
        }
        known.last_error = Some(error.to_string());
        known.ended = Instant::now();
    }

    /// A part of the work broke, and is started again.
    pub(super) fn note_break(&self, part: &'static str) {
        self.lock().broken = Some((part, Instant::now()));
    }

    pub(super) fn tell(&self) -> LoopStatus {
        let known = self.lock();
        let still = known.ended.elapsed();
        let broken = known.broken.filter(|(_, when)| when.elapsed() < REMEMBERED);
        let problem = if still > self.patience {
            Some(format!(
                "it has stood still for {} s; if that lasts, restart the coordinator",
                still.as_secs()
            ))
        } else if let Some(error) = &known.last_error {
            Some(error.clone())
        } else {
            broken.map(|(part, when)| {
                let ago = when.elapsed().as_secs();
                format!("{part} broke {ago} s ago and was started again; the log says more")
            })
        };
        LoopStatus {
            last_tick_at: known.last_tick_at,
            problem,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Engine {
    /// How the periodic work fares.
    pub(crate) fn loop_status(&self) -> LoopStatus {
        self.0.status.tell()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(5);

    #[tokio::test(start_paused = true)]
    async fn work_that_stands_still_is_told_whatever_was_last_said() {
        let cell = StatusCell::new(PATIENCE);
        assert_eq!(cell.tell().problem, None, "it has only begun");
        tokio::time::advance(PATIENCE * 2).await;
        assert!(cell.tell().problem.unwrap().contains("still for 10 s"));
        cell.note_tick(Timestamp::from_ms(7));
        assert_eq!(cell.tell().problem, None);
        tokio::time::advance(PATIENCE + Duration::from_secs(1)).await;
        let told = cell.tell();
        assert!(told.problem.unwrap().contains("still for 6 s"));
        assert_eq!(told.last_tick_at, Some(Timestamp::from_ms(7)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_part_that_broke_is_told_for_a_while() {
        let cell = StatusCell::new(PATIENCE);
        cell.note_break("the walk over all groups");
        let told = cell.tell().problem.unwrap();
        assert!(told.starts_with("the walk over all groups broke 0 s ago"));
        tokio::time::advance(REMEMBERED).await;
        cell.note_tick(Timestamp::from_ms(7));
        assert_eq!(cell.tell().problem, None);
    }
}
