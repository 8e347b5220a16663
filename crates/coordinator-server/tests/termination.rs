//! Ending: what was begun is finished, what is new is refused, and those who wait are let go.
#![allow(clippy::unwrap_used)]

mod support;

use std::sync::Arc;
use std::time::Duration;

use coordinator_server::Deps;
use support::plane::SlowPlane;
use support::{Server, config, heartbeat, memory, refusal};
use testkit::wait_until_async;
use tokio::sync::Semaphore;

const CREATE: &str = r#"{"initialShardCount": 4, "requestedBy": "test"}"#;

fn slow() -> (Deps, Arc<Semaphore>) {
    let gate = Arc::new(Semaphore::new(0));
    (
        Deps {
            plane: Some(Arc::new(SlowPlane(Arc::clone(&gate)))),
            ..memory()
        },
        gate,
    )
}

#[tokio::test]
async fn what_was_begun_is_finished_and_what_is_new_is_refused() {
    let (deps, gate) = slow();
    let mut server = Server::with(deps, config()).await;
    let create = || {
        server
            .request("POST", "/coord/v1/streams/orders")
            .basic_auth("admin", Some("admin"))
            .body(CREATE)
    };
    let begun = tokio::spawn(create().send());
    // It has begun when the record of the creation is there.
    let client = server.client.clone();
    let recorded = || async { client.group("orders", "orders").await.is_ok() };
    wait_until_async(Duration::from_secs(5), recorded)
        .await
        .unwrap();

    let new = create();
    let probe = server.request("GET", "/readyz");
    let beat = server
        .request(
            "POST",
            "/coord/v1/streams/orders/groups/orders/members/m/heartbeat",
        )
        .body(serde_json::to_string(&heartbeat("m", 0, 0)).unwrap());
    let read = server
        .request("GET", "/coord/v1/monitoring/groups")
        .basic_auth("admin", Some("admin"));
    server.terminate();
    let unready = || async { probe.try_clone().unwrap().send().await.unwrap().status() == 503 };
    wait_until_async(Duration::from_secs(5), unready)
        .await
        .unwrap();
    for request in [new, beat] {
        let response = request.send().await.unwrap();
        assert_eq!(response.headers()["retry-after"], "1");
        let (status, code, _) = refusal(response).await;
        assert_eq!((status, code.as_str()), (503, "COORDINATOR_TERMINATING"));
    }
    assert_eq!(read.send().await.unwrap().status(), 200, "reading goes on");

    gate.add_permits(1);
    assert_eq!(begun.await.unwrap().unwrap().status(), 201);
    server.ended().await;
}

#[tokio::test]
async fn the_end_waits_no_longer_than_configured() {
    let (deps, _gate) = slow();
    let mut hasty = config();
    hasty.shutdown_timeout = Duration::from_millis(200);
    let mut server = Server::with(deps, hasty).await;
    let begun = server
        .request("POST", "/coord/v1/streams/orders")
        .basic_auth("admin", Some("admin"))
        .body(CREATE);
    let begun = tokio::spawn(begun.send());
    let client = server.client.clone();
    let recorded = || async { client.group("orders", "orders").await.is_ok() };
    wait_until_async(Duration::from_secs(5), recorded)
        .await
        .unwrap();
    server.terminate();
    tokio::time::timeout(Duration::from_secs(5), server.ended())
        .await
        .unwrap();
    begun.abort();
}

#[tokio::test]
async fn those_who_wait_for_news_are_let_go() {
    let mut server = Server::start().await;
    server.create("orders", 1).await;
    let version = server
        .client
        .group("orders", "orders")
        .await
        .unwrap()
        .metadata_version;
    let client = server.client.clone();
    let watch = tokio::spawn(async move {
        client
            .watch("orders", "orders", version, Duration::from_secs(30))
            .await
    });
    // It is parked once its connection is: another request on the same server has been answered after it was sent.
    server.client.group("orders", "orders").await.unwrap();
    server.terminate();
    tokio::time::timeout(Duration::from_secs(5), server.ended())
        .await
        .unwrap();
    // Let go with an answer, or refused where it came too late.
    let _ = tokio::time::timeout(Duration::from_secs(5), watch)
        .await
        .unwrap()
        .unwrap();
}
