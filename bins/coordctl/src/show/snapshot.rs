//! Snapshots of the metadata: what is in one, what putting it back would mean, what came of it.

use protocol::{Restored, RestoredGroup};

use super::Look;
use super::grid::Column::{Number, State, Words};
use super::grid::{Grid, pairs};
use super::text::wire;
use crate::plan::{nothing_changed, refused};
use crate::run::RestorePlan;
use crate::snapshot_file::Contents;

/// What is in a file, a row for each group.
pub(crate) fn contents(contents: &Contents, look: &Look) -> String {
    let mut parts = Vec::new();
    if let Some(header) = &contents.header {
        parts.push(pairs([
            ("Taken", look.time(header.taken_at)),
            (
                "By",
                format!("{} {}", header.coordinator_id, header.coordinator_version),
            ),
            ("Format", header.format_version.to_string()),
            (
                "Whole",
                if contents.problem.is_none() {
                    "yes"
                } else {
                    "no"
                }
                .to_owned(),
            ),
        ]));
    }
    let mut grid = Grid::new(
        vec![
            Words("STREAM"),
            Words("GROUP"),
            Number("SHARDS"),
            Number("VERSION"),
            Number("EPOCH"),
            Number("MEMBERS"),
            Words("DIGEST"),
        ],
        look.colours,
    );
    for inside in &contents.groups {
        let group = &inside.group;
        grid.row([
            group.stream_prefix.clone(),
            group.consumer_group.clone(),
            group.shard_count.to_string(),
            group.metadata_version.to_string(),
            group.group_epoch.to_string(),
            group.members.to_string(),
            if inside.digest_ok { "ok" } else { "WRONG" }.to_owned(),
        ]);
    }
    parts.push(grid.finish());
    for group in &contents.unreadable {
        parts.push(format!(
            "{}/{} is not in it: {}",
            group.stream_prefix, group.consumer_group, group.reason
        ));
    }
    parts.join("\n\n")
}

/// What putting it back would mean.
pub(crate) fn plan(plan: &RestorePlan, look: &Look) -> String {
    let mut grid = Grid::new(
        vec![
            Words("STREAM"),
            Words("GROUP"),
            Number("SHARDS"),
            Number("VERSION"),
            Words("WOULD-BE"),
        ],
        look.colours,
    );
    for group in &plan.groups {
        let change = |before: Option<String>, after: String| match before {
            Some(before) if before != after => format!("{before} → {after}"),
            _ => after,
        };
        let present = group.present.as_ref();
        grid.row([
            group.stream_prefix.clone(),
            group.consumer_group.clone(),
            change(
                present.map(|it| it.shard_count.to_string()),
                group.shard_count.to_string(),
            ),
            change(
                present.map(|it| it.metadata_version.to_string()),
                group.metadata_version.to_string(),
            ),
            if plan.unreadable.contains(&group.name()) {
                "repaired"
            } else if present.is_some() {
                "replaced"
            } else {
                "created"
            }
            .to_owned(),
        ]);
    }
    let mut parts = vec![grid.finish()];
    if !plan.groups_that_stay.is_empty() {
        parts.push(format!(
            "stay as they are: {}",
            plan.groups_that_stay.join(", ")
        ));
    }
    let unreadable = plan.unreadable.iter();
    let of_those = unreadable.filter(|name| plan.groups_that_stay.contains(name));
    let of_those: Vec<&str> = of_those.map(String::as_str).collect();
    if !of_those.is_empty() {
        parts.push(format!(
            "can't be read, and are not mended by this: {}",
            of_those.join(", ")
        ));
    }
    parts.push("For one member lease nothing new is granted; members are brought up to date as after a failover that lost writes.".to_owned());
    let end = nothing_changed(&plan.command, &plan.obstacles);
    parts.push(refused(&plan.obstacles) + &end);
    parts.join("\n\n")
}

/// What came of it.
pub(crate) fn restored(restored: &Restored, look: &Look) -> String {
    let mut columns = vec![
        Words("STREAM"),
        Words("GROUP"),
        State("OUTCOME"),
        Number("VERSION"),
    ];
    if look.wide {
        columns.push(Number("EPOCH"));
    }
    let mut grid = Grid::new(columns, look.colours);
    let row = |group: &RestoredGroup| {
        [
            group.stream_prefix.clone(),
            group.consumer_group.clone(),
            wire(group.outcome),
            group.metadata_version.to_string(),
            group.group_epoch.to_string(),
        ]
    };
    for group in &restored.groups {
        grid.row(row(group));
    }
    grid.finish()
}
