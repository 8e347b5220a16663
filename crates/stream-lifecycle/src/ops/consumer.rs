//! Reading and acknowledging, with consumers that can be fenced.

use std::future::Future;

use redis::{RedisError, Value};

use super::batches::{Size, cut};
use super::record::{Batch, Record};
use crate::error::LifecycleError;
use crate::handle::Handle;
use crate::model::{ConsumerName, GroupName, Reading, Registration, StreamId, check_batch};
use crate::wire::{Call, RedisLink, Reply, classify, history, scripts, unexpected};

/// How many entries are counted at most to know the lag of a group that is made anew.
const COUNTED: usize = 100_000;

/// What became of a group that had to be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ensured {
    /// Whether it had been missing.
    pub was_created: bool,
    /// Whether the stream itself had been missing, now or when another group was made anew: what was in it is lost. Told until the group
    /// acknowledges for the first time.
    pub data_lost: bool,
    /// What was delivered last, or where it starts: never at the end of the stream (case C02).
    pub position: StreamId,
}

/// What became of an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Acknowledged {
    /// How many entries are acknowledged now.
    pub count: u64,
    /// How many were not pending: acknowledged before, or lost (case C09: that is no success).
    pub unknown: u64,
}

/// Reads and acknowledges.
pub trait ShardConsumer: Send + Sync {
    /// The connection behind it.
    type Link: RedisLink;

    /// Makes a consumer group where there is none: where it had come to if the group alone was lost, else at the beginning. For the
    /// shard's owner to call, once (cases C01 and C02).
    ///
    /// # Errors
    /// If the generation is over.
    fn ensure_group(
        &self,
        group: &GroupName,
    ) -> impl Future<Output = Result<Ensured, LifecycleError>> + Send;

    /// Makes a consumer with its registration and its first sign of life, in one step.
    ///
    /// # Errors
    /// [`LifecycleError::ConsumerFenced`] if a later process or a later epoch is registered, [`NoGroup`](LifecycleError::NoGroup),
    /// [`DataLost`](LifecycleError::DataLost), and if the generation is over.
    fn register(
        &self,
        registration: &Registration,
    ) -> impl Future<Output = Result<(), LifecycleError>> + Send;

    /// A sign of life. It never makes anything.
    ///
    /// # Errors
    /// [`LifecycleError::ConsumerFenced`] unless registered, and if the generation is over.
    fn refresh(
        &self,
        registration: &Registration,
    ) -> impl Future<Output = Result<(), LifecycleError>> + Send;

    /// Removes the consumer if nothing of it is pending, since that would be lost with it (case C17).
    ///
    /// # Errors
    /// [`LifecycleError::StillPending`], else as [`refresh`](Self::refresh).
    fn deregister(
        &self,
        registration: &Registration,
    ) -> impl Future<Output = Result<(), LifecycleError>> + Send;

    /// Acknowledges entries (1 to 1,000), and moves on the position that is kept for the case that the group is lost.
    ///
    /// # Errors
    /// [`LifecycleError::NoGroup`], [`DataLost`](LifecycleError::DataLost), and if the generation is over.
    fn ack(
        &self,
        group: &GroupName,
        ids: &[StreamId],
    ) -> impl Future<Output = Result<Acknowledged, LifecycleError>> + Send;

    /// As [`ack`](Self::ack), if the consumer is registered with this token, at this epoch or an earlier one, and the shard was not
    /// given to another (case C36).
    ///
    /// # Errors
    /// [`LifecycleError::ConsumerFenced`], else as [`ack`](Self::ack).
    fn ack_as(
        &self,
        registration: &Registration,
        ids: &[StreamId],
    ) -> impl Future<Output = Result<Acknowledged, LifecycleError>> + Send;

    /// As [`ack_as`](Self::ack_as), told for each id whether it was pending, up to 64 in one call of a script, all calls sent at once. A
    /// later call may succeed after an earlier one failed.
    ///
    /// # Errors
    /// For each id as [`ack_as`](Self::ack_as); those of one call fail together.
    fn ack_each(
        &self,
        registration: &Registration,
        ids: &[StreamId],
    ) -> impl Future<Output = Vec<Result<Acknowledged, LifecycleError>>> + Send;

