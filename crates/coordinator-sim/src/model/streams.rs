//! The shard streams of the model, with one consumer group, and what a migration asks to be done to them. Judges nothing itself.

use coordinator_core::evidence::{GroupEvidence, ShardEvidence};
use coordinator_core::names::ConsumerGroup;
use coordinator_core::shard_set::ShardSet;

/// One stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Stream {
    pub(super) exists: bool,
    /// Entries that nobody was given.
    pub(super) unread: u8,
    /// Entries that somebody was given and nobody has acknowledged.
    pub(super) pending: u8,
    /// Whether Redis says that its lag is 0, whatever it has.
    pub(super) lies: bool,
}

/// All streams, by shard; and what a coordinator has read of them and not yet told the group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Streams {
    pub(super) shards: Vec<Stream>,
    /// The shards that were looked at, and how they were then.
    pub(super) evidence: Option<Vec<(u32, Stream)>>,
}

impl Streams {
    /// Empty streams of as many shards.
    pub(super) fn new(shards: u32) -> Self {
        let stream = Stream {
            exists: true,
            ..Stream::default()
        };
        Self {
            shards: vec![stream; shards as usize],
            evidence: None,
        }
    }

    pub(super) fn provision(&mut self, shards: &ShardSet) {
        for shard in shards {
            if self.shards.len() <= shard.as_usize() {
                self.shards.resize(shard.as_usize() + 1, Stream::default());
            }
            let stream = &mut self.shards[shard.as_usize()];
            if !stream.exists {
                *stream = Stream {
                    exists: true,
                    ..Stream::default()
                };
            }
        }
    }

    pub(super) fn get(&self, shard: u32) -> Stream {
        self.shards.get(shard as usize).copied().unwrap_or_default()
    }

    pub(super) fn get_mut(&mut self, shard: u32) -> Option<&mut Stream> {
        self.shards.get_mut(shard as usize)
    }
}

impl Stream {
    /// What can be read of it.
    pub(super) fn evidence(self, group: &ConsumerGroup) -> ShardEvidence {
        if !self.exists {
            return ShardEvidence::Missing;
        }
        let lag = if self.lies { 0 } else { u64::from(self.unread) };
        ShardEvidence::Groups(vec![GroupEvidence {
            group: group.clone(),
            pending: u64::from(self.pending),
            lag: Some(lag),
            has_unread: self.unread > 0,
        }])
    }

    /// Whether everything in it was handled.
    pub(super) const fn is_drained(self) -> bool {
        self.unread == 0 && self.pending == 0
    }
}
