//! Whole processes that die of one record (case C21).

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use member_client::TroubleKind;
use testkit::wait_until;

use crate::life::field;
use crate::scene::{GROUP, LIMIT, Log, Scene, numbers};

/// The program `examples/dies_of_poison.rs`, which is built together with the tests.
fn program() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let folder = tests.parent().and_then(std::path::Path::parent).unwrap();
    let program = folder.join("examples").join("dies_of_poison");
    assert!(
        program.exists(),
        "build it first: cargo build -p member-client --examples"
    );
    program
}

/// A process that is ended with the test.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(scene: &Scene, when_exhausted: &str) -> Process {
    let child = Command::new(program())
        .arg(format!("http://{}", scene.coordinator.address()))
        .arg(scene.redis.url())
        .args(["orders", GROUP, "a", when_exhausted])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    Process(child.unwrap())
}

/// Starts the process again for as long as it dies. Returns how often it died.
async fn run_until_it_survives(
    scene: &Scene,
    when_exhausted: &str,
    done: impl AsyncFn() -> bool,
) -> u32 {
    let mut process = start(scene, when_exhausted);
    let mut deaths = 0;
    let deadline = std::time::Instant::now() + LIMIT * 2;
    while !done().await {
        assert!(
            std::time::Instant::now() < deadline,
            "died {deaths} times and is not through"
        );
        if process.0.try_wait().unwrap().is_some() {
            deaths += 1;
            process = start(scene, when_exhausted);
        }
        // waits: between two looks at the process
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    deaths
}

/// C21: the process dies of the record five times, and then the record is set aside and the others are handled.
#[tokio::test]
async fn a_record_that_kills_its_process_is_set_aside_after_five_attempts_c21() {
    let (scene, _) = Scene::alive(1).await;
    let bodies = ["0", "1", "poison", "3", "4"];
    scene.publish(0, bodies).await;
    scene.coordinator.assign("a-m0", &[0]);
    let deaths = run_until_it_survives(&scene, "dead-letter", async || {
        let letters = scene.dead_letters(0).await.len();
        letters == 1 && scene.pending(0).await == 0
    })
    .await;
    assert_eq!(deaths, 5);
    let letters = scene.dead_letters(0).await;
    assert_eq!(field(&letters[0], "body"), "poison");
    assert_eq!(field(&letters[0], "dlq.attempts"), "5");
    // Once dead it stays dead: another owner is not given it.
    let log = Log::new();
    scene.coordinator.assign("a-m0", &[]);
    scene.coordinator.assign("b-m0", &[0]);
    let _client = scene.start("b", &log);
    scene.publish(0, 5..7).await;
    log.wait_for(2).await;
    assert_eq!(log.bodies(), numbers(5..7));
}

/// C21: with `halt` it dies five times, and then the shard stands still for whoever owns it, and says where.
#[tokio::test]
async fn a_record_that_kills_its_process_halts_the_shard_where_that_was_asked_for_c21() {
    let (scene, _) = Scene::alive(1).await;
    let ids = scene.publish(0, ["0", "poison", "2"]).await;
    scene.coordinator.assign("a-m0", &[0]);
    let mut process = start(&scene, "halt");
    for _ in 0..5 {
        let died = || process.0.try_wait().unwrap().is_some();
        wait_until(LIMIT, died).await.unwrap();
        process = start(&scene, "halt");
    }
    drop(process);
    let log = Log::new();
    let builder = scene.builder("a", &log);
    let builder = builder.when_exhausted(member_client::Exhausted::Halt);
    let client = builder.build().unwrap().start();
    wait_until(LIMIT, || client.metrics().shards_halted == 1)
        .await
        .unwrap();
    let trouble = client.troubles().remove(0);
    assert_eq!(
        (trouble.kind, trouble.entry),
        (TroubleKind::Halted, Some(ids[1].clone()))
    );
    assert!(log.begun().is_empty());
    assert_eq!(scene.pending(0).await, 2);
}
