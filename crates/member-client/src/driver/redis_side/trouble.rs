//! What an error of Redis means for a worker. It goes by the error's code, never by its text (case C03).

use redis::{ErrorKind, RedisError};

/// What to do about it.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The consumer group is missing, or the stream with it.
    GroupMissing(RedisError),
    /// It will not go away by itself: rights, a key of another type, wrong credentials.
    Refused(RedisError),
    /// A new connection, and perhaps another node, may help.
    Reconnect(RedisError),
    /// A new connection, because this one did not answer in time or answered nonsense.
    Silent(&'static str),
}

impl From<RedisError> for Trouble {
    fn from(error: RedisError) -> Self {
        if error.kind() == ErrorKind::AuthenticationFailed {
            return Self::Refused(error);
        }
        match error.code() {
            Some("NOGROUP") => Self::GroupMissing(error),
            Some("NOPERM" | "WRONGTYPE" | "NOAUTH" | "WRONGPASS") => Self::Refused(error),
            _ => Self::Reconnect(error),
        }
    }
}

impl std::fmt::Display for Trouble {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::GroupMissing(error) | Self::Refused(error) | Self::Reconnect(error) => {
                error.fmt(formatter)
            }
            Self::Silent(what) => formatter.write_str(what),
        }
    }
}

#[cfg(test)]
mod tests {
    use redis::ServerErrorKind;

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
}
