//! The document against the table of access, the fixtures of the protocol, and itself.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use openapi_check::Contract;
use protocol::{NAME_MAX_BYTES, NAME_PATTERN, check_stream_prefix};
use serde_json::{Value, json};

use super::{document, text};
use crate::http::table::{Access, TABLE};

fn folder(below: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(below)
}

/// Each operation: its path, its method, and what is said of it.
fn operations(document: &Value) -> Vec<(String, String, &Value)> {
    let paths = document["paths"].as_object().expect("paths");
    let methods = paths.iter().flat_map(|(path, item)| {
        let methods = item.as_object().expect("methods").iter();
        methods.map(move |(method, operation)| (path.clone(), method.to_uppercase(), operation))
    });
    methods.collect()
}

/// Every object of the document, whatever it is.
fn objects<'a>(value: &'a Value, found: &mut Vec<&'a serde_json::Map<String, Value>>) {
    match value {
        Value::Object(object) => {
            found.push(object);
            object.values().for_each(|inner| objects(inner, found));
        }
        Value::Array(items) => items.iter().for_each(|item| objects(item, found)),
        _ => {}
    }
}

#[test]
fn every_row_of_the_table_is_described_and_nothing_else() {
    let document = document();
    let described: BTreeSet<_> = operations(&document)
        .into_iter()
        .map(|(path, method, _)| (path, method))
        .collect();
    let there = TABLE.iter().map(|row| {
        let path = row.path.to_owned();
        (path, row.method.to_string())
    });
    assert_eq!(described, there.collect());
}

#[test]
fn an_operation_asks_for_the_credentials_that_its_row_demands() {
    let document = document();
    for row in TABLE {
        let path = row.path.to_owned();
        let operation = &document["paths"][&path][row.method.as_str().to_lowercase()];
        let security = operation["security"].as_array().map_or(0, Vec::len);
        let expected = match row.access {
            Access::Open => (0, Value::Null),
            Access::Member => (3, json!("MEMBER")),
            Access::Role(role) => (2, json!(role.as_str())),
        };
        let said = (security, operation["x-required-role"].clone());
        assert_eq!(said, expected, "{} {path}", row.method);
    }
}

#[test]
fn every_operation_has_an_id_a_summary_and_a_part_of_the_document() {
    let document = document();
    let tags = document["tags"].as_array().expect("tags").iter();
    let tags: Vec<&Value> = tags.map(|tag| &tag["name"]).collect();
    let mut ids = BTreeSet::new();
    for (path, method, operation) in operations(&document) {
        let id = operation["operationId"].as_str().expect("an id");
        assert!(ids.insert(id), "{id} is there twice");
        assert!(operation["summary"].is_string(), "{method} {path}");
        assert!(tags.contains(&&operation["tags"][0]), "{method} {path}");
    }
}

#[test]
fn whatever_is_referred_to_is_there() {
    let document = document();
    let mut found = Vec::new();
    objects(&document, &mut found);
    let references = found
        .iter()
        .filter_map(|object| object.get("$ref")?.as_str());
    let mut count = 0;
    for reference in references {
        let pointer = reference.strip_prefix('#').expect("within the document");
        assert!(document.pointer(pointer).is_some(), "{reference}");
        count += 1;
    }
    assert!(count > 50, "{count} references");
}

#[test]
fn numbers_are_integers_with_a_range() {
    let document = document();
    let mut found = Vec::new();
    objects(&document, &mut found);
    let mut count = 0;
    for object in found {
        let kinds = match &object.get("type") {
            Some(Value::Array(kinds)) => kinds.clone(),
            Some(kind) => vec![(*kind).clone()],
            None => continue,
        };
        assert!(!kinds.contains(&json!("number")), "{object:?}");
        if kinds.contains(&json!("integer")) {
            assert!(object["minimum"].is_i64(), "{object:?}");
            assert!(object["maximum"].is_i64(), "{object:?}");
            count += 1;
        }
    }
    assert!(count > 50, "{count} integers");
}

#[test]
fn the_examples_are_what_they_are_examples_of() {
    let document = document();
    let contract = Contract::new(&document.to_string());
    let mut count = 0;
    for (path, method, operation) in operations(&document) {
        let responses = operation["responses"].as_object().expect("responses");
        let bodies = responses.values().chain([&operation["requestBody"]]);
        let contents = bodies.filter_map(|body| body["content"].as_object());
        for (at, content) in contents.flat_map(serde_json::Map::values).enumerate() {
            if let Some(example) = content.get("example") {
                let key = format!("{method} {path} {at}");
                contract
                    .validate(&key, &content["schema"], example)
                    .expect("an example");
                count += 1;
            }
        }
    }
    assert!(count > 20, "{count} examples");
}

