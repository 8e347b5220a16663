//! Golden fixtures of protocol version 1, read and written: one module per family, and a check that no fixture goes unread.
//! It tests shapes; what the coordinator decides is tested elsewhere.

mod audit;
mod auth;
mod case;
mod error;
mod grafana;
mod group;
mod heartbeat;
mod monitoring;
mod records;
mod refused;
mod routing;
mod snapshot;
mod stream;

use std::collections::BTreeSet;

use case::{fixture_files, run_all};

/// Declares one test per family and the check over all of them.
macro_rules! families {
    ($($family:ident: $sentence:ident;)+) => {
        $(
            #[test]
            fn $sentence() {
                run_all(&$family::cases());
            }
        )+

        #[test]
        fn every_fixture_is_read_by_exactly_one_case() {
            let mut read = BTreeSet::new();
            $(
                for case in $family::cases() {
                    assert!(read.insert(case.file().to_owned()), "{} is read twice", case.file());
                }
            )+
            let present = fixture_files();
            assert_eq!(present, read, "left: fixtures that exist, right: fixtures that are read");
        }
    };
}

families! {
    heartbeat: heartbeats_and_watches_match_their_fixtures;
    group: groups_match_their_fixtures;
    routing: routings_match_their_fixtures;
    stream: stream_administration_matches_its_fixtures;
    auth: log_in_and_session_match_their_fixtures;
    error: errors_match_their_fixtures;
    monitoring: monitoring_answers_match_their_fixtures;
    records: offsets_and_messages_match_their_fixtures;
    grafana: dashboard_rows_match_their_fixtures;
    snapshot: lines_of_snapshots_match_their_fixtures;
    audit: audit_events_match_their_fixtures;
    refused: malformed_bodies_are_refused_with_the_field_named;
}
