//! Handles on the shards that the routing names: opened when needed, by one caller for all, and forgotten when they are of no more
//! use. What is published with them is not known here.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use stream_lifecycle::{Base, Handle, Identity, InvalidInput, LifecycleError, ShardRef};

use crate::routing_table::Route;
use crate::streams::{Link, SingleFlight, SlotLink};

/// A handle over the producer's own connections.
pub(crate) type ShardHandle = Handle<SlotLink>;

/// The shards that were published to, by their position.
#[derive(Debug, Default)]
pub(crate) struct Shards {
    known: RwLock<HashMap<u32, Arc<Shard>>>,
}

/// One shard in the generation that its route tells, or in whichever it is where none is told.
#[derive(Debug)]
pub(crate) struct Shard {
    stream_key: String,
    generation: Option<u64>,
    reference: ShardRef<SlotLink>,
    bound: RwLock<Option<ShardHandle>>,
    opening: SingleFlight<Result<ShardHandle, LifecycleError>>,
}

impl Shards {
    /// The shard of a route, out of `count`. One whose route was another is replaced; those beyond the count are forgotten.
    pub(crate) fn of(
        &self,
        route: &Route,
        count: usize,
        link: &Arc<Link>,
    ) -> Result<Arc<Shard>, InvalidInput> {
        let index = route.shard.shard_index;
        let known = self
            .known
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&index)
            .cloned();
        if let Some(shard) = known.filter(|shard| shard.is_of(route)) {
            return Ok(shard);
        }
        let link = SlotLink::new(Arc::clone(link), route.slot);
        let reference = ShardRef::new(link, Base::new(&route.stream_key)?);
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(shard) = known.get(&index).filter(|shard| shard.is_of(route)) {
            return Ok(Arc::clone(shard));
        }
        let shard = Arc::new(Shard {
            stream_key: route.stream_key.clone(),
            generation: route.generation,
            reference,
            bound: RwLock::new(None),
            opening: SingleFlight::new(),
        });
        known.retain(|index, _| usize::try_from(*index).is_ok_and(|index| index < count));
        known.insert(index, Arc::clone(&shard));
        Ok(shard)
    }
}

impl Shard {
    fn is_of(&self, route: &Route) -> bool {
        self.stream_key == route.stream_key && self.generation == route.generation
    }

    /// The handle. Those who wait for it at the same time share what came of it.
    pub(crate) async fn handle(&self) -> Result<ShardHandle, LifecycleError> {
        match self.bound() {
            Some(handle) => Ok(handle),
            None => self.opening.run(self.open()).await,
        }
    }

    /// Forgets the handle on this identity: the next caller opens another.
    pub(crate) fn unbind(&self, stale: &Identity) {
        let mut bound = self.bound.write().unwrap_or_else(PoisonError::into_inner);
        if bound
            .as_ref()
            .is_some_and(|handle| handle.identity() == stale)
        {
            *bound = None;
        }
    }

    fn bound(&self) -> Option<ShardHandle> {
        let bound = self.bound.read().unwrap_or_else(PoisonError::into_inner);
        bound.clone()
    }

    async fn open(&self) -> Result<ShardHandle, LifecycleError> {
        if let Some(handle) = self.bound() {
            return Ok(handle);
        }
        let handle = self.reference.open().await?;
        *self.bound.write().unwrap_or_else(PoisonError::into_inner) = Some(handle.clone());
        Ok(handle)
    }
}
