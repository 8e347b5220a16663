//! Prints completions for a shell.

use clap::CommandFactory;

use crate::cli::{Cli, CompletionsArgs};
use crate::failure::Failure;
use crate::output::Output;

pub(super) fn run(args: &CompletionsArgs, output: Output) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "coordctl", &mut script);
    output.text(&String::from_utf8_lossy(&script))
}
