//! Heartbeats, written shortly.

use coordinator_core::input::{Heartbeat, PROTOCOL_VERSION, Revoking};
use coordinator_core::names::{InstanceId, RequestId};
use coordinator_core::numbers::{Concurrency, MetadataVersion, Sequence, ShardIndex};
use coordinator_core::shard_set::ShardSet;
use coordinator_core::step::HeartbeatReply;

use super::{id, set};

/// A heartbeat in the making.
#[derive(Clone, Debug)]
pub struct Beat(Heartbeat);

fn beat(member: &str, epoch: i64, version: u64) -> Beat {
    Beat(Heartbeat {
        protocol_version: PROTOCOL_VERSION,
        request: RequestId::new(&format!("{member} {epoch} {version}")),
        addressed_to: id(member),
        member: id(member),
        epoch,
        version: MetadataVersion::new(version),
        instance: None,
        sequence: None,
        name: None,
        max_concurrency: Concurrency::new(1),
        owned: ShardSet::new(),
        revoking: Vec::new(),
        progress: ShardSet::new(),
    })
}

/// A member joins.
pub fn join(member: &str) -> Beat {
    beat(member, 0, 0)
}

/// A member leaves, knowing a version.
pub fn leave(member: &str, version: u64) -> Beat {
    beat(member, -1, version)
}

/// A member reports under an epoch and a version.
pub fn report(member: &str, epoch: u64, version: u64) -> Beat {
    beat(
        member,
        i64::try_from(epoch).expect("a small epoch"),
        version,
    )
}

/// What a member reports that takes over an answer at once: it owns what was assigned and nothing else.
pub fn obeying(member: &str, answer: &HeartbeatReply) -> Beat {
    let mut beat = report(member, answer.member_epoch, answer.metadata_version.get());
    beat.0.owned = answer.assigned.clone();
    beat
}

impl Beat {
    pub fn build(self) -> Heartbeat {
        self.0
    }

    pub fn owns(mut self, shards: &[u32]) -> Self {
        self.0.owned = set(shards);
        self
    }

    /// Shards still being drained.
    pub fn drains(self, shards: &[u32]) -> Self {
        self.revokes(shards, false)
    }

    /// Shards let go of.
    pub fn revoked(self, shards: &[u32]) -> Self {
        self.revokes(shards, true)
    }

    fn revokes(mut self, shards: &[u32], finished: bool) -> Self {
        let revoking = shards.iter().map(|shard| Revoking {
            shard: ShardIndex::new(*shard),
            finished,
        });
        self.0.revoking.extend(revoking);
        self
    }

    pub fn instance(mut self, instance: &str) -> Self {
        self.0.instance = Some(InstanceId::new(instance));
        self
    }

    pub fn sequence(mut self, sequence: u64) -> Self {
        self.0.sequence = Some(Sequence::new(sequence));
        self
    }

    pub fn request(mut self, request: &str) -> Self {
        self.0.request = RequestId::new(request);
        self
    }

    pub fn addressed_to(mut self, member: &str) -> Self {
        self.0.addressed_to = id(member);
        self
    }

    pub fn protocol(mut self, version: u32) -> Self {
        self.0.protocol_version = version;
        self
    }

    pub fn progress(mut self, shards: &[u32]) -> Self {
        self.0.progress = set(shards);
        self
    }

    pub fn named(mut self, name: &str) -> Self {
        self.0.name = Some(name.to_owned());
        self
    }
}
