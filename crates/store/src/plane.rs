//! The shard streams themselves, as far as the coordinator makes them, looks at them and takes them away. It never reads an entry for itself and never
//! acknowledges one.

use std::collections::BTreeMap;

use async_trait::async_trait;
use coordinator_core::evidence::{DrainProof, OpenCondition, ShardEvidence};
use coordinator_core::generations::Generations;
use coordinator_core::names::{ConsumerGroup, StreamPrefix};
use coordinator_core::numbers::{GroupEpoch, ShardCount, ShardIndex, StreamGeneration};
use coordinator_core::shard_set::ShardSet;
use coordinator_core::time::Millis;

use crate::error::Cause;
use crate::fitness::{Eviction, Readiness};
use crate::messages::{MessagePage, MessageRange};
use crate::offsets::StreamOffsets;

/// Why something could not be done to shard streams.
#[derive(Clone, Debug, thiserror::Error)]
pub enum PlaneError {
    /// Keys of that name exist and are not ours. Nothing was written.
    #[error("these keys exist already and belong to no recorded stream (they may be what a deleted one left): {}", keys.join(", "))]
    ForeignKeys {
        /// The keys, the first few of them.
        keys: Vec<String>,
    },
    /// Streams that others are to make are not there, or lack a consumer group (`streams.provisioning = off`). Nothing was written.
    #[error("these streams or consumer groups do not exist, and the coordinator is not to make them: {}", missing.join(", "))]
    NotProvided {
        /// What is missing, the first few of it.
        missing: Vec<String>,
    },
    /// The shard went on to another life meanwhile: what was asked for is of an earlier one, and nothing was done.
    #[error("the stream {key} is in another life than when it was looked at")]
    OtherLife {
        /// The stream.
        key: String,
    },
    /// Redis did not do it. Repeating it finishes what was half done.
    #[error("shard streams: {reason}")]
    Failed {
        /// What it answered, in short.
        reason: String,
        /// Whether the same call may succeed later.
        retryable: bool,
        /// The driver's error.
        #[source]
        source: Option<Cause>,
    },
}

/// Shard streams that are to exist, with these consumer groups.
#[derive(Clone, Debug)]
pub struct Provision {
    /// The stream prefix.
    pub stream: StreamPrefix,
    /// Which of its shards.
    pub shards: ShardSet,
    /// All its consumer groups. They read from the first entry on (rule G1).
    pub groups: Vec<ConsumerGroup>,
    /// The one that is being created, if one is: members of an earlier one of that name are fenced.
    pub new_group: Option<ConsumerGroup>,
    /// The name of the creation or of the change that asks for it: with the shard and its life it makes the identity of the new stream.
    pub origin: String,
    /// The life of each shard before the records were looked at. Where one has begun or ended since, nothing is made: the change may have been
    /// taken back.
    pub seen: Lives,
}

/// Shard streams that exist.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Provisioned {
    /// In which life each is.
    pub generations: Generations,
    /// Below which epochs the streams take nobody of the group that is being created, on account of an earlier one of its name; 0 if there was none.
    pub epochs_from: GroupEpoch,
}

/// Which life a shard is in or was in last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Life {
    /// Its number.
    pub generation: StreamGeneration,
    /// Whether its stream was taken away.
    pub is_over: bool,
}

/// Which life each shard is in or was in last. A shard that is not named never had one.
pub type Lives = BTreeMap<ShardIndex, Life>;

/// A shard that is to be taken away.
#[derive(Clone, Debug)]
pub struct Retire {
    /// The stream prefix.
    pub stream: StreamPrefix,
    /// The shard.
    pub shard: ShardIndex,
    /// Its life before the records were looked at; none if it never had one. A life that was begun since is another one, and stays.
    pub seen: Option<Life>,
    /// The life that is recorded of it; none if the change was taken back before its streams were known to exist.
    pub recorded: Option<StreamGeneration>,
    /// The consumer groups that must be among those of the stream.
    pub coordinated: Vec<ConsumerGroup>,
    /// What counts as proof.
    pub proof: DrainProof,
    /// For how long what was in it is kept under another name; zero to drop it at once.
    pub keep: Millis,
}

