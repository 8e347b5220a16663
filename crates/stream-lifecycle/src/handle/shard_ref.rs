//! A shard without a particular life: where handles come from, and where generations are made.

use std::fmt;

use super::Handle;
use crate::error::LifecycleError;
use crate::model::{Base, Creation, Generation, GroupName, Identity, Keys, Retention, ShardState};
use crate::ops::{Removal, ShardAdmin};
use crate::wire::{Call, RedisLink, Reply, run, scripts, stored_retention};

/// A shard by name, bound to nothing.
#[derive(Clone)]
pub struct ShardRef<L> {
    link: L,
    base: Base,
}

/// What is known of a shard without a handle.
struct Found {
    state: ShardState,
    expires_ms: Option<u64>,
    retention: String,
    identity: Identity,
}

impl<L: RedisLink> ShardRef<L> {
    /// A shard, reached over this connection.
    #[must_use]
    pub const fn new(link: L, base: Base) -> Self {
        Self { link, base }
    }

    /// The shard's name.
    #[must_use]
    pub const fn base(&self) -> &Base {
        &self.base
    }

    /// Binds to the life that the shard is in. A shard that is over stays so until its owner makes the next generation: ask again after a
    /// pause, not at once.
    ///
    /// # Errors
    /// [`LifecycleError::NotFound`], [`Destroyed`](LifecycleError::Destroyed), [`Expired`](LifecycleError::Expired).
    pub async fn open(&self) -> Result<Handle<L>, LifecycleError> {
        let found = self.find().await?;
        let generation = found.identity.generation;
        match found.state {
            ShardState::Destroyed => Err(LifecycleError::Destroyed { generation }),
            ShardState::Expired => Err(LifecycleError::Expired {
                generation,
                expired_ms: found.expires_ms.unwrap_or_default(),
            }),
            ShardState::Active | ShardState::Sealed => {
                self.handle(found.identity, &found.retention)
            }
        }
    }

    /// Binds to the life that the shard is in, if it keeps things as asked for.
    ///
    /// # Errors
    /// As [`open`](Self::open), and [`LifecycleError::RetentionDiffers`].
    pub async fn open_with(&self, retention: &Retention) -> Result<Handle<L>, LifecycleError> {
        let handle = self.open().await?;
        if handle.retention() == retention {
            return Ok(handle);
        }
        Err(LifecycleError::RetentionDiffers {
            requested: retention.to_string(),
            current: handle.retention().to_string(),
        })
    }

    /// Binds to the life that the shard is in or was in last, whatever its state: to ask for its status, or to destroy it again.
    ///
    /// # Errors
    /// [`LifecycleError::NotFound`].
    pub async fn open_any(&self) -> Result<Handle<L>, LifecycleError> {
        let found = self.find().await?;
        self.handle(found.identity, &found.retention)
    }

    /// Makes the first generation, or recognises it if it was made with the same incarnation.
    ///
    /// # Errors
    /// [`AlreadyExists`](LifecycleError::AlreadyExists) if another made it, [`KeyConflict`](LifecycleError::KeyConflict) if a key is taken,
    /// [`Destroyed`](LifecycleError::Destroyed) and [`Expired`](LifecycleError::Expired) if it is for [`recreate`](Self::recreate),
    /// [`RetentionDiffers`](LifecycleError::RetentionDiffers), [`DeadlinePassed`](LifecycleError::DeadlinePassed),
    /// [`NothingToAdopt`](LifecycleError::NothingToAdopt).
    pub async fn create(&self, creation: &Creation) -> Result<Handle<L>, LifecycleError> {
        creation.check()?;
        let identity = self.identity(creation, Generation::FIRST);
        let retention = creation.retention.unwrap_or_default();
        let call = self
            .birth(
                scripts::CREATE.bound(&Keys::of(&self.base, &identity), &identity),
                creation,
                &retention,
            )
            .args(["", ""])
            .args(creation.groups.iter().map(GroupName::as_str));
        self.born(run(&self.link, &call, None).await?)
    }

