//! A group as the store has it, read and checked. Nothing of it is kept.

use coordinator_core::Group;
use coordinator_core::names::GroupId;
use coordinator_core::record::GroupRecord;
use coordinator_core::settings::Settings;
use store::{GroupStore, Snapshot, StoreError};

/// A record as a group.
///
/// # Errors
/// [`StoreError::Corrupt`] where no decision could have led to it (rule C6).
pub(super) fn restored(record: &GroupRecord, settings: &Settings) -> Result<Group, StoreError> {
    Group::restore(record.clone(), *settings).map_err(|error| StoreError::Corrupt {
        reason: error.to_string(),
        source: None,
    })
}

/// A group as it is recorded now; none where there is none.
///
/// # Errors
/// [`StoreError`]; [`StoreError::Corrupt`] where it is there and can't be read.
pub(super) async fn recorded(
    store: &dyn GroupStore,
    settings: &Settings,
    id: &GroupId,
) -> Result<Option<(Group, Snapshot)>, StoreError> {
    let Some(snapshot) = store.load(id, None).await? else {
        return Ok(None);
    };
    Ok(Some((restored(&snapshot.record, settings)?, snapshot)))
}
