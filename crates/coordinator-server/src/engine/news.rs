//! News of one group's commits, taken up again where they could not be had. They are hints: without them watches wake later, and nothing
//! is decided differently.

use std::time::Duration;

use coordinator_core::names::GroupId;
use futures_util::StreamExt;
use store::{Change, ChangeFeed, ChangeStream};
use tokio::time::{Instant, sleep_until};

use super::describe;

/// How long it is waited before news that can't be had are asked for again.
const PAUSE: Duration = Duration::from_secs(2);

/// News of one group.
pub(super) struct News {
    group: GroupId,
    stream: Option<ChangeStream>,
    retry_at: Instant,
    /// Whether the failure was told already.
    is_told: bool,
}

impl News {
    /// The news of a group from now on, or from when they can be had.
    pub(super) async fn of(feed: &dyn ChangeFeed, group: GroupId) -> Self {
        let mut news = Self {
            group,
            stream: None,
            retry_at: Instant::now(),
            is_told: false,
        };
        news.take_up(feed).await;
        news
    }

    /// The next change. One without a version says that news may have been missed. Nothing is lost if it is not waited for to the end.
    pub(super) async fn next(&mut self, feed: &dyn ChangeFeed) -> Change {
        loop {
            if let Some(stream) = &mut self.stream {
                if let Some(change) = stream.next().await {
                    return change;
                }
                self.stream = None;
                self.retry_at = Instant::now() + PAUSE;
            }
            sleep_until(self.retry_at).await;
            self.take_up(feed).await;
            if self.stream.is_some() {
                return Change {
                    group: self.group.clone(),
                    version: None,
                };
            }
        }
    }

    async fn take_up(&mut self, feed: &dyn ChangeFeed) {
        self.retry_at = Instant::now() + PAUSE;
        match feed.subscribe(&self.group).await {
            Ok(stream) => {
                self.stream = Some(stream);
                self.is_told = false;
            }
            Err(error) if !self.is_told => {
                self.is_told = true;
                tracing::warn!(group = describe(&self.group), %error, "no news of this group; watches wake by their own commits only");
            }
            Err(error) => {
                tracing::debug!(group = describe(&self.group), %error, "still no news of this group");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    //! A feed that can't be had at first.

    use std::sync::atomic::{AtomicUsize, Ordering};

    use async_trait::async_trait;
    use coordinator_core::names::StreamPrefix;
    use store::{MemoryStore, StoreError};

    use super::*;

    #[derive(Default)]
    struct Reluctant {
        store: MemoryStore,
        asked: AtomicUsize,
    }

    #[async_trait]
    impl ChangeFeed for Reluctant {
        async fn subscribe(&self, group: &GroupId) -> Result<ChangeStream, StoreError> {
            if self.asked.fetch_add(1, Ordering::SeqCst) < 2 {
                return Err(StoreError::Unavailable {
                    reason: "not yet".to_owned(),
                    source: None,
                });
            }
            self.store.subscribe(group).await
        }
    }

    #[tokio::test(start_paused = true)]
    async fn news_that_could_not_be_had_are_asked_for_again_in_time_and_the_group_is_looked_at() {
        let feed = Reluctant::default();
        let name = StreamPrefix::parse("orders").expect("a name");
        let mut news = News::of(&feed, name.own_group()).await;
        let started = Instant::now();
        // Whoever is interrupted again and again asks no more often for it.
        for _ in 0..10 {
            let hasty = tokio::time::timeout(PAUSE / 20, news.next(&feed));
            assert!(hasty.await.is_err());
        }
        assert_eq!(feed.asked.load(Ordering::SeqCst), 1);
        assert_eq!(news.next(&feed).await.version, None);
        assert_eq!(feed.asked.load(Ordering::SeqCst), 3);
        assert_eq!(started.elapsed(), PAUSE * 2);
    }
}
