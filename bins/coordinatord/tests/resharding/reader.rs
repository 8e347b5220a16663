//! A member that obeys the answers, reads what it is assigned and acknowledges it, with plain requests and plain commands.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use protocol::{
    HeartbeatRequest, HeartbeatResponse, HeartbeatStatus, RuntimeConsumerCapacity, ShardId,
};
use redis::streams::StreamId;
use tokio::task::AbortHandle;

use super::coordinator::LEASE;
use super::streams::number;
use super::world::World;

struct Reader {
    world: Arc<World>,
    group: String,
    id: String,
    epoch: i64,
    version: u64,
    owned: BTreeSet<u32>,
    /// Shards of which it has taken over what its predecessor left.
    claimed: BTreeSet<u32>,
    /// When it sent the heartbeat that last renewed its lease.
    renewed: Option<Instant>,
    sent: u64,
}

/// Starts a member of a group. It is dead once it is aborted.
pub fn start(world: &Arc<World>, group: &str, id: &str) -> AbortHandle {
    let mut reader = Reader {
        world: Arc::clone(world),
        group: group.to_owned(),
        id: id.to_owned(),
        epoch: 0,
        version: 0,
        owned: BTreeSet::new(),
        claimed: BTreeSet::new(),
        renewed: None,
        sent: 0,
    };
    let running = tokio::spawn(async move {
        loop {
            reader.beat().await;
            if reader.world.reads.load(Ordering::SeqCst) {
                reader.read().await;
            }
            // waits: the pace of the member
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    running.abort_handle()
}

impl Reader {
    async fn beat(&mut self) {
        let (client, request) = (self.world.client(), self.request());
        let sent = Instant::now();
        let beating = client.heartbeat(self.world.name(), &self.group, &request);
        let answer = tokio::time::timeout(Duration::from_millis(300), beating).await;
        if let Ok(Ok(answer)) = answer {
            self.take(&answer, sent);
        }
    }

    fn take(&mut self, answer: &HeartbeatResponse, sent: Instant) {
        if !self.world.listens.load(Ordering::SeqCst) {
            if answer.status.renews_lease() {
                self.renewed = Some(sent);
            }
            return;
        }
        let assigned = answer.assignment.assigned_shards.iter();
        let assigned: BTreeSet<u32> = assigned.map(|shard| shard.shard_index).collect();
        match answer.status {
            HeartbeatStatus::Ok => self.owned = assigned,
            HeartbeatStatus::SyncMetadata | HeartbeatStatus::RevokePending => {
                self.owned.retain(|shard| assigned.contains(shard));
            }
            HeartbeatStatus::UnknownMemberId | HeartbeatStatus::FencedMemberEpoch => {
                self.owned.clear();
                self.claimed.clear();
                (self.epoch, self.version) = (0, 0);
                return;
            }
            _ => return,
        }
        self.claimed.retain(|shard| self.owned.contains(shard));
        (self.epoch, self.version) = (answer.member_epoch, answer.metadata_version);
        if answer.status.renews_lease() {
            self.renewed = Some(sent);
        }
    }

    /// Reads each shard once, and finishes what it read before it goes on.
    async fn read(&mut self) {
        for shard in self.owned.clone() {
            // Rule T2: nothing is read after the lease, with a margin.
            let lease = LEASE - Duration::from_millis(200);
            if self.renewed.is_none_or(|sent| sent.elapsed() > lease) {
                return;
            }
            let streams = self.world.streams.clone();
            if !self.claimed.contains(&shard) {
                let Ok(left) = streams.claim(shard, &self.group, &self.id).await else {
                    continue;
                };
                self.handle(shard, &left).await;
                self.claimed.insert(shard);
            }
            if let Ok(found) = streams.read(shard, &self.group, &self.id).await {
                self.handle(shard, &found).await;
            }
        }
    }

    async fn handle(&self, shard: u32, entries: &[StreamId]) {
        for entry in entries {
            if let Some(number) = number(entry) {
                self.world.ledger.handled(&self.group, number);
            }
            let streams = &self.world.streams;
            let acknowledged = streams.acknowledge(shard, &self.group, &entry.id).await;
            acknowledged.unwrap();
        }
    }

    fn request(&mut self) -> HeartbeatRequest {
        self.sent += 1;
        HeartbeatRequest {
            protocol_version: 1,
            request_id: format!("{}-{}", self.id, self.sent),
            member_id: self.id.clone(),
            member_name: None,
            member_epoch: self.epoch,
            metadata_version: self.version,
            runtime_consumer_capacity: RuntimeConsumerCapacity {
                runtime_max_concurrency: 1,
                available_concurrency: 1,
            },
            owned_shards: self
                .owned
                .iter()
                .map(|shard| ShardId::new(*shard))
                .collect(),
            revoking_shards: Vec::new(),
            shard_progress: Vec::new(),
            instance_id: None,
            sequence: None,
            rack: None,
        }
    }
}
