//! What taking a change back would mean.

use protocol::{Migration, MigrationState};
use serde::Serialize;

use super::{lines, nothing_changed};
use crate::failure::Failure;
use crate::run::Session;
use crate::show::numbers::{names, ranges};
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
    obstacles: Vec<String>,
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
        let may = matches!(
            migration.state,
            MigrationState::Preparing | MigrationState::Active
        );
        let obstacle = format!(
            "it is {}, and only what is PREPARING or ACTIVE can be taken back",
            wire(migration.state)
        );
        Ok(Self {
            action: "ROLLBACK_MIGRATION",
            stream_prefix: stream.to_owned(),
            migration,
            consumer_groups: groups
                .into_iter()
                .map(|group| group.consumer_group)
                .collect(),
            obstacles: if may { Vec::new() } else { vec![obstacle] },
        })
    }

    /// The plan for people.
    pub(crate) fn text(&self, look: &Look) -> String {
        let Migration {
            from_shard_count: from,
            to_shard_count: to,
            resharding_id: id,
            ..
        } = &self.migration;
        let mut text = migrations::one(&self.migration, look);
        text.push_str(&format!(
            "\n\n{}: on the way from {from} to {to} shards now, {from} after\n",
            self.stream_prefix
        ));
        if to > from {
            let shards: Vec<u32> = (*from..*to).collect();
            let shards = ranges(&shards);
            text.push_str(&format!(
                "leave again: {shards}, each once it is read to its end\n"
            ));
        }
        let groups = names(&self.consumer_groups);
        text.push_str(&format!("groups: {groups}\n\n"));
        text.push_str(&lines("refused as it stands", &self.obstacles));
        let stream = word(&self.stream_prefix);
        let command = format!("coordctl migration rollback {stream} {id}");
        text.push_str(&nothing_changed(&command));
        text
    }
}
