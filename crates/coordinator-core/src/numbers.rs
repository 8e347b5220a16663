//! Counts, indexes, epochs and versions. Each is a type of its own, so that no two are ever mixed up.

use core::fmt;

macro_rules! number {
    ($(#[$meta:meta])* $name:ident($inner:ty)) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name($inner);

        impl $name {
            /// Wraps the plain number.
            #[must_use]
            pub const fn new(value: $inner) -> Self {
                Self(value)
            }

            /// The plain number.
            #[must_use]
            pub const fn get(self) -> $inner {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }
    };
}

macro_rules! rising {
    ($name:ident) => {
        impl $name {
            /// The next one.
            #[must_use]
            pub const fn next(self) -> Self {
                Self(self.0 + 1)
            }
        }
    };
}

number!(
    /// Position of a shard within its stream prefix, from 0.
    ShardIndex(u32)
);
number!(
    /// Number of shards of a stream prefix. Zero is a legal count: nothing is routed.
    ShardCount(u32)
);
number!(
    /// Rises when membership or the assignable shards change (rule E3).
    GroupEpoch(u64)
);
number!(
    /// The group epoch that the target assignment was computed for (rule E4).
    AssignmentEpoch(u64)
);
number!(
    /// The assignment epoch a member was last given (rule E5). Always above zero once issued.
    MemberEpoch(u64)
);
number!(
    /// Rises when anything that a client can see changes (rule E2).
    MetadataVersion(u64)
);
number!(
    /// Rises by one with every committed write of a group's record (rule E1).
    StoreRevision(u64)
);
number!(
    /// Which life of a shard's stream it is, counted from 1.
    StreamGeneration(u64)
);
number!(
    /// Position of a message in the order in which a process sent its messages (rule H14a).
    Sequence(u64)
);
number!(
    /// How many records a member's process handles at the same time.
    Concurrency(u32)
);

rising!(GroupEpoch);
rising!(MetadataVersion);
rising!(StoreRevision);

impl GroupEpoch {
    /// The assignment epoch of a target computed now (rule E4).
    #[must_use]
    pub const fn as_assignment(self) -> AssignmentEpoch {
        AssignmentEpoch(self.0)
    }
}

impl StreamGeneration {
    /// The first life of a stream.
    pub const FIRST: Self = Self(1);
}

impl AssignmentEpoch {
    /// The epoch issued to a member that is given this assignment (rule E5).
    #[must_use]
    pub const fn as_member(self) -> MemberEpoch {
        MemberEpoch(self.0)
    }
}

impl ShardCount {
    /// The most shards a stream can have.
    pub const MAX: Self = Self(1 << 20);

    /// Every shard of a stream with this many, in order.
    pub fn shards(self) -> impl Iterator<Item = ShardIndex> {
        (0..self.0).map(ShardIndex)
    }

    /// The shards that a stream with this many has and one with as many as `other` has not, in order.
    pub fn shards_beyond(self, other: Self) -> impl Iterator<Item = ShardIndex> {
        (other.0..self.0).map(ShardIndex)
    }

    /// Whether a stream with this many shards has this one.
    #[must_use]
    pub const fn contains(self, shard: ShardIndex) -> bool {
        shard.0 < self.0
    }
}

impl ShardIndex {
    /// The index as a position in a slice.
    #[must_use]
    pub const fn as_usize(self) -> usize {
        self.0 as usize
    }
}
