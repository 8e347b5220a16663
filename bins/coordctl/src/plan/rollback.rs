//! What taking a change back would mean.

use std::collections::BTreeMap;

use protocol::{ErrorCode, Group, Migration, MigrationState};
use serde::Serialize;

use super::refusals::{self, NOT_SEEN};
use super::{lines, nothing_changed, refused};
use crate::failure::Failure;
use crate::run::Session;
use crate::show::numbers::ranges;
use crate::show::text::{wire, word};
use crate::show::{Look, migrations};

/// What taking a change back would mean.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RollbackPlan {
    action: &'static str,
    stream_prefix: String,
    migration: Migration,
    consumer_groups: Vec<String>,
    /// How far each group is with it; groups that do not have it are absent.
    group_states: BTreeMap<String, MigrationState>,
    obstacles: Vec<String>,
    /// What is worth knowing before.
    notes: Vec<String>,
}

impl RollbackPlan {
    /// Looks at the change and the groups of its stream.
    pub(crate) async fn make(
        session: &Session,
        stream: &str,
        group: &str,
        id: &str,
    ) -> Result<Self, Failure> {
        let migration = session.client.migration(stream, group, id).await?;
        let groups = session.groups_of(stream).await?;
        let group_states = states(session, &groups, id).await?;
        let only_adds = migration.to_shard_count > migration.from_shard_count;
        let obstacles = refusals::gone_too_far(&group_states, only_adds);
        let back = |state: &MigrationState| {
            matches!(
                state,
                MigrationState::RollingBack | MigrationState::RolledBack
            )
        };
        let mut notes = Vec::new();
        if group_states.values().any(back) {
            notes.push("it is taken back already: groups that are not follow by themselves; asked for again, it is gone on with".to_owned());
        }
        if obstacles.is_none() {
            notes.push(NOT_SEEN.to_owned());
        }
        Ok(Self {
            action: "ROLLBACK_MIGRATION",
            stream_prefix: stream.to_owned(),
            migration,
            consumer_groups: groups
                .into_iter()
                .map(|group| group.consumer_group)
                .collect(),
            group_states,
            obstacles: obstacles.into_iter().collect(),
            notes,
        })
    }

    /// Where the stream is now, and where it would be.
    fn stands(&self) -> String {
        let Migration {
            from_shard_count: from,
            to_shard_count: to,
            ..
        } = &self.migration;
        let mut states = self.group_states.values();
        match self.migration.state {
            MigrationState::RolledBack | MigrationState::RollingBack => {
                format!("on the way back to {from} shards, or there already")
            }
            _ if states.all(is_finished) => format!("went from {from} to {to} shards"),
            _ if self.obstacles.is_empty() => {
                format!("on the way from {from} to {to} shards now, {from} after")
            }
            _ => format!("on the way from {from} to {to} shards"),
        }
    }

    /// The plan for people. `again` is what is said beside, to have it done.
    pub(crate) fn text(&self, look: &Look, again: &str) -> String {
        let Migration {
            from_shard_count: from,
            to_shard_count: to,
            resharding_id: id,
            ..
        } = &self.migration;
        let mut text = migrations::one(&self.migration, look);
        let stands = self.stands();
        let is_over = self.group_states.values().all(is_finished);
        text.push_str(&format!("\n\n{}: {stands}\n", self.stream_prefix));
        if to > from && !is_over && self.obstacles.is_empty() {
            let shards: Vec<u32> = (*from..*to).collect();
            let shards = ranges(&shards);
            text.push_str(&format!(
                "leave again: {shards}, each once it is read to its end\n"
            ));
        }
        let told = self.consumer_groups.iter().map(|group| {
            let state = self.group_states.get(group);
            state.map_or_else(
                || group.clone(),
                |state| format!("{group} {}", wire(*state)),
            )
        });
        let groups = told.collect::<Vec<_>>().join(", ");
        text.push_str(&format!("groups: {groups}\n\n"));
        text.push_str(&refused(&self.obstacles));
        text.push_str(&lines("note", &self.notes));
        let stream = word(&self.stream_prefix);
        let command = format!("coordctl migration rollback {stream} {id} {again}");
        text.push_str(&nothing_changed(&command, &self.obstacles));
        text
    }
}

const fn is_finished(state: &MigrationState) -> bool {
    matches!(
        state,
        MigrationState::Deprecated | MigrationState::RolledBack
    )
}

/// How far each group is with a change. A group that was made after it, or that has forgotten it, does not have it.
async fn states(
    session: &Session,
    groups: &[Group],
    id: &str,
) -> Result<BTreeMap<String, MigrationState>, Failure> {
    let mut states = BTreeMap::new();
    for group in groups {
        let (stream, name) = (&group.stream_prefix, &group.consumer_group);
        match session.client.migration(stream, name, id).await {
            Ok(change) => {
                states.insert(name.clone(), change.state);
            }
            Err(error)
                if matches!(
                    error.code(),
                    Some(ErrorCode::MigrationNotFound | ErrorCode::GroupNotFound)
                ) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(states)
}
