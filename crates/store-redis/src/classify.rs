//! What the driver's errors mean for the store: by code and kind; by text only where Redis gives no code. Cases C05, C08, C09 and C11.

use std::sync::Arc;

use redis::{ErrorKind, RedisError};
use store::StoreError;

/// What helps who lacks a right.
pub(crate) const GRANT: &str =
    "grant it the command and the key by ACL SETUSER (docs/operations.md#permissions)";

/// What is said of a code: what it means, and what helps where it does not pass without anybody's doing.
type Row = (&'static str, &'static str, &'static str);

/// Codes after which the same may work later.
const TRANSIENT: [Row; 13] = [
    ("LOADING", "Redis is loading its data", ""),
    ("MASTERDOWN", "the replica has lost its master", ""),
    (
        "NOREPLICAS",
        "Redis has too few replicas to write",
        "bring them back, or lower min-replicas-to-write",
    ),
    ("CLUSTERDOWN", "the cluster is down", ""),
    ("TRYAGAIN", "the keys are being moved to another node", ""),
    ("MOVED", "the keys are on another node", ""),
    ("ASK", "the keys are being moved to another node", ""),
    ("BUSY", "Redis is busy with a script", ""),
    (
        "READONLY",
        "Redis is a replica and can't be written",
        "if no failover is under way, give the address of its master",
    ),
    (
        "OOM",
        "Redis has reached its memory limit",
        "give it more memory, or make room",
    ),
    (
        "MISCONF",
        "Redis can't save and refuses writes",
        "its log says why: mend its disk",
    ),
    ("UNKILLABLE", "Redis is busy with a script", ""),
    ("UNBLOCKED", "Redis has changed its role", ""),
];

/// Codes that stay until somebody changes something.
const PERMANENT: [Row; 4] = [
    ("NOPERM", "the user of Redis lacks a permission", GRANT),
    (
        "NOAUTH",
        "Redis wants a password",
        "give user and password in its URL",
    ),
    (
        "WRONGPASS",
        "Redis does not accept the user or its password",
        "mend them in its URL",
    ),
    ("CROSSSLOT", "Redis does not accept the keys", ""),
];

/// What an error means.
pub(crate) fn classify(error: RedisError) -> StoreError {
    let code = error.code().map(str::to_owned);
    let find = |table: &'static [Row]| {
        let code = code.as_deref()?;
        let (_, meaning, help) = table.iter().find(|(known, ..)| *known == code)?;
        Some((format!("{meaning} ({code})"), *help))
    };
    if let Some((reason, help)) = find(&TRANSIENT) {
        return unavailable(with_help(reason, help), error);
    }
    if let Some((reason, help)) = find(&PERMANENT) {
        let reason = with_help(with_detail(reason, &error), help);
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
        (_, None) => without_code(error),
    }
}

fn without_code(error: RedisError) -> StoreError {
    match error.kind() {
        ErrorKind::AuthenticationFailed => {
            let reason = "Redis does not accept the user or its password; mend them in its URL";
            refused(reason.to_owned(), error)
        }
        ErrorKind::InvalidClientConfig
        | ErrorKind::RESP3NotSupported
        | ErrorKind::UnexpectedReturnType => {
            refused(with_detail(error.category().to_owned(), &error), error)
        }
        ErrorKind::ClusterConnectionNotFound => {
            unavailable("no node of the cluster can be reached".to_owned(), error)
        }
        _ if error.is_timeout() => unavailable("Redis did not answer in time".to_owned(), error),
        _ if error.is_connection_refusal() => {
            unavailable("Redis refuses connections".to_owned(), error)
        }
        _ => unavailable("the connection to Redis is broken".to_owned(), error),
    }
}

/// What an error means with which a connection to an address was not made. Of a name that can't be resolved the system tells by text alone.
pub(crate) fn classify_connecting(error: RedisError, address: &str) -> StoreError {
    let text = error.to_string();
    let is_unresolved = ["failed to lookup address", "No address found for host"]
        .iter()
        .any(|known| text.contains(known));
    if !is_unresolved {
        return classify(error);
    }
    let reason = format!("the host of {address} can't be resolved; mend its name, or the DNS");
    unavailable(reason, error)
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

fn with_help(reason: String, help: &str) -> String {
    if help.is_empty() {
        return reason;
    }
    format!("{reason}; {help}")
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

    /// What nobody mends by waiting says what to do.
    #[test]
    fn what_somebody_has_to_do_is_said_c05_c09_c11() {
        for (line, expected) in [
            ("READONLY x", "the address of its master"),
            ("OOM x", "make room"),
            ("MISCONF x", "its disk"),
            ("NOREPLICAS x", "min-replicas-to-write"),
            ("NOPERM x", "ACL SETUSER"),
            ("NOAUTH x", "in its URL"),
            ("WRONGPASS x", "in its URL"),
        ] {
            let said = classify(from_server(line)).to_string();
            assert!(said.contains(expected), "{said}");
        }
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
