//! Changing records: commit, create and remove. An answer that is lost is read back, in the same step in which the change is kept from
//! taking place later (case C41).

use std::sync::Arc;
use std::time::Duration;

use coordinator_core::names::GroupId;
use coordinator_core::numbers::StoreRevision;
use coordinator_core::record::GroupRecord;
use coordinator_core::time::Timestamp;
use store::{Commit, CommitError, CreateError, Effects, Etag, GroupLock, Stamp, StoreError};

use super::RedisStore;
use crate::keys::GroupKeys;
use crate::link::Failure;
use crate::records::{Aggregate, LAYOUT_VERSION, SCHEMA_VERSION, encode_progress};
use crate::reply::Reply;
use crate::script::{self, Call};

/// The pauses before each attempt to read back what became of a change.
const PAUSES: [Duration; 4] = [
    Duration::ZERO,
    Duration::from_millis(50),
    Duration::from_millis(200),
    Duration::from_millis(500),
];

/// What became of a change.
enum Outcome {
    /// The script answered.
    Answered(Reply),
    /// Its answer was lost, and it took place.
    TookPlace,
}

impl RedisStore {
    pub(super) async fn commit_group(
        &self,
        lock: &GroupLock,
        commit: &Commit<'_>,
    ) -> Result<Stamp, CommitError> {
        let stamp = Stamp {
            revision: commit.expected.stamp.revision.next(),
            etag: Etag::fresh(),
        };
        let keys = self.keys.of(&lock.group);
        let names = all_of(&keys);
        let call = script::COMMIT.call(&names).arg(lock.token.as_str());
        let call = with_stamp(call, &commit.expected.stamp);
        let call = with_record(call, commit.record, &stamp, &keys);
        let call = with_effects(call, &Effects::of(commit));
        match self.change(&call, lock, stamp.etag.as_str()).await? {
            Outcome::TookPlace => Ok(stamp),
            Outcome::Answered(mut reply) => match reply.status() {
                "ok" => Ok(stamp),
                "renewed" => Err(CommitError::LeaseRenewed {
                    member: member(&reply.text()?)?,
                }),
                _ => Err(refusal(reply, &commit.expected.stamp)?),
            },
        }
    }

    pub(super) async fn create_group(
        &self,
        lock: &GroupLock,
        record: &GroupRecord,
    ) -> Result<Stamp, CreateError> {
        let stamp = Stamp {
            revision: StoreRevision::new(1),
            etag: Etag::fresh(),
        };
        let keys = self.keys.of(&lock.group);
        self.enter_in_directory(&keys).await?;
        let names = all_of(&keys);
        let call = script::CREATE.call(&names).arg(lock.token.as_str());
        let call = with_record(call, record, &stamp, &keys);
        let live = record.members.iter().filter(|(_, member)| member.is_live());
        let leases = live.filter_map(|(id, member)| {
            let deadline = member.lease_deadline?;
            Some([text_of(deadline), id.as_str().to_owned()])
        });
        let call = call.list(leases);
        match self.change(&call, lock, stamp.etag.as_str()).await? {
            Outcome::TookPlace => Ok(stamp),
            Outcome::Answered(reply) => match reply.status() {
                "ok" => Ok(stamp),
                "exists" => Err(CreateError::AlreadyExists),
                "lost" => Err(CreateError::LockLost),
                _ => Err(reply.unknown().into()),
            },
        }
    }

    pub(super) async fn remove_group(
        &self,
        lock: &GroupLock,
        expected: &Stamp,
    ) -> Result<(), CommitError> {
        let keys = self.keys.of(&lock.group);
        let names = all_of(&keys);
        let call = script::REMOVE.call(&names).arg(lock.token.as_str());
        let call = with_stamp(call, expected)
            .arg(keys.changed.as_str())
            .number(self.lock_ttl_ms());
        if let Outcome::Answered(reply) = self.change(&call, lock, "").await?
            && reply.status() != "ok"
        {
            return Err(refusal(reply, expected)?);
        }
        self.clear_directory(&lock.group, &keys).await;
        let token = format!("{} removed", lock.token.as_str());
        self.release_token(lock, &token).await;
        Ok(())
    }

