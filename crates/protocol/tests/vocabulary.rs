//! The closed vocabularies of the protocol: error codes and their statuses, names, roles, times, versions and defaults.
//! Whole bodies are tested by the golden fixtures.

use protocol::{
    AuditQuery, ErrorBody, ErrorCode, HeartbeatStatus, IsoTimestamp, MessageQuery, NameProblem,
    PageDirection, Role, WatchQuery, check_consumer_group, check_member_id, check_stream_prefix,
    decode, is_supported, status_name,
};

/// The table of the protocol page, row by row.
const CODES: [(u16, &str, &[&str]); 10] = [
    (
        409,
        "CONFLICT",
        &[
            "GROUP_ALREADY_EXISTS",
            "STREAM_PREFIX_ALREADY_EXISTS",
            "GROUP_HAS_ACTIVE_MEMBERS",
            "ACTIVE_MIGRATION_EXISTS",
            "METADATA_SYNC_IN_PROGRESS",
            "STATE_VERSION_CONFLICT",
        ],
    ),
    (
        404,
        "NOT_FOUND",
        &[
            "GROUP_NOT_FOUND",
            "STREAM_NOT_FOUND",
            "MIGRATION_NOT_FOUND",
            "NOT_FOUND",
        ],
    ),
    (422, "UNPROCESSABLE_ENTITY", &["ROLLBACK_NOT_ALLOWED"]),
    (
        503,
        "SERVICE_UNAVAILABLE",
        &[
            "REDIS_NOT_CONFIGURED",
            "REDIS_STREAM_PROVISIONING_FAILED",
            "COORDINATOR_STATE_MUTEX_UNAVAILABLE",
            "COORDINATOR_TERMINATING",
            "STORE_UNAVAILABLE",
            "METADATA_CORRUPT",
        ],
    ),
    (429, "TOO_MANY_REQUESTS", &["RATE_LIMIT_EXCEEDED"]),
    (400, "BAD_REQUEST", &["INVALID_REQUEST"]),
    (401, "UNAUTHORIZED", &["UNAUTHORIZED"]),
    (403, "FORBIDDEN", &["FORBIDDEN"]),
    (405, "METHOD_NOT_ALLOWED", &["METHOD_NOT_ALLOWED"]),
    (413, "PAYLOAD_TOO_LARGE", &["PAYLOAD_TOO_LARGE"]),
];

#[test]
fn every_error_code_has_its_word_and_its_status() {
    let mut seen = vec!["INTERNAL_ERROR"];
    assert_eq!(
        ErrorCode::from("INTERNAL_ERROR".to_owned()).http_status(),
        500
    );
    for (http_status, name, words) in CODES {
        assert_eq!(status_name(http_status), name);
        for word in words {
            let code = ErrorCode::from((*word).to_owned());
            assert!(ErrorCode::ALL.contains(&code), "{word} is unknown");
            assert_eq!((code.as_str(), code.http_status()), (*word, http_status));
            assert_eq!(ErrorBody::new(code, "m").status, name);
            seen.push(word);
        }
    }
    assert_eq!(seen.len(), ErrorCode::ALL.len());
}

