//! What is refused, or cannot be asked: the exit code, and what to do about it.

use serde_json::Value;
use testkit::RedisServer;

use crate::support::{Coordinator, Ctl, Fake, Session};

#[tokio::test]
async fn each_refusal_has_its_exit_code_and_says_what_to_do() {
    let coordinator = Coordinator::in_memory().await;
    let ctl = Ctl::of(&coordinator);
    let mut session = Session::default();
    for line in [
        "stream create orders --shards 2",
        "stream create orders",
        "group create orders orders",
        "group create orders billing --shards 3",
        "group create letters billing",
        "group show letters",
        "members orders billing",
        "stream scale letters 3",
        "stream scale letters 3 --execute --reason more",
        "stream scale orders 20000 --execute --reason more",
        "stream delete letters",
        "group delete orders billing",
        "migration show orders",
        "migration show orders other",
        "lag orders",
        "messages orders --shard 0",
        "stream scale orders 1",
        "group show or{ders",
    ] {
        session.run(&ctl, line).await;
    }
    session.compare("refusals");
}

/// A name that was mistyped makes no stream.
#[tokio::test]
async fn a_group_makes_a_stream_only_where_that_is_said() {
    let coordinator = Coordinator::in_memory().await;
    let ctl = Ctl::of(&coordinator);
    let said = ctl.run("group create letters billing").await.failed(3);
    assert!(
        said.contains("coordctl stream create letters --shards N"),
        "{said}"
    );
    assert_eq!(coordinator.seen().await.groups.len(), 0);
    let made = ctl
        .run("group create letters billing --shards 2")
        .await
        .printed();
    assert_eq!(
        made,
        "letters/billing: created, and with it the stream letters, with 2 shards\n"
    );
    // The stream is one also without a group of its name.
    let made = ctl.run("group create letters archive").await.printed();
    assert_eq!(
        made,
        "letters/archive: created, with the 2 shards of the stream\n"
    );
}

/// Nothing is there to be read, and nobody is told that there were no records.
#[tokio::test]
async fn records_of_what_is_not_there_are_not_found() {
    let redis = RedisServer::builder().start().unwrap();
    let coordinator = Coordinator::caching(&redis).await;
    let ctl = Ctl::of(&coordinator);
    ctl.run("stream create orders --shards 2").await.printed();
    let empty = ctl.run("messages orders --shard 1").await.printed();
    assert_eq!(empty, "orders:1: no record (any more)\n");
    let mut connection = redis.connection().await.unwrap();
    let mut drop = redis::cmd("DEL");
    drop.arg("orders:1")
        .exec_async(&mut connection)
        .await
        .unwrap();
    // What was read of it just before is not gone by.
    for (line, says) in [
        (
            "messages orders --shard 1",
            "there is no orders:1 in Redis, and no record of it",
        ),
        ("messages orders --shard 7", "NOT_FOUND: "),
        ("messages orders billing --shard 0", "GROUP_NOT_FOUND: "),
        ("messages letters --shard 0", "GROUP_NOT_FOUND: "),
    ] {
        let said = ctl.run(line).await.failed(3);
        assert!(said.starts_with(&format!("coordctl: {says}")), "{said}");
    }
}

#[tokio::test]
async fn a_command_line_that_cannot_be_followed_ends_with_2() {
    let ctl = Ctl::bare("http://127.0.0.1:1");
    let mut session = Session::default();
    assert_eq!(ctl.run("").await.code, 2);
    for line in [
        "stream scale orders",
        "stream scale orders 3 --execute",
        "stream scale orders 3 --execute --plan --reason x",
        "group list --timeout 0s",
        "messages orders --shard 1 --limit 0",
        "group list --server ftp://x",
        "group list --server http://u:p@x",
        "group list --server 127.0.0.1:27680",
        "group list --server coord.example",
        "group list --server u:p@coord.example",
        "audit --group billing",
        "group list --user a --token b",
        "group list --user a",
        "group list --ca-cert FOLDER/none.pem",
        "group list --context none",
        "stream scale orders 3 --execute -o json",
        "group list --user a -o json",
    ] {
        let done = ctl.run(line).await;
        assert_eq!(done.code, 2, "{line}: {done:?}");
        session.note(&ctl, line, &done);
    }
    session.compare("usage");
}

/// What stands in the environment, or was said, is not what has to be said.
#[tokio::test]
async fn the_usage_of_a_command_has_what_it_needs_and_no_more() {
    let ctl = Ctl::at("http://127.0.0.1:1").with("COORDCTL_USER", "me");
    for (line, usage) in [
        (
            "stream scale orders",
            "coordctl stream scale [OPTIONS] <STREAM> <COUNT>",
        ),
        (
            "stream scale --user a orders -o wide",
            "coordctl stream scale [OPTIONS] <STREAM> <COUNT>",
        ),
        (
            "group delete orders --force",
            "coordctl group delete [OPTIONS] <STREAM> <GROUP>",
        ),
        ("group", "coordctl group [OPTIONS] <COMMAND>"),
        ("group list --nothing", "coordctl group list [OPTIONS]"),
        ("nothing", "coordctl [OPTIONS] <COMMAND>"),
    ] {
        let said = ctl.run(line).await.failed(2);
        assert!(
            said.contains(&format!("\nUsage: {usage}\n")),
            "{line}: {said}"
        );
    }
}

