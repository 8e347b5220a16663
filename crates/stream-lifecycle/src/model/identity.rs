//! What tells one life of a shard from every other.

use std::fmt;
use std::sync::Arc;

use super::numbers::{Generation, Incarnation};

/// One life of a shard. Two identities are the same only if all three parts are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    /// Which life, from 1 on.
    pub generation: Generation,
    /// The key of the stream.
    pub physical_key: Arc<str>,
    /// What the creator gave it.
    pub incarnation: Incarnation,
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "generation {} ({}) at {}",
            self.generation, self.incarnation, self.physical_key
        )
    }
}

/// How the key of a generation's stream is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Naming {
    /// The first generation has the shard's name, so that plain clients can use it; later ones have keys of their own.
    #[default]
    FirstFlat,
    /// Always the shard's name: plain clients can use every generation.
    Flat,
    /// Always a key of its own, which is never used again.
    Qualified,
}

/// Where a generation is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ShardState {
    /// Everything is allowed.
    Active,
    /// Publishing is refused; reading and acknowledging go on.
    Sealed,
    /// Only the tombstone is left.
    Destroyed,
    /// Its time is over by Redis' clock.
    Expired,
}

impl ShardState {
    pub(crate) fn parse(word: &str) -> Option<Self> {
        match word {
            "active" => Some(Self::Active),
            "sealed" => Some(Self::Sealed),
            "destroyed" => Some(Self::Destroyed),
            "expired" => Some(Self::Expired),
            _ => None,
        }
    }

    /// Whether a handle can work with it.
    #[must_use]
    pub const fn is_alive(self) -> bool {
        matches!(self, Self::Active | Self::Sealed)
    }
}
