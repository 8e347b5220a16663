//! How well the Redis servers can do their work: what they lack although they answer, and what threatens what is in them. Case C09.

use std::fmt;

use store::{Eviction, Readiness};

use super::{Engine, EngineError};

/// Which of the two it is about; they may be the same server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Where groups are recorded.
    Groups,
    /// Where the shard streams are.
    Streams,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Groups => "the Redis of the groups",
            Self::Streams => "the Redis of the streams",
        })
    }
}

/// Something that is not as it should be with a server that answers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Concern {
    #[error(
        "{0} has reached its memory limit (OOM): it refuses whatever needs memory, give it more or make room"
    )]
    Full(Place),
    #[error(
        "{place} throws keys away when it is full (maxmemory-policy {policy}): groups and streams can be lost, set noeviction"
    )]
    LosesKeys { place: Place, policy: String },
    #[error("what {0} does when it is full is not known: its user may not run INFO")]
    UnknownEviction(Place),
}

impl Concern {
    /// Whether something is wrong, and not merely unknown.
    pub(crate) const fn is_harmful(&self) -> bool {
        !matches!(self, Self::UnknownEviction(_))
    }
}

/// What servers do with their keys when they are full, as last heard; none where that means nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Evictions {
    pub(crate) groups: Option<Eviction>,
    pub(crate) streams: Option<Eviction>,
}

impl Engine {
    /// Whether the store, and the Redis of the streams, can do their work now; and what is to be said of them although they can.
    pub(crate) async fn check_ready(&self) -> Result<Vec<Concern>, EngineError> {
        let deps = &self.0.deps;
        let readiness = deps.store.check_ready().await?;
        let mut concerns = concerns(Place::Groups, readiness, deps.store.eviction());
        if let Some(plane) = &deps.plane {
            let readiness = plane.check_ready().await.map_err(EngineError::Unread)?;
            concerns.extend(self::concerns(Place::Streams, readiness, plane.eviction()));
        }
        Ok(concerns)
    }

    /// What the servers do when they are full, as last heard. Asks nothing.
    pub(crate) fn evictions(&self) -> Evictions {
        let deps = &self.0.deps;
        Evictions {
            groups: deps.store.eviction(),
            streams: deps.plane.as_ref().and_then(|plane| plane.eviction()),
        }
    }
}

fn concerns(place: Place, readiness: Readiness, eviction: Option<Eviction>) -> Vec<Concern> {
    let full = (readiness == Readiness::Full).then_some(Concern::Full(place));
    let eviction = eviction.and_then(|eviction| match eviction {
        Eviction::Unknown => Some(Concern::UnknownEviction(place)),
        Eviction::Policy(policy) if Eviction::Policy(policy.clone()).loses_keys() => {
            Some(Concern::LosesKeys { place, policy })
        }
        Eviction::Policy(_) => None,
    });
    full.into_iter().chain(eviction).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c09_noeviction_is_right_and_all_else_is_told() {
        let told = |readiness, policy: Option<&str>| {
            let eviction = policy.map_or(Eviction::Unknown, |it| Eviction::Policy(it.to_owned()));
            concerns(Place::Groups, readiness, Some(eviction))
        };
        let place = Place::Groups;
        let policy = "allkeys-lru".to_owned();
        assert_eq!(told(Readiness::Ready, Some("noeviction")), []);
        assert_eq!(
            told(Readiness::Full, Some("allkeys-lru")),
            [Concern::Full(place), Concern::LosesKeys { place, policy }]
        );
        let unknown = told(Readiness::Ready, None);
        assert_eq!(unknown, [Concern::UnknownEviction(place)]);
        assert!(!unknown[0].is_harmful());
        assert_eq!(concerns(place, Readiness::Ready, None), []);
    }
}
