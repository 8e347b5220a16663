//! Shows the latest mutations.

use protocol::AuditQuery;

use super::Session;
use crate::cli::AuditArgs;
use crate::failure::Failure;
use crate::show;

pub(super) async fn run(session: &Session, args: AuditArgs) -> Result<(), Failure> {
    let query = AuditQuery {
        stream_prefix: args.stream,
        consumer_group: args.group,
        limit: args.limit,
    };
    let events = session.client.audit_events(&query).await?;
    session.answer(&events, show::audit::list)
}
