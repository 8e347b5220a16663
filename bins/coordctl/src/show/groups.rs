//! Groups: as a list, and one by one.

use std::collections::BTreeSet;

use protocol::{Group, Migration};

use super::grid::Column::{Number, State, Words};
use super::grid::{Grid, pairs};
use super::text::wire;
use super::{Look, migrations};

/// Groups, a row each.
pub(crate) fn list(groups: &[Group], look: &Look) -> String {
    if groups.is_empty() {
        return "there is no group".to_owned();
    }
    let mut columns = vec![
        Words("STREAM"),
        Words("GROUP"),
        State("STATE"),
        Number("SHARDS"),
        Number("MEMBERS"),
        Number("VERSION"),
        State("CHANGE"),
    ];
    if look.wide {
        columns.extend([
            Number("GROUP-EPOCH"),
            Number("ASSIGNMENT-EPOCH"),
            Words("CHANGE-ID"),
        ]);
    }
    let mut grid = Grid::new(columns, look.colours);
    for group in groups {
        let mut row = vec![
            group.stream_prefix.clone(),
            group.consumer_group.clone(),
            wire(group.state),
            group.shard_count.to_string(),
            member_count(group).to_string(),
            group.metadata_version.to_string(),
            change(group.active_migration.as_ref()),
        ];
        if look.wide {
            let id = group.active_migration.as_ref();
            row.extend([
                group.group_epoch.to_string(),
                group.assignment_epoch.to_string(),
                id.map_or_else(|| "-".to_owned(), |change| change.resharding_id.clone()),
            ]);
        }
        grid.row(row);
    }
    grid.finish()
}

/// One group.
pub(crate) fn one(group: &Group, look: &Look) -> String {
    let mut text = pairs([
        ("Stream", group.stream_prefix.clone()),
        ("Group", group.consumer_group.clone()),
        ("State", wire(group.state)),
        ("Shards", group.shard_count.to_string()),
        ("Version", group.metadata_version.to_string()),
        ("Group epoch", group.group_epoch.to_string()),
        ("Assignment epoch", group.assignment_epoch.to_string()),
    ]);
    if group.provisioning.is_some() {
        text.push_str("\nHalf made: repeat its creation, or delete it.");
    }
    let names: BTreeSet<&String> = group
        .target_assignment_summary
        .keys()
        .chain(group.current_assignment_summary.keys())
        .collect();
    if !names.is_empty() {
        let columns = vec![Words("MEMBER"), Number("SHOULD-HAVE"), Number("HAS")];
        let mut grid = Grid::new(columns, look.colours);
        for name in names {
            let count = |of: &std::collections::BTreeMap<String, u32>| {
                of.get(name).copied().unwrap_or_default().to_string()
            };
            grid.row([
                name.clone(),
                count(&group.target_assignment_summary),
                count(&group.current_assignment_summary),
            ]);
        }
        text.push_str("\n\n");
        text.push_str(&grid.finish());
    }
    if let Some(change) = &group.active_migration {
        text.push_str("\n\n");
        text.push_str(&migrations::one(change, look));
    }
    text
}

/// How many members a group has.
pub(crate) fn member_count(group: &Group) -> usize {
    group.target_assignment_summary.len()
}

/// The change that is under way, in short.
pub(crate) fn change(change: Option<&Migration>) -> String {
    change.map_or_else(
        || "-".to_owned(),
        |change| {
            let Migration {
                from_shard_count: from,
                to_shard_count: to,
                state,
                ..
            } = change;
            format!("{} {from} → {to}", wire(state))
        },
    )
}
