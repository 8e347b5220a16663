//! The names of all keys of the control plane. What is stored in them is the scripts' business.

use coordinator_core::names::{ConsumerGroup, GroupId, StreamPrefix};
use coordinator_core::routing::redis_slot;
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

/// What is encoded in the name of a group, so that (`a`, `b:c`) and (`a:b`, `c`) never share a key, and no name can end a hash tag.
const ENCODED: &AsciiSet = &CONTROLS.add(b'%').add(b':').add(b'{').add(b'}');

/// How many keys the directory is spread over.
pub(crate) const DIRECTORIES: u16 = 16;

/// What all keys of a control plane begin with.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    prefix: String,
}

/// The keys of one group. They share a slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GroupKeys {
    /// The record.
    pub(crate) metadata: String,
    /// The leases.
    pub(crate) leases: String,
    /// The progress of members.
    pub(crate) progress: String,
    /// The right to change the group.
    pub(crate) mutex: String,
    /// The audit events.
    pub(crate) audit: String,
    /// The channel for news.
    pub(crate) changed: String,
    /// The key of the directory that names the group.
    pub(crate) directory: String,
    /// The name of the group in the directory.
    pub(crate) entry: String,
}

impl Keys {
    pub(crate) const fn new(prefix: String) -> Self {
        Self { prefix }
    }

    /// What all keys begin with.
    pub(crate) fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The keys of a group.
    pub(crate) fn of(&self, group: &GroupId) -> GroupKeys {
        let encoded = utf8_percent_encode(group.group.as_str(), ENCODED);
        self.of_entry(format!("{}:{encoded}", group.stream))
    }

    /// Names like those of a group, to ask for permissions with. Nothing is stored under them.
    pub(crate) fn of_readiness(&self) -> GroupKeys {
        self.of_entry("-:-".to_owned())
    }

    fn of_entry(&self, entry: String) -> GroupKeys {
        let key = |what: &str| format!("{}:{{{entry}}}:{what}", self.prefix);
        GroupKeys {
            metadata: key("metadata"),
            leases: key("leases"),
            progress: key("progress"),
            mutex: key("mutex"),
            audit: key("admin:audit"),
            changed: key("changed"),
            directory: self.directory(redis_slot(entry.as_bytes()).get() % DIRECTORIES),
            entry,
        }
    }

    /// Since when coordinators have been watching. Rule M6.
    pub(crate) fn coordination(&self) -> String {
        format!("{}:coordination", self.prefix)
    }

    /// The audit events of the fleet, of callers who proved who they are.
    pub(crate) fn fleet_audit(&self) -> String {
        format!("{}:admin:audit", self.prefix)
    }

    /// Those of callers who did not.
    pub(crate) fn unproved_audit(&self) -> String {
        format!("{}:admin:audit:unproved", self.prefix)
    }

    /// One of the [`DIRECTORIES`] keys of the directory.
    pub(crate) fn directory(&self, number: u16) -> String {
        format!("{}:directory:{number}", self.prefix)
    }
}

/// The group that an entry of the directory names; none if it is none that was written by [`Keys::of`].
pub(crate) fn parse_entry(entry: &str) -> Option<GroupId> {
    // The group's own colons are encoded, so the last one is the separator.
    let (stream, group) = entry.rsplit_once(':')?;
    let group = percent_decode_str(group).decode_utf8().ok()?;
    Some(GroupId {
        stream: StreamPrefix::parse(stream).ok()?,
        group: ConsumerGroup::parse(&group).ok()?,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn id(stream: &str, group: &str) -> GroupId {
        GroupId {
            stream: StreamPrefix::parse(stream).unwrap(),
            group: ConsumerGroup::parse(group).unwrap(),
        }
    }

    #[test]
    fn the_keys_of_a_group_are_these() {
        let keys = Keys::new("redis-stream:coord".to_owned()).of(&id("orders", "billing"));
        let expected = GroupKeys {
            metadata: "redis-stream:coord:{orders:billing}:metadata".to_owned(),
            leases: "redis-stream:coord:{orders:billing}:leases".to_owned(),
            progress: "redis-stream:coord:{orders:billing}:progress".to_owned(),
            mutex: "redis-stream:coord:{orders:billing}:mutex".to_owned(),
            audit: "redis-stream:coord:{orders:billing}:admin:audit".to_owned(),
            changed: "redis-stream:coord:{orders:billing}:changed".to_owned(),
            directory: "redis-stream:coord:directory:12".to_owned(),
            entry: "orders:billing".to_owned(),
        };
        assert_eq!(keys, expected);
    }

    #[test]
    fn names_are_encoded_so_that_no_two_groups_share_an_entry() {
        let table = [
            ("orders", "billing", "orders:billing"),
            ("a", "b:c", "a:b%3Ac"),
            ("a:b", "c", "a:b:c"),
            ("a", "b%3Ac", "a:b%253Ac"),
            ("a:b%3Ac", "c", "a:b%3Ac:c"),
            ("100%", "100%", "100%:100%25"),
            ("a b", "grüße/?#", "a b:gr%C3%BC%C3%9Fe/?#"),
        ];
        let keys = Keys::new("x".to_owned());
        for (stream, group, entry) in table {
            let id = id(stream, group);
            assert_eq!(keys.of(&id).entry, entry);
            assert_eq!(parse_entry(entry), Some(id));
        }
    }

    #[test]
    fn what_is_no_entry_is_none() {
        for text in [
            "",
            "orders",
            ":billing",
            "orders:",
            "orders:%FF",
            "or{d:ers",
            "a:b%7B",
        ] {
            assert_eq!(parse_entry(text), None, "{text}");
        }
    }

    #[test]
    fn the_keys_of_a_group_share_a_slot() {
        let keys = Keys::new("redis-stream:coord".to_owned());
        for id in [id("orders", "billing"), id("a", "b:c"), id("ü", "%")] {
            let keys = keys.of(&id);
            let slot = redis_slot(keys.metadata.as_bytes());
            for key in [
                &keys.leases,
                &keys.progress,
                &keys.mutex,
                &keys.audit,
                &keys.changed,
            ] {
                assert_eq!(redis_slot(key.as_bytes()), slot);
            }
        }
    }

    #[test]
    fn the_directory_is_spread_over_all_its_keys() {
        let keys = Keys::new("x".to_owned());
        let used: std::collections::BTreeSet<String> = (0..400)
            .map(|number| keys.of(&id("orders", &format!("group-{number}"))).directory)
            .collect();
        let all = (0..DIRECTORIES).map(|number| format!("x:directory:{number}"));
        assert_eq!(used, all.collect());
    }
}
