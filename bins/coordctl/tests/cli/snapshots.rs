//! The metadata as a file: saved, looked into, put back.

use serde_json::Value;
use testkit::RedisServer;

use crate::support::{Coordinator, Ctl, Member, Session};

async fn two_groups(ctl: &Ctl) {
    ctl.run("stream create orders --shards 4").await.printed();
    ctl.run("group create orders billing").await.printed();
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[tokio::test]
async fn a_snapshot_is_saved_looked_into_and_put_back_into_an_empty_store() {
    let redis = RedisServer::builder().start().unwrap();
    let coordinator = Coordinator::on(&redis).await;
    let ctl = Ctl::of(&coordinator);
    let mut session = Session::default();
    two_groups(&ctl).await;
    let folder = ctl.home.path().to_str().unwrap().to_owned();
    let file = format!("{folder}/metadata");
    session.run(&ctl, &format!("snapshot save {file}")).await;
    session.run(&ctl, &format!("snapshot inspect {file}")).await;
    session.run(&ctl, &format!("snapshot restore {file}")).await;
    session
        .run(&ctl, &format!("snapshot restore {file} --execute"))
        .await;
    session.meanwhile("Redis loses everything");
    let mut connection = redis.connection().await.unwrap();
    redis::cmd("FLUSHALL")
        .exec_async(&mut connection)
        .await
        .unwrap();
    session.run(&ctl, &format!("snapshot restore {file}")).await;
    let done = session
        .run(&ctl, &format!("snapshot restore {file} --execute"))
        .await;
    done.printed();
    session.compare("snapshot");
    let seen = coordinator.seen().await;
    let seen: Vec<_> = seen
        .groups
        .iter()
        .map(|it| (it.consumer_group.as_str(), it.shard_count))
        .collect();
    assert_eq!(seen, [("billing", 4), ("orders", 4)]);
}

#[tokio::test]
async fn with_force_what_is_there_is_replaced_and_its_members_go_on() {
    let redis = RedisServer::builder().start().unwrap();
    let coordinator = Coordinator::quick(&redis).await;
    let ctl = Ctl::of(&coordinator);
    two_groups(&ctl).await;
    let file = format!("{}/metadata", ctl.home.path().to_str().unwrap());
    ctl.run(&format!("snapshot save {file}")).await.printed();
    let _member = Member::start(&coordinator, "orders", "orders", "m-1");
    coordinator.settled("orders", "orders", 1).await;
    ctl.run("stream create bills --shards 1").await.printed();
    let plan = ctl
        .run(&format!("snapshot restore {file} --force -o json"))
        .await
        .printed();
    let plan = json(&plan);
    assert_eq!(plan["groupsThatStay"], serde_json::json!(["bills/bills"]));
    assert_eq!(plan["obstacles"], serde_json::json!([]));
    let line = format!("snapshot restore {file} --force --execute -o json");
    let restored = json(&ctl.run(&line).await.printed());
    let outcomes: Vec<_> = restored["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["outcome"])
        .collect();
    assert_eq!(outcomes, ["REPLACED", "REPLACED"]);
    coordinator.settled("orders", "orders", 1).await;
    assert_eq!(coordinator.seen().await.groups.len(), 3);
}

#[tokio::test]
async fn a_file_that_was_cut_or_changed_is_noticed_before_anybody_is_asked() {
    let coordinator = Coordinator::in_memory().await;
    let ctl = Ctl::of(&coordinator);
    two_groups(&ctl).await;
    let file = format!("{}/metadata", ctl.home.path().to_str().unwrap());
    ctl.run(&format!("snapshot save {file}")).await.printed();
    let whole = std::fs::read_to_string(&file).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    let cut = lines[..3]
        .iter()
        .map(|line| format!("{line}\n"))
        .collect::<String>();
    let in_a_line = whole[..whole.len() - 10].to_owned();
    let other = whole.replacen("shardCount\\\":4", "shardCount\\\":5", 1);
    for (text, expected) in [
        (cut, "it has no end: a part is missing"),
        (in_a_line, "line 4 is cut off"),
        (other, "the digest at its end is not that of what is before"),
        (String::new(), "it has no end"),
        (format!("{}\n", lines[1]), "it does not begin with a header"),
    ] {
        std::fs::write(&file, &text).unwrap();
        let inspected = ctl.run(&format!("snapshot inspect {file} -o json")).await;
        assert_eq!(inspected.code, 1, "{inspected:?}");
        assert!(
            json(&inspected.out)["problem"]
                .as_str()
                .unwrap()
                .contains(expected),
            "{inspected:?}"
        );
        assert_eq!(json(&inspected.err)["errorCode"], "SNAPSHOT");
        let nowhere = Ctl::at("http://127.0.0.1:1");
        let line = format!("snapshot restore {file} --execute");
        let said = nowhere.run(&line).await.failed(1);
        assert!(
            said.contains(expected) && said.contains("nothing was changed"),
            "{said}"
        );
    }
    let said = ctl.run("snapshot inspect /nowhere/file").await.failed(1);
    assert!(said.contains("could not read /nowhere/file"), "{said}");
}

/// Who may not is told so, and a record that can't be read is named.
#[tokio::test]
async fn what_is_missing_in_a_snapshot_is_told() {
    let redis = RedisServer::builder().start().unwrap();
    let coordinator = Coordinator::on(&redis).await;
    let ctl = Ctl::of(&coordinator);
    two_groups(&ctl).await;
    let file = format!("{}/metadata", ctl.home.path().to_str().unwrap());
    let mut connection = redis.connection().await.unwrap();
    let mut spoil = redis::cmd("HSET");
    spoil
        .arg("redis-stream:coord:{orders:billing}:metadata")
        .arg("aggregate")
        .arg("nonsense");
    spoil.exec_async(&mut connection).await.unwrap();
    let saved = ctl.run(&format!("snapshot save {file}")).await;
    assert_eq!(saved.code, 1, "{saved:?}");
    assert!(saved.out.contains("1 groups saved"), "{saved:?}");
    assert!(
        saved.err.contains("orders/billing: it is not JSON"),
        "{saved:?}"
    );
    let inspected = ctl.run(&format!("snapshot inspect {file}")).await.printed();
    assert!(
        inspected.contains("orders/billing is not in it"),
        "{inspected}"
    );

    let nobody = Ctl::at(&coordinator.url);
    nobody.run(&format!("snapshot save {file}")).await.failed(5);
}

/// A record that can't be read is put back from a snapshot of before.
#[tokio::test]
async fn c6_a_record_that_can_not_be_read_is_repaired_by_force() {
    let redis = RedisServer::builder().start().unwrap();
    let coordinator = Coordinator::on(&redis).await;
    let ctl = Ctl::of(&coordinator);
    two_groups(&ctl).await;
    let file = format!("{}/metadata", ctl.home.path().to_str().unwrap());
    ctl.run(&format!("snapshot save {file}")).await.printed();
    let mut connection = redis.connection().await.unwrap();
    let mut spoil = redis::cmd("HSET");
    spoil
        .arg("redis-stream:coord:{orders:billing}:metadata")
        .arg("aggregate")
        .arg("nonsense");
    spoil.exec_async(&mut connection).await.unwrap();
    ctl.run("group show orders billing").await.failed(1);
    let said = ctl
        .run(&format!("snapshot restore {file} --only other"))
        .await;
    assert!(said.failed(3).contains("nothing of other is in the file"));
    let line = format!("snapshot restore {file} --only orders/billing --force");
    let plan = ctl.run(&line).await.printed();
    assert!(plan.contains("stay as they are: orders/orders"), "{plan}");
    assert!(
        plan.contains("--only orders/billing --force --execute"),
        "{plan}"
    );
    let one = json(
        &ctl.run(&format!("{line} --execute -o json"))
            .await
            .printed(),
    );
    assert_eq!(one["groups"].as_array().unwrap().len(), 1);
    assert_eq!(one["groups"][0]["outcome"], "REPAIRED");
    ctl.run("group show orders billing").await.printed();
    spoil.exec_async(&mut connection).await.unwrap();
    let line = format!("snapshot restore {file} --force --execute -o json");
    let restored = json(&ctl.run(&line).await.printed());
    assert_eq!(restored["groups"][0]["outcome"], "REPAIRED");
    assert_eq!(restored["groups"][1]["outcome"], "REPLACED");
    ctl.run("group show orders billing").await.printed();
}
