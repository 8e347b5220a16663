//! Says a failure on standard error: as a sentence with advice, or as JSON where the answer would have been.

use std::error::Error;
use std::process::ExitCode;

use coordinator_client::ClientError;
use protocol::status_name;
use serde::Serialize;

use super::Failure;
use super::broken::is_filler;
use crate::cli::Format;
use crate::connect::Target;
use crate::show::text::printable;

/// A command that failed, and whom it had asked.
pub(crate) struct Ended {
    pub(crate) failure: Failure,
    pub(crate) target: Option<Target>,
}

impl From<Failure> for Ended {
    fn from(failure: Failure) -> Self {
        Self {
            failure,
            target: None,
        }
    }
}

/// The shape of a failure for programs: that of the wire, and what is known beyond it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Told<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'a str>,
    error_code: &'a str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<String>,
    exit_code: u8,
}

impl Ended {
    /// Says what failed, and what the process ends with. A reader that went away is no failure worth words.
    pub(crate) fn report(&self, format: Format) -> ExitCode {
        let Self { failure, target } = self;
        let exit = failure.exit();
        if is_broken_pipe(failure) {
            return exit.into();
        }
        let advice = failure.advice(target.as_ref());
        if format == Format::Json {
            let told = Told {
                status: status(failure),
                error_code: code(failure),
                message: printable(&message(failure)),
                advice,
                exit_code: exit.number(),
            };
            let text = serde_json::to_string(&told).unwrap_or_default();
            eprintln!("{text}");
        } else {
            let code = match failure {
                Failure::Client(ClientError::Api { code, .. }) => format!("{code}: "),
                _ => String::new(),
            };
            eprintln!("coordctl: {}", printable(&(code + &message(failure))));
            if let Some(advice) = advice {
                eprintln!("  {advice}");
            }
        }
        exit.into()
    }
}

fn is_broken_pipe(failure: &Failure) -> bool {
    matches!(failure, Failure::Output(error) if error.kind() == std::io::ErrorKind::BrokenPipe)
}

fn message(failure: &Failure) -> String {
    match failure {
        // The code is told apart from it.
        Failure::Client(ClientError::Api { message, .. }) => message.clone(),
        // By its own words it would be told twice: by the flag's name and by that of the library.
        Failure::Setting(error) => with_causes(failure.to_string(), error.source()),
        other => with_sources(other),
    }
}

/// An error with its causes; none is said twice.
pub(crate) fn with_sources(error: &dyn Error) -> String {
    with_causes(error.to_string(), error.source())
}

fn with_causes(mut message: String, mut source: Option<&(dyn Error + 'static)>) -> String {
    while let Some(cause) = source {
        let text = cause.to_string();
        if !is_filler(&text) && !message.contains(&text) {
            message.push_str(": ");
            message.push_str(&text);
        }
        source = cause.source();
    }
    message
}

fn status(failure: &Failure) -> Option<&'static str> {
    match failure {
        Failure::Client(ClientError::Api { status, .. }) => Some(status_name(*status)),
        _ => None,
    }
}

fn code(failure: &Failure) -> &str {
    match failure {
        Failure::Client(error) => match error {
            ClientError::Api { code, .. } => code.as_str(),
            ClientError::Transport { .. } => "UNREACHABLE",
            ClientError::Timeout { .. } => "NO_ANSWER_IN_TIME",
            ClientError::InvalidName { .. } => "USAGE",
            _ => "ANSWER_NOT_UNDERSTOOD",
        },
        Failure::Setting(_) | Failure::Usage { .. } => "USAGE",
        Failure::Context(_) => "CONTEXTS_FILE",
        Failure::NotFound { .. } => "NOT_FOUND",
        Failure::Partial { .. } => "PARTLY_DONE",
        Failure::Snapshot { .. } => "SNAPSHOT",
        Failure::Unwell => "UNWELL",
        Failure::Down => "DOWN",
        Failure::Silence { .. } => "UNREACHABLE",
        Failure::TakenBack { .. } => "TAKEN_BACK",
        Failure::TimedOut { .. } => "TIMED_OUT",
        Failure::Interrupted { .. } => "INTERRUPTED",
        Failure::File { .. } | Failure::Io { .. } | Failure::Output(_) => "IO",
        Failure::Hash(_) => "HASH",
    }
}
