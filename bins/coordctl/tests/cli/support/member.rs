//! A member that obeys: it reports what it was assigned, and lets go of all else at once. It reads nothing.

use std::time::Duration;

use coordinator_client::CoordinatorClient;
use protocol::{HeartbeatRequest, HeartbeatResponse, HeartbeatStatus, RuntimeConsumerCapacity};
use tokio::task::JoinHandle;

use super::Coordinator;

/// A member that heartbeats until this value is dropped.
pub(crate) struct Member {
    beating: JoinHandle<()>,
}

impl Member {
    pub(crate) fn start(coordinator: &Coordinator, stream: &str, group: &str, id: &str) -> Self {
        let client = coordinator.client.clone();
        let (stream, group, id) = (stream.to_owned(), group.to_owned(), id.to_owned());
        let beating = tokio::spawn(async move { beat(&client, &stream, &group, &id).await });
        Self { beating }
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.beating.abort();
    }
}

async fn beat(client: &CoordinatorClient, stream: &str, group: &str, id: &str) {
    let mut last: Option<HeartbeatResponse> = None;
    for count in 0_u64.. {
        let request = request(id, count, last.as_ref());
        match client.heartbeat(stream, group, &request).await {
            Ok(answer) => match answer.status {
                HeartbeatStatus::Ok => last = Some(answer),
                HeartbeatStatus::UnknownMemberId | HeartbeatStatus::FencedMemberEpoch => {
                    last = None;
                }
                _ => {}
            },
            Err(error) => assert!(error.is_retryable() || error.code().is_some(), "{error}"),
        }
        // waits: the interval of heartbeats.
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

fn request(id: &str, count: u64, last: Option<&HeartbeatResponse>) -> HeartbeatRequest {
    let epoch = last.map_or(0, |last| last.member_epoch);
    let version = last.map_or(0, |last| last.metadata_version);
    HeartbeatRequest {
        request_id: format!("{id}-{count}"),
        runtime_consumer_capacity: RuntimeConsumerCapacity {
            runtime_max_concurrency: 2,
            available_concurrency: 2,
        },
        owned_shards: last
            .map(|last| last.assignment.assigned_shards.clone())
            .unwrap_or_default(),
        ..heartbeat(id, epoch, version)
    }
}

/// What a member says that owns nothing.
pub(crate) fn heartbeat(member: &str, epoch: i64, version: u64) -> HeartbeatRequest {
    HeartbeatRequest {
        protocol_version: 1,
        request_id: format!("{member}-{epoch}"),
        member_id: member.to_owned(),
        member_name: None,
        member_epoch: epoch,
        metadata_version: version,
        runtime_consumer_capacity: RuntimeConsumerCapacity {
            runtime_max_concurrency: 1,
            available_concurrency: 1,
        },
        owned_shards: Vec::new(),
        revoking_shards: Vec::new(),
        shard_progress: Vec::new(),
        instance_id: None,
        sequence: None,
        rack: None,
    }
}
