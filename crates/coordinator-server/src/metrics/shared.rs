//! One thing is made for all who ask for it at about the same time, by one thread at a time, and not on one that serves requests. It is kept for a moment, and
//! for as long as somebody uses it; of those that are still in use there are only so many. What is made is not known here.

use std::panic::resume_unwind;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::{Instant, sleep};

/// For how long what was made is told to others.
const KEEP: Duration = Duration::from_secs(1);
/// While so many are in use, the newest of them is told, however old it is.
const MOST: usize = 4;

/// What was made, as long as it is in use.
pub(super) struct Shared<T>(Arc<Mutex<InUse<T>>>);

/// The oldest first, and when each began to be made.
struct InUse<T>(Vec<(Weak<T>, Instant)>);

impl<T> Default for Shared<T> {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(InUse(Vec::new()))))
    }
}

impl<T: Send + Sync + 'static> Shared<T> {
    /// What is there, or what `make` gives. Whoever asks meanwhile waits for that; whoever goes away leaves it to the others.
    pub(super) async fn get(&self, make: impl FnOnce() -> T + Send + 'static) -> Arc<T> {
        let mut in_use = Arc::clone(&self.0).lock_owned().await;
        if let Some(known) = in_use.known() {
            return known;
        }
        let making = tokio::task::spawn_blocking(move || {
            let began = Instant::now();
            let made = Arc::new(make());
            in_use.0.push((Arc::downgrade(&made), began));
            tokio::spawn(keep(Arc::clone(&made)));
            made
        });
        match making.await {
            Ok(made) => made,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => resume_unwind(panic),
                // The runtime ends, and with it whoever waits here.
                Err(_) => std::future::pending().await,
            },
        }
    }
}

async fn keep<T>(made: Arc<T>) {
    sleep(KEEP).await;
    drop(made);
}

impl<T> InUse<T> {
    fn known(&mut self) -> Option<Arc<T>> {
        self.0.retain(|(made, _)| made.strong_count() > 0);
        let (newest, began) = self.0.last()?;
        let is_told = began.elapsed() < KEEP || self.0.len() >= MOST;
        newest.upgrade().filter(|_| is_told)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures_util::future::join_all;

    use super::*;

    async fn ask(shared: &Shared<usize>, count: &Arc<AtomicUsize>) -> Arc<usize> {
        let count = Arc::clone(count);
        shared
            .get(move || count.fetch_add(1, Ordering::SeqCst))
            .await
    }

    async fn later() {
        // waits: the clock is the test's
        sleep(KEEP).await;
        tokio::task::yield_now().await;
    }

    #[tokio::test(start_paused = true)]
    async fn those_who_ask_at_once_or_soon_share_one() {
        let (shared, count) = (Shared::default(), Arc::default());
        let all = join_all((0..50).map(|_| ask(&shared, &count))).await;
        assert!(all.iter().all(|one| **one == 0));
        drop(all);
        assert_eq!(*ask(&shared, &count).await, 0, "it is kept for a moment");
        later().await;
        assert_eq!(*ask(&shared, &count).await, 1);
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_is_kept_that_nobody_uses() {
        let (shared, count) = (Shared::default(), Arc::default());
        let made = Arc::downgrade(&ask(&shared, &count).await);
        assert_eq!(made.strong_count(), 1);
        later().await;
        assert_eq!(made.strong_count(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn slow_users_do_not_pile_up() {
        let (shared, count) = (Shared::default(), Arc::default());
        let mut slow = Vec::new();
        for _ in 0..3 * MOST {
            slow.push(ask(&shared, &count).await);
            later().await;
        }
        assert_eq!(count.load(Ordering::SeqCst), MOST);
        drop(slow.remove(0));
        assert_eq!(*ask(&shared, &count).await, MOST, "there is room again");
    }

    #[tokio::test]
    async fn one_who_goes_away_leaves_it_to_the_others() {
        let (shared, count) = (Shared::<usize>::default(), Arc::<AtomicUsize>::default());
        let (go, gone) = std::sync::mpsc::channel::<()>();
        let counted = Arc::clone(&count);
        let mut hasty = Box::pin(shared.get(move || {
            let _ = gone.recv();
            counted.fetch_add(1, Ordering::SeqCst)
        }));
        assert!(futures_util::poll!(hasty.as_mut()).is_pending());
        drop(hasty);
        let mut patient = Box::pin(ask(&shared, &count));
        assert!(futures_util::poll!(patient.as_mut()).is_pending());
        drop(go);
        assert_eq!(*patient.await, 0);
        assert_eq!(count.load(Ordering::SeqCst), 1);
    }
}