/// The schema that a fixture is one of, by the first part of its name.
fn schema_of(family: &str) -> &'static str {
    match family {
        "assignments" => "Assignments",
        "audit-events" => "AuditEvents",
        "compatibility" => "Compatibility",
        "consumption" => "Consumption",
        "create-stream-request" => "CreateStreamRequest",
        "delete-group-request" => "DeleteGroupRequest",
        "error" => "ErrorBody",
        "grafana-assignments" => "GrafanaAssignmentRow",
        "grafana-groups" => "GrafanaGroupRow",
        "grafana-members" => "GrafanaMemberRow",
        "grafana-messages" => "GrafanaMessageRow",
        "grafana-options" => "GrafanaOption",
        "grafana-shards" => "GrafanaShardRow",
        "group" => "Group",
        "group-changed" => "GroupChanged",
        "group-list" => "GroupList",
        "health" => "Health",
        "heartbeat-request" => "HeartbeatRequest",
        "heartbeat-response" => "HeartbeatResponse",
        "login-request" => "LoginRequest",
        "login-response" => "LoginResponse",
        "member-list" => "MemberList",
        "message-page" => "MessagePage",
        "migration" => "Migration",
        "migrations" => "Migrations",
        "offsets" => "Offsets",
        "restored" => "Restored",
        "snapshot-end" | "snapshot-group" | "snapshot-header" | "snapshot-unreadable" => {
            "SnapshotLine"
        }
        "rollback-request" => "RollbackRequest",
        "routing" => "Routing",
        "scale-request" => "ScaleRequest",
        "session" => "Session",
        "stream-created" => "StreamCreated",
        "stream-scaled" => "StreamScaled",
        "watch-response" => "WatchResponse",
        other => panic!("no schema is known for {other}"),
    }
}

/// Every fixture of the protocol: its name and its text.
fn fixtures() -> Vec<(String, String)> {
    let root = folder("../../fixtures/protocol/v1");
    let mut found = Vec::new();
    for entry in fs::read_dir(&root).expect("fixtures") {
        let path = entry.expect("an entry").path();
        let files = if path.is_dir() {
            let inner = fs::read_dir(&path).expect("a folder");
            inner.map(|entry| entry.expect("an entry").path()).collect()
        } else {
            vec![path]
        };
        for file in files {
            let name = file.strip_prefix(&root).expect("below the folder");
            let text = fs::read_to_string(&file).expect("a text");
            found.push((name.to_string_lossy().into_owned(), text));
        }
    }
    found
}

#[test]
fn every_fixture_is_what_its_schema_says_and_every_bad_one_is_not() {
    let contract = Contract::new(&document().to_string());
    // Clients take these from others than this version; it does not send them.
    let others = ["login-response.role-alias.json"];
    let (mut good, mut bad) = (0, 0);
    for (name, text) in fixtures() {
        let schema = schema_of(name.split('.').next().expect("a family"));
        let Ok(value) = serde_json::from_str::<Value>(&text) else {
            assert!(name.contains(".bad/"), "{name} is no JSON");
            continue;
        };
        let values = if name.starts_with("grafana-") {
            value.as_array().expect("rows").clone()
        } else {
            vec![value]
        };
        let is_open = name.ends_with(".unknown-field.json");
        for value in values {
            let outcome = contract.is_a(schema, &value);
            if name.contains(".bad/") {
                // To JSON Schema a field may be there twice, and 1.0 is an integer.
                let untold = ["/doubled-field.json", "/float-shard-index.json"];
                let is_told = outcome.is_err() || untold.iter().any(|end| name.ends_with(end));
                assert!(is_told, "{name} is taken for a {schema}");
                bad += 1;
            } else if is_open || others.contains(&name.as_str()) {
                assert!(
                    outcome.is_err(),
                    "{name} holds nothing that is not described"
                );
            } else {
                outcome.unwrap_or_else(|problem| panic!("{name}: {problem}"));
                good += 1;
            }
        }
    }
    assert!(good > 60 && bad > 20, "{good} good ones, {bad} bad ones");
}

#[test]
fn the_pattern_of_names_says_what_the_check_does() {
    let schema = json!({ "type": "string", "pattern": NAME_PATTERN });
    let pattern = jsonschema::validator_for(&schema).expect("a pattern");
    let ends = [
        "", " ", "\t", "\u{a0}", "\u{85}", "\u{2028}", "\u{3000}", "\u{feff}", "\u{0}", "\u{7f}",
        "{", "}", "a", "ä", "\n",
    ];
    let mut refused = 0;
    for first in ends {
        for middle in ends {
            for last in ends {
                let name = format!("{first}{middle}{last}");
                let taken = check_stream_prefix(&name).is_ok();
                assert_eq!(pattern.is_valid(&json!(name)), taken, "{name:?}");
                refused += usize::from(!taken);
            }
        }
    }
    assert!(refused > 1_000, "{refused} refused");
    assert!(check_stream_prefix(&"a".repeat(NAME_MAX_BYTES)).is_ok());
}

/// `REWRITE=1` writes down what there is instead of comparing: read the difference before it is accepted.
#[test]
fn the_document_is_the_one_that_was_looked_at() {
    let file = folder("tests/snapshots/openapi.json");
    let now = text(&document());
    if std::env::var_os("REWRITE").is_some() {
        fs::write(&file, &now).expect("the snapshot is written");
    }
    let before = fs::read_to_string(&file).unwrap_or_default();
    let lines = before.lines().zip(now.lines()).enumerate();
    let differing = lines.into_iter().find(|(_, (before, now))| before != now);
    assert!(
        before == now,
        "the document differs, first at {differing:#?}; look at it and accept it with REWRITE=1"
    );
}
