//! Records of groups, read as the store writes them down and put back. A record that is put back looks like one of a store that lost writes: rules C1 to C8 do
//! the rest, so that no shard gets a second reader and no epoch is handed out twice.

use std::sync::Arc;

use coordinator_core::Group;
use coordinator_core::input::Input;
use coordinator_core::lineage::EPOCH_LEAP;
use coordinator_core::member::MemberRecord;
use coordinator_core::names::GroupId;
use coordinator_core::numbers::{GroupEpoch, StoreRevision};
use coordinator_core::record::GroupRecord;
use coordinator_core::time::{Clock, Millis, Timestamp};
use coordinator_core::write::Write;
use store::records::{Aggregate, DecodeError};
use store::{Begun, Commit, CommitError, CreateError, LockLimits, StoreError};

use super::group_task::Ask;
use super::{Engine, EngineError};
use crate::metrics;

const ATTEMPTS: usize = 8;

/// Rule C7, where nothing says which epochs were handed out since a snapshot was taken: one is that of this moment if it is above all that a group could have come
/// to by then, had it lost writes, and leapt, with every second. Seconds times [`EPOCH_LEAP`] stay below 2^53.
const fn epoch_of(now: Timestamp) -> u64 {
    (now.as_ms() / 1_000).saturating_mul(EPOCH_LEAP)
}

/// A record as it is written down.
pub(crate) struct WrittenDown {
    pub(crate) record: Arc<GroupRecord>,
    pub(crate) revision: StoreRevision,
    pub(crate) text: String,
}

/// What was there before a record was put back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Before {
    Nothing,
    Record,
    Unreadable,
}

/// Why a record was not put back.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum RestoreError {
    #[error("the record of {group} in the snapshot can't be used: {reason}")]
    Unusable { group: GroupId, reason: String },
    #[error("{group} is there already; only with force it is replaced")]
    Exists { group: GroupId },
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl From<StoreError> for RestoreError {
    fn from(error: StoreError) -> Self {
        Self::Engine(error.into())
    }
}

