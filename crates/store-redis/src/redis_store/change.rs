//! Changing records: commit, create and remove. An answer that is lost is read back, in the same step in which the change is kept from
//! taking place later (case C41).

use std::sync::Arc;
use std::time::Duration;

use coordinator_core::names::GroupId;
use coordinator_core::numbers::StoreRevision;
use coordinator_core::record::GroupRecord;
use store::{Commit, CommitError, CreateError, Etag, GroupLock, Stamp, StoreError};

use super::RedisStore;
use super::calls::{all_of, commit_call, create_call, remove_call};
use crate::link::Failure;
use crate::reply::Reply;
use crate::script::{self, Call, Script};

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
        let call = commit_call(&names, lock, commit, &stamp, &keys);
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
        self.write_first(&script::CREATE, lock, record).await
    }

    /// Writes the first record of a group by a script that may.
    pub(super) async fn write_first(
        &self,
        script: &'static Script,
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
        let call = create_call(script, &names, lock, record, &stamp, &keys);
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
        let call = remove_call(&names, lock, expected, &keys).number(self.lock_ttl_ms());
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

#[cfg(test)]
mod tests {
    //! Case C41: a driver that repeats a command by itself, as it does in a cluster, changes nothing by that.
    #![allow(clippy::unwrap_used)]

    use store::GroupStore;
    use store::conformance::{full_record, group_id};
    use testkit::RedisServer;

    use super::*;
    use crate::RedisConfig;

    async fn status(store: &RedisStore, call: &Call<'_>) -> String {
        store.redis.run(call).await.unwrap().status().to_owned()
    }

    #[tokio::test]
    async fn a_change_that_is_sent_twice_takes_place_once_c41() {
        let server = RedisServer::builder().start().unwrap();
        let config = RedisConfig::new([server.url()]);
        let store = RedisStore::connect(config).await.unwrap();
        let id = group_id("orders", "billing");
        let record = full_record(&id);
        let keys = store.keys.of(&id);
        let names = all_of(&keys);
        let stamp = |revision| Stamp {
            revision: StoreRevision::new(revision),
            etag: Etag::fresh(),
        };

        let lock = store.begin(&id, None).await.unwrap().lock;
        let created = stamp(1);
        let create = create_call(&script::CREATE, &names, &lock, &record, &created, &keys);
        for _ in 0..2 {
            assert_eq!(status(&store, &create).await, "ok");
        }
        let read = store.load(&id, None).await.unwrap().unwrap();
        assert_eq!(read.stamp, created);

        let commit = Commit {
            expected: &read,
            record: &record,
            writes: &[],
            progress: &[],
        };
        let committed = stamp(2);
        let commit = commit_call(&names, &lock, &commit, &committed, &keys);
        for _ in 0..2 {
            assert_eq!(status(&store, &commit).await, "ok");
        }
        let read = store.load(&id, None).await.unwrap().unwrap();
        assert_eq!(read.stamp, committed);

        let lock = store.begin(&id, None).await.unwrap().lock;
        let remove = remove_call(&names, &lock, &committed, &keys).number(10_000);
        for _ in 0..2 {
            assert_eq!(status(&store, &remove).await, "ok");
        }
        assert_eq!(store.load(&id, None).await.unwrap(), None);
        assert_eq!(status(&store, &commit).await, "lost");
    }
}
