//! The process: starts, says where it listens, and ends well.
#![allow(clippy::unwrap_used)]

mod support;

use std::process::Command;

use nix::sys::signal::Signal;
use support::{Daemon, Plain};

fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_coordinatord"))
        .args(arguments)
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

#[tokio::test]
async fn without_any_argument_but_a_port_it_serves_from_memory() {
    let daemon = Daemon::start(&[]).await;
    daemon.create("orders", 3).await;
    let mut member = Plain::new("m");
    member.beat(&daemon.client, "orders").await.unwrap();
    assert_eq!(member.shards(), [0, 1, 2]);
}

#[tokio::test]
async fn either_signal_ends_it_well() {
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        let mut daemon = Daemon::start(&["--shutdown-timeout", "5s"]).await;
        daemon.create("orders", 1).await;
        daemon.signal(signal);
        assert_eq!(daemon.ended().await, Some(0), "{signal}");
    }
}

#[test]
fn h21_what_cannot_work_is_refused_before_anything_starts() {
    for (arguments, says) in [
        (
            &["--member-lease-ttl", "5s"][..],
            "member-lease-ttl (5000 ms) must be at least twice heartbeat-interval (3000 ms)",
        ),
        (
            &["--listen", "0.0.0.0:0"],
            "refusing to listen on 0.0.0.0:0 with the default password",
        ),
        (
            &["--store", "postgres://x"],
            "store: \"postgres://x\" is neither memory nor",
        ),
        (
            &["--config", "/nowhere.toml"],
            "there is no configuration file /nowhere.toml",
        ),
    ] {
        let (code, _, errors) = run(arguments);
        assert_eq!(code, Some(2), "{arguments:?}: {errors}");
        assert!(errors.contains(says), "{errors:?} should say {says:?}");
    }
    let (code, _, errors) = run(&["--heartbeat-interval", "3"]);
    assert_eq!(code, Some(2));
    assert!(errors.contains("write 500ms, 3s, 10m or 1h"), "{errors}");
}

#[test]
fn flags_win_over_the_environment_and_that_over_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("coordinatord.toml");
    std::fs::write(
        &file,
        "default-shard-count = 1\nkey-prefix = \"file\"\ncoordinator-id = \"file\"\n",
    )
    .unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_coordinatord"))
        .args([
            "--config",
            file.to_str().unwrap(),
            "--coordinator-id",
            "flag",
            "--print-config",
        ])
        .env("COORDINATORD_COORDINATOR_ID", "environment")
        .env("COORDINATORD_KEY_PREFIX", "environment")
        .env("COORDINATORD_ADMIN_PASSWORD", "hunter2")
        .output()
        .unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    for line in [
        "coordinator-id = \"flag\"",
        "key-prefix = \"environment\"",
        "default-shard-count = 1",
    ] {
        assert!(shown.contains(line), "{line} is missing of {shown}");
    }
    assert!(!shown.contains("hunter2"));

    std::fs::write(&file, "hartbeat-interval = \"3s\"\n").unwrap();
    let (code, _, errors) = run(&["--config", file.to_str().unwrap(), "--check-config"]);
    assert_eq!(code, Some(2));
    assert!(errors.contains("hartbeat-interval"), "{errors}");
    std::fs::write(&file, "member-lease-ttl = 30\n").unwrap();
    let (_, _, errors) = run(&["--config", file.to_str().unwrap(), "--check-config"]);
    assert!(errors.contains("a duration such as \"3s\""), "{errors}");
    let (code, shown, _) = run(&["--check-config"]);
    assert_eq!(
        (code, shown.as_str()),
        (Some(0), "the configuration is valid\n")
    );
}
