//! What groups are called in indexes, and into how many parts these are split. What is kept there of them is said elsewhere.

use coordinator_core::names::{ConsumerGroup, GroupId, StreamPrefix};
use coordinator_core::routing::redis_slot;
use projection::{EntryId, Namespace, Unreadable};

/// Between the two names of a group: no name has it.
const SEPARATOR: char = '{';

/// The id of a group.
pub(super) fn entry_id(group: &GroupId) -> EntryId {
    EntryId::new(format!("{}{SEPARATOR}{}", group.stream, group.group))
        .expect("two names of at most 256 bytes, without control characters")
}

/// Where the groups of a stream begin: an id that no group has.
pub(super) fn before(stream: &StreamPrefix) -> EntryId {
    EntryId::new(format!("{stream}{SEPARATOR}"))
        .expect("a name of at most 256 bytes, without control characters")
}

/// The group of an id.
pub(super) fn group_of(id: &EntryId) -> Result<GroupId, Unreadable> {
    let names = id
        .as_str()
        .split_once(SEPARATOR)
        .and_then(|(stream, group)| {
            Some(GroupId {
                stream: StreamPrefix::parse(stream).ok()?,
                group: ConsumerGroup::parse(group).ok()?,
            })
        });
    names.ok_or_else(|| Unreadable(format!("{id:?} names no group")))
}

/// One of several namespaces over which groups are spread, by their names.
pub(super) fn part_of(group: &GroupId, parts: u16) -> Namespace {
    part(redis_slot(entry_id(group).as_str().as_bytes()).get() % parts)
}

/// The namespace of a number.
pub(super) fn part(number: u16) -> Namespace {
    Namespace::new(number.to_string()).expect("digits are a name")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn an_id_names_its_group_and_no_other() {
        let long = "ü".repeat(128);
        for (stream, group) in [
            ("orders", "billing"),
            ("a", "b:c"),
            ("a:b", "c"),
            (&long, &long),
        ] {
            let group = GroupId {
                stream: StreamPrefix::parse(stream).unwrap(),
                group: ConsumerGroup::parse(group).unwrap(),
            };
            assert_eq!(group_of(&entry_id(&group)).unwrap(), group);
        }
        for text in ["orders", "{billing", "orders{", "a{b{c"] {
            assert!(group_of(&EntryId::new(text).unwrap()).is_err(), "{text}");
        }
    }
}
