//! What the errors of Redis mean for a record: by code and kind, never by text.

use redis::{ErrorKind, RedisError, ServerError};
use stream_lifecycle::LifecycleError;

use super::PublishError;
use crate::streams::AddError;

/// Codes of replies that go away by themselves; nothing was added.
const TRANSIENT: [&str; 10] = [
    "LOADING",
    "READONLY",
    "CLUSTERDOWN",
    "TRYAGAIN",
    "MASTERDOWN",
    "NOREPLICAS",
    "MISCONF",
    "BUSY",
    "MOVED",
    "ASK",
];

impl PublishError {
    /// What an operation on a shard at `stream_key`, reached at `address`, failed with, where no other route helps.
    pub(crate) fn of_shard(error: LifecycleError, stream_key: &str, address: String) -> Self {
        match error {
            LifecycleError::Invalid(invalid) => Self::Invalid(invalid),
            LifecycleError::IdempotencyConflict { original } => Self::EventIdTaken {
                stream_key: stream_key.to_owned(),
                original: original.to_string(),
            },
            LifecycleError::Ambiguous(source) => Self::Ambiguous {
                address,
                source: RedisError::clone(&source),
            },
            LifecycleError::Unreachable(source) => Self::Unreachable {
                address,
                source: RedisError::clone(&source),
            },
            LifecycleError::Busy { code, source } => {
                let message = source.detail().unwrap_or_default().to_owned();
                if code == "OOM" {
                    return Self::OutOfMemory { message };
                }
                Self::Busy { code, message }
            }
            LifecycleError::Denied { what } => Self::Refused {
                code: "NOPERM".to_owned(),
                message: what,
            },
            conflict @ LifecycleError::KeyConflict { .. } => Self::Refused {
                code: "WRONGTYPE".to_owned(),
                message: conflict.to_string(),
            },
            LifecycleError::Refused(source) => Self::Refused {
                code: source.code().unwrap_or("ERR").to_owned(),
                message: source.detail().unwrap_or_default().to_owned(),
            },
            other => Self::Refused {
                code: "ERR".to_owned(),
                message: other.to_string(),
            },
        }
    }
}

impl From<AddError> for PublishError {
    fn from(error: AddError) -> Self {
        match error {
            AddError::Rejected(reply) => Self::from(&reply),
            AddError::Lost { address, source } => Self::Ambiguous { address, source },
            AddError::Unreachable { address, source } => unreachable_at(address, source),
        }
    }
}

/// No connection; where that is because Redis refused to have one, its code counts.
fn unreachable_at(address: String, source: RedisError) -> PublishError {
    if source.kind() == ErrorKind::AuthenticationFailed {
        let code = source.code().unwrap_or("WRONGPASS").to_owned();
        return PublishError::Refused {
            code,
            message: source.to_string(),
        };
    }
    match source.clone().into_server_errors().as_deref() {
        Some([(_, reply), ..]) => PublishError::from(reply),
        _ => PublishError::Unreachable { address, source },
    }
}

impl From<&ServerError> for PublishError {
    fn from(reply: &ServerError) -> Self {
        let code = reply.code().to_owned();
        let message = reply.details().unwrap_or_default().to_owned();
        match code.as_str() {
            "OOM" => Self::OutOfMemory { message },
            // A transaction that was dropped for a reason that only its text tells: nothing was added.
            "EXECABORT" => Self::Busy { code, message },
            known if TRANSIENT.contains(&known) => Self::Busy { code, message },
            _ => Self::Refused { code, message },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Arc;

    use redis::RedisError;
    use stream_lifecycle::LifecycleError;

    use super::{AddError, PublishError};

    fn rejected(code: &str) -> PublishError {
        let reply = redis::make_extension_error(code.to_owned(), Some("why".to_owned()));
        let errors = reply.into_server_errors().expect("a server's error");
        PublishError::from(AddError::Rejected(errors[0].1.clone()))
    }

    #[test]
    fn replies_that_go_away_are_retryable_and_add_nothing() {
        for code in [
            "LOADING",
            "READONLY",
            "CLUSTERDOWN",
            "TRYAGAIN",
            "MASTERDOWN",
            "NOREPLICAS",
            "MISCONF",
            "EXECABORT",
        ] {
            let error = rejected(code);
            assert!(
                matches!(&error, PublishError::Busy { code: told, .. } if told == code),
                "C08: {error:?}"
            );
            assert!(error.is_retryable() && !error.may_have_been_added());
        }
    }

    #[test]
    fn full_memory_is_its_own_retryable_error() {
        let error = rejected("OOM");
        assert!(
            matches!(&error, PublishError::OutOfMemory { message } if message == "why"),
            "C09: {error:?}"
        );
        assert!(error.is_retryable() && !error.may_have_been_added());
    }

    #[test]
    fn denials_and_wrong_types_are_permanent() {
        for code in ["NOPERM", "NOAUTH", "WRONGTYPE", "ERR"] {
            let error = rejected(code);
            assert_eq!(
                error.to_string(),
                format!("Redis refuses with {code}: why"),
                "C11"
            );
            assert!(!error.is_retryable() && !error.may_have_been_added());
        }
    }

    #[test]
    fn only_a_lost_answer_may_have_been_added() {
        let source = || RedisError::from(io::Error::from(io::ErrorKind::TimedOut));
        let address = || "127.0.0.1:6379".to_owned();
        let lost = PublishError::from(AddError::Lost {
            address: address(),
            source: source(),
        });
        assert!(lost.may_have_been_added() && lost.is_retryable());
        let unreachable = PublishError::from(AddError::Unreachable {
            address: address(),
            source: source(),
        });
        assert!(!unreachable.may_have_been_added() && unreachable.is_retryable());
    }

    #[test]
    fn shards_fail_in_the_same_words_as_streams() {
        let source = || Arc::new(RedisError::from(io::Error::from(io::ErrorKind::TimedOut)));
        let of = |error| PublishError::of_shard(error, "orders:0", "127.0.0.1:6379".to_owned());
        let busy = |code: &str| LifecycleError::Busy {
            code: code.to_owned(),
            source: source(),
        };
        assert!(matches!(of(busy("OOM")), PublishError::OutOfMemory { .. }));
        assert!(matches!(
            of(busy("TRYAGAIN")),
            PublishError::Busy { code, .. } if code == "TRYAGAIN"
        ));
        let lost = of(LifecycleError::Ambiguous(source()));
        assert_eq!(
            lost.to_string(),
            "Redis at 127.0.0.1:6379 did not answer: the record may have been added"
        );
        assert!(lost.may_have_been_added());
        let away = of(LifecycleError::Unreachable(source()));
        assert!(matches!(away, PublishError::Unreachable { .. }) && !away.may_have_been_added());
        for permanent in [
            LifecycleError::Denied {
                what: "XADD on orders:0".to_owned(),
            },
            LifecycleError::KeyConflict {
                key: "orders:0".to_owned(),
                found: Some("string".to_owned()),
            },
            LifecycleError::Refused(source()),
        ] {
            let error = of(permanent);
            assert!(matches!(error, PublishError::Refused { .. }), "C11");
            assert!(!error.is_retryable() && !error.may_have_been_added());
        }
    }
}
