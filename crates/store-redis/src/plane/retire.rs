//! A shard is taken away if it is drained, evidence and removal in one step: rules G4 and G5.

use coordinator_core::evidence::{DrainProof, Open, OpenCondition};
use coordinator_core::names::StreamPrefix;
use coordinator_core::numbers::ShardIndex;
use coordinator_core::shard_set::ShardSet;
use std::time::Duration;
use store::{Life, PlaneError, Provision, Retire, Retirement};
use stream_lifecycle::{Draining, Handle, LifecycleError, ShardAdmin};

use super::lives::Present;
use super::{RedisPlane, failure, groups, shard_key};
use crate::link::SharedLink;

impl RedisPlane {
    pub(super) async fn take_away(&self, order: &Retire) -> Result<Retirement, PlaneError> {
        let present = self.present(&order.stream, order.shard).await?;
        match &present {
            Present::Alive(handle) if is_meant(order, present.life()) => {
                self.destroy(order, handle).await
            }
            // What lives now was begun since.
            Present::Alive(_) => Ok(Retirement::Gone),
            // Whoever was about to make the stream is bound to this very life: it comes too late once one has begun and ended.
            Present::Never | Present::Over(_)
                if order.recorded.is_none() && present.life() == order.seen =>
            {
                self.begin_and_end(order).await
            }
            Present::Never => self.never_lived(order).await,
            Present::Over(_) => Ok(Retirement::Gone),
        }
    }

    /// A recorded life of which nothing is known. A stream that is there all the same has lost its lifecycle, and nothing can be proven of it.
    async fn never_lived(&self, order: &Retire) -> Result<Retirement, PlaneError> {
        let key = shard_key(&order.stream, order.shard);
        if self.exists(&key).await? {
            return Err(failure::without_lifecycle(&key));
        }
        Ok(Retirement::Gone)
    }

    async fn destroy(
        &self,
        order: &Retire,
        handle: &Handle<SharedLink>,
    ) -> Result<Retirement, PlaneError> {
        let proof = match order.proof {
            DrainProof::Lag => stream_lifecycle::DrainProof::Lag,
            DrainProof::Entries => stream_lifecycle::DrainProof::Entries,
        };
        let draining = Draining::new()
            .proof(proof)
            .required(groups::names(&order.coordinated)?);
        let draining = match order.keep.get() {
            0 => draining,
            ms => draining.keep(Duration::from_millis(ms)),
        };
        match handle.destroy_if_drained(&draining).await {
            Ok(_) => Ok(Retirement::Gone),
            Err(LifecycleError::NotDrained {
                group,
                condition,
                pending,
                lag,
                ..
            }) => Ok(Retirement::Refused(vec![OpenCondition {
                group: groups::told(&group),
                condition: match condition.as_str() {
                    "pending" => Open::Pending(pending),
                    "lag" => Open::Lag(lag),
                    "unread" => Open::Unread,
                    _ => Open::GroupMissing,
                },
            }])),
            // Another coordinator was faster.
            Err(
                LifecycleError::Destroyed { .. }
                | LifecycleError::GenerationMismatch { .. }
                | LifecycleError::UnexpectedGeneration { .. },
            ) => Ok(Retirement::Gone),
            Err(error) => {
                let key = shard_key(&order.stream, order.shard);
                Err(failure::of_lifecycle(&key, error))
            }
        }
    }

    /// Begins the life that was about to begin, and ends it.
    async fn begin_and_end(&self, order: &Retire) -> Result<Retirement, PlaneError> {
        let life = Provision {
            stream: order.stream.clone(),
            shards: ShardSet::from_iter([order.shard]),
            groups: order.coordinated.clone(),
            new_group: None,
            origin: "taken back".to_owned(),
            seen: order
                .seen
                .into_iter()
                .map(|life| (order.shard, life))
                .collect(),
        };
        match self.make_all(&life).await {
            Ok(_) => {}
            // Whatever is under its name is not ours: nobody makes a stream there any more, and we take none away.
            Err(PlaneError::ForeignKeys { .. } | PlaneError::NotProvided { .. }) => {
                return Ok(Retirement::Gone);
            }
            Err(PlaneError::OtherLife { .. }) => return Ok(Retirement::Gone),
            Err(error) => return Err(error),
        }
        match self.present(&order.stream, order.shard).await? {
            Present::Alive(handle) => self.destroy(order, &handle).await,
            Present::Never | Present::Over(_) => Ok(Retirement::Gone),
        }
    }

    pub(super) async fn seal_one(
        &self,
        stream: &StreamPrefix,
        shard: ShardIndex,
        is_sealed: bool,
    ) -> Result<(), PlaneError> {
        let Present::Alive(handle) = self.present(stream, shard).await? else {
            return Ok(());
        };
        let outcome = if is_sealed {
            handle.seal().await
        } else {
            handle.unseal().await
        };
        match outcome {
            Ok(_) => Ok(()),
            Err(error) if error.is_stale() => Ok(()),
            Err(error) => Err(failure::of_lifecycle(&shard_key(stream, shard), error)),
        }
    }
}

/// Whether the life is the one that was looked at; or, where no life is recorded, the one that was about to begin then.
fn is_meant(order: &Retire, present: Option<Life>) -> bool {
    let generation = |life: Life| life.generation.get();
    let may_have_begun = order.recorded.is_none();
    match (order.seen, present) {
        (_, None) => false,
        (None, Some(now)) => may_have_begun && generation(now) == 1,
        (Some(seen), Some(now)) if seen.is_over => {
            may_have_begun && generation(now) == generation(seen) + 1
        }
        (Some(seen), Some(now)) => generation(now) == generation(seen),
    }
}
