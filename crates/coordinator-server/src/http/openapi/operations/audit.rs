//! What was changed, and what changes.

use protocol::{AuditEvents, AuditQuery};

use super::super::operation::{Described, get};
use super::{STORE, example};

pub(super) fn operations() -> Vec<Described> {
    vec![
        get(
            "/coord/v1/monitoring/audit",
            "getAuditEvents",
            "List the latest changes, refused ones too",
        )
        .about("Newest first. `consumerGroup` needs `streamPrefix`.")
        .tagged("Monitoring")
        .query::<AuditQuery>()
        .named(&["streamPrefix", "consumerGroup"])
        .answers::<AuditEvents>(200, "The events.", example!("audit-events.full"))
        .refuses(&STORE),
        get(
            "/coord/v1/monitoring/events",
            "listenToEvents",
            "Be told of changes as they come",
        )
        .about("Server-sent events without an end: `reset`, `group` (its data is a GroupChanged) and `end`. Last-Event-ID goes on where a connection ended.")
        .tagged("Monitoring")
        .tells::<protocol::GroupChanged>()
        .answers_endlessly("text/event-stream", "The events, for as long as the connection stays."),
    ]
}