/// What became of a shard that was to be taken away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Retirement {
    /// Its stream is gone: in this step, or before.
    Gone,
    /// Something stands against it (rule G5).
    Refused(Vec<OpenCondition>),
}

/// The Redis that holds the shard streams.
#[async_trait]
pub trait ShardPlane: Send + Sync {
    /// Checks that no key of the stream's shards exists yet, but for what earlier lives left of which nothing is read any more. Writes nothing.
    ///
    /// # Errors
    /// [`PlaneError::ForeignKeys`] names those that do.
    async fn check_vacant(
        &self,
        stream: &StreamPrefix,
        shards: ShardCount,
    ) -> Result<(), PlaneError> {
        self.check_room(stream, &shards.shards().collect()).await
    }

    /// Checks that nothing of somebody else's stands where shards are to be made. Writes nothing.
    ///
    /// # Errors
    /// [`PlaneError::ForeignKeys`] names what does; [`PlaneError::NotProvided`] what others are to make and have not.
    async fn check_room(&self, stream: &StreamPrefix, shards: &ShardSet) -> Result<(), PlaneError>;

    /// In which life each shard is or was last. To be asked *before* the records are looked at on which a provisioning or a retirement is built.
    ///
    /// # Errors
    /// [`PlaneError::Failed`].
    async fn lives(&self, stream: &StreamPrefix, shards: &ShardSet) -> Result<Lives, PlaneError>;

    /// Makes shard streams with their consumer groups, from the first entry on (rule G1), and says in which life each is. What exists already is left as
    /// it is, so that a half done provisioning is finished by repeating it.
    ///
    /// # Errors
    /// [`PlaneError::ForeignKeys`] where a key is somebody else's; [`PlaneError::OtherLife`] where the shard went on since it was looked at;
    /// [`PlaneError::NotProvided`]; [`PlaneError::Failed`] otherwise.
    async fn provision(&self, order: &Provision) -> Result<Provisioned, PlaneError>;

    /// Looks whether shards are drained (rule G4). Each fails alone (case C04).
    async fn evidence(
        &self,
        stream: &StreamPrefix,
        shards: &ShardSet,
    ) -> Vec<(ShardIndex, Result<ShardEvidence, PlaneError>)>;

    /// Refuses exact publishing to shards from now on; what is in them is read to its end. Plain producers are kept out by their route alone.
    ///
    /// # Errors
    /// [`PlaneError::Failed`].
    async fn seal(&self, stream: &StreamPrefix, shards: &ShardSet) -> Result<(), PlaneError>;

    /// Allows exact publishing to shards again: they stay after all.
    ///
    /// # Errors
    /// [`PlaneError::Failed`].
    async fn unseal(&self, stream: &StreamPrefix, shards: &ShardSet) -> Result<(), PlaneError>;

    /// Takes a shard away if it is drained: evidence and removal are one step (rule G5). Where no life is recorded and none has begun, one is ended all
    /// the same, so that whoever is still about to make the stream comes too late.
    ///
    /// # Errors
    /// [`PlaneError::Failed`].
    async fn retire(&self, order: &Retire) -> Result<Retirement, PlaneError>;

    /// Where the streams of shards stand, and a consumer group in them. Each fails alone (case C04).
    async fn offsets(
        &self,
        stream: &StreamPrefix,
        group: &ConsumerGroup,
        shards: &ShardSet,
    ) -> Vec<(ShardIndex, Result<StreamOffsets, PlaneError>)>;

    /// A page of a shard's entries. Nothing is delivered to anyone.
    ///
    /// # Errors
    /// [`PlaneError::Failed`].
    async fn messages(
        &self,
        stream: &StreamPrefix,
        range: &MessageRange,
    ) -> Result<MessagePage, PlaneError>;

    /// Whether the Redis that holds the streams answers. One that is full is ready with a loss (case C09).
    ///
    /// # Errors
    /// [`PlaneError::Failed`] says why not.
    async fn check_ready(&self) -> Result<Readiness, PlaneError>;

    /// What it does with the streams when it is full, as last heard; asks nothing. None for one that has no limit of its own. Case C09.
    fn eviction(&self) -> Option<Eviction> {
        None
    }
}
