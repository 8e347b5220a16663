//! Why a command did not do what it was told. Exit codes are in `exit`, what to do about it in `advice`, how it is said in `report`.

mod advice;
mod broken;
mod exit;
mod report;

use std::io;
use std::path::PathBuf;

use coordinator_client::{BuildError, ClientError};

pub(crate) use exit::Exit;
pub(crate) use report::{Ended, with_sources};

use crate::context::ContextError;

/// Why a command did not do what it was told.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The coordinator refused, or was not had.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// A setting of the client cannot work.
    #[error("{}", setting(.0))]
    Setting(#[from] BuildError),
    /// The contexts file cannot be used.
    #[error(transparent)]
    Context(#[from] ContextError),
    /// The command line cannot be followed.
    #[error("{message}")]
    Usage {
        /// What is wrong with it.
        message: String,
        /// What to say instead.
        advice: String,
    },
    /// There is no such thing.
    #[error("{message}")]
    NotFound {
        /// What there is not.
        message: String,
        /// Where to look.
        advice: String,
    },
    /// Only a part was done.
    #[error("{message}")]
    Partial {
        /// What was not done.
        message: String,
        /// What the first part that failed would have ended with.
        exit: Exit,
        /// How to go on.
        advice: String,
    },
    /// A snapshot is not whole, or not wholly usable.
    #[error("{file}: {problem}")]
    Snapshot {
        /// The file.
        file: String,
        /// What is wrong with it.
        problem: String,
        /// What to do.
        advice: String,
    },
    /// The doctor found something that does not work.
    #[error("something is not as it should be")]
    Unwell,
    /// The coordinator answered that it does not work.
    #[error("the coordinator is DOWN")]
    Down,
    /// The change was taken back while its end was waited for.
    #[error("the change was taken back: {stream} has {shards} shards again")]
    TakenBack {
        /// The stream.
        stream: String,
        /// Its shards.
        shards: u32,
    },
    /// What was waited for did not happen in time.
    #[error("waited for {limit}, and the change is not through; it goes on")]
    TimedOut {
        /// The time that was allowed.
        limit: String,
        /// How to look at it.
        advice: String,
    },
    /// Nobody answered for long while the end of a change was waited for.
    #[error("nobody has answered for {limit}; the change goes on once a coordinator runs")]
    Silence {
        /// For how long.
        limit: String,
        /// What became of the last question.
        #[source]
        source: Box<ClientError>,
        /// How to look at the change.
        advice: String,
    },
    /// Ctrl-C while waiting.
    #[error("interrupted: the change goes on")]
    Interrupted {
        /// How to look at it.
        advice: String,
    },
    /// A file cannot be read or written.
    #[error("could not {} {}", if *is_written { "write" } else { "read" }, path.display())]
    File {
        /// The file, as it was named.
        path: PathBuf,
        /// What was to be done with it.
        is_written: bool,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The terminal or the system does not work.
    #[error("{what}")]
    Io {
        /// What was tried.
        what: String,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// What should be printed cannot be.
    #[error("could not write the answer")]
    Output(#[source] io::Error),
    /// The library of password hashes refused.
    #[error("the password could not be hashed: {0}")]
    Hash(String),
}

impl Failure {
    /// A command line that cannot be followed.
    pub(crate) fn usage(message: impl Into<String>, advice: impl Into<String>) -> Self {
        Self::Usage {
            message: message.into(),
            advice: advice.into(),
        }
    }
}

/// A setting of the client, by what it is called on the command line.
fn setting(error: &BuildError) -> String {
    let said = error.to_string();
    let reason = said
        .strip_prefix(error.setting())
        .unwrap_or(&said)
        .trim_start_matches(": ");
    let flag = match error.setting() {
        "base_urls" => "--server",
        "root_certificates_pem" => "--ca-cert",
        "client_identity_pem" => "--client-cert and --client-key",
        "request_timeout" => "--timeout",
        "credentials" => "--user or --token",
        other => other,
    };
    format!("{flag}: {reason}")
}
