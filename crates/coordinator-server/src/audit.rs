//! Keeps what was asked of the coordinator and what became of it: in the log, and where the store keeps events. A mutation never fails for it, and
//! waits for it only so long. What an event is made of is not known here.

use std::sync::Arc;
use std::time::Duration;

use coordinator_core::names::GroupId;
use protocol::AuditEvent;
use store::{AuditEntry, GroupStore};
use tokio::sync::Semaphore;

use crate::metrics;

/// For how long an answer waits for its event to be kept.
const PATIENCE: Duration = Duration::from_millis(250);
/// After this time a write that goes on behind an answer is given up.
const GIVE_UP: Duration = Duration::from_secs(5);
/// How many writes may be under way.
const AT_ONCE: usize = 256;

/// Keeps events.
pub(crate) struct Auditor {
    store: Arc<dyn GroupStore>,
    room: Arc<Semaphore>,
}

impl Auditor {
    pub(crate) fn new(store: Arc<dyn GroupStore>) -> Self {
        Self {
            store,
            room: Arc::new(Semaphore::new(AT_ONCE)),
        }
    }

    /// Keeps an event about a group. One that can't be kept is counted; it is in the log all the same.
    pub(crate) async fn keep(&self, event: &AuditEvent, group: Option<GroupId>) {
        let text = match serde_json::to_string(event) {
            Ok(text) => text,
            Err(error) => return fail(&error.to_string()),
        };
        log(event, &text);
        let entry = AuditEntry {
            group,
            is_proved: event.principal.is_some(),
            event: text,
        };
        let (store, room) = (Arc::clone(&self.store), Arc::clone(&self.room));
        let writing = tokio::spawn(write(store, room, entry));
        if tokio::time::timeout(PATIENCE, writing).await.is_err() {
            tracing::debug!("an audit event is still being written after its answer");
        }
    }
}

async fn write(store: Arc<dyn GroupStore>, room: Arc<Semaphore>, entry: AuditEntry) {
    let Some(sink) = store.audit() else { return };
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
