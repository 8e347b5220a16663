//! What the driver's errors mean for the store: by code and kind; by text only where Redis gives no code. Cases C05, C08, C09 and C11.

use std::sync::Arc;

use redis::{ErrorKind, RedisError};
use store::StoreError;

/// Codes that pass by themselves, and what they mean.
const TRANSIENT: [(&str, &str); 13] = [
    ("LOADING", "Redis is loading its data"),
    ("MASTERDOWN", "the replica has lost its master"),
    ("NOREPLICAS", "Redis has too few replicas to write"),
    ("CLUSTERDOWN", "the cluster is down"),
    ("TRYAGAIN", "the keys are being moved to another node"),
    ("MOVED", "the keys are on another node"),
    ("ASK", "the keys are being moved to another node"),
    ("BUSY", "Redis is busy with a script"),
    ("READONLY", "Redis is a replica and can't be written"),
    ("OOM", "Redis has reached its memory limit"),
    ("MISCONF", "Redis can't save and refuses writes"),
    ("UNKILLABLE", "Redis is busy with a script"),
    ("UNBLOCKED", "Redis has changed its role"),
];

/// Codes that stay until somebody changes something.
const PERMANENT: [(&str, &str); 4] = [
    ("NOPERM", "the user of Redis lacks a permission"),
    ("NOAUTH", "Redis wants a password"),
    (
        "WRONGPASS",
        "Redis does not accept the user or its password",
    ),
    ("CROSSSLOT", "Redis does not accept the keys"),
];

