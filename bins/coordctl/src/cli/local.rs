//! Commands that ask no coordinator.

use clap::Args;
use clap_complete::Shell;

#[derive(Debug, Args)]
pub(crate) struct HashPasswordArgs {
    /// Read the password from the first line of standard input, instead of asking for it
    #[arg(long)]
    pub(crate) stdin: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}
