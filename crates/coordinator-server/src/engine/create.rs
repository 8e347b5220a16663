//! Creating streams and groups. The creation is recorded before anything is made, so that a half-done one is finished by repeating it;
//! clients see the group once its streams exist.

use std::sync::Arc;

use coordinator_core::input::Input;
use coordinator_core::migration::LeavingPhase;
use coordinator_core::names::{ConsumerGroup, GroupId};
use coordinator_core::numbers::{ShardCount, ShardIndex};
use coordinator_core::record::{GroupRecord, Provisioning};
use coordinator_core::shard_set::ShardSet;
use coordinator_core::time::Timestamp;
use store::{
    CommitError, CreateError, GroupLock, Lives, PlaneError, Provision, Provisioned, ShardPlane,
    Stamp,
};

use super::group_task::Ask;
use super::{Engine, EngineError};

/// What is to be created.
#[derive(Clone, Debug)]
pub(crate) struct Creation {
    pub(crate) group: GroupId,
    /// The count that was asked for.
    pub(crate) requested: Option<ShardCount>,
    /// The count of a stream for which none was asked.
    pub(crate) default: ShardCount,
    /// Whether a new stream is meant, not a further group of one.
    pub(crate) new_stream: bool,
}

/// A creation that is recorded and whose streams may have to be made.
struct Recorded {
    record: GroupRecord,
    stamp: Stamp,
    /// The groups of the stream, this one included.
    groups: Vec<ConsumerGroup>,
    /// Whether this call recorded it, as the first group of a stream.
    is_new_stream: bool,
    /// The shards whose streams it is to read.
    shards: ShardSet,
    /// In which lives they were before the records were looked at.
    seen: Lives,
}

