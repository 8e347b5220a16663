//! Taking over what a consumer left pending, under a lease with a fence.

use std::future::Future;
use std::time::Duration;

use super::record::{Batch, Record};
use crate::error::LifecycleError;
use crate::handle::Handle;
use crate::model::{
    ConsumerName, Fence, GroupName, InvalidInput, OwnerName, StreamId, check, check_batch,
};
use crate::wire::{Call, RedisLink, history, scripts};

/// The longest time that a consumer or an entry can have to be idle, ten years.
const LONGEST_IDLE: Duration = Duration::from_secs(10 * 365 * 24 * 3_600);
/// The longest lease.
const LONGEST_LEASE: Duration = Duration::from_secs(24 * 3_600);

/// The right to recover a group, until it lapses by Redis' clock or another takes it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Lease {
    /// The group.
    pub group: GroupName,
    /// Who holds it.
    pub owner: OwnerName,
    /// Greater than that of every earlier lease.
    pub fence: Fence,
    /// When it lapses, in milliseconds since 1970 by Redis' clock.
    pub until_ms: u64,
}

/// Which entries are claimed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Claiming {
    /// For whom.
    pub consumer: ConsumerName,
    /// How long an entry must have been pending without being delivered again.
    pub least_idle: Duration,
    /// How many at once, 1 to 1,000.
    pub count: usize,
}

impl Claiming {
    /// All pending entries, in pages of 100: those too that other consumers are handling this very moment. Unless these are known to be
    /// gone, say how long an entry must have been idle.
    #[must_use]
    pub const fn new(consumer: ConsumerName) -> Self {
        Self {
            consumer,
            least_idle: Duration::ZERO,
            count: 100,
        }
    }

    /// Only entries that have been pending for so long, at most ten years.
    #[must_use]
    pub const fn least_idle(mut self, idle: Duration) -> Self {
        self.least_idle = idle;
        self
    }

    /// How many at once.
    #[must_use]
    pub const fn count(mut self, count: usize) -> Self {
        self.count = count;
        self
    }
}

/// One page of claimed entries.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Page<L> {
    /// What was claimed. Entries that were deleted are no longer pending.
    pub batch: Batch<L>,
    /// Where the next page begins; none after the last.
    pub next: Option<StreamId>,
}

/// Recovers a group.
pub trait ShardRecovery: Send + Sync {
    /// The connection behind it.
    type Link: RedisLink;

    /// Takes the lease if it is free, lapsed, or the same owner's; its fence is greater than every earlier one (case C24).
    ///
    /// # Errors
    /// [`LifecycleError::LeaseHeld`], a length that is 0 or over a day, and if the generation is over.
    fn lease_acquire(
        &self,
        group: &GroupName,
        owner: &OwnerName,
        length: Duration,
    ) -> impl Future<Output = Result<Lease, LifecycleError>> + Send;

    /// Makes the lease last for so long from now on.
    ///
    /// # Errors
    /// [`LifecycleError::LeaseLost`], else as [`lease_acquire`](Self::lease_acquire).
    fn lease_renew(
        &self,
        lease: &Lease,
        length: Duration,
    ) -> impl Future<Output = Result<Lease, LifecycleError>> + Send;

    /// Gives the lease back. Its fence is never used again.
    ///
    /// # Errors
    /// [`LifecycleError::LeaseLost`], and if the generation is over.
    fn lease_release(
        &self,
        lease: &Lease,
    ) -> impl Future<Output = Result<(), LifecycleError>> + Send;

    /// Claims one page of pending entries, from an id on.
    ///
    /// # Errors
    /// [`LifecycleError::LeaseLost`] before anything is touched, [`NoGroup`](LifecycleError::NoGroup),
    /// [`DataLost`](LifecycleError::DataLost), and if the generation is over.
    fn claim(
        &self,
        lease: &Lease,
        claiming: &Claiming,
        from: StreamId,
    ) -> impl Future<Output = Result<Page<Self::Link>, LifecycleError>> + Send;

    /// Removes consumers (at most 1,000) that have nothing pending, gave no sign of life for so long (those without a registration:
    /// were not seen by Redis for so long), and are not in `stay` (case C17).
    ///
    /// # Errors
    /// As [`claim`](Self::claim).
    fn cleanup(
        &self,
        lease: &Lease,
        quiet: Duration,
        stay: &[ConsumerName],
    ) -> impl Future<Output = Result<Vec<String>, LifecycleError>> + Send;
}