    /// Makes the next generation after one that is destroyed or expired. Of many who try, one succeeds; whoever repeats it with the
    /// same incarnation succeeds too. The incarnation has to be one that no generation had before.
    ///
    /// # Errors
    /// [`StillAlive`](LifecycleError::StillAlive), [`UnexpectedGeneration`](LifecycleError::UnexpectedGeneration) if the last generation
    /// is not `expected`, else as [`create`](Self::create).
    pub async fn recreate(
        &self,
        expected: Generation,
        creation: &Creation,
    ) -> Result<Handle<L>, LifecycleError> {
        creation.check()?;
        if creation.adopt {
            return Err(crate::InvalidInput::new(
                "adopt",
                "only the first generation takes over a stream",
            )
            .into());
        }
        let last = self.find().await?;
        let next = self.identity(creation, expected.next());
        if last.identity == next {
            return self.again(creation, last);
        }
        if last.identity.generation != expected {
            return Err(LifecycleError::UnexpectedGeneration {
                expected,
                current: last.identity,
            });
        }
        let retention = match creation.retention {
            Some(retention) => retention,
            None => stored_retention(&last.retention)?,
        };
        let old = Keys::of(&self.base, &last.identity);
        let new = Keys::of(&self.base, &next);
        let keys = [&new.five(), &old.five()[1..]].concat();
        let call = scripts::RECREATE.bound_with(&keys, &next);
        let call = self
            .birth(call, creation, &retention)
            .arg(expected.to_string())
            .arg(last.identity.incarnation.to_string())
            .args(creation.groups.iter().map(GroupName::as_str));
        // Another may have been faster since the look.
        match run(&self.link, &call, Some(&last.identity)).await {
            Err(LifecycleError::GenerationMismatch { current, .. })
                if current.generation != expected =>
            {
                Err(LifecycleError::UnexpectedGeneration { expected, current })
            }
            outcome => self.born(outcome?),
        }
    }

    /// Destroys the life that the shard is in, whatever it is.
    ///
    /// # Errors
    /// [`LifecycleError::NotFound`], and as [`ShardAdmin::destroy`].
    pub async fn destroy(&self) -> Result<Removal, LifecycleError> {
        self.open_any().await?.destroy().await
    }

    fn identity(&self, creation: &Creation, generation: Generation) -> Identity {
        let incarnation = creation.incarnation;
        let physical = Keys::physical(&self.base, creation.naming, generation, incarnation);
        Identity {
            generation,
            physical_key: physical.into(),
            incarnation,
        }
    }

    fn birth(&self, call: Call, creation: &Creation, retention: &Retention) -> Call {
        let owner = creation.owner.as_ref().map_or("", |owner| owner.as_str());
        let flag = |is_set| if is_set { "1" } else { "0" };
        call.arg(owner)
            .arg(retention.to_string())
            .arg(flag(creation.retention.is_some()))
            .args(retention.arguments())
            .arg(flag(creation.adopt))
    }

    /// What a repeated recreation answers.
    fn again(&self, creation: &Creation, found: Found) -> Result<Handle<L>, LifecycleError> {
        let generation = found.identity.generation;
        let asked = creation.retention.map(|retention| retention.to_string());
        match (found.state, asked) {
            (ShardState::Destroyed, _) => Err(LifecycleError::Destroyed { generation }),
            (ShardState::Expired, _) => Err(LifecycleError::Expired {
                generation,
                expired_ms: found.expires_ms.unwrap_or_default(),
            }),
            (_, Some(requested)) if requested != found.retention => {
                Err(LifecycleError::RetentionDiffers {
                    requested,
                    current: found.retention,
                })
            }
            _ => self.handle(found.identity, &found.retention),
        }
    }

    fn born(&self, mut reply: Reply) -> Result<Handle<L>, LifecycleError> {
        let (_, retention, identity) = (reply.text()?, reply.text()?, reply.identity()?);
        self.handle(identity, &retention)
    }

    fn handle(&self, identity: Identity, retention: &str) -> Result<Handle<L>, LifecycleError> {
        let retention = stored_retention(retention)?;
        Ok(Handle::new(
            self.link.clone(),
            self.base.clone(),
            identity,
            retention,
        ))
    }

    async fn find(&self) -> Result<Found, LifecycleError> {
        let call = scripts::OPEN.call(&[&Keys::lifecycle_of(&self.base)]);
        let mut reply = run(&self.link, &call, None).await?;
        let state = reply.text()?;
        let state = ShardState::parse(&state).ok_or_else(|| reply.bad(&state))?;
        Ok(Found {
            state,
            expires_ms: reply.optional_number()?,
            retention: reply.text()?,
            identity: reply.identity()?,
        })
    }
}

impl<L> fmt::Debug for ShardRef<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ShardRef").field(&self.base).finish()
    }
}