    /// Reads entries. A read can't be fenced, since it may wait; acknowledgements and claims are.
    ///
    /// # Errors
    /// [`LifecycleError::NoGroup`], [`DataLost`](LifecycleError::DataLost), if the generation is over,
    /// [`ReadEnded`](LifecycleError::ReadEnded) (case C03), and if the key is of another type. After
    /// [`Ambiguous`](LifecycleError::Ambiguous), entries may have been given to this consumer that nobody saw: read what is pending after
    /// [`StreamId::ZERO`] first ([`Reading::pending_after`], case C23). A generation that is over is noticed only when its stream is gone.
    fn read(
        &self,
        group: &GroupName,
        consumer: &ConsumerName,
        reading: &Reading,
    ) -> impl Future<Output = Result<Batch<Self::Link>, LifecycleError>> + Send;
}

impl<L: RedisLink> Handle<L> {
    fn ack_call(
        &self,
        group: &GroupName,
        registration: Option<&Registration>,
        (each, ids): (bool, &[StreamId]),
    ) -> Call {
        let call = scripts::ACK
            .bound(self.keys(), self.identity())
            .arg(group.as_str());
        let call = match registration {
            None => call.args(["", "", ""]),
            Some(who) => call
                .arg(who.consumer.as_str())
                .arg(who.token.to_string())
                .arg(who.epoch.to_string()),
        };
        call.arg(if each { "1" } else { "0" })
            .args(ids.iter().map(StreamId::to_string))
    }

    async fn ack_call_run(&self, call: Call, sent: usize) -> Result<Acknowledged, LifecycleError> {
        let counts = counts(self.run(&call).await?)?;
        acknowledged(counts.into_iter().sum(), sent)
    }

    /// Why a read failed. Where the group is gone, the generation may be too.
    async fn read_failure(&self, group: &GroupName, error: RedisError) -> LifecycleError {
        if error.code() != Some("NOGROUP") {
            return classify(error, "XREADGROUP", &self.keys().stream);
        }
        let standing = scripts::STANDING.bound(self.keys(), self.identity());
        match self.run(&standing).await {
            Err(error) => error,
            Ok(_) => LifecycleError::NoGroup {
                base: self.base().to_string(),
                group: group.to_string(),
            },
        }
    }

    pub(super) fn with_registration(&self, call: Call, who: &Registration) -> Call {
        call.arg(who.group.as_str())
            .arg(who.consumer.as_str())
            .arg(who.token.to_string())
            .arg(who.epoch.to_string())
    }
}

fn counts(mut reply: Reply) -> Result<Vec<u64>, LifecycleError> {
    let texts = reply.texts()?.into_iter();
    let counts: Option<Vec<u64>> = texts.map(|text| text.parse().ok()).collect();
    counts.ok_or_else(|| reply.bad("no counts"))
}

fn acknowledged(count: u64, sent: usize) -> Result<Acknowledged, LifecycleError> {
    let sent = u64::try_from(sent).unwrap_or(u64::MAX);
    let unknown = sent
        .checked_sub(count)
        .ok_or_else(|| unexpected("ack", "more than was sent"))?;
    Ok(Acknowledged { count, unknown })
}

impl<L: RedisLink> ShardConsumer for Handle<L> {
    type Link = L;

    async fn ensure_group(&self, group: &GroupName) -> Result<Ensured, LifecycleError> {
        let call = scripts::ENSURE_GROUP.bound(self.keys(), self.identity());
        let call = call.arg(group.as_str()).arg(COUNTED.to_string());
        let mut reply = self.run(&call).await?;
        let (word, position) = (reply.text()?, reply.id()?);
        Ok(Ensured {
            was_created: reply.number()? == 1,
            data_lost: word == "lost",
            position,
        })
    }

