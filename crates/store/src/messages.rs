//! Pages of a shard's entries, for looking only.

use std::fmt;

use coordinator_core::numbers::ShardIndex;

/// The id of an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryId {
    /// Milliseconds since 1970.
    pub ms: u64,
    /// Tells entries of one millisecond apart.
    pub seq: u64,
}

impl EntryId {
    /// Reads `1700000000000-0`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (ms, seq) = text.split_once('-')?;
        let number = |text: &str| {
            let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            is_plain.then(|| text.parse().ok()).flatten()
        };
        Some(Self {
            ms: number(ms)?,
            seq: number(seq)?,
        })
    }
}

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.ms, self.seq)
    }
}

/// Which entries are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageRange {
    /// The shard.
    pub shard: ShardIndex,
    /// Newest first.
    pub is_backward: bool,
    /// Behind which entry it goes on; none from the end, or from the beginning.
    pub after: Option<EntryId>,
    /// How many at most.
    pub limit: u32,
}

/// An entry: its fields in their order; a name may occur twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its id.
    pub id: EntryId,
    /// Its fields.
    pub fields: Vec<(Vec<u8>, Vec<u8>)>,
}

/// Entries, in the order that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessagePage {
    /// The entries.
    pub messages: Vec<Message>,
    /// Whether there are more behind the last one.
    pub has_more: bool,
}
