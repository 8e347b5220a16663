//! The commands of this repository, one module each. This file only parses the command line and hands over.

mod bench;
mod demo;
mod fixtures;
mod nextest;
mod processes;
mod redis_server;
mod sim;
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
    /// Runs a coordinator, producers and consumers on a real Redis: members come, go and die, and nothing is lost.
    Demo(demo::Arguments),
    /// One producer process of the demo.
    #[command(hide = true)]
    DemoProducer(demo::ProducerArguments),
    /// One consumer process of the demo.
    #[command(hide = true)]
    DemoConsumer(demo::ConsumerArguments),
    /// Measures on real processes.
    Bench(bench::Arguments),
    /// Checks everything that a change has to pass: format, lints, tests, documentation examples.
    Test(test::Arguments),
    /// Runs simulated worlds from seeds and checks the invariants.
    Sim(sim::SimArguments),
    /// Runs simulated worlds from fresh seeds for a while.
    Soak(sim::SoakArguments),
    /// Compares the fixtures with their manifest, or takes over new ones.
    Fixtures(fixtures::Arguments),
}

fn main() -> ExitCode {
    match Arguments::parse().command {
        Command::Demo(arguments) => demo::run(&arguments),
        Command::DemoProducer(arguments) => demo::run_producer(&arguments),
        Command::DemoConsumer(arguments) => demo::run_consumer(&arguments),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Test(arguments) => test::run(&arguments),
        Command::Sim(arguments) => sim::run(&arguments),
        Command::Soak(arguments) => sim::soak(&arguments),
        Command::Fixtures(arguments) => fixtures::run(&arguments),
    }
}
