//! What an error of Redis means for a worker. It goes by the error's code or kind, never by its text (case C03).

use std::error::Error;
use std::fmt;

use redis::{ErrorKind, RedisError};
use stream_lifecycle::LifecycleError;

/// What to do about it.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The consumer group is missing, or the stream with it.
    GroupMissing(Cause),
    /// It will not go away by itself: rights, a key of another type, wrong credentials.
    Refused(Cause),
    /// A new connection, and perhaps another node, may help.
    Reconnect(Cause),
    /// A new connection, because this one did not answer in time or answered nonsense.
    Silent(&'static str),
    /// The shard is in another life than was told, or has another owner: the coordinator is asked. Nothing is made anew.
    Superseded(String),
}

/// Whose error it is.
#[derive(Debug)]
pub(crate) enum Cause {
    Redis(RedisError),
    Shard(LifecycleError),
}

impl From<RedisError> for Trouble {
    fn from(error: RedisError) -> Self {
        if error.kind() == ErrorKind::AuthenticationFailed {
            return Self::Refused(Cause::Redis(error));
        }
        match error.code() {
            Some("NOGROUP") => Self::GroupMissing(Cause::Redis(error)),
            Some("NOPERM" | "WRONGTYPE" | "NOAUTH" | "WRONGPASS") => {
                Self::Refused(Cause::Redis(error))
            }
            _ => Self::Reconnect(Cause::Redis(error)),
        }
    }
}

impl From<LifecycleError> for Trouble {
    fn from(error: LifecycleError) -> Self {
        match &error {
            stale if stale.is_stale() => Self::Superseded(with_causes(stale)),
            // Its registration is lost: registering again tells whether the shard has another owner by now.
            LifecycleError::ConsumerFenced {
                token: None,
                epoch: None,
            } => Self::Reconnect(Cause::Shard(error)),
            LifecycleError::ConsumerFenced { .. } | LifecycleError::LeaseLost { .. } => {
                Self::Superseded(with_causes(&error))
            }
            LifecycleError::NoGroup { .. } | LifecycleError::DataLost { .. } => {
                Self::GroupMissing(Cause::Shard(error))
            }
            LifecycleError::KeyConflict { .. }
            | LifecycleError::Denied { .. }
            | LifecycleError::Refused(_)
            | LifecycleError::MalformedEntry { .. }
            | LifecycleError::Invalid(_) => Self::Refused(Cause::Shard(error)),
            _ => Self::Reconnect(Cause::Shard(error)),
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Redis(error) => error.fmt(formatter),
            Self::Shard(error) => formatter.write_str(&with_causes(error)),
        }
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::GroupMissing(error) | Self::Refused(error) | Self::Reconnect(error) => {
                error.fmt(formatter)
            }
            Self::Silent(what) => formatter.write_str(what),
            Self::Superseded(what) => formatter.write_str(what),
        }
    }
}

/// An error with its causes, each after a colon, unless it was told already.
fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use redis::ServerErrorKind;
    use stream_lifecycle::Generation;

    use super::*;

    fn coded(code: &str) -> Trouble {
        redis::make_extension_error(
            code.to_owned(),
            Some("NOGROUP WRONGTYPE in the text mean nothing".to_owned()),
        )
        .into()
    }

    /// C03: a reader that was thrown out of its wait asks again; it does not take that for a missing group.
    #[test]
    fn errors_are_told_apart_by_their_code() {
        assert!(matches!(coded("NOGROUP"), Trouble::GroupMissing(_)));
        for code in ["NOPERM", "WRONGTYPE", "NOAUTH", "WRONGPASS"] {
            assert!(matches!(coded(code), Trouble::Refused(_)), "{code}");
        }
        for code in [
            "UNBLOCKED",
            "MOVED",
            "ASK",
            "READONLY",
            "LOADING",
            "CLUSTERDOWN",
            "MASTERDOWN",
            "TRYAGAIN",
            "OOM",
            "SOMETHINGNEW",
        ] {
            assert!(matches!(coded(code), Trouble::Reconnect(_)), "{code}");
        }
        let lost = RedisError::from(std::io::Error::from(std::io::ErrorKind::ConnectionReset));
        assert!(matches!(Trouble::from(lost), Trouble::Reconnect(_)));
        let denied = RedisError::from((ErrorKind::Server(ServerErrorKind::NoPerm), "no"));
        assert!(matches!(Trouble::from(denied), Trouble::Refused(_)));
        let wrong_password = RedisError::from((ErrorKind::AuthenticationFailed, "no"));
        assert!(matches!(Trouble::from(wrong_password), Trouble::Refused(_)));
    }

    /// C01, C05, C36: what is over is asked for, what is missing is repaired, what passes is repeated.
    #[test]
    fn answers_of_a_shards_life_are_told_apart_by_their_kind() {
        let fenced = LifecycleError::ConsumerFenced {
            token: Some(2),
            epoch: Some(9),
        };
        let destroyed = LifecycleError::Destroyed {
            generation: Generation::FIRST,
        };
        let base = || "orders:3".to_owned();
        for over in [LifecycleError::NotFound { base: base() }, destroyed, fenced] {
            assert!(matches!(Trouble::from(over), Trouble::Superseded(_)));
        }
        let group = "g".to_owned();
        let no_group = LifecycleError::NoGroup {
            base: base(),
            group,
        };
        for missing in [no_group, LifecycleError::DataLost { base: base() }] {
            assert!(matches!(Trouble::from(missing), Trouble::GroupMissing(_)));
        }
        let read_only = RedisError::from((ErrorKind::Server(ServerErrorKind::ReadOnly), "no"));
        let busy = LifecycleError::Busy {
            code: "READONLY".to_owned(),
            source: Arc::new(read_only),
        };
        let held = LifecycleError::LeaseHeld {
            owner: "b-m0".to_owned(),
            left_ms: 5,
        };
        let forgotten = LifecycleError::ConsumerFenced {
            token: None,
            epoch: None,
        };
        for passing in [busy, held, forgotten, LifecycleError::ReadEnded] {
            assert!(matches!(Trouble::from(passing), Trouble::Reconnect(_)));
        }
    }
}
