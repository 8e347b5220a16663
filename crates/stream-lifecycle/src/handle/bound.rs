//! A handle: an immutable capability for exactly one life of a shard.

use std::fmt;
use std::sync::Arc;

use tokio::sync::OnceCell;

use crate::error::LifecycleError;
use crate::model::{Base, GroupName, Identity, Keys, Retention};
use crate::wire::{Call, RedisLink, Reply, has_command, run};

#[derive(Debug)]
struct Bound {
    base: Base,
    identity: Identity,
    keys: Keys,
    retention: Retention,
}

/// Bound to one life of a shard for ever. Copies are cheap and share everything; nothing is locked.
#[derive(Clone)]
pub struct Handle<L> {
    link: L,
    bound: Arc<Bound>,
    /// Whether the server behind the link knows XACKDEL.
    knows_xackdel: Arc<OnceCell<bool>>,
}

impl<L: RedisLink> Handle<L> {
    pub(crate) fn new(link: L, base: Base, identity: Identity, retention: Retention) -> Self {
        let keys = Keys::of(&base, &identity);
        Self {
            link,
            bound: Arc::new(Bound {
                base,
                identity,
                keys,
                retention,
            }),
            knows_xackdel: Arc::default(),
        }
    }

    /// The same handle on another connection, for example one for blocking reads only.
    #[must_use]
    pub fn with_link<M: RedisLink>(&self, link: M) -> Handle<M> {
        Handle {
            link,
            bound: Arc::clone(&self.bound),
            knows_xackdel: Arc::default(),
        }
    }

    pub(crate) const fn link(&self) -> &L {
        &self.link
    }

    /// Whether the server knows XACKDEL. It is asked once; what it does not tell counts as no, and is asked again.
    pub(crate) async fn knows_xackdel(&self) -> bool {
        let asking = || has_command(&self.link, "XACKDEL");
        let known = self.knows_xackdel.get_or_try_init(asking).await;
        known.is_ok_and(|known| *known)
    }

    pub(crate) async fn run(&self, call: &Call) -> Result<Reply, LifecycleError> {
        run(&self.link, call, Some(self.identity())).await
    }
}

impl<L> Handle<L> {
    /// The shard.
    #[must_use]
    pub fn base(&self) -> &Base {
        &self.bound.base
    }

    /// Which life of the shard.
    #[must_use]
    pub fn identity(&self) -> &Identity {
        &self.bound.identity
    }

    /// Its keys.
    #[must_use]
    pub fn keys(&self) -> &Keys {
        &self.bound.keys
    }

    /// The key of the stream with the dead letters of a group ([`ShardRedelivery::dead_letter`](crate::ShardRedelivery::dead_letter)):
    /// `{base}:dlq:<group>`, with the braces. A plain stream without expiry, which outlives the generation.
    #[must_use]
    pub fn dead_letter_key(&self, group: &GroupName) -> String {
        Keys::dead_letters(self.base(), group)
    }

    /// How long things are kept.
    #[must_use]
    pub fn retention(&self) -> &Retention {
        &self.bound.retention
    }
}

impl<L> fmt::Debug for Handle<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle")
            .field("base", &self.bound.base)
            .field("identity", &self.bound.identity)
            .finish_non_exhaustive()
    }
}
