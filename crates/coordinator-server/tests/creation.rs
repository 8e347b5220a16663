//! Creating groups: what is left behind where whoever asked does not wait for the end.
#![allow(clippy::unwrap_used)]

mod support;

use std::sync::Arc;
use std::time::Duration;

use coordinator_core::names::{ConsumerGroup, GroupId, StreamPrefix};
use coordinator_server::Deps;
use store::{GroupStore, LockLimits, MemoryStore, StoreClock, StoreError, SystemClock};
use support::{Server, config};
use testkit::wait_until_async;

#[tokio::test]
async fn a_creation_goes_on_when_nobody_waits_for_it_and_leaves_no_right_taken() {
    let clock: Arc<dyn StoreClock> = Arc::new(SystemClock);
    let store = MemoryStore::with(clock, LockLimits::default());
    let deps = Deps::new(Arc::new(store.clone()));
    let server = Server::with(deps, config()).await;
    server.create("orders", 2).await;
    let own = StreamPrefix::parse("orders").unwrap().own_group();
    let further = GroupId {
        stream: own.stream.clone(),
        group: ConsumerGroup::parse("billing").unwrap(),
    };

    // The creation gets as far as waiting for the right to the further group, and has the one to the stream's own.
    let in_the_way = store.begin(&further, None).await.unwrap().lock;
    let create = server
        .request("POST", "/coord/v1/streams/orders/groups/billing")
        .basic_auth("admin", Some("admin"))
        .body(r#"{"requestedBy": "test"}"#);
    let asked = tokio::spawn(create.send());
    let impatient = store.under(LockLimits {
        wait: Duration::ZERO,
        ..LockLimits::default()
    });
    let is_taken = || async {
        match impatient.begin(&own, None).await {
            Ok(begun) => {
                impatient.release(begun.lock).await;
                false
            }
            Err(error) => matches!(error, StoreError::Locked { .. }),
        }
    };
    wait_until_async(Duration::from_secs(5), is_taken)
        .await
        .unwrap();

    asked.abort();
    assert!(asked.await.unwrap_err().is_cancelled());
    store.release(in_the_way).await;
    let is_made = || async { store.load(&further, None).await.unwrap().is_some() };
    wait_until_async(Duration::from_secs(2), is_made)
        .await
        .unwrap();
    let is_free = || async { !is_taken().await };
    wait_until_async(Duration::from_secs(2), is_free)
        .await
        .unwrap();
}