fn check_idle(what: &'static str, idle: Duration) -> Result<(), InvalidInput> {
    check(idle <= LONGEST_IDLE, what, || {
        format!("{} s is over ten years", idle.as_secs())
    })
}

fn check_length(length: Duration) -> Result<String, InvalidInput> {
    let is_sane = length >= Duration::from_millis(1) && length <= LONGEST_LEASE;
    check(is_sane, "lease", || {
        format!("{length:?} is not between 1 ms and a day")
    })?;
    Ok(length.as_millis().to_string())
}

impl<L: RedisLink> Handle<L> {
    async fn lease(
        &self,
        mode: &str,
        group: &GroupName,
        owner: &OwnerName,
        length_ms: String,
        fence: String,
    ) -> Result<Lease, LifecycleError> {
        let call = scripts::LEASE.bound(self.keys(), self.identity());
        let call = call.args([group.as_str(), mode, owner.as_str()]);
        let mut reply = self.run(&call.arg(length_ms).arg(fence)).await?;
        Ok(Lease {
            group: group.clone(),
            owner: owner.clone(),
            fence: Fence::new(reply.number()?)?,
            until_ms: reply.number()?,
        })
    }

    fn with_lease(&self, call: Call, lease: &Lease) -> Call {
        call.arg(lease.group.as_str())
            .arg(lease.owner.as_str())
            .arg(lease.fence.to_string())
    }
}

impl<L: RedisLink> ShardRecovery for Handle<L> {
    type Link = L;

    async fn lease_acquire(
        &self,
        group: &GroupName,
        owner: &OwnerName,
        length: Duration,
    ) -> Result<Lease, LifecycleError> {
        let length_ms = check_length(length)?;
        self.lease("acquire", group, owner, length_ms, String::new())
            .await
    }

    async fn lease_renew(&self, lease: &Lease, length: Duration) -> Result<Lease, LifecycleError> {
        let (length_ms, fence) = (check_length(length)?, lease.fence.to_string());
        self.lease("renew", &lease.group, &lease.owner, length_ms, fence)
            .await
    }

    async fn lease_release(&self, lease: &Lease) -> Result<(), LifecycleError> {
        let (length_ms, fence) = ("0".to_owned(), lease.fence.to_string());
        let released = self.lease("release", &lease.group, &lease.owner, length_ms, fence);
        released.await.map(|_| ())
    }

    async fn claim(
        &self,
        lease: &Lease,
        claiming: &Claiming,
        from: StreamId,
    ) -> Result<Page<L>, LifecycleError> {
        check_batch("count", claiming.count)?;
        check_idle("least_idle", claiming.least_idle)?;
        let call = scripts::CLAIM.bound(self.keys(), self.identity());
        let call = self
            .with_lease(call, lease)
            .arg(claiming.consumer.as_str())
            .arg(claiming.least_idle.as_millis().to_string())
            .arg(from.to_string())
            .arg(claiming.count.to_string());
        let mut reply = self.run(&call).await?;
        let next = reply.id()?;
        let (entries, _) = history("claim", reply.value()?)?;
        let deleted = reply.ids()?;
        let records = entries
            .into_iter()
            .map(|entry| Record::new(self.clone(), lease.group.clone(), entry))
            .collect();
        Ok(Page {
            batch: Batch { records, deleted },
            next: (next != StreamId::ZERO).then_some(next),
        })
    }

    async fn cleanup(
        &self,
        lease: &Lease,
        quiet: Duration,
        stay: &[ConsumerName],
    ) -> Result<Vec<String>, LifecycleError> {
        check_idle("quiet", quiet)?;
        check(stay.len() <= 1_000, "stay", || {
            format!("there are {}, at most 1000 are allowed", stay.len())
        })?;
        let call = scripts::CLEANUP.bound(self.keys(), self.identity());
        let call = self
            .with_lease(call, lease)
            .arg(quiet.as_millis().to_string())
            .arg("1000")
            .args(stay.iter().map(ConsumerName::as_str));
        self.run(&call).await?.texts()
    }
}