impl Engine {
    /// Creates a group with its streams and consumer groups, and gives its record.
    ///
    /// Once begun it goes on, even if nobody waits for it any more: given up half way it would leave its rights taken.
    pub(crate) async fn create(
        &self,
        creation: &Creation,
    ) -> Result<Arc<GroupRecord>, EngineError> {
        let begun = self.begin_change()?;
        let (engine, creation) = (self.clone(), creation.clone());
        let creating = tokio::spawn(async move {
            let outcome = engine.create_begun(&creation).await;
            if let Ok(record) = &outcome {
                tracing::info!(group = %record.id, shards = %record.shard_count, "group created");
                // It is shown from now on, and not from the next sweep.
                let _ = engine.ask(&record.id, Ask::Tick(None));
            }
            drop(begun);
            outcome
        });
        match creating.await {
            Ok(outcome) => outcome,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => Err(EngineError::Interrupted),
            },
        }
    }

    async fn create_begun(&self, creation: &Creation) -> Result<Arc<GroupRecord>, EngineError> {
        let recorded = self.record_creation(creation).await?;
        let now = self.0.watchtower.next_moment();
        let record = Arc::new(recorded.record.clone());
        self.0.listing.changed(record, recorded.stamp.clone(), now);
        let Some(plane) = &self.0.deps.plane else {
            return Ok(Arc::new(recorded.record));
        };
        let record = &recorded.record;
        let order = Provision {
            stream: record.id.stream.clone(),
            shards: recorded.shards.clone(),
            groups: recorded.groups.clone(),
            new_group: Some(record.id.group.clone()),
            origin: uuid::Uuid::new_v4().to_string(),
            seen: recorded.seen.clone(),
        };
        match plane.provision(&order).await {
            Ok(made) => self.finish_creation(&record.id, made).await,
            Err(error) => {
                if recorded.is_new_stream && matches!(error, PlaneError::ForeignKeys { .. }) {
                    self.take_back(&recorded).await;
                } else {
                    tracing::warn!(group = %record.id, %error, "the group stays half made: its creation is to be repeated, or the group deleted");
                }
                Err(error.into())
            }
        }
    }

    async fn finish_creation(
        &self,
        group: &GroupId,
        made: Provisioned,
    ) -> Result<Arc<GroupRecord>, EngineError> {
        let input = Input::ProvisioningFinished {
            generations: made.generations,
            epochs_from: made.epochs_from,
        };
        let told = self.tell(group, input, None).await?;
        Ok(told.record)
    }

    /// Records the creation, or finds the one that is to be finished. One at a time for each stream: whoever creates holds the right to change the
    /// stream's own group, so that all its groups get one count (rule G10).
    async fn record_creation(&self, creation: &Creation) -> Result<Recorded, EngineError> {
        let own = creation.group.stream.own_group();
        let stream_lock = self.store().begin(&own, None).await?.lock;
        let outcome = if creation.group == own {
            self.record_locked(creation, &stream_lock).await
        } else {
            match self.store().begin(&creation.group, None).await {
                Ok(begun) => {
                    let outcome = self.record_locked(creation, &begun.lock).await;
                    self.store().release(begun.lock).await;
                    outcome
                }
                Err(error) => Err(error.into()),
            }
        };
        self.store().release(stream_lock).await;
        outcome
    }

    async fn record_locked(
        &self,
        creation: &Creation,
        lock: &GroupLock,
    ) -> Result<Recorded, EngineError> {
        let looked_at = self.streams_to_make(creation).await?;
        let seen = self.lives(&creation.group.stream, &looked_at).await?;
        let siblings = self.siblings(creation).await?;
        let mut groups: Vec<_> = siblings.iter().map(|it| it.id.group.clone()).collect();
        groups.push(creation.group.group.clone());
        groups.sort();
        let recorded = |record: GroupRecord, stamp, is_new_stream| {
            let all = streams_of(&record);
            if !all.is_subset(&looked_at) {
                // The stream was given another count in between.
                return Err(EngineError::Conflict);
            }
            // What leaves may be gone by now, and is not to be made again.
            let is_alive = |shard: &ShardIndex| seen.get(shard).is_some_and(|life| !life.is_over);
            let stays = |shard: &ShardIndex| record.shard_count.contains(*shard);
            let shards = all.iter().filter(|shard| stays(shard) || is_alive(shard));
            Ok(Recorded {
                shards: shards.collect(),
                record,
                stamp,
                groups,
                is_new_stream,
                seen,
            })
        };
        if let Some(found) = self.store().load(&creation.group, None).await? {
            return match found.record.provisioning {
                Provisioning::Done => Err(EngineError::GroupExists),
                Provisioning::Pending => {
                    check_count(creation.requested, found.record.shard_count)?;
                    recorded((*found.record).clone(), found.stamp, false)
                }
            };
        }
        if let (true, Some(sibling)) = (creation.new_stream, siblings.first()) {
            return Err(EngineError::StreamExists {
                group: sibling.id.group.as_str().to_owned(),
            });
        }
        let count = match siblings.first() {
            Some(sibling) => {
                check_count(creation.requested, sibling.shard_count)?;
                sibling.shard_count
            }
            None => creation.requested.unwrap_or(creation.default),
        };
        let is_new_stream = siblings.is_empty();
        let provisioning = self.vacancy(creation, count, is_new_stream).await?;
        let id = creation.group.clone();
        // Rule G10: one that still has the change before one that is through with it.
        let has_change = |sibling: &&Arc<GroupRecord>| sibling.migration.is_some();
        let beside = siblings.iter().find(has_change).or(siblings.first());
        let mut record = match beside {
            Some(sibling) => GroupRecord::beside(id, sibling, provisioning),
            None => GroupRecord::new(id, count, provisioning),
        };
        record.lineage.doubted_at = self.settled_doubt();
        let stamp = self
            .store()
            .create(lock, &record)
            .await
            .map_err(|error| match error {
                CreateError::AlreadyExists => EngineError::GroupExists,
                CreateError::LockLost => EngineError::Conflict,
                CreateError::Store(error) => error.into(),
            })?;
        recorded(record, stamp, is_new_stream)
    }

    /// The shards whose streams the group is to read, as far as can be told before anything is recorded.
    async fn streams_to_make(&self, creation: &Creation) -> Result<ShardSet, EngineError> {
        let found = self.store().load(&creation.group, None).await?;
        let siblings = self.siblings(creation).await?;
        let known = found.iter().map(|found| &found.record).chain(&siblings);
        let mut shards: Vec<ShardIndex> = Vec::new();
        for record in known {
            shards.extend(streams_of(record).iter());
        }
        if shards.is_empty() {
            let count = creation.requested.unwrap_or(creation.default);
            shards.extend(count.shards());
        }
        Ok(shards.into_iter().collect())
    }

    /// The other groups of the stream.
    async fn siblings(&self, creation: &Creation) -> Result<Vec<Arc<GroupRecord>>, EngineError> {
        let mut records = self.records_of_stream(&creation.group.stream).await?;
        records.retain(|record| record.id != creation.group);
        Ok(records)
    }

    /// The last doubt of all groups, if its hold is over: a new group need not act on it (rule C8). One that was lost and is made anew meanwhile does.
    fn settled_doubt(&self) -> Option<Timestamp> {
        let lease = self.settings().member_lease_ttl();
        let now = self.0.watchtower.estimated_now()?;
        let at = self.0.watchtower.doubt()?.at;
        (at.plus(lease) <= now).then_some(at)
    }

    /// Whether streams have to be made; refused where a new stream's keys exist already.
    async fn vacancy(
        &self,
        creation: &Creation,
        count: ShardCount,
        is_new_stream: bool,
    ) -> Result<Provisioning, EngineError> {
        let Some(plane) = &self.0.deps.plane else {
            return Ok(Provisioning::Done);
        };
        if is_new_stream {
            let plane: &dyn ShardPlane = &**plane;
            plane.check_vacant(&creation.group.stream, count).await?;
        }
        Ok(Provisioning::Pending)
    }

    /// Takes a creation back whose keys turned out to be somebody else's.
    async fn take_back(&self, recorded: &Recorded) {
        let removed = match self.store().begin(&recorded.record.id, None).await {
            Ok(begun) => self.store().remove(begun.lock, &recorded.stamp).await,
            Err(error) => Err(CommitError::Store(error)),
        };
        if removed.is_ok() {
            self.unlist(&recorded.record.id);
        }
        if let Err(error) = removed {
            tracing::warn!(group = %recorded.record.id, %error, "a refused creation stays recorded; delete the group to remove it");
        }
    }
}

/// The shards that have streams: those that are routed to, and those that are on their way out.
pub(super) fn streams_of(record: &GroupRecord) -> ShardSet {
    let leaving = record
        .migration
        .iter()
        .flat_map(|migration| &migration.leaving);
    let there = leaving.filter(|leaving| leaving.phase != LeavingPhase::Retired);
    let shards = record.shard_count.shards();
    shards.chain(there.map(|leaving| leaving.shard)).collect()
}

/// Rule G10: all groups of a stream share one count.
fn check_count(requested: Option<ShardCount>, count: ShardCount) -> Result<(), EngineError> {
    match requested.filter(|requested| *requested != count) {
        Some(requested) => Err(EngineError::OtherShardCount { requested, count }),
        None => Ok(()),
    }
}
