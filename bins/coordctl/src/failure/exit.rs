//! What the process ends with. The numbers are documented in the help and in the operations page, and do not change.

use std::process::ExitCode;

use coordinator_client::ClientError;
use protocol::ErrorCode;

use super::Failure;

/// What the process ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// Failed, or refused by the coordinator.
    Failed = 1,
    /// The command line, a setting or the contexts file cannot be used.
    Usage = 2,
    /// There is no such thing.
    NotFound = 3,
    /// In conflict with what is there.
    Conflict = 4,
    /// Not logged in, or not allowed.
    Forbidden = 5,
    /// Cannot be had for the moment.
    Unavailable = 6,
    /// Waited for as long as was allowed.
    TimedOut = 7,
    /// Ctrl-C.
    Interrupted = 130,
}

impl Exit {
    /// The number.
    pub(crate) const fn number(self) -> u8 {
        self as u8
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.number())
    }
}

impl Failure {
    /// What the process ends with.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Client(error) => of_client(error),
            Self::Setting(_) | Self::Context(_) | Self::Usage { .. } => Exit::Usage,
            Self::NotFound { .. } => Exit::NotFound,
            Self::Partial { exit, .. } => *exit,
            Self::Down | Self::Silence { .. } => Exit::Unavailable,
            Self::TimedOut { .. } => Exit::TimedOut,
            Self::Interrupted { .. } => Exit::Interrupted,
            Self::Snapshot { .. }
            | Self::Unwell
            | Self::TakenBack { .. }
            | Self::File { .. }
            | Self::Io { .. }
            | Self::Output(_)
            | Self::Hash(_) => Exit::Failed,
        }
    }
}

fn of_client(error: &ClientError) -> Exit {
    match error {
        ClientError::Transport { .. } | ClientError::Timeout { .. } => Exit::Unavailable,
        ClientError::InvalidName { .. } => Exit::Usage,
        ClientError::Api { status, code, .. } => of_refusal(*status, code, error.is_retryable()),
        _ => Exit::Failed,
    }
}

fn of_refusal(status: u16, code: &ErrorCode, passes: bool) -> Exit {
    match status {
        401 | 403 => Exit::Forbidden,
        404 if !matches!(code, ErrorCode::Unknown(_)) => Exit::NotFound,
        409 => Exit::Conflict,
        _ if passes => Exit::Unavailable,
        _ => Exit::Failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(code: &ErrorCode) -> Exit {
        Failure::from(ClientError::Api {
            status: code.http_status(),
            code: code.clone(),
            message: String::new(),
            retry_after: None,
        })
        .exit()
    }

    #[test]
    fn every_code_of_the_protocol_has_its_exit_code() {
        let exits = |wanted: Exit| -> Vec<&str> {
            let all = ErrorCode::ALL.iter();
            all.filter(|code| refused(code) == wanted)
                .map(ErrorCode::as_str)
                .collect()
        };
        assert_eq!(
            exits(Exit::Failed),
            [
                "ROLLBACK_NOT_ALLOWED",
                "REDIS_NOT_CONFIGURED",
                "METADATA_CORRUPT",
                "INVALID_REQUEST",
                "METHOD_NOT_ALLOWED",
                "PAYLOAD_TOO_LARGE",
                "INTERNAL_ERROR"
            ]
        );
        assert_eq!(
            exits(Exit::NotFound),
            [
                "GROUP_NOT_FOUND",
                "STREAM_NOT_FOUND",
                "MIGRATION_NOT_FOUND",
                "NOT_FOUND"
            ]
        );
        assert_eq!(exits(Exit::Forbidden), ["UNAUTHORIZED", "FORBIDDEN"]);
        assert_eq!(exits(Exit::Conflict).len(), 6);
        assert_eq!(
            exits(Exit::Unavailable),
            [
                "REDIS_STREAM_PROVISIONING_FAILED",
                "COORDINATOR_STATE_MUTEX_UNAVAILABLE",
                "COORDINATOR_TERMINATING",
                "STORE_UNAVAILABLE",
                "RATE_LIMIT_EXCEEDED"
            ]
        );
    }
}
