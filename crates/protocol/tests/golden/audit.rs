//! Audit events.

use std::collections::BTreeMap;

use protocol::{AuditAction, AuditEvent, AuditEvents, AuditOutcome, Role};

use crate::case::{AT, Case, exact};
use crate::stream;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        exact(
            "audit-events.minimal",
            AuditEvents {
                events: vec![creation()],
            },
        ),
        exact(
            "audit-events.full",
            AuditEvents {
                events: vec![refused_scaling(), creation()],
            },
        ),
    ]
}

fn creation() -> AuditEvent {
    AuditEvent {
        event_id: None,
        timestamp: AT,
        coordinator_id: "c-1".to_owned(),
        action: AuditAction::CreateStream,
        outcome: AuditOutcome::Success,
        status: 201,
        principal: None,
        roles: Vec::new(),
        method: "POST".to_owned(),
        path: "/coord/v1/streams/orders".to_owned(),
        route: "/coord/v1/streams/{p}".to_owned(),
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
        request_summary: BTreeMap::new(),
        request_body_sha256: None,
    }
}

fn refused_scaling() -> AuditEvent {
    let digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    AuditEvent {
        event_id: Some("3f0c1b5e-7d0a-4a52-9b53-6f1d4f6a2c11".to_owned()),
        action: AuditAction::ScaleGroup,
        outcome: AuditOutcome::Rejected,
        status: 409,
        principal: Some("admin".to_owned()),
        roles: vec![Role::Read, Role::Admin],
        path: "/coord/v1/streams/orders/groups/billing/scale".to_owned(),
        route: "/coord/v1/streams/{p}/groups/{g}/scale".to_owned(),
        query_string: Some("dry=1".to_owned()),
        request_id: Some("q-1".to_owned()),
        requested_by: Some("ops".to_owned()),
        reason: Some("more traffic".to_owned()),
        client_address: Some("192.0.2.10".to_owned()),
        user_agent: Some("coordctl/0.1.0".to_owned()),
        stream_prefix: Some("orders".to_owned()),
        consumer_group: Some("billing".to_owned()),
        resharding_id: Some(stream::migration().resharding_id),
        duration_ms: 7,
        request_summary: BTreeMap::from([("targetShardCount".to_owned(), "16".to_owned())]),
        request_body_sha256: Some(digest.to_owned()),
        ..creation()
    }
}
