//! What keeps a shard from taking exact publications, and what to do about it.

use stream_lifecycle::LifecycleError;

/// Why a shard took nothing. Each is first taken for a sign that the routing is out of date; it is told only where fresh routing
/// did not help.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ShardProblem {
    /// The shard has no lifecycle: it was not made by the coordinator, or its state was lost.
    #[error(
        "it has no lifecycle; where streams are made by hand use plain `publish`, else have the coordinator make the stream anew"
    )]
    NoLifecycle,
    /// Publishing is refused, as it is before a shard is retired.
    #[error("it is sealed; publish again once the routing has changed")]
    Sealed,
    /// The stream is gone although its generation is alive (C01).
    #[error(
        "its stream is gone although its generation is alive; publish again once the shard's owner has restored it"
    )]
    StreamLost,
    /// The generation was destroyed, or its time is over.
    #[error(
        "generation {generation} is over; publish again once the coordinator has made the next"
    )]
    Over {
        /// Which.
        generation: u64,
    },
    /// The shard was made anew between two looks at it.
    #[error("it is in generation {current} meanwhile; publish again")]
    Replaced {
        /// The generation that it is in.
        current: u64,
    },
    /// The shard is in a later generation than the routing tells.
    #[error(
        "it is in generation {found} and the routing tells {told}; publish again once the coordinator has caught up"
    )]
    AheadOfRouting {
        /// The generation that the routing tells.
        told: u64,
        /// The generation that the shard is in.
        found: u64,
    },
    /// The shard is in an earlier generation than it was, or than the routing tells: Redis lost writes. Nothing is published to it.
    #[error(
        "it went back to generation {found} where {expected} is expected: Redis lost writes; have the coordinator make the stream anew"
    )]
    WritesLost {
        /// The generation that it was in, or that the routing tells.
        expected: u64,
        /// The generation that the shard is in.
        found: u64,
    },
}

impl ShardProblem {
    /// The problem that an error tells, if it is one that fresh routing may help against.
    pub(crate) fn told_by(error: &LifecycleError) -> Option<Self> {
        Some(match error {
            LifecycleError::NotFound { .. } => Self::NoLifecycle,
            LifecycleError::Sealed { .. } => Self::Sealed,
            LifecycleError::DataLost { .. } => Self::StreamLost,
            LifecycleError::Destroyed { generation }
            | LifecycleError::Expired { generation, .. } => Self::Over {
                generation: generation.get(),
            },
            LifecycleError::GenerationMismatch { current, .. } => Self::Replaced {
                current: current.generation.get(),
            },
            LifecycleError::Regressed { bound, current } => Self::WritesLost {
                expected: bound.generation.get(),
                found: current.generation.get(),
            },
            _ => return None,
        })
    }

    /// Compares the generation that a shard is in with the one that is expected.
    pub(crate) const fn of_generation(expected: u64, found: u64) -> Option<Self> {
        if found > expected {
            return Some(Self::AheadOfRouting {
                told: expected,
                found,
            });
        }
        if found < expected {
            return Some(Self::WritesLost { expected, found });
        }
        None
    }
}
