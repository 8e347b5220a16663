//! Entries that have to be handled again, are given up, or are done with for good. Reading and plain acknowledgements are elsewhere.

use std::future::Future;
use std::time::Duration;

use crate::error::LifecycleError;
use crate::handle::Handle;
use crate::model::{
    AckedAndDeleted, Attempt, DeadLettered, GroupName, Moved, Registration, Rejection, StreamId,
    check, check_batch,
};
use crate::wire::{RedisLink, Reply, scripts};

/// The longest time that an entry can be postponed by at once, a year.
const LONGEST_DELAY: Duration = Duration::from_secs(365 * 24 * 3_600);

/// What a consumer does beyond reading and acknowledging. Everything that writes is fenced by the registration as
/// [`ack_as`](crate::ShardConsumer::ack_as) is. What is recorded ends with the generation, and is forgotten when an entry is acknowledged.
pub trait ShardRedelivery: Send + Sync {
    /// Counts one more attempt at handling a pending entry. To be called before it is handled: then the attempt is counted even if it
    /// ends the process (case C21). An entry that is not due yet is not attempted: nothing is counted, and [`Attempt::wait`] says for how
    /// long to leave it alone before this is called again. After [`LifecycleError::Ambiguous`] a repetition may count twice.
    ///
    /// # Errors
    /// [`LifecycleError::NotPending`], [`ConsumerFenced`](LifecycleError::ConsumerFenced), [`NoGroup`](LifecycleError::NoGroup),
    /// [`DataLost`](LifecycleError::DataLost), and if the generation is over.
    fn attempt(
        &self,
        registration: &Registration,
        id: StreamId,
    ) -> impl Future<Output = Result<Attempt, LifecycleError>> + Send;

    /// What is recorded of entries (1 to 1,000), in their order; none for those that were neither attempted nor postponed. Writes nothing.
    ///
    /// # Errors
    /// If the generation is over.
    fn attempts(
        &self,
        group: &GroupName,
        ids: &[StreamId],
    ) -> impl Future<Output = Result<Vec<Option<Attempt>>, LifecycleError>> + Send;

    /// The entry stays pending and is not to be handled for so long, by Redis' clock, 0 to a year. Answers when it is due, in
    /// milliseconds since 1970. The count of its attempts stays. A repetition counts from its own time.
    ///
    /// # Errors
    /// As [`attempt`](Self::attempt).
    fn postpone(
        &self,
        registration: &Registration,
        id: StreamId,
        delay: Duration,
    ) -> impl Future<Output = Result<u64, LifecycleError>> + Send;

    /// Gives entries (1 to 1,000) up: copies each to the stream [`dead_letter_key`](Handle::dead_letter_key) and acknowledges it, all in
    /// one step. A copy has all fields of its entry in order, then `dlq.stream`, `dlq.id`, `dlq.group`, `dlq.attempts` and `dlq.reason`.
    /// A repetition finds the entries no longer pending and copies nothing twice.
    ///
    /// # Errors
    /// As [`attempt`](Self::attempt) but for entries that are not pending, which are told; [`LifecycleError::KeyConflict`] if the dead
    /// letters are no stream; [`MalformedEntry`](LifecycleError::MalformedEntry) for an entry of over 3,500 fields.
    fn dead_letter(
        &self,
        registration: &Registration,
        ids: &[StreamId],
        rejection: &Rejection,
    ) -> impl Future<Output = Result<DeadLettered, LifecycleError>> + Send;

    /// Acknowledges entries (1 to 1,000) and deletes those that every group has acknowledged. A server without XACKDEL can't tell which
    /// those are where there are several groups: there, entries are deleted only if this group is the only one.
    ///
    /// # Errors
    /// As [`ack_as`](crate::ShardConsumer::ack_as).
    fn ack_and_delete(
        &self,
        registration: &Registration,
        ids: &[StreamId],
    ) -> impl Future<Output = Result<AckedAndDeleted, LifecycleError>> + Send;

    /// As [`refresh`](crate::ShardConsumer::refresh), and counts what the group lost unread: entries that were trimmed or deleted before
    /// they were given to it (case C30). Answers how many there were in the generation so far; the number never falls.
    ///
    /// `delivered` is how many new entries this reader was given since its last call; none if it does not know, for example after a read
    /// whose answer was lost, and at its first call. It is for the only reader of a group, between two reads. A loss is told once the group
    /// has read all that is left of the stream, or stands before all of it. What was lost while the reader did not know is counted only
    /// where the group did not move meanwhile.
    ///
    /// # Errors
    /// As [`attempt`](Self::attempt).
    fn refresh_counting(
        &self,
        registration: &Registration,
        delivered: Option<u64>,
    ) -> impl Future<Output = Result<u64, LifecycleError>> + Send;
}

