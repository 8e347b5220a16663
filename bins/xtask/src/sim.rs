//! `cargo xtask sim` and `cargo xtask soak`: worlds from seeds, run by the library. Here are only the command line and what is printed.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use coordinator_sim::{
    Options, Outcome, Replay, ReplayError, events_of, replay, shrink, simulate, simulate_many,
};

/// How many of the last events are shown of a failed run.
const LAST_EVENTS: usize = 40;
/// How often a soak says how far it is.
const PROGRESS: Duration = Duration::from_secs(5);

/// Runs worlds from seeds: one, many, or a list of actions from a file.
#[derive(Debug, clap::Args)]
pub(crate) struct SimArguments {
    /// The (first) seed.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// How many seeds, from the first one on.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    seeds: u64,
    #[command(flatten)]
    kind: Kind,
    /// Where to write what happened in the run, as JSON lines; only for one run.
    #[arg(long, value_name = "FILE", conflicts_with = "seeds")]
    events: Option<PathBuf>,
    /// Plays the actions of this file; seed and options are those of the file.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["seed", "seeds", "steps", "messages_only", "keeps_writes", "shrunk"])]
    replay: Option<PathBuf>,
    /// Where the shortest failing run is written; `target/sim-SEED.json` by default.
    #[arg(long, value_name = "FILE")]
    shrunk: Option<PathBuf>,
}

/// Runs fresh seeds until the time is over.
#[derive(Debug, clap::Args)]
pub(crate) struct SoakArguments {
    /// For how many minutes.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    minutes: u64,
    /// The first seed; from the clock by default.
    #[arg(long)]
    seed: Option<u64>,
    #[command(flatten)]
    kind: Kind,
}

/// What may happen in the worlds.
#[derive(Debug, clap::Args)]
struct Kind {
    /// How many actions there are before faults stop.
    #[arg(long, default_value_t = 500, value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..))]
    steps: usize,
    /// Nothing but messages goes wrong.
    #[arg(long)]
    messages_only: bool,
    /// The store never loses writes.
    #[arg(long)]
    keeps_writes: bool,
}

impl Kind {
    fn options(&self) -> Options {
        let base = if self.messages_only {
            Options::messages_only()
        } else {
            Options::default()
        };
        Options {
            steps: self.steps,
            lost_writes: base.lost_writes && !self.keeps_writes,
            ..base
        }
    }

    /// The part of a command line that makes the same options.
    fn flags(&self) -> String {
        let mut flags = format!("--steps {}", self.steps);
        if self.messages_only {
            flags.push_str(" --messages-only");
        }
        if self.keeps_writes {
            flags.push_str(" --keeps-writes");
        }
        flags
    }
}

/// Runs what was asked for; fails if an invariant does not hold.
pub(crate) fn run(arguments: &SimArguments) -> ExitCode {
    match try_run(arguments) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("── {}", with_causes(&*error));
            ExitCode::FAILURE
        }
    }
}

fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    let causes: Vec<String> = causes.map(ToString::to_string).collect();
    causes.join(": ")
}

fn try_run(arguments: &SimArguments) -> Result<ExitCode, Box<dyn std::error::Error>> {
    let options = arguments.kind.options();
    if let Some(file) = &arguments.replay {
        let read = Replay::read(file)?;
        let events = || events_of(read.seed, &read.options, Some(&read.actions));
        write_events(arguments.events.as_deref(), events)?;
        let outcome = replay(&read);
        let command = format!("cargo xtask sim --replay {}", file.display());
        println!("{}", outcome.counts);
        return Ok(verdict(&outcome, &command, &events()));
    }
    let failed = if arguments.seeds == 1 {
        let events = || events_of(arguments.seed, &options, None);
        write_events(arguments.events.as_deref(), events)?;
        let outcome = simulate(arguments.seed, &options);
        println!("{}", outcome.counts);
        outcome.violation.is_some().then_some(outcome)
    } else {
        let fleet = simulate_many(arguments.seed, &options, threads(), |number| {
            number < arguments.seeds
        });
        println!("{}", fleet.counts);
        fleet.failed
    };
    match failed {
        None => {
            println!("── clean");
            Ok(ExitCode::SUCCESS)
        }
        Some(failed) => {
            explain(
                &failed,
                &options,
                &arguments.kind,
                arguments.shrunk.as_deref(),
            )?;
            Ok(ExitCode::FAILURE)
        }
    }
}

