//! Sealing and destroying a generation.

use std::future::Future;

use crate::error::LifecycleError;
use crate::handle::Handle;
use crate::model::{DrainProof, Draining, Generation, GroupName};
use crate::wire::{RedisLink, scripts};

/// What became of a removal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removal {
    /// The generation is destroyed now.
    Destroyed,
    /// It had been destroyed before.
    Already,
    /// It is destroyed, and there was nothing to be proven: the stream had been lost before, with whatever was in it. A missing stream is
    /// proof that nothing is left (rule G4), not that everything was handled. Told again by every repetition.
    Lost,
}

/// Changes the life of a generation. It can neither publish nor read.
pub trait ShardAdmin: Send + Sync {
    /// Refuses publishing from now on; reading and acknowledging go on. True if that is a change.
    ///
    /// # Errors
    /// If the generation is over.
    fn seal(&self) -> impl Future<Output = Result<bool, LifecycleError>> + Send;

    /// Allows publishing again. True if that is a change.
    ///
    /// # Errors
    /// If the generation is over.
    fn unseal(&self) -> impl Future<Output = Result<bool, LifecycleError>> + Send;

    /// Fences every consumer of a group, also one that was given a later epoch and is not registered yet: from now on no registration below the answered
    /// epoch is taken, which lies `above` the highest that was. 0 if nobody ever was registered, and then nothing changes. For whoever makes a group a
    /// second time under a name.
    ///
    /// # Errors
    /// If the generation is over.
    fn fence_all(
        &self,
        group: &GroupName,
        above: u32,
    ) -> impl Future<Output = Result<u64, LifecycleError>> + Send;

    /// Removes all keys of the generation, whatever is in them, and leaves a tombstone.
    ///
    /// # Errors
    /// If the shard is in another life; not if this one is destroyed already.
    fn destroy(&self) -> impl Future<Output = Result<Removal, LifecycleError>> + Send;

    /// Rule G4: removes the generation if it is drained; evidence and removal are one step, so that nothing that was accepted is lost.
    /// Where the stream itself is gone, nothing is left to be lost: it is removed too, and [`Removal::Lost`] says so.
    /// That its time is over is no proof: entries that plain clients put under its name since count too.
    ///
    /// # Errors
    /// [`LifecycleError::NotDrained`] with the first open condition, else as [`destroy`](Self::destroy).
    fn destroy_if_drained(
        &self,
        draining: &Draining,
    ) -> impl Future<Output = Result<Removal, LifecycleError>> + Send;
}

impl<L: RedisLink> Handle<L> {
    async fn turn(&self, state: &str) -> Result<bool, LifecycleError> {
        let call = scripts::SEAL.bound(self.keys(), self.identity()).arg(state);
        Ok(self.run(&call).await?.text()? == "changed")
    }

    async fn remove_keys(
        &self,
        mode: &str,
        draining: &Draining,
    ) -> Result<Removal, LifecycleError> {
        let keep_ms = draining.keep_ms()?;
        let proof = match draining.proof {
            DrainProof::Lag => "lag",
            DrainProof::Entries => "entries",
        };
        // A key that is not needed is not named: with its slot on the way, one that is missing would hold up the removal.
        let retired = [&*self.keys().retired];
        let kept = if keep_ms == 0 {
            &[]
        } else {
            retired.as_slice()
        };
        let keys = [&self.keys().five(), kept].concat();
        let call = scripts::DESTROY
            .bound_with(&keys, self.identity())
            .args([mode, proof])
            .arg(keep_ms.to_string())
            .args(draining.required.iter().map(GroupName::as_str));
        let mut reply = self.run(&call).await?;
        match reply.text()?.as_str() {
            "destroyed" => Ok(Removal::Destroyed),
            "lost" => Ok(Removal::Lost),
            "again" => Ok(Removal::Already),
            other => Err(reply.bad(other)),
        }
    }

    /// Which generation this is.
    #[must_use]
    pub fn generation(&self) -> Generation {
        self.identity().generation
    }
}

impl<L: RedisLink> ShardAdmin for Handle<L> {
    async fn seal(&self) -> Result<bool, LifecycleError> {
        self.turn("sealed").await
    }

    async fn unseal(&self) -> Result<bool, LifecycleError> {
        self.turn("active").await
    }

    async fn fence_all(&self, group: &GroupName, above: u32) -> Result<u64, LifecycleError> {
        let call = scripts::FENCE_ALL.bound(self.keys(), self.identity());
        let call = call.arg(group.as_str()).arg(above.to_string());
        self.run(&call).await?.number()
    }

    async fn destroy(&self) -> Result<Removal, LifecycleError> {
        self.remove_keys("force", &Draining::new()).await
    }

    async fn destroy_if_drained(&self, draining: &Draining) -> Result<Removal, LifecycleError> {
        self.remove_keys("drained", draining).await
    }
}
