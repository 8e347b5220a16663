//! What is told of a mutation.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::http::StatusCode;
use axum::response::Response;
use protocol::{AuditEvent, AuditOutcome, RestoredGroup};
use serde_json::Value;

use super::asked::{Asked, capped};
use super::body::Seen;
use crate::auth::Principal;
use crate::convert;

/// The longest `requestedBy` that is told of.
const ASKER: usize = 256;
/// The longest `reason` that is told of.
const REASON: usize = 1_024;
/// What of a body is told of. Nothing else: nobody knows what somebody puts in there.
const SUMMARY: [&str; 4] = [
    "initialShardCount",
    "targetShardCount",
    "deprecatedAfter",
    "force",
];

/// The change of the shard count that a request began, or found, as an answer says it: in an extension, which nobody outside sees.
#[derive(Clone, Debug)]
pub(in crate::http) struct Resharding(pub(in crate::http) String);

/// What was answered.
pub(super) struct Answered {
    status: StatusCode,
    took: Duration,
    resharding_id: Option<String>,
}

impl Answered {
    pub(super) fn of(response: &Response, took: Duration) -> Self {
        let change = response.extensions().get::<Resharding>();
        Self {
            status: response.status(),
            took,
            resharding_id: change.map(|Resharding(id)| id.clone()),
        }
    }

    /// Whether it did not come to what was asked for.
    pub(super) fn is_refused(&self) -> bool {
        !self.status.is_success()
    }

    fn outcome(&self) -> AuditOutcome {
        if self.status.is_success() {
            AuditOutcome::Success
        } else if self.status.is_client_error() {
            AuditOutcome::Rejected
        } else {
            AuditOutcome::Failed
        }
    }
}

/// The event of a mutation.
pub(super) fn event(
    coordinator: &str,
    asked: &Asked,
    caller: Option<&Principal>,
    seen: &Seen,
    answered: &Answered,
) -> AuditEvent {
    let body = seen.json();
    let text = |name: &str, most| Some(capped(body.get(name)?.as_str()?, most));
    let said = |text: &Option<String>, most| Some(capped(text.as_deref()?, most));
    let asker = &asked.asker;
    let resharding = asked.resharding_id.as_ref();
    AuditEvent {
        event_id: Some(uuid::Uuid::new_v4().to_string()),
        timestamp: convert::now(),
        coordinator_id: coordinator.to_owned(),
        action: asked.action,
        outcome: answered.outcome(),
        status: answered.status.as_u16(),
        principal: caller.map(|caller| caller.username.clone()),
        roles: caller
            .map(|caller| caller.roles.clone())
            .unwrap_or_default(),
        method: asked.method.clone(),
        path: asked.path.clone(),
        route: asked.route.clone(),
        query_string: asked.query_string.clone(),
        request_id: asked.request_id.clone(),
        requested_by: text("requestedBy", ASKER).or_else(|| said(&asker.requested_by, ASKER)),
        reason: text("reason", REASON).or_else(|| said(&asker.reason, REASON)),
        client_address: asked.client_address.clone(),
        user_agent: asked.user_agent.clone(),
        stream_prefix: asked.stream_prefix.clone(),
        consumer_group: asked.consumer_group.clone(),
        resharding_id: resharding.or(answered.resharding_id.as_ref()).cloned(),
        duration_ms: u64::try_from(answered.took.as_millis()).unwrap_or(u64::MAX),
        request_summary: summary(&body),
        request_body_sha256: seen.sha256(),
    }
}

/// The event of a group that a request put back, made of that of the request.
pub(super) fn of_put_back(request: &AuditEvent, group: &RestoredGroup) -> AuditEvent {
    let outcome = serde_json::to_value(group.outcome).unwrap_or_default();
    let summary = [
        ("outcome", outcome.as_str().unwrap_or_default().to_owned()),
        ("metadataVersion", group.metadata_version.to_string()),
        ("groupEpoch", group.group_epoch.to_string()),
    ];
    AuditEvent {
        event_id: Some(uuid::Uuid::new_v4().to_string()),
        outcome: AuditOutcome::Success,
        stream_prefix: Some(group.stream_prefix.clone()),
        consumer_group: Some(group.consumer_group.clone()),
        request_summary: summary.map(|(name, value)| (name.to_owned(), value)).into(),
        ..request.clone()
    }
}

fn summary(body: &Value) -> BTreeMap<String, String> {
    let told = |name: &&str| {
        let value = body.get(*name)?;
        let text = match value {
            Value::String(text) => capped(text, ASKER),
            Value::Number(_) | Value::Bool(_) => value.to_string(),
            Value::Null | Value::Array(_) | Value::Object(_) => return None,
        };
        Some(((*name).to_owned(), text))
    };
    SUMMARY.iter().filter_map(told).collect()
}
