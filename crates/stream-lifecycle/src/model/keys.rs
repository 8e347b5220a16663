//! The keys of a generation. All of them share the slot of the shard's name.

use std::sync::Arc;

use super::identity::{Identity, Naming};
use super::names::{Base, GroupName};
use super::numbers::{Generation, Incarnation};

/// The five keys of one generation, in the order in which scripts take them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keys {
    /// The lifecycle: survives the generation as its tombstone.
    pub lifecycle: Arc<str>,
    /// The stream.
    pub stream: Arc<str>,
    /// Positions, registrations and leases of the groups.
    pub metadata: Arc<str>,
    /// Records of exact publication, in two hashes that take turns.
    pub records: [Arc<str>; 2],
    /// Where a drained stream is kept for a while ([`Draining::keep`](crate::Draining::keep)).
    pub retired: Arc<str>,
}

impl Keys {
    /// The lifecycle key of a shard, the only one that does not depend on the generation.
    pub(crate) fn lifecycle_of(base: &Base) -> String {
        format!("{{{base}}}:lc")
    }

    /// The key of the stream of a new generation.
    pub(crate) fn physical(
        base: &Base,
        naming: Naming,
        generation: Generation,
        incarnation: Incarnation,
    ) -> String {
        let is_flat = match naming {
            Naming::FirstFlat => generation == Generation::FIRST,
            Naming::Flat => true,
            Naming::Qualified => false,
        };
        if is_flat {
            return base.to_string();
        }
        format!("{{{base}}}:s:{generation}.{incarnation}")
    }

    /// The keys of a generation that exists or existed.
    pub(crate) fn of(base: &Base, identity: &Identity) -> Self {
        let Identity {
            generation,
            physical_key,
            incarnation,
        } = identity;
        let own =
            |suffix: &str| Arc::from(format!("{{{base}}}:{generation}.{incarnation}:{suffix}"));
        Self {
            lifecycle: Self::lifecycle_of(base).into(),
            stream: Arc::clone(physical_key),
            metadata: own("md"),
            records: [own("o0"), own("o1")],
            retired: format!("{{{base}}}:retired:{generation}").into(),
        }
    }

    /// The stream with the dead letters of a group. It belongs to the shard, not to a generation.
    pub(crate) fn dead_letters(base: &Base, group: &GroupName) -> String {
        format!("{{{base}}}:dlq:{group}")
    }

    /// The five keys of every script.
    #[must_use]
    pub fn five(&self) -> [&str; 5] {
        [
            &self.lifecycle,
            &self.stream,
            &self.metadata,
            &self.records[0],
            &self.records[1],
        ]
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn keys_have_the_names_that_are_promised() {
        let base = Base::of_shard("orders", 3).unwrap();
        let incarnation = Incarnation::from(10);
        let own = "0000000000000000000000000000000a";
        let physical = |naming, generation| {
            Keys::physical(
                &base,
                naming,
                Generation::new(generation).unwrap(),
                incarnation,
            )
        };
        assert_eq!(physical(Naming::FirstFlat, 1), "orders:3");
        assert_eq!(
            physical(Naming::FirstFlat, 2),
            format!("{{orders:3}}:s:2.{own}")
        );
        assert_eq!(physical(Naming::Flat, 2), "orders:3");
        assert_eq!(
            physical(Naming::Qualified, 1),
            format!("{{orders:3}}:s:1.{own}")
        );
        let keys = Keys::of(
            &base,
            &Identity {
                generation: Generation::FIRST,
                physical_key: "orders:3".into(),
                incarnation,
            },
        );
        let expected = [
            "{orders:3}:lc".to_owned(),
            "orders:3".to_owned(),
            format!("{{orders:3}}:1.{own}:md"),
            format!("{{orders:3}}:1.{own}:o0"),
            format!("{{orders:3}}:1.{own}:o1"),
        ];
        assert_eq!(keys.five().map(str::to_owned), expected);
        assert_eq!(&*keys.retired, "{orders:3}:retired:1");
        let letters = Keys::dead_letters(&base, &GroupName::new("billing").unwrap());
        assert_eq!(letters, "{orders:3}:dlq:billing");
    }
}
