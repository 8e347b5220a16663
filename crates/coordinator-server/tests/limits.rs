//! What a connection may cost: slow heads, slow bodies, and too many of them.
#![allow(clippy::unwrap_used)]

mod support;

use std::time::Duration;

use coordinator_server::ServerConfig;
use support::{Server, config, memory};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const HEAD: &[u8] = b"POST /coord/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: 20\r\n";
const PROBE: &[u8] = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";

fn strict(change: impl FnOnce(&mut ServerConfig)) -> ServerConfig {
    let mut config = config();
    change(&mut config);
    config
}

async fn opened(server: &Server, text: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(text).await.unwrap();
    stream
}

/// Everything until the other side closes, which it must do soon.
async fn rest(stream: &mut TcpStream) -> String {
    let mut text = String::new();
    let reading = stream.read_to_string(&mut text);
    let read = tokio::time::timeout(Duration::from_secs(5), reading).await;
    read.unwrap().unwrap();
    text
}

#[tokio::test]
async fn a_head_that_does_not_end_ends_the_connection() {
    let short = Duration::from_millis(100);
    let config = strict(|config| config.limits.header_timeout = short);
    let server = Server::with(memory(), config).await;
    let mut stream = opened(&server, HEAD).await;
    let text = rest(&mut stream).await;
    assert!(!text.contains(" 200 "), "{text}");
}

#[tokio::test]
async fn a_body_that_does_not_arrive_is_refused_in_time() {
    let short = Duration::from_millis(100);
    let config = strict(|config| config.limits.body_timeout = short);
    let server = Server::with(memory(), config).await;
    let mut stream = opened(&server, &[HEAD, b"\r\n{"].concat()).await;
    let text = rest(&mut stream).await;
    assert!(text.starts_with("HTTP/1.1 400 "), "{text}");
    assert!(text.contains("the body did not arrive within"), "{text}");
}

#[tokio::test]
async fn no_more_connections_are_served_than_configured() {
    let config = strict(|config| config.limits.connections = 1);
    let server = Server::with(memory(), config).await;
    let mut first = opened(&server, PROBE).await;
    let mut byte = [0];
    first.read_exact(&mut byte).await.unwrap();
    // The second has to wait for the end of the first.
    let mut second = opened(&server, PROBE).await;
    let early = tokio::time::timeout(Duration::from_millis(200), second.read_exact(&mut byte));
    assert!(early.await.is_err());
    drop(first);
    let served = tokio::time::timeout(Duration::from_secs(5), second.read_exact(&mut byte));
    served.await.unwrap().unwrap();
}
