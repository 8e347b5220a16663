//! Pages of a shard's entries, for looking only. What is read for one is bounded in bytes: entries may be large.

use std::fmt;

use coordinator_core::numbers::ShardIndex;

/// How many bytes of entries are read for one page, about: the last one may go beyond.
pub const PAGE_BYTES: usize = 4 << 20;

/// The longest value that is given.
pub const VALUE_BYTES: usize = 256 << 10;

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
    /// After how many bytes of entries, values that are not given included, no further one is read; one entry is always read.
    pub max_bytes: usize,
    /// Whether fields are wanted.
    pub with_fields: bool,
}

/// An entry: its fields in their order; a name may occur twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its id.
    pub id: EntryId,
    /// Its fields; none where they are not wanted.
    pub fields: Vec<MessageField>,
}

/// A field of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageField {
    /// Its name.
    pub name: Vec<u8>,
    /// Its value; none where it is longer than [`VALUE_BYTES`], or than what is left of the page's bytes.
    pub value: Option<Vec<u8>>,
    /// How many bytes the value has.
    pub value_bytes: u64,
}

/// Entries, in the order that was asked for: fewer than the limit where their bytes are used up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessagePage {
    /// The entries.
    pub messages: Vec<Message>,
    /// Whether there are more behind the last one, as far as one knows without having read them.
    pub has_more: bool,
}
