//! Operators' requests to change the shard count, and to take a change back. One change covers every group of a stream (rule G10); the first group, in the
//! order of their names, decides whether it is taken on, and whoever drives it hands it on to the others.

use std::sync::Arc;

use coordinator_core::input::Input;
use coordinator_core::migration::{Migration, MigrationState};
use coordinator_core::names::{GroupId, ReshardingId, StreamPrefix};
use coordinator_core::numbers::ShardCount;
use coordinator_core::record::{GroupRecord, Provisioning};
use coordinator_core::shard_set::ShardSet;
use coordinator_core::step::{Rejection, Reply, ScaleReply};
use coordinator_core::time::Timestamp;
use store::{PlaneError, Snapshot};

use super::resharding::Progress;
use super::{Engine, EngineError};

/// How many stages are gone at most while somebody waits for an answer.
const STAGES: usize = 64;

/// What became of a request to change the shard count.
#[derive(Clone, Debug)]
pub(crate) struct Scaled {
    /// The change; none if the stream has that count already (rule G9).
    pub(crate) resharding: Option<ReshardingId>,
    /// The groups of the stream, as they are now.
    pub(crate) records: Vec<Arc<GroupRecord>>,
    /// When that was, in the store's time.
    pub(crate) at: Timestamp,
}

impl Engine {
    /// Changes the shard count of a stream: recorded by all groups, and its streams made, when this returns (rule G1).
    ///
    /// Repeated while streams could not be made, it goes on (rule G9).
    pub(crate) async fn scale(
        &self,
        stream: &StreamPrefix,
        target: ShardCount,
    ) -> Result<Scaled, EngineError> {
        let _begun = self.begin_change()?;
        let snapshots = self.snapshots_of_stream(stream).await?;
        let Some(first) = snapshots.first() else {
            return Err(EngineError::StreamNotFound);
        };
        // As it is now: what comes to be doubted from here on was not known when the records were read.
        let under = Some(self.latest_doubt_of(first));
        let records = records(&snapshots);
        check_finished(&records)?;
        check_free(&records, target)?;
        self.check_room(&records, target).await?;
        let fresh = ReshardingId::new(&format!("reshard-{}", uuid::Uuid::new_v4()));
        let active = records.iter().find_map(|record| record.migration.as_ref());
        let input = Input::ScaleRequested {
            resharding: active.map_or(fresh, |active| active.id.clone()),
            target,
        };
        let told = self.tell(&first.record.id, input, under).await?;
        let resharding = match told.reply {
            Reply::Scale(ScaleReply::Started(id) | ScaleReply::Resumed(id)) => Some(id),
            _ => None,
        };
        if let Some(id) = &resharding {
            tracing::info!(%stream, resharding = %id, from = %first.record.shard_count, to = %target, "the shard count is changed");
            let gone_on = self.go_on_until_active(stream, id).await;
            gone_on.map_err(|error| in_the_way(error).after_begin_of(id))?;
        }
        let records = self.records_of_stream(stream).await;
        let records = records.map_err(|error| match &resharding {
            Some(id) => error.after_begin_of(id),
            None => error,
        })?;
        Ok(Scaled {
            resharding,
            records,
            at: self.0.watchtower.estimated_now().unwrap_or_default(),
        })
    }

    /// Takes a change back (rule G8), and gives the group's record.
    pub(crate) async fn roll_back(
        &self,
        group: &GroupId,
        resharding: &ReshardingId,
    ) -> Result<Arc<GroupRecord>, EngineError> {
        let _begun = self.begin_change()?;
        let snapshots = self.snapshots_of_stream(&group.stream).await?;
        // As they are now: what comes to be doubted from here on was not known when the records were read.
        let doubts: Vec<_> = snapshots
            .iter()
            .map(|found| self.latest_doubt_of(found))
            .collect();
        let records = records(&snapshots);
        let asked = records.iter().find(|record| record.id == *group);
        let asked = asked.ok_or(EngineError::GroupNotFound)?;
        if state_in(asked, resharding).is_none() {
            return Err(Rejection::UnknownMigration {
                wanted: resharding.clone(),
            }
            .into());
        }
        let decides = who_decides(&records, resharding)?;
        let decider = &decides.id;
        let mut have_it: Vec<_> = snapshots
            .iter()
            .zip(doubts)
            .filter(|(found, _)| state_in(&found.record, resharding).is_some())
            .collect();
        // Whoever decides is told first.
        have_it.sort_by_key(|(found, _)| found.record.id != *decider);
        for (found, doubt) in have_it {
            let input = Input::RollbackRequested {
                resharding: resharding.clone(),
                is_decided: found.record.id != *decider,
            };
            self.tell(&found.record.id, input, Some(doubt)).await?;
        }
        self.unseal(&group.stream, decides, resharding).await?;
        tracing::info!(%group, %resharding, "the change of the shard count is taken back");
        self.drive(&group.stream);
        let found = self.store().load(group, None).await?;
        Ok(found.ok_or(EngineError::GroupNotFound)?.record)
    }

