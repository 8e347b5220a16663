//! The commands of this repository, one module each. This file only parses the command line and hands over.

mod fixtures;
mod nextest;
mod redis_server;
mod steps;
mod test;
mod tools;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// The commands of this repository.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Checks everything that a change has to pass: format, lints, tests, documentation examples.
    Test(test::Arguments),
    /// Compares the fixtures with their manifest, or takes over new ones.
    Fixtures(fixtures::Arguments),
}

fn main() -> ExitCode {
    match Arguments::parse().command {
        Command::Test(arguments) => test::run(&arguments),
        Command::Fixtures(arguments) => fixtures::run(&arguments),
    }
}
