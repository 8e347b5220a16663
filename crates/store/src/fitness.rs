//! How well a store that answers can do its work, and what becomes of its keys when it is full. Case C09.

/// What a store that answers can do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// All of its work.
    Ready,
    /// It has reached its memory limit. It refuses whatever needs memory; reads and renewals of leases go on.
    Full,
}

/// What a Redis does with its keys when it has reached its memory limit. Anything but `noeviction` can lose groups and streams.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Eviction {
    /// It was not asked yet, or may not be.
    #[default]
    Unknown,
    /// What it goes by, in Redis' words.
    Policy(String),
}

impl Eviction {
    /// The policy, in Redis' words; `unknown` where it is not known.
    #[must_use]
    pub fn policy(&self) -> &str {
        match self {
            Self::Unknown => "unknown",
            Self::Policy(policy) => policy,
        }
    }

    /// Whether keys may be thrown away, as far as is known.
    #[must_use]
    pub fn loses_keys(&self) -> bool {
        matches!(self, Self::Policy(policy) if policy != "noeviction")
    }
}
