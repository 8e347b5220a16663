//! What a change would do, found out by looking only. Changes nothing.

mod delete;
mod refusals;
mod rollback;
mod scale;
mod stand;

pub(crate) use delete::{DeletePlan, shards_there, what_stays};
pub(crate) use rollback::RollbackPlan;
pub(crate) use scale::ScalePlan;

use crate::show::text::printable;

/// Lines that begin with the same word.
fn lines(word: &str, of: &[String]) -> String {
    let lines = of
        .iter()
        .map(|line| format!("{word}: {}\n", printable(line)));
    lines.collect()
}

/// Lines that say why it would be refused.
pub(crate) fn refused(obstacles: &[String]) -> String {
    lines("refused as it stands", obstacles)
}

/// The last words of every plan: how to do it, unless that would be refused.
pub(crate) fn nothing_changed(command: &str, obstacles: &[String]) -> String {
    if obstacles.is_empty() {
        format!("Nothing was changed. To do it: {command}")
    } else {
        "Nothing was changed, and --execute would be refused: see above.".to_owned()
    }
}
