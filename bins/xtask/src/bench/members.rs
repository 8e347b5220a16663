//! Members that are nothing but heartbeats.

use coordinator_client::{ClientError, CoordinatorClient};
use protocol::{HeartbeatRequest, HeartbeatResponse, HeartbeatStatus, RuntimeConsumerCapacity};

/// A member that does as it is told and handles nothing.
pub(super) struct Member {
    id: String,
    instance: String,
    sequence: u64,
    last: Option<HeartbeatResponse>,
}

impl Member {
    pub(super) fn new(index: usize) -> Self {
        let id = format!("member-{index:04}");
        Self {
            instance: format!("instance-of-{id}"),
            id,
            sequence: 0,
            last: None,
        }
    }

    /// Heartbeats once and takes the answer over.
    pub(super) async fn beat(
        &mut self,
        client: &CoordinatorClient,
        stream: &str,
    ) -> Result<HeartbeatStatus, ClientError> {
        self.sequence += 1;
        let last = self.last.as_ref();
        let request = HeartbeatRequest {
            protocol_version: protocol::PROTOCOL_VERSION,
            request_id: format!("{}-{}", self.id, self.sequence),
            member_id: self.id.clone(),
            member_name: None,
            member_epoch: last.map_or(protocol::JOIN_EPOCH, |last| last.member_epoch),
            metadata_version: last.map_or(0, |last| last.metadata_version),
            runtime_consumer_capacity: RuntimeConsumerCapacity {
                runtime_max_concurrency: 1,
                available_concurrency: 1,
            },
            owned_shards: last
                .map(|last| last.assignment.assigned_shards.clone())
                .unwrap_or_default(),
            revoking_shards: Vec::new(),
            shard_progress: Vec::new(),
            instance_id: Some(self.instance.clone()),
            sequence: Some(self.sequence),
            rack: None,
        };
        let answer = client.heartbeat(stream, stream, &request).await?;
        let status = answer.status;
        if status.renews_lease() {
            self.last = Some(answer);
        }
        Ok(status)
    }

    /// How many shards it was given.
    pub(super) fn shards(&self) -> usize {
        self.last
            .as_ref()
            .map_or(0, |last| last.assignment.assigned_shards.len())
    }
}