/// What an error means.
pub(crate) fn classify(error: RedisError) -> StoreError {
    let code = error.code().map(str::to_owned);
    let find = |table: &[(&str, &'static str)]| {
        let code = code.as_deref()?;
        let row = table.iter().find(|(known, _)| *known == code)?;
        Some(format!("{} ({code})", row.1))
    };
    if let Some(reason) = find(&TRANSIENT) {
        return unavailable(reason, error);
    }
    if let Some(reason) = find(&PERMANENT) {
        let reason = with_detail(reason, &error);
        return refused(reason, error);
    }
    match (error.kind(), code.as_deref()) {
        (_, Some("WRONGTYPE")) => StoreError::Corrupt {
            reason: "a key of the store is of another type (WRONGTYPE)".to_owned(),
            source: Some(Arc::new(error)),
        },
        // This one has no code of its own.
        (_, Some("ERR"))
            if error
                .detail()
                .is_some_and(|detail| detail.starts_with("max number of clients")) =>
        {
            unavailable("Redis has as many clients as it takes".to_owned(), error)
        }
        (_, Some(_)) => refused(with_detail("Redis refuses".to_owned(), &error), error),
        (ErrorKind::AuthenticationFailed, None) => refused(
            "Redis does not accept the user or its password".to_owned(),
            error,
        ),
        (
            ErrorKind::InvalidClientConfig
            | ErrorKind::RESP3NotSupported
            | ErrorKind::UnexpectedReturnType,
            None,
        ) => refused(with_detail(error.category().to_owned(), &error), error),
        (ErrorKind::ClusterConnectionNotFound, None) => {
            unavailable("no node of the cluster can be reached".to_owned(), error)
        }
        _ if error.is_timeout() => unavailable("Redis did not answer in time".to_owned(), error),
        _ if error.is_connection_refusal() => {
            unavailable("Redis refuses connections".to_owned(), error)
        }
        _ => unavailable("the connection to Redis is broken".to_owned(), error),
    }
}

/// Whether an error says that Redis has reached its memory limit (case C09).
pub(crate) fn is_full(error: &StoreError) -> bool {
    let StoreError::Unavailable {
        source: Some(source),
        ..
    } = error
    else {
        return false;
    };
    let cause = source.downcast_ref::<RedisError>();
    cause.and_then(RedisError::code) == Some("OOM")
}

/// Whether the connection on which the error came is of no more use: it is broken, late, or leads to a replica (case C05).
pub(crate) fn wants_new_connection(error: &RedisError) -> bool {
    match error.code() {
        Some(code) => matches!(code, "READONLY" | "MASTERDOWN" | "UNBLOCKED" | "NOAUTH"),
        None => true,
    }
}

fn with_detail(reason: String, error: &RedisError) -> String {
    match error.detail() {
        Some(detail) => format!("{reason}: {detail}"),
        None => reason,
    }
}

fn unavailable(reason: String, error: RedisError) -> StoreError {
    StoreError::Unavailable {
        reason,
        source: Some(Arc::new(error)),
    }
}

fn refused(reason: String, error: RedisError) -> StoreError {
    StoreError::Refused {
        reason,
        source: Some(Arc::new(error)),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::io;

    use super::*;

    fn from_server(line: &str) -> RedisError {
        let bytes = format!("-{line}\r\n");
        let value = redis::parse_redis_value(bytes.as_bytes()).unwrap();
        value.extract_error().unwrap_err()
    }

    fn word(error: &StoreError) -> &'static str {
        match error {
            StoreError::Unavailable { .. } => "unavailable",
            StoreError::Refused { .. } => "refused",
            StoreError::Locked { .. } => "locked",
            StoreError::Corrupt { .. } => "corrupt",
        }
    }

    /// Cases C05, C08, C09 and C11: every answer means what it should, and each says something of its own.
    #[test]
    fn every_answer_of_redis_is_told_apart_c05_c08_c09_c11() {
        let table = [
            (
                "LOADING Redis is loading the dataset in memory",
                "unavailable",
            ),
            ("MASTERDOWN Link with MASTER is down", "unavailable"),
            (
                "NOREPLICAS Not enough good replicas to write.",
                "unavailable",
            ),
            ("CLUSTERDOWN The cluster is down", "unavailable"),
            (
                "TRYAGAIN Multiple keys request during rehashing of slot",
                "unavailable",
            ),
            ("MOVED 3999 127.0.0.1:6381", "unavailable"),
            ("BUSY Redis is busy running a script.", "unavailable"),
            (
                "READONLY You can't write against a read only replica.",
                "unavailable",
            ),
            (
                "OOM command not allowed when used memory > 'maxmemory'.",
                "unavailable",
            ),
            ("MISCONF Errors writing to the AOF file", "unavailable"),
            ("ERR max number of clients reached", "unavailable"),
            (
                "NOPERM this user has no permissions to run the 'evalsha' command",
                "refused",
            ),
            ("NOAUTH Authentication required.", "refused"),
            ("WRONGPASS invalid username-password pair", "refused"),
            ("ERR unknown command 'EVALSHA'", "refused"),
            ("SOMETHING new", "refused"),
            (
                "WRONGTYPE Operation against a key holding the wrong kind of value",
                "corrupt",
            ),
        ];
        let mut reasons = std::collections::BTreeSet::new();
        for (line, expected) in table {
            let error = classify(from_server(line));
            assert_eq!(word(&error), expected, "{line}");
            assert_eq!(is_full(&error), line.starts_with("OOM"), "{line}");
            reasons.insert(error.to_string());
        }
        assert_eq!(reasons.len(), table.len(), "{reasons:#?}");
    }

    #[test]
    fn a_denied_command_is_named_c11() {
        let error = classify(from_server(
            "NOPERM this user has no permissions to run the 'evalsha' command",
        ));
        assert!(error.to_string().contains("'evalsha'"), "{error}");
    }

    #[test]
    fn a_broken_connection_is_told_from_a_slow_and_a_refused_one_c08() {
        let reason = |kind| classify(RedisError::from(io::Error::from(kind))).to_string();
        let reasons = [
            io::ErrorKind::TimedOut,
            io::ErrorKind::ConnectionRefused,
            io::ErrorKind::BrokenPipe,
        ]
        .map(reason);
        let expected = [
            "Redis did not answer in time",
            "Redis refuses connections",
            "the connection to Redis is broken",
        ];
        assert_eq!(
            reasons,
            expected.map(|reason| format!("the store is unavailable: {reason}"))
        );
    }

    #[test]
    fn only_what_a_connection_can_not_do_any_more_ends_it_c05() {
        for (line, expected) in [
            ("READONLY x", true),
            ("MASTERDOWN x", true),
            ("OOM x", false),
            ("LOADING x", false),
            ("ERR x", false),
        ] {
            assert_eq!(wants_new_connection(&from_server(line)), expected, "{line}");
        }
        assert!(wants_new_connection(&RedisError::from(io::Error::from(
            io::ErrorKind::TimedOut
        ))));
    }
}