/// What somebody has to mend does not pass by itself.
#[tokio::test]
async fn what_passes_by_itself_is_told_from_what_does_not() {
    for code in ["STORE_UNAVAILABLE", "REDIS_STREAM_PROVISIONING_FAILED"] {
        let body = format!(
            r#"{{"status":"SERVICE_UNAVAILABLE","errorCode":"{code}","message":"NOPERM"}}"#
        );
        let fake = Fake::with_headers(503, body.clone(), &[("retry-after", "2")]).await;
        let said = Ctl::at(&fake.url)
            .run("stream create orders")
            .await
            .failed(6);
        assert!(said.contains("send the same again"), "{said}");
        assert!(!said.contains("permissions"), "{said}");
        let fake = Fake::answering(503, body).await;
        let said = Ctl::at(&fake.url)
            .run("stream create orders")
            .await
            .failed(6);
        assert!(said.contains("docs/operations.md#permissions"), "{said}");
        assert!(!said.contains("again in"), "{said}");
    }
}

#[tokio::test]
async fn a_host_that_nobody_knows_is_called_that() {
    let said = Ctl::at("http://no-such-host.invalid:8080")
        .run("health")
        .await
        .failed(6);
    assert!(said.starts_with("coordctl: no answer from URL"), "{said}");
    assert!(
        said.contains("\n  no host of that name is known here: "),
        "{said}"
    );
    assert!(!said.contains("error sending request"), "{said}");
}

#[tokio::test]
async fn nobody_is_told_to_log_in_and_a_wrong_password_to_look_again() {
    let coordinator = Coordinator::in_memory().await;
    let said = Ctl::at(&coordinator.url).run("group list").await.failed(5);
    let advice =
        "\n  log in: coordctl login --server URL --user NAME; or give --user, or COORDCTL_TOKEN\n";
    assert!(said.ends_with(advice), "{said}");
    let wrong = Ctl::at(&coordinator.url).with("COORDCTL_PASSWORD", "wrong");
    let said = wrong.run("group list --user admin").await.failed(5);
    assert!(
        said.ends_with("\n  check the user's name and the password\n"),
        "{said}"
    );
    let wrong = Ctl::at(&coordinator.url).with("COORDCTL_TOKEN", "wrong");
    let said = wrong.run("group list").await.failed(5);
    let advice = "\n  the token given is not taken (any more); coordctl login fetches a new one\n";
    assert!(said.ends_with(advice), "{said}");
}

#[tokio::test]
async fn flags_win_over_the_environment_also_between_user_and_token() {
    let fake = Fake::answering(200, r#"{"groups":[]}"#).await;
    let ctl = Ctl::at(&fake.url)
        .with("COORDCTL_TOKEN", "of-the-environment")
        .with("COORDCTL_PASSWORD", "secret");
    ctl.run("group list").await.printed();
    ctl.run("--user me group list").await.printed();
    ctl.run("group list --user me").await.printed();
    ctl.fed("group list --user me --password-stdin", "other\n")
        .await
        .printed();
    let who: Vec<String> = fake.authorizations().into_iter().flatten().collect();
    // `me:secret` and `me:other`, as HTTP writes them.
    assert_eq!(
        who,
        [
            "Bearer of-the-environment",
            "Basic bWU6c2VjcmV0",
            "Basic bWU6c2VjcmV0",
            "Basic bWU6b3RoZXI="
        ]
    );
}

#[tokio::test]
async fn who_cannot_be_reached_is_named_with_where_else_to_look() {
    let url = format!("http://127.0.0.1:{}", testkit::free_port());
    let said = Ctl::at(&url).run("group list").await.failed(6);
    assert!(said.starts_with("coordctl: no answer from URL: "), "{said}");
    assert!(said.contains("refused"), "{said}");
    assert!(
        said.ends_with("\n  is a coordinator running there? Another is named by --server URL, COORDCTL_SERVER or a context (coordctl context list)\n"),
        "{said}"
    );
}

#[tokio::test]
async fn with_json_a_refusal_is_the_wire_shape_and_what_is_known_beyond_it() {
    let coordinator = Coordinator::in_memory().await;
    let said = Ctl::of(&coordinator)
        .run("group show letters -o json")
        .await
        .failed(3);
    let told: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(told["status"], "NOT_FOUND");
    assert_eq!(told["errorCode"], "GROUP_NOT_FOUND");
    assert_eq!(told["message"], "the consumer group does not exist");
    assert_eq!(told["exitCode"], 3);
    assert_eq!(told["advice"], "coordctl group list shows what there is");
    let fields = told.as_object().unwrap();
    assert!(
        fields.contains_key("message") && fields.len() == 5,
        "{said}"
    );
}

#[tokio::test]
async fn what_passes_by_itself_ends_with_6_and_says_when_to_come_back() {
    let body =
        r#"{"status":"TOO_MANY_REQUESTS","errorCode":"RATE_LIMIT_EXCEEDED","message":"slower"}"#;
    let fake = Fake::with_headers(429, body, &[("retry-after", "7")]).await;
    let ctl = Ctl::at(&fake.url);
    let said = ctl.run("stream create orders").await.failed(6);
    assert_eq!(
        said,
        "coordctl: RATE_LIMIT_EXCEEDED: slower\n  too many changes at once: slow down (again in N s)\n"
    );
    let fake = Fake::answering(502, "<html>\u{1b}[2Jbad gateway").await;
    let said = Ctl::at(&fake.url).run("group list").await.failed(6);
    assert!(
        said.starts_with("coordctl: HTTP_502: <html>\\u{1b}[2Jbad gateway\n"),
        "{said}"
    );
    let fake = Fake::answering(200, "{}").await;
    let said = Ctl::at(&fake.url).run("group list").await.failed(1);
    assert!(
        said.contains("the answer of URL cannot be understood: "),
        "{said}"
    );
}
