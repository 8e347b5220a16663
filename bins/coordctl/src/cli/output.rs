//! How answers are shown.

use clap::ValueEnum;

/// How answers are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Table,
    /// For people who want all columns and absolute times
    Wide,
    /// For programs
    Json,
}
