//! What came of a heartbeat: counted, told to the log, and turned into a fact for the machine. What it means for the member
//! is decided there.

use std::error::Error;

use coordinator_client::ClientError;
use protocol::{HeartbeatRequest, HeartbeatResponse, HeartbeatStatus};
use tokio::time::error::Elapsed;

use super::metrics::Counters;
use crate::machine::{Event, FailureKind};

pub(super) fn event(
    request: HeartbeatRequest,
    outcome: Result<Result<HeartbeatResponse, ClientError>, Elapsed>,
    counters: &Counters,
) -> Event {
    let kind = match outcome {
        Ok(Ok(response)) => {
            tell(&request, &response);
            return Event::AnswerReceived {
                request_id: request.request_id,
                response: Box::new(response),
            };
        }
        Ok(Err(error)) => {
            tracing::warn!(member_id = %request.member_id, error = with_causes(&error), "a heartbeat failed");
            failure_kind(&error)
        }
        Err(_) => {
            tracing::warn!(member_id = %request.member_id, "a heartbeat was not answered in time");
            FailureKind::Unavailable
        }
    };
    counters.heartbeats_failed.increment();
    Event::RequestFailed {
        request_id: request.request_id,
        kind,
    }
}

/// A refusal that the member answers by joining again is otherwise seen by nobody.
fn tell(request: &HeartbeatRequest, response: &HeartbeatResponse) {
    let member_id = &request.member_id;
    match response.status {
        HeartbeatStatus::UnknownMemberId if request.member_epoch == protocol::JOIN_EPOCH => {
            tracing::warn!(%member_id, "the member is not let in: there is no such stream or consumer group; it keeps trying");
        }
        // Whoever leaves has nothing to lose by not being known.
        HeartbeatStatus::UnknownMemberId | HeartbeatStatus::FencedMemberEpoch
            if request.member_epoch != protocol::LEAVE_EPOCH =>
        {
            tracing::warn!(%member_id, status = ?response.status, "the coordinator does not count this process as the member any more");
        }
        _ => {}
    }
}

/// An error with its causes, each after a colon.
fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

fn failure_kind(error: &ClientError) -> FailureKind {
    match error {
        ClientError::Api {
            status: 400,
            message,
            ..
        } => FailureKind::Invalid {
            message: message.clone(),
        },
        ClientError::InvalidName { .. } => FailureKind::Invalid {
            message: error.to_string(),
        },
        ClientError::Api {
            status: 401 | 403, ..
        } => FailureKind::Denied,
        _ => match error.retry_after() {
            Some(wait) => FailureKind::Throttled {
                retry_after_ms: u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
            },
            None => FailureKind::Unavailable,
        },
    }
}
