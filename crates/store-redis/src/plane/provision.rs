//! Shard streams are made, with all consumer groups of the stream: rule G1. What exists is left as it is, so that what was half done is finished by
//! repeating it; and nothing is made of which the life has begun or ended since the records were looked at.

use coordinator_core::numbers::{GroupEpoch, ShardIndex, StreamGeneration};
use redis::Value;
use store::{Life, PlaneError, Provision, Provisioned};
use stream_lifecycle::{
    Creation, Generation, GroupName, Handle, Incarnation, LifecycleError, Naming, OwnerName,
    ShardAdmin, ShardConsumer, ShardInspect,
};

use super::lives::Present;
use super::{NAMED, RedisPlane, StreamProvisioning, failure, groups, shard_key};
use crate::link::SharedLink;

/// By whom the coordinator's streams are made, as their lifecycles say.
const OWNER: &str = "redis-stream-coordinator";

/// How far a new group's epochs lie above those of an earlier one of its name: that one may have handed out higher ones than are registered.
const ABOVE: u32 = 1 << 20;

/// What became of one shard.
enum Made {
    /// Its stream is there, in this life, and takes nobody of a new group below this epoch.
    InLife(StreamGeneration, GroupEpoch),
    /// Its key is somebody else's.
    Foreign(String),
    /// It, or a consumer group of it, is not there, and others are to make it.
    Missing(String),
}

impl RedisPlane {
    pub(super) async fn make_all(&self, order: &Provision) -> Result<Provisioned, PlaneError> {
        let names = groups::names(&order.groups)?;
        let made = self
            .each(&order.shards, |shard| self.make(order, shard, &names))
            .await;
        let (mut lives, mut foreign, mut missing) = (Vec::new(), Vec::new(), Vec::new());
        let mut epochs_from = GroupEpoch::default();
        for (shard, made) in made {
            match made? {
                Made::InLife(generation, floor) => {
                    lives.push((shard, generation));
                    epochs_from = epochs_from.max(floor);
                }
                Made::Foreign(key) => foreign.push(key),
                Made::Missing(what) => missing.push(what),
            }
        }
        if !foreign.is_empty() {
            foreign.truncate(NAMED);
            return Err(PlaneError::ForeignKeys { keys: foreign });
        }
        if !missing.is_empty() {
            missing.truncate(NAMED);
            return Err(PlaneError::NotProvided { missing });
        }
        Ok(Provisioned {
            generations: lives.into_iter().collect(),
            epochs_from,
        })
    }

    async fn make(
        &self,
        order: &Provision,
        shard: ShardIndex,
        names: &[GroupName],
    ) -> Result<Made, PlaneError> {
        let key = shard_key(&order.stream, shard);
        let seen = order.seen.get(&shard).copied();
        if self.provisioning == StreamProvisioning::Off
            && let Some(missing) = self.not_provided(&key, names).await?
        {
            return Ok(Made::Missing(missing));
        }
        let present = self.present(&order.stream, shard).await?;
        let outcome = match &present {
            Present::Alive(_) => None,
            Present::Never | Present::Over(_) if present.life() == seen => {
                Some(self.begin_life(order, shard, names, seen).await?)
            }
            Present::Never | Present::Over(_) => return Err(PlaneError::OtherLife { key }),
        };
        match outcome {
            Some(Ok(handle)) => {
                let nobody = GroupEpoch::default();
                Ok(Made::InLife(told(handle.generation()), nobody))
            }
            Some(Err(LifecycleError::KeyConflict { .. })) => Ok(Made::Foreign(key)),
            Some(Err(
                LifecycleError::AlreadyExists { .. }
                | LifecycleError::Destroyed { .. }
                | LifecycleError::GenerationMismatch { .. }
                | LifecycleError::UnexpectedGeneration { .. }
                | LifecycleError::StillAlive { .. },
            ))
            | None => self.take_as_is(order, shard, names).await,
            Some(Err(error)) => Err(failure::of_lifecycle(&key, error)),
        }
    }

