//! What a change would do, found out by looking only. Changes nothing.

mod delete;
mod refusals;
mod rollback;
mod scale;
mod stand;

pub(crate) use delete::DeletePlan;
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

/// The last words of every plan.
fn nothing_changed(command: &str) -> String {
    format!("Nothing was changed. To do it: {command} --execute --reason TEXT")
}