    /// Shards that were to leave and stay are published to again.
    async fn unseal(
        &self,
        stream: &StreamPrefix,
        record: &GroupRecord,
        resharding: &ReshardingId,
    ) -> Result<(), EngineError> {
        let (Some(plane), Some(change)) = (&self.0.deps.plane, record.change(resharding)) else {
            return Ok(());
        };
        let stay: ShardSet = change.from.shards_beyond(change.to).collect();
        Ok(plane.unseal(stream, &stay).await?)
    }

    /// A key of somebody else's in the place of a new shard is told before anything is recorded.
    async fn check_room(
        &self,
        records: &[Arc<GroupRecord>],
        target: ShardCount,
    ) -> Result<(), EngineError> {
        let Some(plane) = &self.0.deps.plane else {
            return Ok(());
        };
        let is_under_way = records.iter().any(|record| record.migration.is_some());
        let count = records[0].shard_count;
        if is_under_way || target <= count {
            return Ok(());
        }
        let added = target.shards_beyond(count).collect();
        let room = plane.check_room(&records[0].id.stream, &added).await;
        room.map_err(|error| in_the_way(error.into()))
    }

    async fn go_on_until_active(
        &self,
        stream: &StreamPrefix,
        change: &ReshardingId,
    ) -> Result<(), EngineError> {
        for _ in 0..STAGES {
            let records = self.records_of_stream(stream).await?;
            let is_prepared = |record: &Arc<GroupRecord>| {
                state_in(record, change).is_some_and(|state| state != MigrationState::Preparing)
            };
            if records.iter().all(is_prepared) {
                break;
            }
            if self.reshard(stream).await? == Progress::Nothing {
                break;
            }
        }
        self.drive(stream);
        Ok(())
    }
}

/// Keys of somebody else's in the place of new shards, as whoever asks for these is told of them: the stream itself exists and is the coordinator's.
fn in_the_way(error: EngineError) -> EngineError {
    match error {
        EngineError::Plane(PlaneError::ForeignKeys { keys }) => PlaneError::Failed {
            reason: format!(
                "these keys stand where new shards would be, and are not the coordinator's: {}; move them away, or choose another count",
                keys.join(", ")
            ),
            retryable: false,
            source: None,
        }
        .into(),
        other => other,
    }
}

fn records(snapshots: &[Snapshot]) -> Vec<Arc<GroupRecord>> {
    let records = snapshots.iter().map(|found| Arc::clone(&found.record));
    records.collect()
}

/// How far a group is with a change, if it has it or had it.
fn state_in(record: &GroupRecord, change: &ReshardingId) -> Option<MigrationState> {
    record.change(change).map(|it| it.state)
}

/// A group that is half made does not know its streams yet.
fn check_finished(records: &[Arc<GroupRecord>]) -> Result<(), EngineError> {
    let is_pending = |record: &&Arc<GroupRecord>| record.provisioning == Provisioning::Pending;
    match records.iter().find(is_pending) {
        Some(record) => Err(EngineError::Unfinished {
            group: record.id.group.as_str().to_owned(),
        }),
        None => Ok(()),
    }
}

/// Rule G9: one change at a time, in all groups of the stream; the same one may be asked for again until its streams are made.
fn check_free(records: &[Arc<GroupRecord>], target: ShardCount) -> Result<(), EngineError> {
    let active = records
        .iter()
        .filter_map(|record| record.migration.as_ref());
    for migration in active {
        let is_same = migration.state == MigrationState::Preparing && migration.to == target;
        if !is_same {
            return Err(Rejection::ActiveMigration {
                active: migration.id.clone(),
            }
            .into());
        }
    }
    Ok(())
}

/// Rule G8: the group that decides whether a change is taken back; the others follow it. It is one in which no shard has left the assignable set, and there
/// is none in any other: a group that is through with a change that only adds shards, since nobody is in it, does not stand in the way.
fn who_decides<'a>(
    records: &'a [Arc<GroupRecord>],
    change: &ReshardingId,
) -> Result<&'a GroupRecord, EngineError> {
    let known = || {
        let state = |record: &'a Arc<GroupRecord>| Some((&**record, record.change(change)?));
        records.iter().filter_map(state)
    };
    if let Some((record, _)) = known().find(|(_, it)| it.state.is_taken_back()) {
        return Ok(record);
    }
    let only_adds = |it: &Migration| it.state == MigrationState::Deprecated && it.to > it.from;
    let gone_too_far = known().find(|(_, it)| !it.state.may_be_taken_back() && !only_adds(it));
    let decides = known().find(|(_, it)| it.state.may_be_taken_back());
    match (gone_too_far, decides) {
        (None, Some((record, _))) => Ok(record),
        (Some((_, it)), _) => Err(Rejection::RollbackNotAllowed { state: it.state }.into()),
        (None, None) => {
            let state = MigrationState::Deprecated;
            Err(Rejection::RollbackNotAllowed { state }.into())
        }
    }
}
