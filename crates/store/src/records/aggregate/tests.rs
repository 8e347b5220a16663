//! The stored form, against fixtures that never change once released, and everything that is refused.
#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};
use store::conformance::{full_record, group_id};

use super::*;

const MINIMAL: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../fixtures/store/v1/aggregate.minimal.json"
));
const FULL: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../fixtures/store/v1/aggregate.full.json"
));

fn id() -> GroupId {
    group_id("orders", "billing")
}

fn minimal() -> GroupRecord {
    GroupRecord::new(id(), ShardCount::new(12), Provisioning::Pending)
}

/// Every field but the leases, which are kept beside the record.
fn full() -> GroupRecord {
    let mut record = full_record(&id());
    for member in record.members.values_mut() {
        Arc::make_mut(member).lease_deadline = None;
    }
    record
}

fn encoded(record: &GroupRecord, revision: u64) -> Value {
    let text = Aggregate::encode(record, StoreRevision::new(revision));
    serde_json::from_str(&text).unwrap()
}

fn decode(value: &Value) -> Result<Arc<GroupRecord>, DecodeError> {
    Aggregate::decode(&value.to_string(), &id(), StoreRevision::new(41))
}

/// Every message of an error and of what it comes from.
fn messages(error: &DecodeError) -> String {
    let mut messages = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        messages = format!("{messages}: {cause}");
        source = cause.source();
    }
    messages
}

#[test]
fn records_are_written_as_in_the_fixtures() {
    let fixture = |text| serde_json::from_str::<Value>(text).unwrap();
    assert_eq!(encoded(&minimal(), 1), fixture(MINIMAL));
    assert_eq!(encoded(&full(), 41), fixture(FULL));
}

/// Case C49: numbers above 2^53 and empty lists come back as they were.
#[test]
fn the_fixtures_are_read_c49() {
    let read = |text, revision| {
        let record = Aggregate::decode(text, &id(), StoreRevision::new(revision)).unwrap();
        GroupRecord::clone(&record)
    };
    assert_eq!(read(MINIMAL, 1), minimal());
    assert_eq!(read(FULL, 41), full());
}

#[test]
fn leases_are_not_in_the_record() {
    assert_eq!(encoded(&full_record(&id()), 41), encoded(&full(), 41));
}

/// Rule C6: each of these fails closed, and says why.
#[test]
fn what_is_not_wholly_understood_is_refused_c6() {
    type Change = fn(&mut Value);
    let table: [(&str, Change); 13] = [
        ("its schema version is 2, this program reads 1", |it| {
            it["schemaVersion"] = json!(2)
        }),
        ("its schema version is 2, this program reads 1", |it| {
            *it = json!({"schemaVersion": 2, "shape": "unheard of"});
        }),
        ("missing field `schemaVersion`", |it| *it = json!({})),
        ("unknown field `colour`", |it| it["colour"] = json!("red")),
        ("unknown field `colour`", |it| {
            it["members"][0]["colour"] = json!("red")
        }),
        ("missing field `groupEpoch`", |it| {
            it.as_object_mut().unwrap().remove("groupEpoch");
        }),
        ("it says revision 40, and 41 is stored beside it", |it| {
            it["revision"] = json!(40)
        }),
        ("it is of group orders/audit, not of orders/billing", |it| {
            it["group"] = json!("audit")
        }),
        ("invalid type: floating point", |it| {
            it["groupEpoch"] = json!(1.5)
        }),
        ("unknown variant `ASLEEP`", |it| {
            it["members"][0]["state"] = json!("ASLEEP")
        }),
        ("a name in it can't be one: must not be empty", |it| {
            it["members"][0]["id"] = json!("")
        }),
        ("is in it twice", |it| {
            let again = it["members"][0].clone();
            it["members"].as_array_mut().unwrap().push(again);
        }),
        (
            "the assignment epoch 9007199254740993 is above the group epoch 1",
            |it| {
                it["groupEpoch"] = json!(1);
            },
        ),
    ];
    for (expected, change) in table {
        let mut value = encoded(&full(), 41);
        decode(&value).unwrap();
        change(&mut value);
        let found = messages(&decode(&value).unwrap_err());
        assert!(found.contains(expected), "{found}");
    }
    for text in ["", "null", "[]", "{", "{\"schemaVersion\":1}"] {
        let refused = Aggregate::decode(text, &id(), StoreRevision::new(41));
        assert!(refused.is_err(), "{text:?}");
    }
}

#[test]
fn a_shard_that_is_held_twice_is_refused_c6() {
    let mut value = encoded(&full(), 41);
    let holdings = &mut value["members"][0]["holdings"];
    let shard = holdings[0]["shards"][0].clone();
    holdings[1]["shards"].as_array_mut().unwrap().push(shard);
    let found = messages(&decode(&value).unwrap_err());
    assert!(found.contains("out of order among what is held"), "{found}");
}
