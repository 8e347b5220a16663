//! One life of a shard, as its registered owner: acknowledgements that are refused once the shard has moved, recovery under a
//! lease, and groups made anew where they had come to. Reading is done elsewhere; when any of it is used, too.

use std::sync::Arc;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use stream_lifecycle::{
    Base, Claiming, ConsumerName, GroupName, Handle, Identity, InvalidInput, Lease, LifecycleError,
    MemberEpoch, OwnerName, Registration, ShardConsumer, ShardRecovery, ShardRef, StreamId, Token,
};

use super::Trouble;
use super::shard_stream::ShardStream;

/// How long a lease of recovery lasts: a process that dies while it recovers holds its successor up for no longer (case C24).
const LEASE: Duration = Duration::from_secs(5);
/// How many pending entries are claimed in one step.
const CLAIM_PAGE: usize = 100;
/// How many ids one step has at most.
pub(super) const PAGE: usize = 1_000;
/// How long a consumer with nothing pending gave no sign of life before it is cleared away (case C17).
const QUIET: Duration = Duration::from_secs(600);

/// Which life of the shard the coordinator speaks of, and by which right the shard is owned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Life {
    /// The shard's name, whatever the key of its stream.
    pub(crate) base: Arc<str>,
    /// The generation.
    pub(crate) generation: u64,
    /// The member's epoch when it was granted the shard.
    pub(crate) epoch: i64,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Exact {
    pub(super) handle: Handle<MultiplexedConnection>,
    pub(super) registration: Registration,
}

impl Exact {
    /// Binds to the life that was told. Any other is none of this worker's business: of an earlier one the store lost what
    /// came after it, of a later one the coordinator tells with one of its next answers.
    pub(super) async fn open(
        link: MultiplexedConnection,
        stream: &ShardStream,
        life: &Life,
    ) -> Result<Self, Trouble> {
        let base = Base::new(&life.base).map_err(LifecycleError::from)?;
        let handle = ShardRef::new(link, base).open().await?;
        compare(stream, life, handle.identity())?;
        let registration = registration(stream, life).map_err(LifecycleError::from)?;
        Ok(Self {
            handle,
            registration,
        })
    }

    /// Registers as the only consumer of the group: every earlier one is fenced from now on (case C36).
    pub(super) async fn register(&self) -> Result<(), Trouble> {
        Ok(self.handle.register(&self.registration).await?)
    }

    /// Acknowledges. Returns how many of the ids were pending.
    pub(super) async fn acknowledge(&self, ids: &[Arc<str>]) -> Result<usize, Trouble> {
        let ids = parsed(ids)?;
        let mut known = 0;
        for page in ids.chunks(PAGE) {
            known += self.handle.ack_as(&self.registration, page).await?.count;
        }
        Ok(usize::try_from(known).unwrap_or(usize::MAX))
    }

    /// Takes over everybody's pending entries, and clears away consumers that nobody needs. Returns how many entries had lost
    /// their record (case C15).
    pub(super) async fn take_over(&self) -> Result<usize, Trouble> {
        let group = &self.registration.group;
        let consumer = &self.registration.consumer;
        let owner = OwnerName::new(consumer.as_str()).map_err(LifecycleError::from)?;
        let mut lease = self.handle.lease_acquire(group, &owner, LEASE).await?;
        let claiming = Claiming::new(consumer.clone()).count(CLAIM_PAGE);
        let (mut from, mut lost) = (StreamId::ZERO, 0);
        loop {
            let page = self.handle.claim(&lease, &claiming, from).await?;
            lost += page.batch.deleted.len();
            let Some(next) = page.next else { break };
            from = next;
            lease = self.handle.lease_renew(&lease, LEASE).await?;
        }
        self.clear_away(&lease).await?;
        self.handle.lease_release(&lease).await?;
        Ok(lost)
    }

