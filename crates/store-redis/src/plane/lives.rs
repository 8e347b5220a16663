//! In which life a shard is: asked before records are looked at, so that what is done on their ground is bound to it.

use coordinator_core::names::StreamPrefix;
use coordinator_core::numbers::{ShardIndex, StreamGeneration};
use store::{Life, PlaneError};
use stream_lifecycle::{Generation, Handle, LifecycleError};

use super::{RedisPlane, failure, shard_key};
use crate::link::SharedLink;

/// What a shard is just now.
pub(super) enum Present {
    /// It never had a life.
    Never,
    /// Its stream is there.
    Alive(Handle<SharedLink>),
    /// Its last life is over.
    Over(Generation),
}

impl Present {
    /// As it is told to others.
    pub(super) fn life(&self) -> Option<Life> {
        let life = |generation: Generation, is_over| {
            Some(Life {
                generation: StreamGeneration::new(generation.get()),
                is_over,
            })
        };
        match self {
            Self::Never => None,
            Self::Alive(handle) => life(handle.generation(), false),
            Self::Over(generation) => life(*generation, true),
        }
    }
}

impl RedisPlane {
    pub(super) async fn present(
        &self,
        stream: &StreamPrefix,
        shard: ShardIndex,
    ) -> Result<Present, PlaneError> {
        match self.shard(stream, shard)?.open().await {
            Ok(handle) => Ok(Present::Alive(handle)),
            Err(LifecycleError::NotFound { .. }) => Ok(Present::Never),
            Err(
                LifecycleError::Destroyed { generation, .. }
                | LifecycleError::Expired { generation, .. },
            ) => Ok(Present::Over(generation)),
            Err(error) => Err(failure::of_lifecycle(&shard_key(stream, shard), error)),
        }
    }

    pub(super) async fn life(
        &self,
        stream: &StreamPrefix,
        shard: ShardIndex,
    ) -> Result<Option<Life>, PlaneError> {
        Ok(self.present(stream, shard).await?.life())
    }
}
