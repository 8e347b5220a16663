//! What was changed, and by whom.

use protocol::{AuditEvent, AuditEvents};

use super::Look;
use super::grid::Column::{Number, State, Words};
use super::grid::Grid;
use super::text::wire;

/// Mutations, a row each.
pub(crate) fn list(of: &AuditEvents, look: &Look) -> String {
    if of.events.is_empty() {
        return "nothing is recorded".to_owned();
    }
    let mut columns = vec![
        Words("WHEN"),
        Words("ACTION"),
        State("OUTCOME"),
        Number("STATUS"),
        Words("WHO"),
        Words("ON-BEHALF-OF"),
        Words("STREAM"),
        Words("GROUP"),
        Words("REASON"),
    ];
    if look.wide {
        columns.extend([
            Words("CHANGE-ID"),
            Words("ADDRESS"),
            Number("TOOK"),
            Words("COORDINATOR"),
            Words("REQUEST-ID"),
        ]);
    }
    let mut grid = Grid::new(columns, look.colours);
    for event in &of.events {
        grid.row(row(event, look));
    }
    grid.finish()
}

fn row(event: &AuditEvent, look: &Look) -> Vec<String> {
    let mut row = vec![
        look.time(event.timestamp),
        wire(event.action),
        wire(event.outcome),
        event.status.to_string(),
        known(event.principal.as_ref()),
        known(event.requested_by.as_ref()),
        known(event.stream_prefix.as_ref()),
        known(event.consumer_group.as_ref()),
        known(event.reason.as_ref()),
    ];
    if look.wide {
        row.extend([
            known(event.resharding_id.as_ref()),
            known(event.client_address.as_ref()),
            format!("{} ms", event.duration_ms),
            event.coordinator_id.clone(),
            known(event.request_id.as_ref()),
        ]);
    }
    row
}

fn known(text: Option<&String>) -> String {
    text.cloned().unwrap_or_else(|| "-".to_owned())
}
