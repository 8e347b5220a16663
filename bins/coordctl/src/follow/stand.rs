//! How a change stands, in words and as a part of the whole.

use coordinator_client::ClientError;
use protocol::{Migration, MigrationState, ShardDrainPhase};

use super::{Changes, is_through};
use crate::failure::{Failure, with_sources};
use crate::run::Session;
use crate::show::drain::{Owners, waits};
use crate::show::numbers::shards_named;
use crate::show::text::{printable, wire};

/// How a change stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stand {
    pub(super) state: MigrationState,
    /// Shards that are through, of all that appear or leave.
    pub(super) done: u64,
    pub(super) all: u64,
    /// What is waited for, a line each.
    pub(super) waits: Vec<String>,
}

impl Stand {
    /// As the group has it that is furthest behind.
    pub(super) fn of(changes: &Changes, owners: &Owners) -> Self {
        let behind = changes.iter().find(|(_, change)| !is_through(change));
        let Some((_, change)) = behind.or_else(|| changes.first()) else {
            return Self {
                state: MigrationState::Deprecated,
                done: 0,
                all: 0,
                waits: Vec::new(),
            };
        };
        let (from, to) = (change.from_shard_count, change.to_shard_count);
        let all = u64::from(from.abs_diff(to));
        let groups: Vec<String> = changes.iter().map(|(group, _)| group.clone()).collect();
        Self {
            state: change.state,
            done: done(change, all),
            all,
            waits: waited_for(change, &groups, owners),
        }
    }

    /// As it was, while nobody answers.
    pub(super) fn silent(changes: &Changes, error: &ClientError) -> Self {
        let before = Self::of(changes, &Owners::new());
        let why = match error {
            ClientError::Api { code, message, .. } => format!("{code}: {message}"),
            other => with_sources(other),
        };
        Self {
            waits: vec![format!("no answer, asking again: {}", printable(&why))],
            ..before
        }
    }

    /// All in one line.
    pub(super) fn line(&self) -> String {
        if self.waits.is_empty() {
            return wire(self.state);
        }
        format!("{}: {}", wire(self.state), self.waits.join("; "))
    }
}

fn done(change: &Migration, all: u64) -> u64 {
    if is_through(change) {
        return all;
    }
    let shards = change.shards.iter().flatten();
    let retired = shards.filter(|shard| shard.phase == ShardDrainPhase::Retired);
    retired.count() as u64
}

fn waited_for(change: &Migration, groups: &[String], owners: &Owners) -> Vec<String> {
    let (from, to) = (change.from_shard_count, change.to_shard_count);
    match change.state {
        MigrationState::Preparing if to > from => {
            let new: Vec<u32> = (from..to).collect();
            vec![format!("being made: {}", shards_named(&new))]
        }
        MigrationState::Preparing => vec!["every group is recording it".to_owned()],
        MigrationState::Active => vec!["producers and members are taking it over".to_owned()],
        MigrationState::Draining | MigrationState::RollingBack => {
            let shards = change.shards.iter().flatten();
            shards
                .flat_map(|shard| waits(shard, groups, owners))
                .collect()
        }
        MigrationState::Deprecated | MigrationState::RolledBack => Vec::new(),
    }
}

/// Who owns the shards that leave, in each group; asked only while shards leave.
pub(super) async fn owners(
    session: &Session,
    stream: &str,
    changes: &Changes,
) -> Result<Owners, Failure> {
    let mut owners = Owners::new();
    let leaving = changes.iter().filter(|(_, change)| change.shards.is_some());
    for (group, _) in leaving {
        let answer = match session.client.assignments(stream, group).await {
            Ok(answer) => answer,
            // An owner that is not known is left out; the next question will tell.
            Err(error) if error.is_retryable() => continue,
            Err(error) if error.code() == Some(&protocol::ErrorCode::GroupNotFound) => continue,
            Err(error) => return Err(error.into()),
        };
        for (member, shards) in answer.current_assignments {
            for shard in shards {
                owners.insert((group.clone(), shard.shard_index), member.clone());
            }
        }
    }
    Ok(owners)
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::{DrainCondition, DrainingShard, IsoTimestamp, OpenCondition};

    fn change(state: MigrationState, shards: Option<Vec<DrainingShard>>) -> Changes {
        let change = Migration {
            resharding_id: "reshard-1".to_owned(),
            from_shard_count: 8,
            to_shard_count: 6,
            state,
            created_at: IsoTimestamp::from_millis(0),
            updated_at: IsoTimestamp::from_millis(0),
            shards,
        };
        vec![("orders".to_owned(), change)]
    }

    fn shard(shard_index: u32, phase: ShardDrainPhase, open: Vec<OpenCondition>) -> DrainingShard {
        DrainingShard {
            shard_index,
            phase,
            pending: Some(0),
            lag: Some(0),
            open,
        }
    }

    #[test]
    fn a_change_names_each_shard_that_it_waits_for() {
        let open = OpenCondition {
            consumer_group: "orders".to_owned(),
            condition: DrainCondition::Lag,
            count: Some(120),
        };
        let shards = vec![
            shard(6, ShardDrainPhase::Retired, Vec::new()),
            shard(7, ShardDrainPhase::Draining, vec![open]),
        ];
        let owners: Owners = [(("orders".to_owned(), 7), "m-2".to_owned())].into();
        let stand = Stand::of(&change(MigrationState::Draining, Some(shards)), &owners);
        assert_eq!((stand.done, stand.all), (1, 2));
        assert_eq!(stand.line(), "DRAINING: shard 7: 120 unread, owner m-2");
    }

    #[test]
    fn a_change_that_is_through_waits_for_nothing() {
        let stand = Stand::of(&change(MigrationState::Deprecated, None), &Owners::new());
        assert_eq!((stand.done, stand.all), (2, 2));
        assert_eq!(stand.line(), "DEPRECATED");
    }
}
