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

/// A record that nobody can read.
async fn spoil(redis: &RedisServer, group: &str) {
    let mut connection = redis.connection().await.unwrap();
    let mut spoil = redis::cmd("HSET");
    spoil
        .arg(format!("redis-stream:coord:{{orders:{group}}}:metadata"))
        .arg("aggregate")
        .arg("nonsense");
    spoil.exec_async(&mut connection).await.unwrap();
}

/// Who may not is told so, and a record that can't be read is named.
#[tokio::test]
async fn what_is_missing_in_a_snapshot_is_told() {
    let redis = RedisServer::builder().start().unwrap();
    let coordinator = Coordinator::on(&redis).await;
    let ctl = Ctl::of(&coordinator);
    two_groups(&ctl).await;
    let file = format!("{}/metadata", ctl.home.path().to_str().unwrap());
    spoil(&redis, "billing").await;
    let saved = ctl.run(&format!("snapshot save {file}")).await;
    assert_eq!(saved.code, 1, "{saved:?}");
    assert_eq!(saved.out, "FOLDER/metadata.partial: 1 group saved\n");
    assert!(
        saved.err.starts_with(
            "coordctl: FOLDER/metadata: it was not written, since 1 record can't be read: orders/billing (it is not JSON"
        ),
        "{saved:?}"
    );
    assert!(!std::path::Path::new(&file).exists());
    let inspected = ctl.run(&format!("snapshot inspect {file}.partial")).await;
    let inspected = inspected.printed();
    assert!(
        inspected.contains("orders/billing is not in it"),
        "{inspected}"
    );

    let nobody = Ctl::at(&coordinator.url);
    nobody.run(&format!("snapshot save {file}")).await.failed(5);
}

#[tokio::test]
async fn a_good_file_is_not_replaced_by_one_that_lacks_a_group() {
    let redis = RedisServer::builder().start().unwrap();
    let coordinator = Coordinator::on(&redis).await;
    let ctl = Ctl::of(&coordinator);
    two_groups(&ctl).await;
    let file = format!("{}/metadata", ctl.home.path().to_str().unwrap());
    let save = format!("snapshot save {file}");
    ctl.run(&save).await.printed();
    let good = std::fs::read(&file).unwrap();
    spoil(&redis, "billing").await;
    let saved = ctl.run(&save).await;
    assert_eq!(saved.code, 1, "{saved:?}");
    assert!(
        saved.err.contains("FOLDER/metadata: it is as it was, since 1 record can't be read: ")
            && saved.err.contains("\n  what there is, is in FOLDER/metadata.partial; put each record right (coordctl snapshot restore FOLDER/metadata --only orders/billing --force), "),
        "{saved:?}"
    );
    assert_eq!(std::fs::read(&file).unwrap(), good);
    // What is advised does it.
    let repair = format!("snapshot restore {file} --only orders/billing --force --execute");
    ctl.run(&repair).await.printed();
    assert_eq!(
        ctl.run(&save).await.printed(),
        "FOLDER/metadata: 2 groups saved\n"
    );
}

/// A job that saves every night would wipe out what is needed on the day that everything is lost.
#[tokio::test]
async fn a_good_file_is_not_replaced_by_one_without_a_group() {
    let redis = RedisServer::builder().start().unwrap();
    let coordinator = Coordinator::on(&redis).await;
    let ctl = Ctl::of(&coordinator);
    two_groups(&ctl).await;
    let file = format!("{}/metadata", ctl.home.path().to_str().unwrap());
    let save = format!("snapshot save {file}");
    ctl.run(&save).await.printed();
    let good = std::fs::read(&file).unwrap();
    let mut connection = redis.connection().await.unwrap();
    redis::cmd("FLUSHALL")
        .exec_async(&mut connection)
        .await
        .unwrap();
    let said = ctl.run(&save).await.failed(1);
    assert_eq!(
        said,
        "coordctl: FOLDER/metadata: it was not replaced: there is no group any more, and it has 2 groups\n  if they were lost, put them back: coordctl snapshot restore FOLDER/metadata (docs/operations.md#metadata-lost-or-rolled-back); if they were deleted: coordctl snapshot save FOLDER/metadata --replace\n"
    );
    assert_eq!(std::fs::read(&file).unwrap(), good);
    ctl.run(&format!("{save}-empty")).await.printed();
    let replaced = ctl.run(&format!("{save} --replace")).await.printed();
    assert_eq!(replaced, "FOLDER/metadata: 0 groups saved\n");
}

/// One group may have been lost among many; or it was deleted on purpose, which only people know.
#[tokio::test]
async fn a_good_file_is_not_replaced_by_one_without_a_group_that_it_has() {
    let redis = RedisServer::builder().start().unwrap();
    let coordinator = Coordinator::on(&redis).await;
    let ctl = Ctl::of(&coordinator);
    two_groups(&ctl).await;
    let file = format!("{}/metadata", ctl.home.path().to_str().unwrap());
    let save = format!("snapshot save {file}");
    ctl.run(&save).await.printed();
    let good = std::fs::read(&file).unwrap();
    ctl.run("group delete orders billing --execute --reason done")
        .await
        .printed();
    ctl.run("group create orders others").await.printed();
    let saved = ctl.run(&save).await;
    assert_eq!(saved.code, 1, "{saved:?}");
    assert_eq!(saved.out, "FOLDER/metadata.partial: 2 groups saved\n");
    assert_eq!(
        saved.err,
        "coordctl: FOLDER/metadata: it is as it was, since a group of it is not there any more: orders/billing\n  what there is, is in FOLDER/metadata.partial; a group that was lost is put back by coordctl snapshot restore FOLDER/metadata --only orders/billing --force; where all were deleted on purpose: coordctl snapshot save FOLDER/metadata --replace (docs/operations.md#backup-and-restore)\n"
    );
    assert_eq!(std::fs::read(&file).unwrap(), good);
    // A record that can't be read is no group that is gone, and no flag makes up for it.
    spoil(&redis, "others").await;
    let saved = ctl.run(&save).await;
    assert!(
        saved
            .err
            .contains("; and a group of it is not there any more: orders/billing\n"),
        "{saved:?}"
    );
    let saved = ctl.run(&format!("{save} --replace")).await;
    assert_eq!((saved.code, std::fs::read(&file).unwrap()), (1, good));
    assert!(!saved.err.contains("any more"), "{saved:?}");
    ctl.run("group delete orders others --execute --reason broken --force")
        .await;
    let restore = format!("snapshot restore {file} --only orders/billing --force --execute");
    ctl.run(&restore).await.printed();
}

