//! Who asks is recorded of every change, whoever that is.

use nix::unistd::{Uid, User};
use serde_json::Value;
use testkit::RedisServer;

use crate::support::{Coordinator, Ctl};

/// Who asked for the latest changes, and why.
async fn latest(ctl: &Ctl, count: usize) -> Vec<(String, Value)> {
    let line = format!("audit -o json --limit {count}");
    let told: Value = serde_json::from_str(&ctl.run(&line).await.printed()).unwrap();
    let events = told["events"].as_array().unwrap().iter();
    events
        .map(|event| {
            let who = event["requestedBy"].as_str().unwrap_or_default();
            (who.to_owned(), event["reason"].clone())
        })
        .collect()
}

/// Where no variable of the environment says it, as in a job of a scheduler.
#[tokio::test]
async fn without_a_name_in_the_environment_it_is_the_user_of_the_process() {
    let redis = RedisServer::builder().start().unwrap();
    let coordinator = Coordinator::on(&redis).await;
    let ctl = Ctl::bare(&coordinator.url)
        .with("COORDCTL_SERVER", &coordinator.url)
        .with("COORDCTL_PASSWORD", "admin")
        .with("COORDCTL_USER", "admin")
        .with("USER", "");
    ctl.run("stream create orders --shards 1").await.printed();
    let id = Uid::effective();
    let user = User::from_uid(id).unwrap();
    let user = user.map_or_else(|| format!("uid-{id}"), |user| user.name);
    let who = &latest(&ctl, 1).await[0].0;
    assert!(who.starts_with(&format!("{user}@")), "{who}");
}

#[tokio::test]
async fn a_restore_says_who_asked_and_why_at_each_group() {
    let redis = RedisServer::builder().start().unwrap();
    let coordinator = Coordinator::on(&redis).await;
    let ctl = Ctl::of(&coordinator);
    ctl.run("stream create orders --shards 1").await.printed();
    let file = format!("{}/metadata", ctl.home.path().to_str().unwrap());
    ctl.run(&format!("snapshot save {file}")).await.printed();
    let restore = format!("snapshot restore {file} --force --execute");
    ctl.run(&format!("{restore} --reason mistaken"))
        .await
        .printed();
    let who = ("tester@here".to_owned(), "mistaken".into());
    assert_eq!(latest(&ctl, 2).await, [who.clone(), who]);
    ctl.run(&restore).await.printed();
    assert_eq!(
        latest(&ctl, 1).await[0],
        ("tester@here".to_owned(), Value::Null)
    );
}