#[test]
fn a_code_of_a_later_version_is_kept_as_it_was_sent() {
    let body: ErrorBody =
        decode(br#"{"status":"CONFLICT","errorCode":"NEW","message":"m"}"#).expect("decodes");
    assert_eq!(body.error_code, ErrorCode::Unknown("NEW".to_owned()));
    assert_eq!(body.error_code.to_string(), "NEW");
}

#[test]
fn only_the_statuses_that_let_a_client_go_on_renew_its_lease() {
    use HeartbeatStatus::{
        FencedMemberEpoch, InvalidRequest, Ok, Retry, RevokePending, SyncMetadata, UnknownMemberId,
        UnsupportedProtocol,
    };
    for status in [Ok, SyncMetadata, RevokePending] {
        assert!(status.renews_lease(), "T2, T3a: {status:?}");
    }
    for status in [
        Retry,
        UnknownMemberId,
        FencedMemberEpoch,
        UnsupportedProtocol,
        InvalidRequest,
    ] {
        assert!(!status.renews_lease(), "T3: {status:?}");
    }
}

#[test]
fn names_within_the_limits_are_taken() {
    for name in [
        "orders",
        "a",
        "bestellungen: täglich",
        "a b",
        "ordérs/%41",
        &"x".repeat(256),
    ] {
        assert_eq!(check_stream_prefix(name), Ok(()), "{name}");
    }
}

#[test]
fn names_outside_the_limits_are_refused_with_the_reason() {
    let long = "é".repeat(129);
    let cases = [
        ("", NameProblem::Empty),
        (long.as_str(), NameProblem::TooLong { bytes: 258 }),
        ("a{b", NameProblem::Brace),
        ("a}b", NameProblem::Brace),
        ("a\nb", NameProblem::Control { found: '\n' }),
        ("a\u{85}b", NameProblem::Control { found: '\u{85}' }),
        ("\u{7f}", NameProblem::Control { found: '\u{7f}' }),
        (" a", NameProblem::Surrounded),
        ("a\u{3000}", NameProblem::Surrounded),
        (" ", NameProblem::Surrounded),
    ];
    for (name, problem) in cases {
        assert_eq!(
            check_consumer_group(name).expect_err(name).problem,
            problem,
            "{name:?}"
        );
    }
    let message =
        |result: Result<(), protocol::NameError>| result.expect_err("is refused").to_string();
    assert_eq!(
        message(check_stream_prefix("")),
        "streamPrefix: must not be empty"
    );
    assert_eq!(
        message(check_consumer_group("a\t")),
        "consumerGroup: must not contain control characters, found U+0009"
    );
    assert_eq!(
        message(check_member_id(&long)),
        "memberId: has 258 bytes, at most 256 are allowed"
    );
}

#[test]
fn roles_allow_what_the_table_says() {
    use Role::{Admin, Member, Read, Write};
    let table = [
        (Read, [true, false, false, false]),
        (Write, [true, true, false, false]),
        (Member, [false, false, true, false]),
        (Admin, [true, true, true, true]),
    ];
    for (role, allowed) in table {
        assert_eq!(
            [Read, Write, Member, Admin].map(|needed| role.allows(needed)),
            allowed,
            "{role}"
        );
        assert_eq!(role.as_str().parse(), Ok(role));
    }
    assert_eq!("MONITOR".parse(), Ok(Read));
    assert_eq!(
        "read".parse::<Role>().expect_err("lower case").to_string(),
        "`read` is no role: expected READ (or MONITOR), WRITE, MEMBER or ADMIN"
    );
}

#[test]
fn times_of_other_offsets_and_precisions_are_read_as_utc_milliseconds() {
    let cases = [
        ("2026-01-31T10:15:30.123Z", 1_769_854_530_123),
        ("2026-01-31T10:15:30Z", 1_769_854_530_000),
        ("2026-01-31T12:15:30.123999+02:00", 1_769_854_530_123),
        ("1970-01-01T00:00:00Z", 0),
        ("1969-12-31T23:59:59.999Z", -1),
        ("1969-12-31T23:59:59.9985Z", -2),
    ];
    for (text, millis) in cases {
        assert_eq!(
            text.parse::<IsoTimestamp>().expect(text).as_millis(),
            millis,
            "{text}"
        );
    }
    for text in [
        "",
        "2026-01-31",
        "2026-01-31T10:15:30",
        "2026-13-31T10:15:30Z",
        "now",
        "1769854530123",
        "-000001-01-01T00:00:00Z",
    ] {
        assert!(text.parse::<IsoTimestamp>().is_err(), "{text}");
    }
}

#[test]
fn times_beyond_four_digit_years_are_moved_to_the_nearest_that_can_be_written() {
    assert_eq!(
        IsoTimestamp::from_millis(i64::MIN).to_string(),
        "0001-01-01T00:00:00.000Z"
    );
    assert_eq!(
        IsoTimestamp::from_millis(i64::MAX).to_string(),
        "9999-12-30T22:00:00.000Z"
    );
}

proptest::proptest! {
    #[test]
    fn every_time_is_written_so_that_it_is_read_back(millis in i64::MIN..=i64::MAX, near in -4_000_000_000_000_i64..4_000_000_000_000) {
        for moment in [IsoTimestamp::from_millis(millis), IsoTimestamp::from_millis(near)] {
            let text = moment.to_string();
            proptest::prop_assert_eq!(text.len(), 24);
            proptest::prop_assert_eq!(text.parse::<IsoTimestamp>().expect("its own text"), moment);
        }
    }

    #[test]
    fn no_bytes_make_decoding_panic(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
        let _refused_or_not = decode::<protocol::HeartbeatRequest>(&bytes);
    }
}

#[test]
fn only_version_1_is_supported() {
    assert_eq!([0, 1, 2].map(is_supported), [false, true, false], "H1");
    let current = protocol::Compatibility::current();
    assert_eq!(
        current.supported_coordination_versions.max,
        protocol::PROTOCOL_VERSION
    );
}

#[test]
fn queries_that_say_nothing_get_the_defaults() {
    assert_eq!(
        decode::<WatchQuery>(b"{}").expect("decodes"),
        WatchQuery {
            after: 0,
            wait_ms: 30_000
        }
    );
    let page = MessageQuery {
        direction: PageDirection::Backward,
        cursor: None,
        limit: 25,
    };
    assert_eq!(decode::<MessageQuery>(b"{}").expect("decodes"), page);
    assert_eq!(
        decode::<AuditQuery>(b"{}").expect("decodes"),
        AuditQuery::default()
    );
    let watch = decode::<WatchQuery>(br#"{"after": 7, "waitMs": 100}"#).expect("decodes");
    assert_eq!(
        watch,
        WatchQuery {
            after: 7,
            wait_ms: 100
        }
    );
}

#[test]
fn secrets_stay_out_of_debug_output() {
    let request: protocol::LoginRequest =
        decode(br#"{"username":"admin","password":"hunter2"}"#).expect("decodes");
    let response: protocol::LoginResponse = decode(
        br#"{"accessToken":"hunter2","tokenType":"Bearer","expiresAt":"2026-01-31T10:15:30Z","expiresInSeconds":1,"roles":[]}"#,
    )
    .expect("decodes");
    assert!(!format!("{request:?}{response:?}").contains("hunter2"));
}