/// What is written beside a good file is nobody else's, either.
#[tokio::test]
async fn what_is_no_snapshot_is_not_replaced_by_a_part_of_one() {
    let redis = RedisServer::builder().start().unwrap();
    let coordinator = Coordinator::on(&redis).await;
    let ctl = Ctl::of(&coordinator);
    two_groups(&ctl).await;
    let file = format!("{}/metadata", ctl.home.path().to_str().unwrap());
    std::fs::write(format!("{file}.partial"), "mine\n").unwrap();
    spoil(&redis, "billing").await;
    let said = ctl.run(&format!("snapshot save {file}")).await.failed(1);
    assert_eq!(
        said,
        "coordctl: FOLDER/metadata.partial: it is there, and no snapshot: it is not replaced\n  name another file, or remove that one first\n"
    );
    let kept = std::fs::read_to_string(format!("{file}.partial")).unwrap();
    assert_eq!(kept, "mine\n");
}

#[tokio::test]
async fn what_is_no_snapshot_is_not_replaced_and_files_are_called_as_they_were_named() {
    let coordinator = Coordinator::in_memory().await;
    let ctl = Ctl::of(&coordinator);
    two_groups(&ctl).await;
    let home = ctl.home.path().to_str().unwrap().to_owned();
    std::fs::write(format!("{home}/notes"), "mine\n").unwrap();
    for (line, told) in [
        (
            "snapshot save FOLDER/notes",
            "coordctl: FOLDER/notes: it is there, and no snapshot: it is not replaced\n  name another file, or remove that one first\n",
        ),
        (
            "snapshot save /dev/null",
            "coordctl: /dev/null: it is there, and no snapshot: it is not replaced\n  name another file, or remove that one first\n",
        ),
        (
            "snapshot save FOLDER",
            "coordctl: could not write FOLDER: is a directory\n  that is a folder: name a file in it\n",
        ),
        (
            "snapshot save FOLDER/none/metadata",
            "coordctl: could not write FOLDER/none/metadata: No such file or directory (os error 2)\n  make its folder first: FOLDER/none\n",
        ),
        (
            "snapshot restore FOLDER/none",
            "coordctl: could not read FOLDER/none: No such file or directory (os error 2)\n  is its name right?\n",
        ),
        (
            "snapshot inspect FOLDER",
            "coordctl: could not read FOLDER: Is a directory (os error 21)\n  that is a folder: name a file in it\n",
        ),
    ] {
        let said = ctl.run(&line.replace("FOLDER", &home)).await.failed(1);
        assert_eq!(said, told, "{line}");
    }
    assert_eq!(
        std::fs::read_to_string(format!("{home}/notes")).unwrap(),
        "mine\n"
    );
    // The contexts file is one of these.
    let said = ctl
        .run("login --contexts-file /dev/null/contexts.toml")
        .await
        .failed(2);
    assert!(
        said.ends_with("\n  a part of that path is a file, and no folder: is its name right?\n"),
        "{said}"
    );
}

/// A store with nothing but records that can't be read is not empty, which its list does not show.
#[tokio::test]
async fn a_plan_into_a_store_that_has_an_unreadable_record_says_that_it_is_refused() {
    let redis = RedisServer::builder().start().unwrap();
    let coordinator = Coordinator::on(&redis).await;
    let ctl = Ctl::of(&coordinator);
    ctl.run("stream create orders --shards 1").await.printed();
    let file = format!("{}/metadata", ctl.home.path().to_str().unwrap());
    ctl.run(&format!("snapshot save {file}")).await.printed();
    spoil(&redis, "orders").await;
    let restore = format!("snapshot restore {file}");
    let plan = ctl.run(&restore).await.printed();
    assert!(
        plan.contains("refused as it stands: the store is not empty: the record of orders/orders is there, and can't be read; --force repairs"),
        "{plan}"
    );
    assert!(
        plan.ends_with("\nNothing was changed, and --execute would be refused: see above.\n"),
        "{plan}"
    );
    ctl.run(&format!("{restore} --execute")).await.failed(4);
    ctl.run(&format!("{restore} --force --execute"))
        .await
        .printed();
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
    spoil(&redis, "billing").await;
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
    spoil(&redis, "billing").await;
    let line = format!("snapshot restore {file} --force --execute -o json");
    let restored = json(&ctl.run(&line).await.printed());
    assert_eq!(restored["groups"][0]["outcome"], "REPAIRED");
    assert_eq!(restored["groups"][1]["outcome"], "REPLACED");
    ctl.run("group show orders billing").await.printed();
}
