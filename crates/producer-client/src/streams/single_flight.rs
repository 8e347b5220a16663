//! One does it, those who come meanwhile wait and share what came of it. What is done is not known here.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Mutex;

/// Something that is done by one caller at a time, for all who want it then.
#[derive(Debug)]
pub(crate) struct SingleFlight<T> {
    flights: AtomicU64,
    last: Mutex<Option<T>>,
}

impl<T: Clone> SingleFlight<T> {
    pub(crate) fn new() -> Self {
        Self {
            flights: AtomicU64::new(0),
            last: Mutex::new(None),
        }
    }

    /// What `fly` comes to, or what it came to for another caller while this one waited.
    pub(crate) async fn run(&self, fly: impl Future<Output = T>) -> T {
        let before = self.flights.load(Ordering::Acquire);
        let mut last = self.last.lock().await;
        if let Some(shared) = last
            .as_ref()
            .filter(|_| self.flights.load(Ordering::Acquire) != before)
        {
            return shared.clone();
        }
        let outcome = fly.await;
        *last = Some(outcome.clone());
        self.flights.fetch_add(1, Ordering::Release);
        outcome
    }
}

#[cfg(test)]
mod tests {
    use futures_util::future::join_all;
    use std::sync::atomic::{AtomicU64, Ordering};
    use tokio::sync::Barrier;

    use super::SingleFlight;

    #[tokio::test]
    async fn those_who_wait_share_and_those_who_come_later_do_not() {
        let (single, flights) = (SingleFlight::new(), AtomicU64::new(0));
        let all_there = Barrier::new(100);
        let fly = || async {
            tokio::task::yield_now().await;
            flights.fetch_add(1, Ordering::SeqCst)
        };
        let waiting = (0..100).map(|_| async {
            all_there.wait().await;
            single.run(fly()).await
        });
        assert_eq!(join_all(waiting).await, vec![0; 100]);
        assert_eq!(single.run(fly()).await, 1);
    }

    #[tokio::test]
    async fn a_flight_that_is_given_up_is_flown_by_the_next() {
        let single = SingleFlight::new();
        let given_up = single.run(std::future::pending::<u32>());
        assert!(futures_util::FutureExt::now_or_never(given_up).is_none());
        assert_eq!(single.run(async { 7 }).await, 7);
    }
}
