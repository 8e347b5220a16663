//! What members ask: heartbeat and watch.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use coordinator_core::numbers::MetadataVersion;
use protocol::{
    HeartbeatRequest, HeartbeatResponse, HeartbeatStatus, WATCH_WAIT_MAX_MS, WatchQuery,
    WatchResponse,
};

use crate::convert;
use crate::engine::HeartbeatOutcome;
use crate::http::access::MemberAccess;
use crate::http::body::Decoded;
use crate::http::path::{GroupPath, MemberPath};
use crate::http::values::Values;
use crate::http::{ApiError, App};

pub(in crate::http) async fn heartbeat(
    State(app): State<App>,
    _: MemberAccess,
    MemberPath(group, member): MemberPath,
    Decoded(request): Decoded<HeartbeatRequest>,
) -> Result<Json<HeartbeatResponse>, ApiError> {
    let (heartbeat, progress) = convert::request(member.clone(), request)?;
    let (request, known) = (heartbeat.request.clone(), heartbeat.version);
    let instance = heartbeat.instance.clone();
    let settings = app.engine().settings();
    let response = match app.engine().heartbeat(&group, heartbeat, progress).await? {
        HeartbeatOutcome::Decided(reply) => {
            convert::response(settings, &group.stream, &request, &member, &reply)
        }
        HeartbeatOutcome::Retry => {
            convert::retry_response(settings, &group.stream, &request, &member)
        }
    };
    if response.status == HeartbeatStatus::SyncMetadata {
        // Who never catches up keeps the round open (rule C4): it is to be found.
        tracing::warn!(stream = %group.stream, group = %group.group, %member, known = %known, stored = response.metadata_version, "member acts on writes that were lost");
    }
    match response.status {
        HeartbeatStatus::FencedMemberEpoch => {
            app.engine().note_fenced(&group, &member, instance.as_ref());
        }
        // A group that is there tells its version.
        HeartbeatStatus::UnknownMemberId if response.metadata_version == 0 => {
            app.engine().note_unrecorded(&group, &member);
        }
        _ => {}
    }
    let status = status_label(response.status);
    app.engine().count_asked(Some(&group), |asked| {
        *asked.heartbeats.entry(status).or_default() += 1;
    });
    Ok(Json(response))
}

pub(in crate::http) async fn watch(
    State(app): State<App>,
    _: MemberAccess,
    GroupPath(group): GroupPath,
    Values(query): Values<WatchQuery>,
) -> Result<Json<WatchResponse>, ApiError> {
    if query.wait_ms > WATCH_WAIT_MAX_MS {
        let message = format!(
            "waitMs must be at most {WATCH_WAIT_MAX_MS}, not {}",
            query.wait_ms
        );
        return Err(ApiError::invalid(message));
    }
    let patience = Duration::from_millis(query.wait_ms);
    let version = app
        .engine()
        .wait_for_version(&group, MetadataVersion::new(query.after), patience)
        .await?;
    Ok(Json(WatchResponse {
        metadata_version: version.get(),
        changed: version.get() > query.after,
    }))
}

const fn status_label(status: HeartbeatStatus) -> &'static str {
    match status {
        HeartbeatStatus::Ok => "OK",
        HeartbeatStatus::Retry => "RETRY",
        HeartbeatStatus::SyncMetadata => "SYNC_METADATA",
        HeartbeatStatus::RevokePending => "REVOKE_PENDING",
        HeartbeatStatus::UnknownMemberId => "UNKNOWN_MEMBER_ID",
        HeartbeatStatus::FencedMemberEpoch => "FENCED_MEMBER_EPOCH",
        HeartbeatStatus::UnsupportedProtocol => "UNSUPPORTED_PROTOCOL",
        HeartbeatStatus::InvalidRequest => "INVALID_REQUEST",
    }
}
