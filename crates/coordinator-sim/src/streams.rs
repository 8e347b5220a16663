//! The shard streams of one prefix without Redis: entries published, delivered, pending and acknowledged, per consumer group. Who may do what
//! is not known here.

use std::collections::{BTreeMap, BTreeSet};

use coordinator_core::evidence::{GroupEvidence, ShardEvidence};
use coordinator_core::names::ConsumerGroup;

use crate::action::ShownLag;
use crate::setup::MOST_SHARDS;

/// A consumer group of one stream.
#[derive(Clone, Debug, Default)]
struct Cursor {
    /// How many entries were delivered to somebody.
    delivered: usize,
    pending: BTreeSet<usize>,
    shown: ShownLag,
}

#[derive(Clone, Debug)]
struct Stream {
    entries: Vec<usize>,
    cursors: Vec<Cursor>,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Streams {
    groups: Vec<ConsumerGroup>,
    shards: Vec<Option<Stream>>,
    /// The shard of every entry ever published.
    published: Vec<u32>,
    /// Per group, how often each entry was handled.
    handled: Vec<BTreeMap<usize, u32>>,
    /// Per shard, how often a life of it began or ended: streams that were made and taken away, and those of changes that were taken back before they were
    /// made. Even while there is no stream.
    lives: Vec<u64>,
}

impl Streams {
    pub(crate) fn new(groups: Vec<ConsumerGroup>, shards: u32) -> Self {
        let mut streams = Self {
            shards: vec![None; MOST_SHARDS as usize],
            published: Vec::new(),
            handled: vec![BTreeMap::new(); groups.len()],
            groups,
            lives: vec![0; MOST_SHARDS as usize],
        };
        for shard in 0..shards {
            streams.provision(shard, 0);
        }
        streams
    }

    fn stream(&self, shard: u32) -> Option<&Stream> {
        self.shards.get(shard as usize)?.as_ref()
    }

    fn cursor(&mut self, shard: u32, group: usize) -> Option<(&[usize], &mut Cursor)> {
        let stream = self.shards.get_mut(shard as usize)?.as_mut()?;
        Some((&stream.entries, stream.cursors.get_mut(group)?))
    }

    /// Makes a stream with all groups, from its first entry on, unless it is there (rule G1). Says whether it is there then: nothing is made where
    /// a life of the shard has begun or ended since it was looked at: the change may have been taken back.
    pub(crate) fn provision(&mut self, shard: u32, looked_at: u64) -> bool {
        let cursors = vec![Cursor::default(); self.groups.len()];
        let place = shard as usize;
        let (Some(stream), Some(life)) = (self.shards.get_mut(place), self.lives.get_mut(place))
        else {
            return false;
        };
        if stream.is_some() {
            return *life <= looked_at + 1;
        }
        let is_as_seen = *life == looked_at;
        if is_as_seen {
            *life += 1;
            *stream = Some(Stream {
                entries: Vec::new(),
                cursors,
            });
        }
        is_as_seen
    }

    /// Which life the shard is in, or waits for.
    pub(crate) fn life(&self, shard: u32) -> u64 {
        self.lives.get(shard as usize).copied().unwrap_or_default()
    }

    /// Whether the shard has a stream.
    pub(crate) fn has(&self, shard: u32) -> bool {
        self.stream(shard).is_some()
    }

    /// Ends the life of a shard, also one that has not begun: whoever was about to begin it comes too late.
    pub(crate) fn end_life(&mut self, shard: u32) {
        let place = shard as usize;
        if let (Some(stream), Some(life)) = (self.shards.get_mut(place), self.lives.get_mut(place))
        {
            *life += if stream.take().is_some() { 1 } else { 2 };
        }
    }

    /// Publishes an entry. Where there is no stream, nothing is written.
    pub(crate) fn publish(&mut self, shard: u32) -> bool {
        let Some(Some(stream)) = self.shards.get_mut(shard as usize) else {
            return false;
        };
        stream.entries.push(self.published.len());
        self.published.push(shard);
        true
    }

    /// The next entry that was delivered to nobody; it is pending then.
    pub(crate) fn read(&mut self, shard: u32, group: usize) -> Option<usize> {
        let (entries, cursor) = self.cursor(shard, group)?;
        let entry = *entries.get(cursor.delivered)?;
        cursor.delivered += 1;
        cursor.pending.insert(entry);
        Some(entry)
    }

    /// The first entry that was delivered to somebody and not acknowledged.
    pub(crate) fn first_pending(&self, shard: u32, group: usize) -> Option<usize> {
        self.stream(shard)?
            .cursors
            .get(group)?
            .pending
            .first()
            .copied()
    }

    pub(crate) fn handle(&mut self, group: usize, entry: usize) {
        *self.handled[group].entry(entry).or_default() += 1;
    }

    pub(crate) fn acknowledge(&mut self, shard: u32, group: usize, entry: usize) {
        if let Some((_, cursor)) = self.cursor(shard, group) {
            cursor.pending.remove(&entry);
        }
    }

    pub(crate) fn show_lag(&mut self, shard: u32, group: usize, lag: ShownLag) {
        if let Some((_, cursor)) = self.cursor(shard, group) {
            cursor.shown = lag;
        }
    }

    pub(crate) fn show_true_lags(&mut self) {
        for stream in self.shards.iter_mut().flatten() {
            for cursor in &mut stream.cursors {
                cursor.shown = ShownLag::True;
            }
        }
    }

    /// What is read of a shard that leaves (rule G4).
    pub(crate) fn evidence(&self, shard: u32) -> ShardEvidence {
        let Some(stream) = self.stream(shard) else {
            return ShardEvidence::Missing;
        };
        let groups = self.groups.iter().zip(&stream.cursors);
        let evidence = groups.map(|(group, cursor)| {
            let unread = (stream.entries.len() - cursor.delivered) as u64;
            GroupEvidence {
                group: group.clone(),
                pending: cursor.pending.len() as u64,
                lag: match cursor.shown {
                    ShownLag::True => Some(unread),
                    ShownLag::Unknown => None,
                    ShownLag::Zero => Some(0),
                    ShownLag::TooHigh => Some(unread + 1),
                },
                has_unread: unread > 0,
            }
        });
        ShardEvidence::Groups(evidence.collect())
    }

    pub(crate) fn groups(&self) -> &[ConsumerGroup] {
        &self.groups
    }

    /// Entries of a shard's present stream that some group has not handled, or not acknowledged.
    pub(crate) fn open_entries(&self, shard: u32) -> Vec<usize> {
        let Some(stream) = self.stream(shard) else {
            return Vec::new();
        };
        let is_open = |entry: &usize| {
            let cursors = stream.cursors.iter().enumerate();
            cursors.into_iter().any(|(group, cursor)| {
                cursor.pending.contains(entry) || !self.handled[group].contains_key(entry)
            })
        };
        stream.entries.iter().copied().filter(is_open).collect()
    }

    /// Entries that a group has never handled.
    pub(crate) fn never_handled(&self, group: usize) -> impl Iterator<Item = (usize, u32)> {
        let published = self.published.iter().copied().enumerate();
        published.filter(move |(entry, _)| !self.handled[group].contains_key(entry))
    }

    pub(crate) fn published(&self) -> u64 {
        self.published.len() as u64
    }

    pub(crate) fn handled(&self) -> u64 {
        let counts = self.handled.iter().flat_map(BTreeMap::values);
        counts.map(|count| u64::from(*count)).sum()
    }
}
