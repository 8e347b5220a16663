//! Reads the command line, and says what is wrong with it. What it means is not known here.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, Error, FromArgMatches};
use serde_json::json;

use crate::cli::{Cli, SaidOnCommandLine};
use crate::failure::Exit;

/// What was said; or, where it cannot be followed or was a question about the command line itself, how the process ends.
pub(crate) fn parse() -> Result<(Cli, SaidOnCommandLine), ExitCode> {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let parsed = Cli::command()
        .try_get_matches_from(&arguments)
        .and_then(|matches| {
            Ok((
                Cli::from_arg_matches(&matches)?,
                SaidOnCommandLine::read(&matches),
            ))
        });
    parsed.map_err(with_plain_usage).map_err(|error| {
        if !error.use_stderr() {
            // Help or version; a reader that went away has had enough of it.
            let _ = error.print();
            return ExitCode::SUCCESS;
        }
        if wants_json(&arguments) {
            let message = error.to_string();
            let told = json!({
                "errorCode": "USAGE",
                "message": message.trim_end().strip_prefix("error: ").unwrap_or(&message),
                "exitCode": Exit::Usage.number(),
            });
            eprintln!("{told}");
        } else {
            // Nothing is left to do where standard error is closed.
            let _ = error.print();
        }
        Exit::Usage.into()
    })
}

/// The usage of the command as it is, without flags that were given or stand in the environment, which would look as if they had to be.
fn with_plain_usage(mut error: Error) -> Error {
    let Some(ContextValue::StyledStr(usage)) = error.get(ContextKind::Usage) else {
        return error;
    };
    let usage = usage.to_string();
    let mut command = Cli::command();
    command.build();
    // After `Usage:` and the program come the commands.
    for word in usage.split_whitespace().skip(2) {
        match command.find_subcommand(word) {
            Some(below) => command = below.clone(),
            None => break,
        }
    }
    let usage = command.render_usage();
    error.insert(ContextKind::Usage, ContextValue::StyledStr(usage));
    error
}

/// Whether JSON was asked for by a command line that cannot be read as a whole.
fn wants_json(arguments: &[OsString]) -> bool {
    let words: Vec<&str> = arguments.iter().filter_map(|word| word.to_str()).collect();
    let flags = words.windows(2);
    let apart = flags
        .filter(|pair| matches!(pair[0], "-o" | "--output"))
        .any(|pair| pair[1] == "json");
    let joined = words
        .iter()
        .any(|word| matches!(*word, "-ojson" | "-o=json" | "--output=json"));
    apart || joined || std::env::var("COORDCTL_OUTPUT").is_ok_and(|format| format == "json")
}
