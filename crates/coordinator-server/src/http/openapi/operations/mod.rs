//! The operations, by what they are about: one block for each row of the table of access. A test compares the two.

mod access;
mod admin;
mod audit;
mod grafana;
mod groups;
mod members;
mod migrations;
mod monitoring;
mod probes;
mod reference;
mod shards;
mod streams;

use protocol::ErrorCode;

use super::operation::Described;

/// The parts of the document, in its order.
pub(super) const TAGS: [(&str, &str); 8] = [
    (
        "Streams",
        "Streams and consumer groups: made, shown, deleted.",
    ),
    ("Shard counts", "Changes of how many shards a stream has."),
    ("Members", "What consumers ask: heartbeat and watch."),
    ("Producers", "What producers ask."),
    ("Monitoring", "What operators and dashboards look at."),
    ("Access", "Tokens."),
    ("Administration", "The metadata as a file, and back."),
    ("Process", "Probes, numbers, and this reference."),
];

/// Every operation.
pub(super) fn all() -> Vec<Described> {
    [
        streams::operations(),
        groups::operations(),
        migrations::operations(),
        members::operations(),
        monitoring::operations(),
        shards::operations(),
        grafana::operations(),
        audit::operations(),
        admin::operations(),
        access::operations(),
        probes::operations(),
        reference::operations(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// What may be wrong with the store.
const STORE: [ErrorCode; 2] = [ErrorCode::StoreUnavailable, ErrorCode::MetadataCorrupt];

/// What else may come of looking into shard streams.
const STREAMS: [ErrorCode; 1] = [ErrorCode::RedisNotConfigured];

/// What else may come of looking at a group.
const GROUP: [ErrorCode; 2] = [ErrorCode::GroupNotFound, ErrorCode::CoordinatorTerminating];

/// What else may come of changing something.
const CHANGE: [ErrorCode; 3] = [
    ErrorCode::CoordinatorTerminating,
    ErrorCode::CoordinatorStateMutexUnavailable,
    ErrorCode::StateVersionConflict,
];

/// A golden fixture of the protocol, as an example.
macro_rules! example {
    ($name:literal) => {
        serde_json::from_str::<serde_json::Value>(include_str!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../fixtures/protocol/v1/",
            $name,
            ".json"
        )))
        .expect("fixtures are JSON")
    };
}
use example;
