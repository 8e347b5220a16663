//! Which shards of a process can't be worked on, and why (case C04). Workers say so; nothing is decided here.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use protocol::ShardId;

/// A shard that is owned and not worked on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShardTrouble {
    /// The member that owns it.
    pub member_id: String,
    /// The shard.
    pub shard: ShardId,
    /// The key of its stream.
    pub stream_key: String,
    /// What kind of trouble it is.
    pub kind: TroubleKind,
    /// The entry that holds the shard up, if it is one.
    pub entry: Option<String>,
    /// What is wrong, in words.
    pub reason: String,
    /// How often in a row.
    pub times: u32,
}

/// What keeps a shard from being worked on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TroubleKind {
    /// Redis can't be reached, refuses, or has no such stream. It is tried again by itself.
    Unreadable,
    /// The shard is in another life than the coordinator said, or another owner was registered. The coordinator is asked again.
    Superseded,
    /// Stopped at an entry that could not be handled, as the settings ask for. It goes on once somebody has acknowledged the entry
    /// by hand, or where more attempts are allowed.
    Halted,
    /// An entry could not be handled yet; later ones wait for it.
    HeldUp,
}

/// The troubles of all members of a process.
#[derive(Debug, Default)]
pub(crate) struct Troubles(Mutex<BTreeMap<(Arc<str>, ShardId), ShardTrouble>>);

/// One worker's place among them.
#[derive(Debug, Clone)]
pub(crate) struct TroublesOfShard {
    pub(crate) all: Arc<Troubles>,
    pub(crate) member: Arc<str>,
    pub(crate) shard: ShardId,
    pub(crate) stream_key: Arc<str>,
}

impl Troubles {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<(Arc<str>, ShardId), ShardTrouble>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn list(&self) -> Vec<ShardTrouble> {
        self.lock().values().cloned().collect()
    }

    /// Whether one of the member's shards stands still. One that waits for its next attempt does not.
    pub(crate) fn concern(&self, member: &str) -> bool {
        let all = self.lock();
        let mut of_member = all.iter().filter(|((known, _), _)| &**known == member);
        of_member.any(|(_, trouble)| trouble.kind != TroubleKind::HeldUp)
    }

    /// Forgets those of a member's shards that it does not own any more.
    pub(crate) fn keep(&self, member: &str, owned: &[ShardId]) {
        self.lock()
            .retain(|(known, shard), _| &**known != member || owned.contains(shard));
    }

    /// How often in a row the shard was found to be superseded.
    pub(crate) fn superseded(&self, member: &Arc<str>, shard: ShardId) -> u32 {
        let all = self.lock();
        let known = all.get(&(Arc::clone(member), shard));
        known.map_or(0, |trouble| match trouble.kind {
            TroubleKind::Superseded => trouble.times,
            _ => 0,
        })
    }
}

impl TroublesOfShard {
    /// The shard is in trouble, perhaps again.
    pub(crate) fn note(&self, kind: TroubleKind, entry: Option<&str>, reason: &str) {
        let mut all = self.all.lock();
        let key = (Arc::clone(&self.member), self.shard);
        let before = all.get(&key).filter(|known| known.kind == kind);
        let times = before.map_or(0, |known| known.times).saturating_add(1);
        let trouble = ShardTrouble {
            member_id: self.member.to_string(),
            shard: self.shard,
            stream_key: self.stream_key.to_string(),
            kind,
            entry: entry.map(str::to_owned),
            reason: reason.to_owned(),
            times,
        };
        all.insert(key, trouble);
    }

    /// The shard is worked on.
    pub(crate) fn clear(&self) {
        self.all
            .lock()
            .remove(&(Arc::clone(&self.member), self.shard));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// C04: one broken shard is named, and the others are not.
    #[test]
    fn a_trouble_names_its_shard_until_it_is_over_or_the_shard_is_gone() {
        let all = Arc::new(Troubles::default());
        let of = |shard| TroublesOfShard {
            all: Arc::clone(&all),
            member: "a-m0".into(),
            shard: ShardId::new(shard),
            stream_key: format!("orders:{shard}").into(),
        };
        of(1).note(TroubleKind::Superseded, None, "it is generation 2");
        of(1).note(TroubleKind::Superseded, None, "it is generation 2");
        of(2).note(TroubleKind::Halted, Some("5-1"), "poison");
        let known: Vec<_> = all
            .list()
            .into_iter()
            .map(|trouble| (trouble.stream_key, trouble.times, trouble.entry))
            .collect();
        let expected = [
            ("orders:1".to_owned(), 2, None),
            ("orders:2".to_owned(), 1, Some("5-1".to_owned())),
        ];
        assert_eq!(known, expected);
        assert_eq!(all.superseded(&"a-m0".into(), ShardId::new(1)), 2);
        assert_eq!(all.superseded(&"a-m0".into(), ShardId::new(2)), 0);
        of(1).clear();
        all.keep("b-m0", &[]);
        assert!(all.concern("a-m0"));
        all.keep("a-m0", &[ShardId::new(1)]);
        assert!(!all.concern("a-m0"));
        of(3).note(TroubleKind::HeldUp, Some("6-1"), "not now");
        assert!(!all.concern("a-m0"));
    }
}
