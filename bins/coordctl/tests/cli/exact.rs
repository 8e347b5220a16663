//! JSON is exactly what the coordinator sends: the golden answers of the protocol go in, and come out.

use coordinator_client::CoordinatorClient;
use serde_json::Value;

use crate::support::{Ctl, Fake, compare};

async fn asked(line: &str, fixture: &str) -> (Value, Value, String, Vec<String>) {
    let (fake, body) = Fake::fixture(fixture).await;
    let ctl = Ctl::at(&fake.url).with("COORDCTL_TOKEN", "token");
    let printed = ctl
        .raw(&format!("{} -o json", line.replace(" -o wide", "")))
        .await;
    let printed = serde_json::from_str(&printed).unwrap_or(Value::Null);
    let table = ctl.raw(line).await;
    let sent: Value = serde_json::from_str(&body).unwrap();
    (printed, sent, table, fake.asked())
}

/// What is said, the golden answer to it, and the route that is asked.
const ASKED: [(&str, &str, &str); 13] = [
    (
        "group show p g -o wide",
        "group.full",
        "/coord/v1/monitoring/streams/p/groups/g",
    ),
    (
        "group list -o wide",
        "group-list.full",
        "/coord/v1/monitoring/groups",
    ),
    (
        "members p g -o wide",
        "member-list.full",
        "/coord/v1/monitoring/streams/p/groups/g/members",
    ),
    (
        "assignments p",
        "assignments.full",
        "/coord/v1/monitoring/streams/p/groups/p/assignments",
    ),
    (
        "shards p g -o wide",
        "offsets.full",
        "/coord/v1/monitoring/streams/p/groups/g/offsets",
    ),
    (
        "lag p g",
        "offsets.minimal",
        "/coord/v1/monitoring/streams/p/groups/g/offsets",
    ),
    (
        "lag p g -o wide",
        "offsets.full",
        "/coord/v1/monitoring/streams/p/groups/g/offsets",
    ),
    (
        "migrations p g -o wide",
        "migrations.full",
        "/coord/v1/monitoring/streams/p/groups/g/migrations",
    ),
    (
        "migration show p reshard-1 -o wide",
        "migration.full",
        "/coord/v1/streams/p/groups/p/migrations/reshard-1",
    ),
    (
        "messages p g --shard 3 -o wide",
        "message-page.full",
        "/coord/v1/monitoring/streams/p/groups/g/shards/3/messages?direction=BACKWARD&limit=25",
    ),
    (
        "audit --stream my/p --limit 5 -o wide",
        "audit-events.full",
        "/coord/v1/monitoring/audit?streamPrefix=my%2Fp&limit=5",
    ),
    (
        "audit --stream p --group g -o wide",
        "audit-events.full",
        "/coord/v1/monitoring/audit?streamPrefix=p&consumerGroup=g",
    ),
    (
        "health -o wide",
        "health.full",
        "/coord/v1/monitoring/health",
    ),
];

#[tokio::test]
async fn json_is_what_the_coordinator_sends_and_tables_say_the_same() {
    let mut tables = String::new();
    for (line, fixture, route) in ASKED {
        let (printed, sent, table, requests) = asked(line, fixture).await;
        assert_eq!(printed, sent, "{line}");
        assert_eq!(requests[0], format!("GET {route}"), "{line}");
        tables.push_str(&format!("$ coordctl {line}\n{table}\n"));
    }
    compare("sessions", "tables.txt", &tables);
}

#[tokio::test]
async fn the_audit_of_everything_has_no_query() {
    let (_, _, table, requests) = asked("audit", "audit-events.minimal").await;
    assert_eq!(requests[0], "GET /coord/v1/monitoring/audit");
    assert!(!table.is_empty());
}

#[tokio::test]
async fn a_coordinator_that_is_down_is_shown_and_fails() {
    let body = r#"{"status":"DOWN","coordinatorId":"c-1","redis":"DOWN","loop":"UP","redisDetail":"connection refused"}"#;
    let fake = Fake::answering(200, body).await;
    let done = Ctl::at(&fake.url).run("health").await;
    assert_eq!(done.code, 6);
    assert_eq!(
        done.out,
        "Coordinator    c-1\nStatus         DOWN\nStore          DOWN (connection refused)\nPeriodic work  UP\n"
    );
    assert!(done.err.starts_with("coordctl: the coordinator is DOWN\n"));
}

/// The program shows offsets, which say more; the call is for whoever wants what members report.
#[tokio::test]
async fn the_client_asks_for_the_consumption_of_a_group() {
    let (fake, body) = Fake::fixture("consumption.full").await;
    let client = CoordinatorClient::builder([&fake.url]).build().unwrap();
    let answer = client.consumption("p", "g").await.unwrap();
    let sent: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(serde_json::to_value(&answer).unwrap(), sent);
    let route = "GET /coord/v1/monitoring/streams/p/groups/g/consumption";
    assert_eq!(fake.asked(), [route]);
}
