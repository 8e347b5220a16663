//! Settings of single operations, with their limits.

use std::time::Duration;

use super::entry::StreamId;
use super::identity::Naming;
use super::invalid::{InvalidInput, check};
use super::names::{ConsumerName, GroupName, OwnerName};
use super::numbers::{Incarnation, MemberEpoch, Token};
use super::retention::Retention;

/// The most ids, groups or names of one call.
pub(crate) const IDS_AT_ONCE: usize = 1_000;
/// The longest wait of a read.
const LONGEST_BLOCK: Duration = Duration::from_secs(3_600);

/// Refuses an empty or overlong list.
pub(crate) fn check_batch(what: &'static str, count: usize) -> Result<(), InvalidInput> {
    check((1..=IDS_AT_ONCE).contains(&count), what, || {
        format!("{count} is not between 1 and {IDS_AT_ONCE}")
    })
}

/// How a generation is made.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Creation {
    pub(crate) incarnation: Incarnation,
    pub(crate) naming: Naming,
    pub(crate) retention: Option<Retention>,
    pub(crate) owner: Option<OwnerName>,
    pub(crate) groups: Vec<GroupName>,
    pub(crate) adopt: bool,
}

impl Creation {
    /// A generation with this incarnation. Whoever repeats a creation gives the same one; every further generation gets one of its own.
    #[must_use]
    pub const fn new(incarnation: Incarnation) -> Self {
        Self {
            incarnation,
            naming: Naming::FirstFlat,
            retention: None,
            owner: None,
            groups: Vec::new(),
            adopt: false,
        }
    }

    /// How the stream's key is chosen; [`Naming::FirstFlat`] unless set.
    #[must_use]
    pub const fn naming(mut self, naming: Naming) -> Self {
        self.naming = naming;
        self
    }

    /// How long things are kept. Unless set: as in the generation that exists or went before, else for ever.
    #[must_use]
    pub const fn retention(mut self, retention: Retention) -> Self {
        self.retention = Some(retention);
        self
    }

    /// Who made it, for people.
    #[must_use]
    pub fn owner(mut self, owner: OwnerName) -> Self {
        self.owner = Some(owner);
        self
    }

    /// Consumer groups that it starts with, at most 1,000. They read from the first entry on. A creation that is repeated makes none that
    /// are not there: that is for [`ensure_group`](crate::ShardConsumer::ensure_group).
    #[must_use]
    pub fn groups(mut self, groups: impl IntoIterator<Item = GroupName>) -> Self {
        self.groups.extend(groups);
        self
    }

    /// Takes over a stream that exists under the shard's name as the first generation.
    #[must_use]
    pub const fn adopt(mut self) -> Self {
        self.adopt = true;
        self
    }

    pub(crate) fn check(&self) -> Result<(), InvalidInput> {
        check(self.groups.len() <= IDS_AT_ONCE, "groups", || {
            format!(
                "there are {}, at most {IDS_AT_ONCE} are allowed",
                self.groups.len()
            )
        })?;
        check(
            !(self.adopt && self.naming == Naming::Qualified),
            "adopt",
            || "a stream under the shard's name can't be taken over under another".to_owned(),
        )
    }
}

/// What has to be shown before a stream counts as drained (rule G4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DrainProof {
    /// Nothing pending, nothing after the last delivered entry, and a lag that Redis knows to be 0.
    #[default]
    Lag,
    /// Nothing pending and nothing after the last delivered entry; the lag may be unknown or wrong.
    Entries,
}

/// How a generation is destroyed once it is drained.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Draining {
    pub(crate) proof: DrainProof,
    pub(crate) required: Vec<GroupName>,
    pub(crate) keep: Option<Duration>,
}

impl Draining {
    /// Every group of the stream has to be drained; nothing is kept.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What has to be shown; [`DrainProof::Lag`] unless set.
    #[must_use]
    pub const fn proof(mut self, proof: DrainProof) -> Self {
        self.proof = proof;
        self
    }

