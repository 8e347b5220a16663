//! Keeps what was asked of the coordinator and what became of it: in the log, and where the store keeps events. A mutation never fails for it, and
//! waits for it only so long. What an event is made of is not known here.

use std::sync::Arc;
use std::time::Duration;

use coordinator_core::names::GroupId;
use protocol::AuditEvent;
use store::{AuditEntry, AuditSink};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::metrics;

/// For how long an answer waits for its event to be kept.
const PATIENCE: Duration = Duration::from_millis(250);
/// After this time a write that goes on behind an answer is given up.
const GIVE_UP: Duration = Duration::from_secs(5);
/// How many writes may be under way.
const AT_ONCE: usize = 256;

/// Keeps events.
pub(crate) struct Auditor {
    sink: Option<Arc<dyn AuditSink>>,
    room: Arc<Semaphore>,
    /// What is to be kept, from the beginning of a mutation on.
    owed: TaskTracker,
    given_up: CancellationToken,
}

/// That an event is going to be kept: the end of the process waits for it.
pub(crate) type Owed = TaskTrackerToken;

impl Auditor {
    /// Keeps them in the log, and in a sink where there is one.
    pub(crate) fn new(sink: Option<Arc<dyn AuditSink>>) -> Self {
        Self {
            sink,
            room: Arc::new(Semaphore::new(AT_ONCE)),
            owed: TaskTracker::new(),
            given_up: CancellationToken::new(),
        }
    }

    /// Says that an event is going to be kept.
    pub(crate) fn owe(&self) -> Owed {
        self.owed.token()
    }

    /// Waits, so long at the most, until all that is owed is kept. What is not kept by then is given up, and counted.
    pub(crate) async fn finish(&self, patience: Duration) {
        self.owed.close();
        if tokio::time::timeout(patience, self.owed.wait())
            .await
            .is_ok()
        {
            return;
        }
        self.given_up.cancel();
        let count = self.owed.len();
        for _ in 0..count {
            metrics::audit_failed();
        }
        tracing::warn!(
            count,
            "audit events are given up: the process ends before they were kept"
        );
    }

    /// Keeps an event about a group. One that can't be kept is counted; it is in the log all the same.
    pub(crate) async fn keep(&self, owed: Owed, event: &AuditEvent, group: Option<GroupId>) {
        let text = match serde_json::to_string(event) {
            Ok(text) => text,
            Err(error) => return fail(&error.to_string()),
        };
        log(event, &text);
        let Some(sink) = &self.sink else { return };
        let entry = AuditEntry {
            group,
            is_proved: event.principal.is_some(),
            event: text,
        };
        let (sink, room) = (Arc::clone(sink), Arc::clone(&self.room));
        let given_up = self.given_up.clone();
        let writing = tokio::spawn(async move {
            tokio::select! {
                () = write(sink, room, entry) => {}
                // It was counted when it was given up.
                () = given_up.cancelled() => {}
            }
            drop(owed);
        });
        if tokio::time::timeout(PATIENCE, writing).await.is_err() {
            tracing::debug!("an audit event is still being written after its answer");
        }
    }
}

async fn write(sink: Arc<dyn AuditSink>, room: Arc<Semaphore>, entry: AuditEntry) {
    let Ok(_room) = room.try_acquire() else {
        return fail("too many events are being written");
    };
    match tokio::time::timeout(GIVE_UP, sink.record(&entry)).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => fail(&error.to_string()),
        Err(_) => fail("the store did not answer in time"),
    }
}

fn fail(reason: &str) {
    metrics::audit_failed();
    tracing::warn!(reason, "an audit event is in the log only");
}