    async fn clear_away(&self, lease: &Lease) -> Result<(), Trouble> {
        let stay = [self.registration.consumer.clone()];
        let gone = self.handle.cleanup(lease, QUIET, &stay).await?;
        if !gone.is_empty() {
            tracing::debug!(base = %self.handle.base(), consumers = gone.len(), "quiet consumers were cleared away");
        }
        Ok(())
    }

    /// Cases C01 and C02: the group where it had come to, and the stream if it is lost. Whether anything was missing, and
    /// whether what was in the stream is lost.
    pub(super) async fn ensure_group(&self) -> Result<(bool, bool), Trouble> {
        let ensured = self.handle.ensure_group(&self.registration.group).await?;
        Ok((ensured.was_created, ensured.data_lost))
    }
}

fn compare(stream: &ShardStream, life: &Life, found: &Identity) -> Result<(), Trouble> {
    let generation = found.generation.get();
    let problem = if generation < life.generation {
        "writes were lost"
    } else if generation > life.generation {
        "the assignment is older"
    } else if *found.physical_key != *stream.key {
        "its stream is elsewhere"
    } else {
        return Ok(());
    };
    Err(Trouble::Superseded(format!(
        "the shard is {found}, and generation {} at {} is assigned: {problem}; the coordinator is asked again",
        life.generation, stream.key
    )))
}

/// The token is the epoch of the grant. Whoever joins anew gets an epoch above all that were given out before, also after the
/// store lost writes (rule C7): a process that restarted under the same name supersedes its earlier self, and a worker that
/// registers again over a new connection is still the same.
fn registration(stream: &ShardStream, life: &Life) -> Result<Registration, InvalidInput> {
    let epoch = u64::try_from(life.epoch).unwrap_or(0);
    let group = GroupName::new(&stream.group)?;
    let consumer = ConsumerName::new(&stream.consumer)?;
    let (token, epoch) = (Token::new(epoch)?, MemberEpoch::new(epoch)?);
    Ok(Registration::new(group, consumer, token, epoch).sole())
}

pub(super) fn parsed(ids: &[Arc<str>]) -> Result<Vec<StreamId>, Trouble> {
    let ids: Result<Vec<StreamId>, InvalidInput> = ids.iter().map(|id| id.parse()).collect();
    Ok(ids.map_err(LifecycleError::from)?)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use stream_lifecycle::{Generation, Incarnation};

    use super::*;

    #[test]
    fn only_the_life_that_was_told_is_read() {
        let life = Life {
            base: "orders:3".into(),
            generation: 5,
            epoch: 7,
        };
        let stream = ShardStream {
            key: "orders:3".into(),
            group: "g".into(),
            consumer: "a-m0".into(),
            life: Some(life.clone()),
        };
        let check = |generation, key: &str| {
            let identity = Identity {
                generation: Generation::new(generation).unwrap(),
                physical_key: key.into(),
                incarnation: Incarnation::from(1),
            };
            compare(&stream, &life, &identity)
        };
        assert!(check(5, "orders:3").is_ok());
        for (generation, key, problem) in [
            (4, "orders:3", "writes were lost"),
            (6, "orders:3", "the assignment is older"),
            (5, "{orders:3}:s:5.x", "its stream is elsewhere"),
        ] {
            let trouble = check(generation, key).unwrap_err();
            assert!(matches!(trouble, Trouble::Superseded(_)));
            assert!(trouble.to_string().contains(problem), "{trouble}");
        }
    }

    #[test]
    fn a_later_grant_has_the_greater_token_c36() {
        let of = |epoch| {
            let life = Life {
                base: "orders:3".into(),
                generation: 1,
                epoch,
            };
            let stream = ShardStream {
                key: "orders:3".into(),
                group: "g".into(),
                consumer: "a-m0".into(),
                life: None,
            };
            registration(&stream, &life).unwrap()
        };
        assert!(of(7).token < of(8).token && of(7).epoch < of(8).epoch);
    }
}
