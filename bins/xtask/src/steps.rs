//! Runs cargo commands one after another, shows progress and times, and stops at the first that fails. What the commands
//! are is not its business.

use std::ffi::OsString;
use std::fmt::Write;
use std::io;
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant};

use crate::tools;

/// One cargo command.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) title: &'static str,
    pub(crate) arguments: Vec<OsString>,
}

impl Step {
    pub(crate) fn new(title: &'static str, arguments: &[&str]) -> Self {
        Self {
            title,
            arguments: arguments.iter().map(OsString::from).collect(),
        }
    }

    /// The command as one would type it.
    fn command_line(&self) -> String {
        self.arguments
            .iter()
            .fold("cargo".to_owned(), |line, argument| {
                line + " " + &argument.to_string_lossy()
            })
    }
}

/// A step that did not succeed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failed {
    #[error("{title} failed ({status}); to run it again: {command}")]
    Status {
        title: &'static str,
        status: ExitStatus,
        command: String,
    },
    #[error("{title}: `{command}` could not be started")]
    Start {
        title: &'static str,
        command: String,
        #[source]
        source: io::Error,
    },
}

/// Runs the steps with the given environment variables; returns a summary of the times.
pub(crate) fn run(steps: &[Step], environment: &[(&str, OsString)]) -> Result<String, Failed> {
    let mut summary = String::new();
    let start = Instant::now();
    for (number, step) in (1..).zip(steps) {
        println!(
            "── {number}/{} {}: {}",
            steps.len(),
            step.title,
            step.command_line()
        );
        let elapsed = run_one(step, environment)?;
        writeln!(summary, "   {:<24} {:>8}", step.title, show(elapsed))
            .expect("writing to a string cannot fail");
    }
    writeln!(summary, "   {:<24} {:>8}", "all", show(start.elapsed()))
        .expect("writing to a string cannot fail");
    Ok(summary)
}

fn run_one(step: &Step, environment: &[(&str, OsString)]) -> Result<Duration, Failed> {
    let (title, start) = (step.title, Instant::now());
    let environment = environment.iter().map(|(name, value)| (name, value));
    let status = Command::new(tools::cargo())
        .args(&step.arguments)
        .envs(environment)
        .current_dir(tools::root())
        .status();
    let elapsed = start.elapsed();
    match status {
        Ok(status) if status.success() => {
            println!("   {title}: done in {}", show(elapsed));
            Ok(elapsed)
        }
        Ok(status) => Err(Failed::Status {
            title,
            status,
            command: step.command_line(),
        }),
        Err(source) => Err(Failed::Start {
            title,
            command: step.command_line(),
            source,
        }),
    }
}

fn show(elapsed: Duration) -> String {
    format!("{:.1} s", elapsed.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_step_ends_the_run_and_names_the_command_to_repeat() {
        let steps = [
            Step::new("version", &["--version"]),
            Step::new("nonsense", &["no-such-command"]),
            Step::new("never", &["--list"]),
        ];
        let failure = run(&steps, &[])
            .expect_err("the second step cannot succeed")
            .to_string();
        assert!(
            failure.starts_with("nonsense failed") && failure.ends_with("cargo no-such-command"),
            "{failure}"
        );
    }

    #[test]
    fn the_summary_names_every_step() {
        let summary =
            run(&[Step::new("version", &["--version"])], &[]).expect("cargo can tell its version");
        assert!(
            summary.contains("version") && summary.contains("all"),
            "{summary}"
        );
    }
}