/// Runs fresh seeds until the time is over; fails at the first violation.
pub(crate) fn soak(arguments: &SoakArguments) -> ExitCode {
    let options = arguments.kind.options();
    let first = arguments.seed.unwrap_or_else(|| {
        let age = SystemTime::now().duration_since(UNIX_EPOCH);
        age.map_or(0, |age| age.as_secs() << 20)
    });
    let started = Instant::now();
    let limit = Duration::from_secs(arguments.minutes * 60);
    let told = AtomicU64::new(0);
    println!(
        "── seeds from {first} on, for {} minutes",
        arguments.minutes
    );
    let fleet = simulate_many(first, &options, threads(), |number| {
        let elapsed = started.elapsed();
        let slot = elapsed.as_secs() / PROGRESS.as_secs();
        if told.fetch_max(slot, Ordering::Relaxed) < slot {
            println!("   {:>6} s: {number} seeds", elapsed.as_secs());
        }
        elapsed < limit
    });
    println!("{}", fleet.counts);
    let Some(failed) = fleet.failed else {
        println!("── clean");
        return ExitCode::SUCCESS;
    };
    if let Err(error) = explain(&failed, &options, &arguments.kind, None) {
        eprintln!("── {}", with_causes(&*error));
    }
    ExitCode::FAILURE
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

fn write_events(file: Option<&Path>, events: impl Fn() -> Vec<String>) -> Result<(), ReplayError> {
    match file {
        Some(file) => {
            std::fs::write(file, events().join("\n") + "\n").map_err(|source| ReplayError::File {
                path: file.to_owned(),
                source,
            })
        }
        None => Ok(()),
    }
}

/// Shows a failed run drawn from a seed, and the shortest one that fails alike.
fn explain(
    failed: &Outcome,
    options: &Options,
    kind: &Kind,
    shrunk: Option<&Path>,
) -> Result<(), Box<dyn std::error::Error>> {
    let command = format!("cargo xtask sim --seed {} {}", failed.seed, kind.flags());
    verdict(failed, &command, &events_of(failed.seed, options, None));
    let whole = Replay {
        seed: failed.seed,
        options: options.clone(),
        actions: failed.actions.clone(),
    };
    println!("── making it shorter");
    let short = shrink(&whole);
    let default = Path::new("target").join(format!("sim-{}.json", failed.seed));
    let file = shrunk.unwrap_or(&default);
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    short.write(file)?;
    let outcome = replay(&short);
    println!(
        "   {} of {} actions are enough",
        short.actions.len(),
        failed.actions.len()
    );
    let command = format!("cargo xtask sim --replay {}", file.display());
    verdict(
        &outcome,
        &command,
        &events_of(short.seed, &short.options, Some(&short.actions)),
    );
    Ok(())
}

fn verdict(outcome: &Outcome, command: &str, events: &[String]) -> ExitCode {
    let Some(violation) = &outcome.violation else {
        return ExitCode::SUCCESS;
    };
    // What was done is in the file; what came of it is shown.
    let told: Vec<&String> = events
        .iter()
        .filter(|line| !line.contains("\"event\":\"action\""))
        .collect();
    for line in &told[told.len().saturating_sub(LAST_EVENTS)..] {
        println!("   {line}");
    }
    println!("── seed {}: {violation}\n   again: {command}", outcome.seed);
    ExitCode::FAILURE
}
