//! Changes of the shard count: as a list, and one by one.

use protocol::{Migration, Migrations};

use super::Look;
use super::drain;
use super::grid::Column::{Number, State, Words};
use super::grid::{Grid, pairs};
use super::numbers::known;
use super::text::wire;

/// Changes, a row each.
pub(crate) fn list(of: &Migrations, look: &Look) -> String {
    if of.migrations.is_empty() {
        return "the shard count was never changed".to_owned();
    }
    let columns = vec![
        Words("CHANGE"),
        Number("FROM"),
        Number("TO"),
        State("STATE"),
        Words("BEGUN"),
        Words("LAST-STEP"),
    ];
    let mut grid = Grid::new(columns, look.colours);
    for change in &of.migrations {
        grid.row([
            change.resharding_id.clone(),
            change.from_shard_count.to_string(),
            change.to_shard_count.to_string(),
            wire(change.state),
            look.time(change.created_at),
            look.time(change.updated_at),
        ]);
    }
    grid.finish()
}

/// One change.
pub(crate) fn one(change: &Migration, look: &Look) -> String {
    let mut text = pairs([
        ("Change", change.resharding_id.clone()),
        (
            "Shards",
            format!("{} → {}", change.from_shard_count, change.to_shard_count),
        ),
        ("State", wire(change.state)),
        ("Begun", look.time(change.created_at)),
        ("Last step", look.time(change.updated_at)),
    ]);
    let Some(shards) = change.shards.as_ref().filter(|shards| !shards.is_empty()) else {
        return text;
    };
    let columns = vec![
        Number("SHARD"),
        State("PHASE"),
        Number("PENDING"),
        Number("LAG"),
        Words("WAITS-FOR"),
    ];
    let mut grid = Grid::new(columns, look.colours);
    for shard in shards {
        grid.row([
            shard.shard_index.to_string(),
            wire(shard.phase),
            known(shard.pending),
            known(shard.lag),
            drain::conditions(shard),
        ]);
    }
    text.push_str("\n\n");
    text.push_str(&grid.finish());
    text
}
