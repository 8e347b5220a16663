//! The server harness itself: that a server answers, can be stopped and brought back, and leaves nothing behind.
#![allow(clippy::unwrap_used)]

use std::process::Command;
use std::time::Duration;

use testkit::{RedisCluster, RedisServer, wait_until};

const LIMIT: Duration = Duration::from_secs(10);

fn exists(pid: u32) -> bool {
    Command::new("sh")
        .args(["-c", "kill -0 \"$1\" 2>/dev/null", "sh", &pid.to_string()])
        .status()
        .unwrap()
        .success()
}

#[tokio::test]
async fn a_started_server_stores_and_answers() {
    let server = RedisServer::builder().start().unwrap();
    let mut connection = server.connection().await.unwrap();
    redis::cmd("SET")
        .arg("a")
        .arg(1)
        .exec_async(&mut connection)
        .await
        .unwrap();
    let value: u32 = redis::cmd("GET")
        .arg("a")
        .query_async(&mut connection)
        .await
        .unwrap();
    assert_eq!(value, 1);
}

#[tokio::test]
async fn dropping_a_server_ends_its_process_and_removes_its_folder() {
    let server = RedisServer::builder().start().unwrap();
    let (pid, folder) = (server.pid().unwrap(), server.folder().to_owned());
    assert!(exists(pid) && folder.exists());
    drop(server);
    assert!(!exists(pid) && !folder.exists());
}

#[tokio::test]
async fn a_paused_server_answers_nothing_until_it_is_resumed() {
    let server = RedisServer::builder().start().unwrap();
    let mut connection = server.connection().await.unwrap();
    server.pause();
    let ping = redis::cmd("PING");
    let asked =
        tokio::time::timeout(Duration::from_millis(200), ping.exec_async(&mut connection)).await;
    assert!(asked.is_err(), "a stopped process answered");
    server.resume();
    ping.exec_async(&mut connection).await.unwrap();
}

#[tokio::test]
async fn a_restart_keeps_the_port_and_only_persisted_data() {
    for (persistent, expected) in [(false, None), (true, Some(7))] {
        let builder = RedisServer::builder();
        let mut server = if persistent {
            builder.append_only()
        } else {
            builder
        }
        .start()
        .unwrap();
        let port = server.port();
        redis::cmd("SET")
            .arg("a")
            .arg(7)
            .exec_async(&mut server.connection().await.unwrap())
            .await
            .unwrap();
        server.kill();
        assert!(server.connection().await.is_err());
        server.restart().unwrap();
        assert_eq!(server.port(), port);
        let mut connection = server.connection().await.unwrap();
        let value: Option<u32> = redis::cmd("GET")
            .arg("a")
            .query_async(&mut connection)
            .await
            .unwrap();
        assert_eq!(value, expected);
    }
}

#[tokio::test]
async fn a_replica_follows_its_master() {
    let master = RedisServer::builder().start().unwrap();
    let replica = RedisServer::builder()
        .replica_of(master.port())
        .start()
        .unwrap();
    redis::cmd("SET")
        .arg("a")
        .arg(1)
        .exec_async(&mut master.connection().await.unwrap())
        .await
        .unwrap();
    let client = replica.client();
    wait_until(LIMIT, || {
        let seen: redis::RedisResult<Option<u32>> = client
            .get_connection()
            .and_then(|mut connection| redis::cmd("GET").arg("a").query(&mut connection));
        seen == Ok(Some(1))
    })
    .await
    .unwrap();
}

#[test]
fn a_bad_setting_is_reported_with_the_servers_own_words() {
    let error = RedisServer::builder()
        .max_memory("10mb", "no-such-policy")
        .start()
        .unwrap_err();
    assert!(error.to_string().contains("maxmemory-policy"), "{error}");
}

#[tokio::test]
async fn a_cluster_serves_every_slot() {
    let cluster = RedisCluster::start(3).unwrap();
    assert_eq!(cluster.urls().len(), 3);
    let client = redis::cluster::ClusterClient::new(cluster.urls()).unwrap();
    let mut connection = client.get_async_connection().await.unwrap();
    for index in 0..30 {
        let key = format!("orders:{index}");
        redis::cmd("SET")
            .arg(&key)
            .arg(index)
            .exec_async(&mut connection)
            .await
            .unwrap();
    }
    for node in cluster.nodes() {
        let mut node = node.connection().await.unwrap();
        let stored: u32 = redis::cmd("DBSIZE").query_async(&mut node).await.unwrap();
        assert!(stored > 0, "a node holds none of 30 keys");
    }
}

#[tokio::test]
async fn a_server_ends_when_its_test_process_is_killed() {
    // This test runs itself a second time; that process starts a server, prints its pid and folder, and is killed.
    const CHILD: &str = "TESTKIT_WATCHDOG_CHILD";
    if std::env::var_os(CHILD).is_some() {
        let server = RedisServer::builder().start().unwrap();
        println!(
            "\nserver {} {}",
            server.pid().unwrap(),
            server.folder().display()
        );
        // waits: until the parent kills this process
        std::thread::sleep(LIMIT);
        return;
    }
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "a_server_ends_when_its_test_process_is_killed",
            "--nocapture",
        ])
        .env(CHILD, "1")
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    let line = lines
        .map(Result::unwrap)
        .find(|line| line.starts_with("server "))
        .unwrap();
    let mut words = line.split(' ').skip(1);
    let (pid, folder) = (
        words.next().unwrap().parse().unwrap(),
        std::path::PathBuf::from(words.next().unwrap()),
    );
    assert!(exists(pid));
    child.kill().unwrap();
    child.wait().unwrap();
    wait_until(LIMIT, || !exists(pid) && !folder.exists())
        .await
        .unwrap();
}
