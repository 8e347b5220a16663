//! The shards of a group: where their streams are, and what is left to do in them.

use protocol::{Offsets, ShardOffsets};

use super::Look;
use super::grid::Column::{Number, Words};
use super::grid::Grid;
use super::numbers::{bytes, known, names, sum};
use super::text::printable;

/// Where the streams are and how large.
pub(crate) fn list(offsets: &Offsets, look: &Look) -> String {
    // Nodes are told of a cluster only.
    let mut shards = offsets.shards.iter();
    let knows_nodes =
        shards.any(|shard| shard.redis_node_endpoint.is_some() || shard.redis_node_id.is_some());
    let mut columns = vec![
        Number("SHARD"),
        Words("KEY"),
        Number("LENGTH"),
        Number("MEMORY"),
        Number("GENERATION"),
        Words("OWNER"),
    ];
    if look.wide {
        columns.push(Number("SLOT"));
        if knows_nodes {
            columns.extend([Words("NODE"), Words("NODE-ID")]);
        }
        columns.extend([Words("FIRST"), Words("LAST"), Words("LAST-GENERATED")]);
    }
    let mut grid = Grid::new(columns, look.colours);
    for shard in &offsets.shards {
        let mut row = vec![
            shard.shard_index.to_string(),
            shard.stream_key.clone(),
            known(shard.stream_length),
            bytes(shard.memory_usage_bytes),
            known(shard.generation),
            names(&shard.owner_member_ids),
        ];
        if look.wide {
            row.push(shard.redis_slot.to_string());
            if knows_nodes {
                row.extend([
                    id(shard.redis_node_endpoint.as_ref()),
                    id(shard.redis_node_id.as_ref()),
                ]);
            }
            row.extend([
                record(shard, shard.first_record_id.as_ref()),
                record(shard, shard.last_record_id.as_ref()),
                id(shard.last_generated_id.as_ref()),
            ]);
        }
        grid.row(row);
    }
    with_problems(grid.finish(), offsets)
}

/// What is left to do.
pub(crate) fn lag(offsets: &Offsets, look: &Look) -> String {
    let mut columns = vec![
        Number("SHARD"),
        Number("UNREAD"),
        Number("PENDING"),
        Number("BACKLOG"),
        Number("LAG"),
        Words("OWNER"),
    ];
    if look.wide {
        columns.extend([
            Number("TRIMMED-UNREAD"),
            Words("DELIVERED-UP-TO"),
            Words("LAST-GENERATED"),
        ]);
    }
    let mut grid = Grid::new(columns, look.colours);
    for shard in &offsets.shards {
        let mut row = vec![
            shard.shard_index.to_string(),
            known(shard.unread),
            known(shard.pending_count),
            known(shard.backlog),
            known(shard.lag),
            names(&shard.owner_member_ids),
        ];
        if look.wide {
            row.extend([
                known(shard.trimmed_unread),
                id(shard.group_last_delivered_id.as_ref()),
                id(shard.last_generated_id.as_ref()),
            ]);
        }
        grid.row(row);
    }
    let total =
        |part: fn(&ShardOffsets) -> Option<u64>| known(sum(offsets.shards.iter().map(part)));
    grid.row([
        "all".to_owned(),
        total(|shard| shard.unread),
        total(|shard| shard.pending_count),
        total(|shard| shard.backlog),
        known(offsets.total_lag),
    ]);
    with_problems(grid.finish(), offsets)
}

/// The id of a record, where there is one.
fn record(shard: &ShardOffsets, of: Option<&String>) -> String {
    match of {
        None if shard.stream_length == Some(0) => "-".to_owned(),
        _ => id(of),
    }
}

/// An id that Redis may not have told.
fn id(of: Option<&String>) -> String {
    of.cloned().unwrap_or_else(|| "?".to_owned())
}

fn with_problems(mut text: String, offsets: &Offsets) -> String {
    for shard in &offsets.shards {
        if let Some(problem) = &shard.problem {
            let index = shard.shard_index;
            text.push_str(&format!("\nshard {index}: {}", printable(problem)));
        }
    }
    text
}
