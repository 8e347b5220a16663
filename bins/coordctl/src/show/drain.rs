//! What a shard that leaves still waits for, in words.

use std::collections::BTreeMap;

use protocol::{DrainCondition, DrainingShard, OpenCondition, ShardDrainPhase};

/// What stands against a shard, group by group: `billing: 2 unread; orders: 3 pending`. `-` where nothing does.
pub(crate) fn conditions(shard: &DrainingShard) -> String {
    if is_waiting_for_others(shard) {
        return "the other shards".to_owned();
    }
    if shard.open.is_empty() {
        return "-".to_owned();
    }
    let groups = by_group(&shard.open).into_iter();
    let told = groups.map(|(group, open)| format!("{group}: {}", told(&open)));
    told.collect::<Vec<_>>().join("; ")
}

/// Whether it was looked at and found empty: all shards of a change leave together.
fn is_waiting_for_others(shard: &DrainingShard) -> bool {
    shard.phase == ShardDrainPhase::Draining && shard.open.is_empty() && shard.pending.is_some()
}

fn what(open: &OpenCondition) -> String {
    let count = || {
        open.count
            .map_or_else(|| "?".to_owned(), |count| count.to_string())
    };
    match open.condition {
        DrainCondition::Pending => format!("{} pending", count()),
        DrainCondition::Lag => format!("{} unread", count()),
        DrainCondition::Unread => "unread records".to_owned(),
        DrainCondition::GroupMissing => "the stream does not have the group".to_owned(),
    }
}

/// Who owns a shard in a consumer group.
pub(crate) type Owners = BTreeMap<(String, u32), String>;

/// What a shard waits for: `shard 7: 120 unread, 3 pending, owner m-2`. A line for each consumer group that has something open; nothing once it is retired.
pub(crate) fn waits(shard: &DrainingShard, groups: &[String], owners: &Owners) -> Vec<String> {
    let index = shard.shard_index;
    let name = |group: &str| match groups {
        [_] => format!("shard {index}"),
        _ => format!("shard {index} ({group})"),
    };
    let owner = |group: &str| {
        owners.get(&(group.to_owned(), index)).map_or_else(
            || "nobody owns it".to_owned(),
            |member| format!("owner {member}"),
        )
    };
    match shard.phase {
        ShardDrainPhase::Retired => Vec::new(),
        ShardDrainPhase::Drained => {
            let holding = groups.iter().filter_map(|group| {
                let member = owners.get(&(group.clone(), index))?;
                Some(format!("{}: empty, {member} lets go of it", name(group)))
            });
            let holding: Vec<String> = holding.collect();
            if holding.is_empty() {
                return vec![format!("shard {index}: empty, about to be retired")];
            }
            holding
        }
        ShardDrainPhase::Draining if is_waiting_for_others(shard) => {
            vec![format!("shard {index}: empty, leaves with the others")]
        }
        ShardDrainPhase::Draining if shard.open.is_empty() => {
            vec![format!("shard {index}: not yet looked at")]
        }
        ShardDrainPhase::Draining => by_group(&shard.open)
            .into_iter()
            .map(|(group, open)| format!("{}: {}, {}", name(group), told(&open), owner(group)))
            .collect(),
    }
}

fn by_group(open: &[OpenCondition]) -> BTreeMap<&str, Vec<&OpenCondition>> {
    let mut groups: BTreeMap<&str, Vec<&OpenCondition>> = BTreeMap::new();
    for condition in open {
        let of = groups.entry(condition.consumer_group.as_str()).or_default();
        of.push(condition);
    }
    groups
}

/// Unread before pending; that records are unread is not said twice.
fn told(open: &[&OpenCondition]) -> String {
    let has_lag = open
        .iter()
        .any(|one| one.condition == DrainCondition::Lag && one.count.is_some());
    let mut rows: Vec<(u8, String)> = open
        .iter()
        .filter(|one| match one.condition {
            DrainCondition::Unread => !has_lag,
            DrainCondition::Lag => one.count.is_some() || open.len() == 1,
            _ => true,
        })
        .map(|one| {
            let place = match one.condition {
                DrainCondition::Lag | DrainCondition::Unread => 0,
                DrainCondition::Pending => 1,
                DrainCondition::GroupMissing => 2,
            };
            (place, what(one))
        })
        .collect();
    rows.sort();
    let words: Vec<String> = rows.into_iter().map(|(_, word)| word).collect();
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(group: &str, condition: DrainCondition, count: Option<u64>) -> OpenCondition {
        OpenCondition {
            consumer_group: group.to_owned(),
            condition,
            count,
        }
    }

    fn shard(phase: ShardDrainPhase, open: Vec<OpenCondition>) -> DrainingShard {
        DrainingShard {
            shard_index: 7,
            phase,
            // As the coordinator tells it of a shard that was looked at.
            pending: Some(3),
            lag: None,
            open,
        }
    }

    /// Shards leave together, so that an empty one is not one that nobody has looked at.
    #[test]
    fn a_shard_that_was_found_empty_is_told_from_one_that_was_not_looked_at() {
        let groups = ["orders".to_owned()];
        let empty = shard(ShardDrainPhase::Draining, Vec::new());
        let told = waits(&empty, &groups, &Owners::new());
        assert_eq!(told, ["shard 7: empty, leaves with the others"]);
        assert_eq!(conditions(&empty), "the other shards");
        let unseen = DrainingShard {
            pending: None,
            ..empty
        };
        let told = waits(&unseen, &groups, &Owners::new());
        assert_eq!(told, ["shard 7: not yet looked at"]);
        assert_eq!(conditions(&unseen), "-");
    }

    #[test]
    fn a_shard_names_what_it_waits_for_and_its_owner() {
        let owners: Owners = [(("orders".to_owned(), 7), "m-2".to_owned())].into();
        let one = ["orders".to_owned()];
        let both = ["billing".to_owned(), "orders".to_owned()];
        let waiting = |open, groups: &[String]| {
            waits(&shard(ShardDrainPhase::Draining, open), groups, &owners)
        };
        let conditions = vec![
            open("orders", DrainCondition::Pending, Some(3)),
            open("orders", DrainCondition::Lag, Some(120)),
            open("orders", DrainCondition::Unread, None),
        ];
        assert_eq!(
            waiting(conditions, &one),
            ["shard 7: 120 unread, 3 pending, owner m-2"]
        );
        let unknown = vec![
            open("billing", DrainCondition::Lag, None),
            open("billing", DrainCondition::Unread, None),
            open("orders", DrainCondition::Lag, None),
        ];
        assert_eq!(
            waiting(unknown, &both),
            [
                "shard 7 (billing): unread records, nobody owns it",
                "shard 7 (orders): ? unread, owner m-2"
            ]
        );
    }

    #[test]
    fn an_empty_shard_names_who_must_let_go() {
        let owners: Owners = [(("orders".to_owned(), 7), "m-2".to_owned())].into();
        let groups = ["orders".to_owned()];
        let told = |phase, owners: &Owners| waits(&shard(phase, Vec::new()), &groups, owners);
        assert_eq!(
            told(ShardDrainPhase::Drained, &owners),
            ["shard 7: empty, m-2 lets go of it"]
        );
        assert_eq!(
            told(ShardDrainPhase::Drained, &Owners::new()),
            ["shard 7: empty, about to be retired"]
        );
        assert_eq!(told(ShardDrainPhase::Retired, &owners), [""; 0]);
    }
}
