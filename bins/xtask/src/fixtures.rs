//! `cargo xtask fixtures`: hands over to the crate that knows the manifest. It knows no fixture itself.

use std::process::{Command, ExitCode};

use crate::tools;

const CHECK: [&str; 6] = [
    "test",
    "--quiet",
    "--package",
    "tidy",
    "--test",
    "repository",
];
const CHECKED_TEST: [&str; 2] = ["--", "fixtures_are_the_ones_in_the_manifest"];
const ACCEPT: [&str; 6] = [
    "run",
    "--quiet",
    "--package",
    "tidy",
    "--example",
    "accept_fixtures",
];

/// Compares the fixtures with their manifest.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Writes the manifest anew from the fixtures as they are. Not for released ones: those never change.
    #[arg(long)]
    accept: bool,
}

/// Compares, or writes the manifest.
pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let mut command = Command::new(tools::cargo());
    command.current_dir(tools::root());
    if arguments.accept {
        command.args(ACCEPT)
    } else {
        command.args(CHECK).args(CHECKED_TEST)
    };
    match command.status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("cargo could not be started: {error}");
            ExitCode::FAILURE
        }
    }
}