    async fn register(&self, registration: &Registration) -> Result<(), LifecycleError> {
        let call = scripts::REGISTER.bound(self.keys(), self.identity());
        let sole = if registration.is_sole { "1" } else { "0" };
        let call = self.with_registration(call, registration).arg(sole);
        self.run(&call).await.map(|_| ())
    }

    async fn refresh(&self, registration: &Registration) -> Result<(), LifecycleError> {
        let call = scripts::REFRESH.bound(self.keys(), self.identity());
        let call = self.with_registration(call, registration);
        self.run(&call).await.map(|_| ())
    }

    async fn deregister(&self, registration: &Registration) -> Result<(), LifecycleError> {
        let call = scripts::DEREGISTER.bound(self.keys(), self.identity());
        let call = self.with_registration(call, registration);
        self.run(&call).await.map(|_| ())
    }

    async fn ack(
        &self,
        group: &GroupName,
        ids: &[StreamId],
    ) -> Result<Acknowledged, LifecycleError> {
        check_batch("ids", ids.len())?;
        self.ack_call_run(self.ack_call(group, None, (false, ids)), ids.len())
            .await
    }

    async fn ack_as(
        &self,
        registration: &Registration,
        ids: &[StreamId],
    ) -> Result<Acknowledged, LifecycleError> {
        check_batch("ids", ids.len())?;
        let call = self.ack_call(&registration.group, Some(registration), (false, ids));
        self.ack_call_run(call, ids.len()).await
    }

    async fn ack_each(
        &self,
        registration: &Registration,
        ids: &[StreamId],
    ) -> Vec<Result<Acknowledged, LifecycleError>> {
        let size = Size {
            arguments: 1,
            bytes: 20,
        };
        let ranges = cut(ids.iter().map(|_| size));
        let group = &registration.group;
        let calls: Vec<Call> = ranges
            .iter()
            .map(|range| self.ack_call(group, Some(registration), (true, &ids[range.clone()])))
            .collect();
        let read = |reply| {
            let counts = counts(reply)?.into_iter();
            Ok(counts.map(|count| acknowledged(count, 1)).collect())
        };
        self.deal(&ranges, &calls, read).await
    }

    async fn read(
        &self,
        group: &GroupName,
        consumer: &ConsumerName,
        reading: &Reading,
    ) -> Result<Batch<L>, LifecycleError> {
        reading.check()?;
        let mut command = redis::cmd("XREADGROUP");
        command
            .arg("GROUP")
            .arg(group.as_str())
            .arg(consumer.as_str());
        command.arg("COUNT").arg(reading.count);
        if let Some(block) = reading.block {
            command.arg("BLOCK").arg(block.as_millis().to_string());
        }
        command.arg("STREAMS").arg(&*self.keys().stream);
        match reading.after {
            None => command.arg(">"),
            Some(id) => command.arg(id.to_string()),
        };
        let answer = self.link().send(&command).await;
        let rows = match answer {
            Ok(rows) => rows_of(rows)?,
            Err(error) => return Err(self.read_failure(group, error).await),
        };
        let (entries, deleted) = history("XREADGROUP", rows)?;
        let records = entries
            .into_iter()
            .map(|entry| Record::new(self.clone(), group.clone(), entry))
            .collect();
        Ok(Batch { records, deleted })
    }
}

/// The rows of the one stream that was asked for, in the shape of either protocol.
fn rows_of(answer: Value) -> Result<Value, LifecycleError> {
    let odd = || unexpected("XREADGROUP", "something else than one stream");
    match answer {
        Value::Nil => Ok(Value::Array(Vec::new())),
        Value::Array(streams) => {
            let [Value::Array(stream)] = <[Value; 1]>::try_from(streams).map_err(|_| odd())? else {
                return Err(odd());
            };
            let [_, rows] = <[Value; 2]>::try_from(stream).map_err(|_| odd())?;
            Ok(rows)
        }
        Value::Map(streams) => {
            let [(_, rows)] = <[(Value, Value); 1]>::try_from(streams).map_err(|_| odd())?;
            Ok(rows)
        }
        _ => Err(odd()),
    }
}
