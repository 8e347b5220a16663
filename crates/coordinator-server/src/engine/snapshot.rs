//! Records of groups, read as the store writes them down and put back. A record that is put back looks like one of a store that lost writes: rules C1 to C8 do
//! the rest, so that no shard gets a second reader and no epoch is handed out twice.

use std::sync::Arc;
use std::time::Duration;

use coordinator_core::Group;
use coordinator_core::input::Input;
use coordinator_core::lineage::EPOCH_LEAP;
use coordinator_core::member::MemberRecord;
use coordinator_core::names::GroupId;
use coordinator_core::numbers::{GroupEpoch, StoreRevision};
use coordinator_core::record::GroupRecord;
use coordinator_core::time::{Clock, Millis};
use coordinator_core::write::Write;
use store::records::{Aggregate, DecodeError};
use store::{Begun, Commit, CommitError, CreateError, LockLimits, StoreError};

use super::group_task::Ask;
use super::{Engine, EngineError, epochs};
use crate::metrics;

const ATTEMPTS: usize = 8;

/// For longer than this nobody is kept from changing a group while the moment of its new epoch is waited for.
const PATIENCE: Duration = Duration::from_millis(100);

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

/// A record as it is to be put back.
struct Prepared {
    record: Box<GroupRecord>,
    /// What that does to leases.
    writes: Vec<Write>,
    /// Until when by then no epoch of the record is one of a later moment.
    wait: Duration,
}

/// What came of one attempt.
enum Attempt {
    Done(Before, Box<GroupRecord>),
    /// Somebody changed the group meanwhile.
    Overtaken,
    /// The epoch would be ahead of the store's clock by so much.
    TooEarly(Duration),
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
                let _ = engine.relist(&id, None).await;
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
            let attempt = match self.store().begin(id, None).await {
                Ok(begun) => self.restore_under(begun, record, force).await?,
                Err(StoreError::Corrupt { .. }) if force => self.repair(id, record).await?,
                Err(error) => return Err(error.into()),
            };
            match attempt {
                Attempt::Done(before, restored) => return Ok((before, *restored)),
                Attempt::Overtaken => metrics::state_conflict("restore"),
                Attempt::TooEarly(wait) => tokio::time::sleep(wait).await,
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
    ) -> Result<Attempt, RestoreError> {
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
        let prepared = match prepared {
            Ok(prepared) if prepared.wait <= PATIENCE => prepared,
            early_or_wrong => {
                self.store().release(begun.lock).await;
                return early_or_wrong.map(|early| Attempt::TooEarly(early.wait));
            }
        };
        // Whoever has the right next comes at a later moment (rule C7).
        tokio::time::sleep(prepared.wait).await;
        let Some(expected) = &begun.snapshot else {
            let created = self.store().create(&begun.lock, &prepared.record).await;
            self.store().release(begun.lock).await;
            return match created {
                Ok(_) => Ok(Attempt::Done(Before::Nothing, prepared.record)),
                Err(CreateError::AlreadyExists) if force => Ok(Attempt::Overtaken),
                Err(CreateError::AlreadyExists) => Err(RestoreError::Exists {
                    group: record.id.clone(),
                }),
                Err(CreateError::LockLost) => Ok(Attempt::Overtaken),
                Err(CreateError::Store(error)) => Err(error.into()),
            };
        };
        let commit = Commit {
            expected,
            record: &prepared.record,
            writes: &prepared.writes,
            progress: &[],
        };
        match self.store().commit(begun.lock, commit).await {
            Ok(_) => Ok(Attempt::Done(Before::Record, prepared.record)),
            Err(CommitError::Store(error)) => Err(error.into()),
            Err(_) => Ok(Attempt::Overtaken),
        }
    }

    /// Puts a record in the place of one that can't be read.
    async fn repair(&self, id: &GroupId, record: &GroupRecord) -> Result<Attempt, RestoreError> {
        let now = self.0.watchtower.refresh().await?.now;
        let clock = self.0.watchtower.clock(now).await?;
        let prepared = self.as_after_a_loss(record, None, clock)?;
        if prepared.wait > PATIENCE {
            return Ok(Attempt::TooEarly(prepared.wait));
        }
        tokio::time::sleep(prepared.wait).await;
        match self.store().replace_unreadable(id, &prepared.record).await {
            Ok(_) => Ok(Attempt::Done(Before::Unreadable, prepared.record)),
            // Somebody mended it meanwhile: it is looked at anew.
            Err(CreateError::AlreadyExists | CreateError::LockLost) => Ok(Attempt::Overtaken),
            Err(CreateError::Store(error)) => Err(error.into()),
        }
    }

    /// The record as it is to be written, and what that does to leases: doubted (rule C8), its epochs above those of the record that it takes the place of, of
    /// what this coordinator has seen of the group, and of whatever may have been lost (rule C7).
    fn as_after_a_loss(
        &self,
        record: &GroupRecord,
        present: Option<&GroupRecord>,
        clock: Clock,
    ) -> Result<Prepared, RestoreError> {
        let records = || std::iter::once(record).chain(present);
        let seen = self.0.views.record(&record.id);
        let epochs = records().chain(seen.as_deref()).map(|it| it.group_epoch);
        let known = epochs.max().unwrap_or_default().get();
        // The leap is made by the doubt below.
        let latest = self.0.watchtower.latest().max(clock.now);
        let below = epochs::above(known, latest).saturating_sub(EPOCH_LEAP);
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
            .knowing(GroupEpoch::new(below));
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
        let mut record = Box::new(group.into_record());
        // Until the record is written leases of the one that is there are renewed: as long as the right to change it lasts, at most.
        let right = u64::try_from(LockLimits::default().ttl.as_millis()).unwrap_or(u64::MAX);
        let hold = &mut record.lineage.hold_until;
        *hold = hold.map(|until| until.plus(Millis::new(right)));
        let wait = epochs::wait_for(record.group_epoch.get(), clock.now);
        if wait.is_none() {
            tracing::warn!(group = %record.id, epoch = %record.group_epoch, "epochs are far ahead of the store's clock: it went back; only what is known of the group keeps them from being handed out twice (rule C7)");
        }
        Ok(Prepared {
            record,
            writes,
            wait: wait.unwrap_or_default(),
        })
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