fn attempt(mut row: Reply, now_ms: u64) -> Result<Option<Attempt>, LifecycleError> {
    if row.is_empty() {
        return Ok(None);
    }
    Ok(Some(Attempt::new(row.number()?, row.number()?, now_ms)))
}

fn moved(mut row: Reply) -> Result<Moved, LifecycleError> {
    Ok(Moved::new(row.id()?, row.id()?))
}

impl<L: RedisLink> ShardRedelivery for Handle<L> {
    async fn attempt(
        &self,
        registration: &Registration,
        id: StreamId,
    ) -> Result<Attempt, LifecycleError> {
        let call = scripts::ATTEMPT.bound(self.keys(), self.identity());
        let call = self.with_registration(call, registration);
        let mut reply = self.run(&call.arg(id.to_string())).await?;
        Ok(Attempt::new(
            reply.number()?,
            reply.number()?,
            reply.number()?,
        ))
    }

    async fn attempts(
        &self,
        group: &GroupName,
        ids: &[StreamId],
    ) -> Result<Vec<Option<Attempt>>, LifecycleError> {
        check_batch("ids", ids.len())?;
        let call = scripts::ATTEMPTS.bound(self.keys(), self.identity());
        let call = call.arg(group.as_str());
        let mut reply = self
            .run(&call.args(ids.iter().map(StreamId::to_string)))
            .await?;
        let now_ms = reply.number()?;
        let rows = reply.rows()?.into_iter();
        rows.map(|row| attempt(row, now_ms)).collect()
    }

    async fn postpone(
        &self,
        registration: &Registration,
        id: StreamId,
        delay: Duration,
    ) -> Result<u64, LifecycleError> {
        check(delay <= LONGEST_DELAY, "delay", || {
            format!("{} s is over a year", delay.as_secs())
        })?;
        let call = scripts::POSTPONE.bound(self.keys(), self.identity());
        let call = self
            .with_registration(call, registration)
            .arg(id.to_string())
            .arg(delay.as_millis().to_string());
        self.run(&call).await?.number()
    }

    async fn dead_letter(
        &self,
        registration: &Registration,
        ids: &[StreamId],
        rejection: &Rejection,
    ) -> Result<DeadLettered, LifecycleError> {
        check_batch("ids", ids.len())?;
        let letters = self.dead_letter_key(&registration.group);
        let keys = [&self.keys().five()[..], &[letters.as_str()]].concat();
        let call = scripts::DEAD_LETTER.bound_with(&keys, self.identity());
        let call = self
            .with_registration(call, registration)
            .arg(&rejection.reason)
            .arg(rejection.limit()?)
            .args(ids.iter().map(StreamId::to_string));
        let mut reply = self.run(&call).await?;
        let pairs: Result<Vec<Moved>, LifecycleError> =
            reply.rows()?.into_iter().map(moved).collect();
        Ok(DeadLettered {
            moved: pairs?,
            lost: reply.ids()?,
            unknown: reply.ids()?,
        })
    }

    async fn ack_and_delete(
        &self,
        registration: &Registration,
        ids: &[StreamId],
    ) -> Result<AckedAndDeleted, LifecycleError> {
        check_batch("ids", ids.len())?;
        let knows = if self.knows_xackdel().await { "1" } else { "0" };
        let call = scripts::ACK_DELETE.bound(self.keys(), self.identity());
        let call = self
            .with_registration(call, registration)
            .arg(knows)
            .args(ids.iter().map(StreamId::to_string));
        let mut reply = self.run(&call).await?;
        let (acknowledged, deleted) = (reply.number()?, reply.number()?);
        AckedAndDeleted::of(ids.len(), acknowledged, deleted)
            .ok_or_else(|| reply.bad("more than was sent"))
    }

    async fn refresh_counting(
        &self,
        registration: &Registration,
        delivered: Option<u64>,
    ) -> Result<u64, LifecycleError> {
        let call = scripts::REFRESH_COUNTING.bound(self.keys(), self.identity());
        let delivered = delivered.map_or_else(String::new, |count| count.to_string());
        let call = self.with_registration(call, registration).arg(delivered);
        self.run(&call).await?.number()
    }
}