    /// Groups that have to be among the groups of the stream.
    #[must_use]
    pub fn required(mut self, groups: impl IntoIterator<Item = GroupName>) -> Self {
        self.required.extend(groups);
        self
    }

    /// Keeps the stream under another name ([`Keys::retired`](crate::Keys::retired)) for so long, 1 ms to ten years, instead of removing
    /// it at once.
    #[must_use]
    pub const fn keep(mut self, keep: Duration) -> Self {
        self.keep = Some(keep);
        self
    }

    pub(crate) fn keep_ms(&self) -> Result<u64, InvalidInput> {
        check(self.required.len() <= IDS_AT_ONCE, "required", || {
            format!(
                "there are {}, at most {IDS_AT_ONCE} are allowed",
                self.required.len()
            )
        })?;
        let Some(keep) = self.keep else {
            return Ok(0);
        };
        let longest = Duration::from_secs(10 * 365 * 24 * 3_600);
        let ms = u64::try_from(keep.as_millis()).unwrap_or(u64::MAX);
        check(ms > 0 && keep <= longest, "keep", || {
            format!("{keep:?} is not between 1 ms and ten years")
        })?;
        Ok(ms)
    }
}

/// A consumer's right to a shard: who, in which group, as which process, since which epoch.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Registration {
    /// The group.
    pub group: GroupName,
    /// The consumer.
    pub consumer: ConsumerName,
    /// Which process of that name.
    pub token: Token,
    /// At registration the epoch of the grant, later the epoch that the consumer has reached.
    pub epoch: MemberEpoch,
    pub(crate) is_sole: bool,
}

impl Registration {
    /// One of several consumers of the group.
    #[must_use]
    pub const fn new(
        group: GroupName,
        consumer: ConsumerName,
        token: Token,
        epoch: MemberEpoch,
    ) -> Self {
        Self {
            group,
            consumer,
            token,
            epoch,
            is_sole: false,
        }
    }

    /// The only consumer of the group: from its registration on, every other one is fenced. When it leaves, those that registered at an
    /// earlier epoch stay fenced, and nobody can register at one any more (case C36).
    #[must_use]
    pub const fn sole(mut self) -> Self {
        self.is_sole = true;
        self
    }

    /// The same consumer at a later epoch: it keeps its right as long as the shard was not given away (case C36).
    #[must_use]
    pub const fn at_epoch(mut self, epoch: MemberEpoch) -> Self {
        self.epoch = epoch;
        self
    }
}

/// How much is read, and how long is waited for it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Reading {
    pub(crate) count: usize,
    pub(crate) block: Option<Duration>,
    pub(crate) after: Option<StreamId>,
}

impl Reading {
    /// Entries that nobody was given yet, at most `count` (1 to 1,000), without waiting.
    #[must_use]
    pub const fn new(count: usize) -> Self {
        Self {
            count,
            block: None,
            after: None,
        }
    }

    /// Waits so long for the first entry, 1 ms to an hour. The connection must be one that nobody else uses, with a longer limit for
    /// answers than the wait. That of the driver is shorter than most waits; set it with `AsyncConnectionConfig::set_response_timeout`.
    /// A read that meets the limit goes on in the server, which gives the next entry to it: read what is pending afterwards (case C23).
    #[must_use]
    pub const fn block(mut self, block: Duration) -> Self {
        self.block = Some(block);
        self
    }

    /// Reads what the consumer was given and has not acknowledged, after this id, instead of new entries.
    #[must_use]
    pub const fn pending_after(mut self, id: StreamId) -> Self {
        self.after = Some(id);
        self
    }

    pub(crate) fn check(&self) -> Result<(), InvalidInput> {
        check_batch("count", self.count)?;
        let Some(block) = self.block else {
            return Ok(());
        };
        // Zero would wait for ever.
        check(
            block >= Duration::from_millis(1) && block <= LONGEST_BLOCK,
            "block",
            || format!("{block:?} is not between 1 ms and an hour"),
        )
    }
}
