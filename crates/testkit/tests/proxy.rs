//! The proxy's faults, each against a real server behind it.
#![allow(clippy::unwrap_used)]

use std::time::{Duration, Instant};

use redis::aio::MultiplexedConnection;
use redis::{Client, RedisResult};
use testkit::{RedisServer, TcpProxy, TimedOut, wait_until, wait_until_async};

async fn proxied() -> (RedisServer, TcpProxy, Client) {
    let server = RedisServer::builder().start().unwrap();
    let proxy = TcpProxy::start(server.address()).await.unwrap();
    let client = Client::open(format!("redis://{}/", proxy.address())).unwrap();
    (server, proxy, client)
}

async fn connect(client: &Client) -> MultiplexedConnection {
    client.get_multiplexed_async_connection().await.unwrap()
}

async fn increment(connection: &mut MultiplexedConnection) -> RedisResult<u32> {
    redis::cmd("INCR").arg("a").query_async(connection).await
}

#[tokio::test]
async fn bytes_pass_in_both_directions() {
    let (_server, _proxy, client) = proxied().await;
    assert_eq!(increment(&mut connect(&client).await).await, Ok(1));
}

#[tokio::test]
async fn a_cut_ends_open_connections_and_lets_new_ones_in() {
    let (_server, proxy, client) = proxied().await;
    let mut connection = connect(&client).await;
    proxy.cut();
    wait_until_async(Duration::from_secs(5), || {
        let mut connection = connection.clone();
        async move { increment(&mut connection).await.is_err() }
    })
    .await
    .unwrap();
    assert!(increment(&mut connection).await.is_err());
    assert!(increment(&mut connect(&client).await).await.is_ok());
}

#[tokio::test]
async fn refused_means_refused_until_healed() {
    let (_server, proxy, client) = proxied().await;
    let mut open = connect(&client).await;
    proxy.refuse().await;
    assert!(client.get_multiplexed_async_connection().await.is_err());
    assert!(increment(&mut open).await.is_ok(), "open connections stay");
    proxy.heal().await.unwrap();
    assert!(increment(&mut connect(&client).await).await.is_ok());
}

#[tokio::test]
async fn a_dropped_reply_leaves_its_request_done() {
    let (server, proxy, client) = proxied().await;
    let mut connection = connect(&client).await;
    proxy.drop_replies(1);
    assert!(increment(&mut connection).await.is_err());
    assert_eq!(proxy.replies_left_to_drop(), 0);
    assert_eq!(
        increment(&mut server.connection().await.unwrap()).await,
        Ok(2)
    );
}

#[tokio::test]
async fn answers_come_later_by_the_delay() {
    let (_server, proxy, client) = proxied().await;
    let mut connection = connect(&client).await;
    proxy.delay(100);
    let start = Instant::now();
    increment(&mut connection).await.unwrap();
    assert!(start.elapsed() >= Duration::from_millis(100));
}

#[tokio::test]
async fn a_stalled_connection_stays_open_and_goes_on_after_healing() {
    let (_server, proxy, client) = proxied().await;
    let mut connection = connect(&client).await;
    proxy.stall();
    let mut second = connection.clone();
    let asked = tokio::time::timeout(Duration::from_millis(100), increment(&mut second)).await;
    assert!(asked.is_err());
    proxy.heal().await.unwrap();
    assert_eq!(
        increment(&mut connection).await,
        Ok(2),
        "the stalled request arrived first"
    );
}

#[tokio::test]
async fn waiting_ends_at_the_limit_if_the_condition_never_holds() {
    let limit = Duration::from_millis(20);
    assert_eq!(wait_until(limit, || false).await, Err(TimedOut { limit }));
}
