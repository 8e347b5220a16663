//! How answers look to people. One file per kind of answer; nothing here asks or prints.

pub(crate) mod assignments;
pub(crate) mod audit;
pub(crate) mod context;
pub(crate) mod doctor;
pub(crate) mod drain;
pub(crate) mod grid;
pub(crate) mod groups;
pub(crate) mod health;
pub(crate) mod members;
pub(crate) mod messages;
pub(crate) mod migrations;
pub(crate) mod numbers;
pub(crate) mod shards;
pub(crate) mod snapshot;
pub(crate) mod text;
pub(crate) mod time;

use crate::output::Output;
use time::Moment;

/// How to show, and when that is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    /// All columns, absolute times.
    pub(crate) wide: bool,
    pub(crate) colours: bool,
    pub(crate) now: Moment,
}

impl Look {
    /// As standard output wants it, now.
    pub(crate) fn at(output: Output) -> Self {
        Self {
            wide: output.is_wide(),
            colours: output.colours,
            now: Moment::now(),
        }
    }

    /// A time as it is wanted.
    pub(crate) fn time(&self, at: protocol::IsoTimestamp) -> String {
        if self.wide {
            at.to_string()
        } else {
            self.now.tell(at)
        }
    }
}
