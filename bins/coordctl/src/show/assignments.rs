//! Who should have which shard, and who has.

use std::collections::BTreeSet;

use protocol::Assignments;

use super::Look;
use super::grid::Column::Words;
use super::grid::Grid;
use super::numbers::shards;
use super::text::printable;

/// Members, a row each; below them what is broken.
pub(crate) fn list(of: &Assignments, look: &Look) -> String {
    let maps = [
        &of.target_assignment,
        &of.current_assignments,
        &of.revoke_progress,
    ];
    let members: BTreeSet<&String> = maps.iter().flat_map(|map| map.keys()).collect();
    let mut text = if members.is_empty() {
        "the group has no member".to_owned()
    } else {
        let columns = vec![
            Words("MEMBER"),
            Words("SHOULD-HAVE"),
            Words("HAS"),
            Words("GIVING-UP"),
        ];
        let mut grid = Grid::new(columns, look.colours);
        for member in members {
            let cells = maps.map(|map| shards(map.get(member).map_or(&[], Vec::as_slice)));
            grid.row(std::iter::once(member.clone()).chain(cells));
        }
        grid.finish()
    };
    for violation in &of.invariant_violations {
        text.push_str("\nVIOLATED  ");
        text.push_str(&printable(violation));
    }
    text
}
