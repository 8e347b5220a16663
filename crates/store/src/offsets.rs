//! Where a shard's stream stands, as Redis tells. What it does not tell is none, never 0 (case C25).

use crate::messages::EntryId;

/// Where one stream stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamOffsets {
    /// How many entries it has; none where there is no stream.
    pub length: Option<u64>,
    /// Its first entry.
    pub first: Option<EntryId>,
    /// Its last entry.
    pub last: Option<EntryId>,
    /// The highest id it ever gave.
    pub last_generated: Option<EntryId>,
    /// How many bytes it takes.
    pub memory_bytes: Option<u64>,
    /// The address of the node that has it, where that is known.
    pub node_endpoint: Option<String>,
    /// That node's id in the cluster.
    pub node_id: Option<String>,
    /// The consumer group; none where the stream does not have it.
    pub group: Option<GroupOffsets>,
}

/// Where a consumer group stands in one stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupOffsets {
    /// Up to where it has been served.
    pub last_delivered: EntryId,
    /// Delivered and not acknowledged.
    pub pending: u64,
    /// Not delivered yet, as Redis counts; none where it can't tell, and where it contradicts what is in the stream (case C25).
    pub lag: Option<u64>,
    /// Not delivered yet, and still there to be delivered; none where that can't be told.
    pub unread: Option<u64>,
    /// Entries that were trimmed before the group had read them, as far as its readers noticed (case C30).
    pub trimmed_unread: u64,
}