impl Engine {
    /// A record that is there; none for a name without one. One that can't be read is there.
    pub(crate) async fn any_group(&self) -> Result<Option<GroupId>, EngineError> {
        for id in self.group_ids().await? {
            match self.store().load(&id, None).await {
                Ok(None) => {}
                Ok(Some(_)) | Err(StoreError::Corrupt { .. }) => return Ok(Some(id)),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(None)
    }

    /// A group as the store writes it down.
    pub(crate) async fn written_down(
        &self,
        id: &GroupId,
    ) -> Result<Option<WrittenDown>, EngineError> {
        let found = self.store().load(id, None).await?;
        Ok(found.map(|snapshot| WrittenDown {
            text: Aggregate::encode(&snapshot.record, snapshot.stamp.revision),
            revision: snapshot.stamp.revision,
            record: snapshot.record,
        }))
    }

    /// Whether a text is the record of a group, as far as that shows without the store.
    ///
    /// # Errors
    /// [`RestoreError::Unusable`] says why not.
    pub(crate) fn check_restorable(
        id: &GroupId,
        text: &str,
        revision: StoreRevision,
    ) -> Result<(), RestoreError> {
        decode(id, text, revision).map(drop)
    }

    /// Puts a record back. Goes on once begun, even if nobody waits for it any more.
    pub(crate) async fn restore(
        &self,
        id: GroupId,
        text: &str,
        revision: StoreRevision,
        force: bool,
    ) -> Result<(Before, GroupRecord), RestoreError> {
        let record = decode(&id, text, revision)?;
        let begun = self.begin_change()?;
        let engine = self.clone();
        let restoring = tokio::spawn(async move {
            let outcome = engine.restore_begun(&id, &record, force).await;
            if let Ok((before, restored)) = &outcome {
                let epoch = restored.group_epoch;
                tracing::warn!(group = %id, ?before, version = %restored.metadata_version, %epoch, "group restored from a snapshot");
                // It may have deadlines, and a change that is under way.
                let _ = engine.ask(&id, Ask::Tick(None));
                let _ = engine.relist(&id).await;
            }
            drop(begun);
            outcome
        });
        match restoring.await {
            Ok(outcome) => outcome,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => Err(EngineError::Interrupted.into()),
            },
        }
    }

    async fn restore_begun(
        &self,
        id: &GroupId,
        record: &GroupRecord,
        force: bool,
    ) -> Result<(Before, GroupRecord), RestoreError> {
        for _ in 0..ATTEMPTS {
            let outcome = match self.store().begin(id, None).await {
                Ok(begun) => self.restore_under(begun, record, force).await,
                Err(StoreError::Corrupt { .. }) if force => self.repair(id, record).await,
                Err(error) => Err(error.into()),
            };
            match outcome {
                Err(RestoreError::Engine(EngineError::Conflict)) => {
                    metrics::state_conflict("restore");
                }
                outcome => return outcome,
            }
        }
        Err(EngineError::Conflict.into())
    }

    /// Puts a record back under the right to change the group, and gives the right back.
    async fn restore_under(
        &self,
        begun: Begun,
        record: &GroupRecord,
        force: bool,
    ) -> Result<(Before, GroupRecord), RestoreError> {
        let present = begun
            .snapshot
            .as_ref()
            .map(|found| Arc::clone(&found.record));
        let prepared = if present.is_some() && !force {
            Err(RestoreError::Exists {
                group: record.id.clone(),
            })
        } else {
            let clock = self.0.watchtower.clock(begun.now).await;
            clock
                .map_err(RestoreError::from)
                .and_then(|clock| self.as_after_a_loss(record, present.as_deref(), clock))
        };
        let (restored, writes) = match prepared {
            Ok(prepared) => prepared,
            Err(error) => {
                self.store().release(begun.lock).await;
                return Err(error);
            }
        };
        let Some(expected) = &begun.snapshot else {
            let created = self.store().create(&begun.lock, &restored).await;
            self.store().release(begun.lock).await;
            created.map_err(|error| of_creation(error, &record.id))?;
            return Ok((Before::Nothing, restored));
        };
        let commit = Commit {
            expected,
            record: &restored,
            writes: &writes,
            progress: &[],
        };
        match self.store().commit(begun.lock, commit).await {
            Ok(_) => Ok((Before::Record, restored)),
            Err(CommitError::Store(error)) => Err(error.into()),
            Err(_) => Err(EngineError::Conflict.into()),
        }
    }

    /// Puts a record in the place of one that can't be read.
    async fn repair(
        &self,
        id: &GroupId,
        record: &GroupRecord,
    ) -> Result<(Before, GroupRecord), RestoreError> {
        let now = self.0.watchtower.refresh().await?.now;
        let clock = self.0.watchtower.clock(now).await?;
        let (restored, _) = self.as_after_a_loss(record, None, clock)?;
        match self.store().replace_unreadable(id, &restored).await {
            Ok(_) => Ok((Before::Unreadable, restored)),
            // Somebody mended it meanwhile: it is looked at anew.
            Err(CreateError::AlreadyExists | CreateError::LockLost) => {
                Err(EngineError::Conflict.into())
            }
            Err(CreateError::Store(error)) => Err(error.into()),
        }
    }

    /// The record as it is to be written, and what that does to leases: doubted (rule C8), its epochs above those of the record that it takes the place of and of
    /// whatever may have been lost (rule C7).
    fn as_after_a_loss(
        &self,
        record: &GroupRecord,
        present: Option<&GroupRecord>,
        clock: Clock,
    ) -> Result<(GroupRecord, Vec<Write>), RestoreError> {
        let records = || std::iter::once(record).chain(present);
        let epoch = records().map(|it| it.group_epoch.get()).max().unwrap_or(0);
        let above = epoch.max(epoch_of(clock.now));
        let doubted = records().filter_map(|it| it.lineage.doubted_at).max();
        let clock = Clock {
            doubted_at: Some(clock.now.or_after(doubted)),
            ..clock
        };
        let unusable = |reason: String| RestoreError::Unusable {
            group: record.id.clone(),
            reason,
        };
        let mut group = Group::restore(record.clone(), *self.settings())
            .map_err(|error| unusable(error.to_string()))?
            .knowing(GroupEpoch::new(above));
        let step = group
            .decide(clock, &Input::TickDue)
            .map_err(|rejection| unusable(rejection.to_string()))?;
        group.apply(&step.writes);
        let mut writes = step.writes;
        let live = |id| group.member(id).is_some_and(MemberRecord::is_live);
        let gone = present
            .into_iter()
            .flat_map(|present| present.members.keys());
        writes.extend(
            gone.filter(|id| !live(*id))
                .map(|id| Write::MemberPruned { member: id.clone() }),
        );
        let mut restored = group.into_record();
        // Until the record is written leases of the one that is there are renewed: as long as the right to change it lasts, at most.
        let right = u64::try_from(LockLimits::default().ttl.as_millis()).unwrap_or(u64::MAX);
        let hold = &mut restored.lineage.hold_until;
        *hold = hold.map(|until| until.plus(Millis::new(right)));
        Ok((restored, writes))
    }
}

fn decode(
    id: &GroupId,
    text: &str,
    revision: StoreRevision,
) -> Result<Arc<GroupRecord>, RestoreError> {
    Aggregate::decode(text, id, revision).map_err(|error| RestoreError::Unusable {
        group: id.clone(),
        reason: match std::error::Error::source(&error) {
            Some(cause) if !matches!(error, DecodeError::Record(_)) => format!("{error}: {cause}"),
            _ => error.to_string(),
        },
    })
}

fn of_creation(error: CreateError, group: &GroupId) -> RestoreError {
    match error {
        CreateError::AlreadyExists => RestoreError::Exists {
            group: group.clone(),
        },
        CreateError::LockLost => EngineError::Conflict.into(),
        CreateError::Store(error) => error.into(),
    }
}