/// The log as a sink: its target is `audit`, so that it can be told apart by that.
fn log(event: &AuditEvent, text: &str) {
    tracing::info!(
        target: "audit",
        action = ?event.action,
        outcome = ?event.outcome,
        status = event.status,
        principal = event.principal.as_deref(),
        stream = event.stream_prefix.as_deref(),
        group = event.consumer_group.as_deref(),
        event = text,
        "mutation"
    );
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::atomic::{AtomicUsize, Ordering};

    use async_trait::async_trait;
    use protocol::{AuditAction, AuditOutcome};
    use store::{AuditFilter, StoreError};

    use super::*;

    /// A place where writing never ends.
    #[derive(Default)]
    struct Slow(AtomicUsize);

    #[async_trait]
    impl AuditSink for Slow {
        async fn record(&self, _: &AuditEntry) -> Result<(), StoreError> {
            self.0.fetch_add(1, Ordering::SeqCst);
            std::future::pending().await
        }

        async fn latest(&self, _: &AuditFilter, _: usize) -> Result<Vec<String>, StoreError> {
            Ok(Vec::new())
        }
    }

    fn event() -> AuditEvent {
        AuditEvent {
            event_id: None,
            timestamp: crate::convert::now(),
            coordinator_id: "c".to_owned(),
            action: AuditAction::CreateStream,
            outcome: AuditOutcome::Success,
            status: 201,
            principal: None,
            roles: Vec::new(),
            method: "POST".to_owned(),
            path: "/".to_owned(),
            route: "/".to_owned(),
            query_string: None,
            request_id: None,
            requested_by: None,
            reason: None,
            client_address: None,
            user_agent: None,
            stream_prefix: None,
            consumer_group: None,
            resharding_id: None,
            duration_ms: 0,
            request_summary: std::collections::BTreeMap::new(),
            request_body_sha256: None,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn no_answer_waits_longer_than_its_share_and_no_more_is_written_at_once_than_there_is_room_for()
     {
        let slow = Arc::new(Slow::default());
        let auditor = Arc::new(Auditor::new(Some(slow.clone())));
        let started = tokio::time::Instant::now();
        auditor.keep(auditor.owe(), &event(), None).await;
        assert_eq!(started.elapsed(), PATIENCE);
        let many = (0..AT_ONCE * 2).map(|_| {
            let auditor = Arc::clone(&auditor);
            tokio::spawn(async move { auditor.keep(auditor.owe(), &event(), None).await })
        });
        futures_util::future::join_all(many.collect::<Vec<_>>()).await;
        assert_eq!(slow.0.load(Ordering::SeqCst), AT_ONCE);
        // What never ended is given up, and there is room again.
        // waits: the clock is the test's, and it is the time that is tested
        tokio::time::sleep(GIVE_UP).await;
        auditor.keep(auditor.owe(), &event(), None).await;
        assert_eq!(slow.0.load(Ordering::SeqCst), AT_ONCE + 1);
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_waits_for_what_is_owed_and_gives_up_what_does_not_come() {
        let slow = Arc::new(Slow::default());
        let auditor = Auditor::new(Some(slow));
        let started = tokio::time::Instant::now();
        // One whose mutation is under way, and one whose writing goes on behind its answer.
        let under_way = auditor.owe();
        auditor.keep(auditor.owe(), &event(), None).await;
        assert_eq!(auditor.owed.len(), 2);
        auditor.finish(Duration::from_secs(1)).await;
        assert_eq!(started.elapsed(), PATIENCE + Duration::from_secs(1));
        drop(under_way);
        // What is given up is not written any more, and nothing is waited for twice.
        auditor.finish(Duration::from_secs(1)).await;
        assert_eq!(started.elapsed(), PATIENCE + Duration::from_secs(1));
        assert_eq!(auditor.owed.len(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_comes_as_soon_as_all_is_kept() {
        let auditor = Auditor::new(Some(Arc::new(Slow::default())));
        let started = tokio::time::Instant::now();
        auditor.keep(auditor.owe(), &event(), None).await;
        auditor.finish(Duration::from_secs(60)).await;
        assert_eq!(
            started.elapsed(),
            GIVE_UP,
            "the writing was given up by itself"
        );
        assert!(!auditor.given_up.is_cancelled());
    }
}