    /// Begins the life after the one that was seen, and no other.
    async fn begin_life(
        &self,
        order: &Provision,
        shard: ShardIndex,
        names: &[GroupName],
        seen: Option<Life>,
    ) -> Result<Result<Handle<SharedLink>, LifecycleError>, PlaneError> {
        let next = seen.map_or(1, |life| life.generation.get() + 1);
        let shard_ref = self.shard(&order.stream, shard)?;
        let creation = new_life(order, shard, next, names)?;
        Ok(match (seen, self.provisioning) {
            (None, StreamProvisioning::On) => shard_ref.create(&creation).await,
            (None, StreamProvisioning::Off) => shard_ref.create(&creation.adopt()).await,
            (Some(life), _) => {
                let before = Generation::new(life.generation.get()).map_err(failure::invalid)?;
                shard_ref.recreate(before, &creation).await
            }
        })
    }

    /// The stream is there: it is the one that is wanted if it is ours and in the life that was seen, or in the one after.
    async fn take_as_is(
        &self,
        order: &Provision,
        shard: ShardIndex,
        names: &[GroupName],
    ) -> Result<Made, PlaneError> {
        let key = shard_key(&order.stream, shard);
        let failed = |error| failure::of_lifecycle(&key, error);
        let Present::Alive(handle) = self.present(&order.stream, shard).await? else {
            return Err(PlaneError::OtherLife { key });
        };
        let wanted = match order.seen.get(&shard) {
            None => 1,
            Some(life) if life.is_over => life.generation.get() + 1,
            Some(life) => life.generation.get(),
        };
        if handle.generation().get() != wanted {
            return Err(PlaneError::OtherLife { key });
        }
        if handle.status().await.map_err(failed)?.owner != OWNER {
            return Ok(Made::Foreign(key));
        }
        for name in names {
            handle.ensure_group(name).await.map_err(failed)?;
        }
        let mut epochs_from = 0;
        if let Some(group) = &order.new_group {
            for name in groups::names(std::slice::from_ref(group))? {
                epochs_from = handle.fence_all(&name, ABOVE).await.map_err(failed)?;
            }
        }
        let epochs_from = GroupEpoch::new(epochs_from);
        Ok(Made::InLife(told(handle.generation()), epochs_from))
    }

    /// What others are to make and have not made: the stream, or a consumer group.
    async fn not_provided(
        &self,
        key: &str,
        names: &[GroupName],
    ) -> Result<Option<String>, PlaneError> {
        let mut command = redis::cmd("XINFO");
        command.arg("GROUPS").arg(key);
        if !self.exists(key).await? {
            return Ok(Some(key.to_owned()));
        }
        let answer = self.redis.send_again(&command).await;
        let value = answer
            .map_err(|failure| failure::of_command(&format!("XINFO GROUPS {key}"), failure))?;
        let rows: Vec<std::collections::HashMap<String, Value>> =
            redis::from_redis_value(value).map_err(|_| failure::unexpected("XINFO GROUPS"))?;
        let has = |name: &GroupName| {
            let named = |row: &std::collections::HashMap<String, Value>| {
                row.get("name")
                    .and_then(|value| redis::from_redis_value::<String>(value.clone()).ok())
            };
            rows.iter()
                .any(|row| named(row).as_deref() == Some(name.as_str()))
        };
        let missing = names.iter().find(|name| !has(name));
        Ok(missing.map(|name| format!("group {} of {key}", name.as_str())))
    }
}

/// How the life of a shard is begun. Who repeats it for the same reason makes the same identity.
pub(super) fn new_life(
    order: &Provision,
    shard: ShardIndex,
    generation: u64,
    names: &[GroupName],
) -> Result<Creation, PlaneError> {
    let (shard, generation) = (shard.to_string(), generation.to_string());
    let parts = [order.stream.as_str(), &order.origin, &shard, &generation];
    let owner = OwnerName::new(OWNER).map_err(failure::invalid)?;
    Ok(Creation::new(Incarnation::derived_from(&parts))
        .naming(Naming::Flat)
        .owner(owner)
        .groups(names.iter().cloned()))
}

fn told(generation: Generation) -> StreamGeneration {
    StreamGeneration::new(generation.get())
}
