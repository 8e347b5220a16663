//! How well the Redis servers can do their work: what they lack although they answer, and what threatens what is in them. Case C09.

use std::fmt;

use store::{Eviction, Readiness};

use super::{Engine, EngineError};

/// So many groups are named.
const NAMED: usize = 3;

/// Which of the two it is about; they may be the same server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Where groups are recorded.
    Groups,
    /// Where the shard streams are.
    Streams,
    /// Both.
    All,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Groups => "the Redis of the groups",
            Self::Streams => "the Redis of the streams",
            Self::All => "the Redis of groups and streams",
        })
    }
}

/// Something that is not as it should be though the servers answer. Said in short: the page on operations has the rest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Concern {
    #[error("{0} has reached its memory limit (OOM): give it more, or make room")]
    Full(Place),
    #[error("{place} throws keys away when it is full (maxmemory-policy {policy}): set noeviction")]
    LosesKeys { place: Place, policy: String },
    #[error("what {0} does when it is full is not known: its user may not run INFO")]
    UnknownEviction(Place),
    /// Redis may have lost their records.
    #[error(
        "members heartbeat into groups that are not recorded ({groups}; {heartbeats} heartbeats in the last minute): restore them if they were lost, or stop the members"
    )]
    Unrecorded { groups: String, heartbeats: u64 },
}

impl Concern {
    /// Whether something is wrong, and not merely unknown. Members may need no credentials, and what anybody can say is no fault of a server.
    pub(crate) const fn is_harmful(&self) -> bool {
        !matches!(self, Self::UnknownEviction(_) | Self::Unrecorded { .. })
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
            let of_streams = self::concerns(Place::Streams, readiness, plane.eviction());
            for concern in of_streams {
                add(&mut concerns, concern);
            }
        }
        concerns.extend(self.unrecorded().map(|found| {
            let some = found.groups.iter().take(NAMED).map(ToString::to_string);
            let more = (found.groups.len() > NAMED).then(|| "…".to_owned());
            Concern::Unrecorded {
                groups: some.chain(more).collect::<Vec<_>>().join(", "),
                heartbeats: found.heartbeats,
            }
        }));
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

/// What both places have in common is said once.
fn add(concerns: &mut Vec<Concern>, concern: Concern) {
    let at = |concern: &Concern, place| match concern.clone() {
        Concern::Full(_) => Concern::Full(place),
        Concern::LosesKeys { policy, .. } => Concern::LosesKeys { place, policy },
        Concern::UnknownEviction(_) => Concern::UnknownEviction(place),
        other => other,
    };
    let same = at(&concern, Place::Groups);
    match concerns.iter_mut().find(|known| **known == same) {
        Some(known) => *known = at(&concern, Place::All),
        None => concerns.push(concern),
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

    /// A line that nobody reads to its end helps nobody.
    #[test]
    fn c09_what_both_places_have_in_common_is_said_once_and_in_short() {
        let policy = || Some(Eviction::Policy("allkeys-lru".to_owned()));
        let mut all = concerns(Place::Groups, Readiness::Full, policy());
        for concern in concerns(Place::Streams, Readiness::Full, policy()) {
            add(&mut all, concern);
        }
        let told: Vec<String> = all.iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told.iter().all(|it| it.contains("groups and streams")));
        assert!(told.join("; ").len() < 250, "{told:?}");
        let mut all = concerns(Place::Groups, Readiness::Full, None);
        add(&mut all, Concern::UnknownEviction(Place::Streams));
        let expected = [
            Concern::Full(Place::Groups),
            Concern::UnknownEviction(Place::Streams),
        ];
        assert_eq!(all, expected);
    }
}