    /// Runs a change; where that does not say what became of it, finds out.
    async fn change(
        &self,
        call: &Call<'_>,
        lock: &GroupLock,
        wanted: &str,
    ) -> Result<Outcome, StoreError> {
        match self.redis.run(call).await {
            Ok(reply) => Ok(Outcome::Answered(reply)),
            Err(Failure {
                error, sent: false, ..
            }) => Err(error),
            Err(failure) => self.settle(&lock.group, lock, wanted, failure.error).await,
        }
    }

    /// Whether a change took place after all: then the record has the wanted etag. If not, the right is taken back in the same step, so that
    /// a change that is still on its way finds it lost.
    async fn settle(
        &self,
        group: &GroupId,
        lock: &GroupLock,
        wanted: &str,
        cause: StoreError,
    ) -> Result<Outcome, StoreError> {
        let keys = self.keys.of(group);
        let names = [keys.metadata.as_str(), keys.mutex.as_str()];
        let call = script::SETTLE
            .call(&names)
            .arg(lock.token.as_str())
            .arg(wanted);
        for pause in PAUSES {
            tokio::time::sleep(pause).await;
            match self.redis.run_again(&call).await {
                Ok(reply) if reply.status() == "there" => {
                    tracing::info!(%group, error = %cause, "the answer to a change was lost; it took place");
                    return Ok(Outcome::TookPlace);
                }
                Ok(reply) if reply.status() == "absent" => return Err(cause),
                Ok(reply) => return Err(reply.unknown()),
                Err(StoreError::Unavailable { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Err(StoreError::Unavailable {
            reason: "it is not known whether the change took place".to_owned(),
            source: Some(Arc::new(cause)),
        })
    }
}

fn all_of(keys: &GroupKeys) -> [&str; 4] {
    [&keys.metadata, &keys.leases, &keys.progress, &keys.mutex]
}

fn with_stamp<'a>(call: Call<'a>, stamp: &Stamp) -> Call<'a> {
    call.number(stamp.revision.get()).arg(stamp.etag.as_str())
}

fn with_record<'a>(
    call: Call<'a>,
    record: &GroupRecord,
    stamp: &Stamp,
    keys: &GroupKeys,
) -> Call<'a> {
    with_stamp(call, stamp)
        .number(SCHEMA_VERSION)
        .number(LAYOUT_VERSION)
        .arg(Aggregate::encode(record, stamp.revision))
        .arg(keys.changed.as_str())
        .number(record.metadata_version.get())
}

fn with_effects<'a>(call: Call<'a>, effects: &Effects<'_>) -> Call<'a> {
    let seen = |seen: Option<Timestamp>| seen.map(text_of).unwrap_or_default();
    let judged = effects.judged.iter();
    let set = effects.leases.iter();
    let dropped = effects.dropped_leases.iter();
    let dropped_progress = effects.dropped_progress.iter();
    let progress = effects.progress.iter();
    call.list(judged.map(|(member, deadline)| [member.to_string(), seen(*deadline)]))
        .list(set.map(|(member, lease)| {
            let deadline = text_of(lease.deadline);
            [member.to_string(), seen(lease.seen), deadline]
        }))
        .list(dropped.map(|member| [member.to_string()]))
        .list(dropped_progress.map(|member| [member.to_string()]))
        .list(progress.map(|(member, progress)| [member.to_string(), encode_progress(progress)]))
}

fn text_of(moment: Timestamp) -> String {
    moment.as_ms().to_string()
}

/// Why a script wrote nothing.
fn refusal(mut reply: Reply, expected: &Stamp) -> Result<CommitError, StoreError> {
    match reply.status() {
        "lost" => Ok(CommitError::LockLost),
        "conflict" => Ok(CommitError::Conflict {
            expected: expected.revision,
            found: reply
                .optional_text()?
                .and_then(|text| text.parse().ok())
                .map(StoreRevision::new),
        }),
        _ => Err(reply.unknown()),
    }
}

fn member(text: &str) -> Result<coordinator_core::names::MemberId, StoreError> {
    coordinator_core::names::MemberId::parse(text).map_err(|error| StoreError::Corrupt {
        reason: format!("{text:?} has a lease and can't be a member"),
        source: Some(Arc::new(error)),
    })
}
