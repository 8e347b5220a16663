//! The metadata as a file: looked into, put back. What is saved over what is in `saving`.

mod saving;

use serde_json::Value;
use testkit::RedisServer;

use crate::support::{Coordinator, Ctl, Member, Session};

async fn two_groups(ctl: &Ctl) {
    ctl.run("stream create orders --shards 4").await.printed();
    ctl.run("group create orders billing").await.printed();
}

/// Two groups of one stream on a Redis, and where they are to be saved.
struct Scene {
    redis: RedisServer,
    coordinator: Coordinator,
    ctl: Ctl,
    file: String,
}

impl Scene {
    async fn with_two_groups() -> Self {
        let redis = RedisServer::builder().start().unwrap();
        let coordinator = Coordinator::on(&redis).await;
        let ctl = Ctl::of(&coordinator);
        two_groups(&ctl).await;
        let file = format!("{}/metadata", ctl.home.path().to_str().unwrap());
        Self {
            redis,
            coordinator,
            ctl,
            file,
        }
    }

    async fn lose_everything(&self) {
        let mut connection = self.redis.connection().await.unwrap();
        let flush = redis::cmd("FLUSHALL");
        flush.exec_async(&mut connection).await.unwrap();
    }
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
    let scene = Scene::with_two_groups().await;
    let (ctl, file) = (&scene.ctl, &scene.file);
    ctl.run(&format!("snapshot save {file}")).await.printed();
    spoil(&scene.redis, "billing").await;
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
    spoil(&scene.redis, "billing").await;
    let line = format!("snapshot restore {file} --force --execute -o json");
    let restored = json(&ctl.run(&line).await.printed());
    assert_eq!(restored["groups"][0]["outcome"], "REPAIRED");
    assert_eq!(restored["groups"][1]["outcome"], "REPLACED");
    ctl.run("group show orders billing").await.printed();
}

/// Whoever forces it is told as much as whoever does not.
#[tokio::test]
async fn a_plan_names_all_records_that_can_not_be_read_and_is_done_by_the_words_that_it_ends_with()
{
    let scene = Scene::with_two_groups().await;
    let (ctl, file) = (&scene.ctl, &scene.file);
    ctl.run(&format!("snapshot save {file}")).await.printed();
    ctl.run("group create orders others").await.printed();
    spoil(&scene.redis, "billing").await;
    spoil(&scene.redis, "others").await;
    let restore = format!("snapshot restore {file}");
    let plan = json(&ctl.run(&format!("{restore} -o json")).await.printed());
    let obstacles: Vec<&str> = plan["obstacles"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it.as_str().unwrap())
        .collect();
    assert_eq!(
        obstacles,
        [
            "the store is not empty; --force replaces the groups that are in the file and leaves the others",
            "the store is not empty: the records of orders/billing, orders/others are there, and can't be read; --force repairs what is in the file",
        ]
    );
    let words = [
        "snapshot",
        "restore",
        file,
        "--force",
        "--reason",
        "it was lost",
        "--requested-by",
        "ops",
    ];
    let plan = ctl.words(&words).await.printed();
    let row = |name: &str| {
        let row = plan.lines().find(|line| line.contains(name)).unwrap();
        row.split_whitespace().last().unwrap().to_owned()
    };
    assert_eq!(
        (row("billing"), row("orders  orders")),
        ("repaired".to_owned(), "replaced".to_owned())
    );
    assert!(plan.contains("stay as they are: orders/others\n"), "{plan}");
    assert!(
        plan.contains("can't be read, and are not mended by this: orders/others\n"),
        "{plan}"
    );
    assert!(
        plan.ends_with("To do it: coordctl snapshot restore FOLDER/metadata --force --execute --reason 'it was lost' --requested-by ops\n"),
        "{plan}"
    );
}
