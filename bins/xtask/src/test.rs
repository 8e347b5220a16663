//! `cargo xtask test`: what belongs to a check of the whole project, in which order. The checks themselves are cargo's.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::steps::{self, Step};
use crate::{nextest, redis_server, tools};

/// Checks everything that a change has to pass.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The redis-server to test against, instead of the one on the PATH.
    #[arg(long, value_name = "PATH")]
    redis_bin: Option<PathBuf>,
    /// Only run the tests whose names contain one of these; the other checks are left out.
    filters: Vec<String>,
}

/// Runs the checks; fails with the first that fails.
pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let redis = match redis_server::ensure(arguments.redis_bin.as_deref()) {
        Ok(path) => path,
        Err(error) => return fail(&error),
    };
    println!("   redis-server: {}", redis.display());
    match tools::ensure_postgres() {
        Some(postgres) => println!("   PostgreSQL: {}", postgres.display()),
        None => {
            println!("   PostgreSQL: none; install it for the tests of the matchmaking example")
        }
    }
    match steps::run(
        &plan(&arguments.filters),
        &[("REDIS_SERVER_BIN", redis.into_os_string())],
    ) {
        Ok(summary) => {
            println!("── everything passed\n{summary}");
            ExitCode::SUCCESS
        }
        Err(error) => fail(&error),
    }
}

fn plan(filters: &[String]) -> Vec<Step> {
    // Some tests start the programs, so these are built before.
    let build = Step::new("programs", &["build", "--workspace", "--bins"]);
    let tests = Step {
        title: "tests",
        arguments: nextest::arguments(filters),
    };
    if !filters.is_empty() {
        return vec![build, tests];
    }
    vec![
        Step::new("format", &["fmt", "--all", "--check"]),
        Step::new(
            "lints",
            &[
                "clippy",
                "--workspace",
                "--all-targets",
                "--",
                "-D",
                "warnings",
            ],
        ),
        build,
        tests,
        // Products are built without the feature, and so are all other tests.
        Step::new(
            "planted faults",
            &[
                "test",
                "--package",
                "coordinator-sim",
                "--package",
                "coordinatord",
                "--features",
                "coordinator-sim/planted,coordinatord/planted",
                "--test",
                "planted",
                "--test",
                "naive_assignment",
            ],
        ),
        Step::new(
            "documentation examples",
            &["test", "--quiet", "--doc", "--workspace"],
        ),
    ]
}

fn fail(error: &dyn std::error::Error) -> ExitCode {
    eprintln!("── {error}");
    let mut cause = error.source();
    while let Some(source) = cause {
        eprintln!("   because: {source}");
        cause = source.source();
    }
    ExitCode::FAILURE
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titles(filters: &[&str]) -> Vec<&'static str> {
        let filters: Vec<String> = filters.iter().map(|filter| (*filter).to_owned()).collect();
        plan(&filters).iter().map(|step| step.title).collect()
    }

    #[test]
    fn without_filters_everything_is_checked_and_programs_are_built_before_tests() {
        assert_eq!(
            titles(&[]),
            [
                "format",
                "lints",
                "programs",
                "tests",
                "planted faults",
                "documentation examples"
            ]
        );
    }

    #[test]
    fn with_a_filter_only_tests_run() {
        assert_eq!(titles(&["lease"]), ["programs", "tests"]);
    }
}
