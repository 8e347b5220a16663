//! Rule M6 and case C33: nobody is expired because coordinators were away.
#![allow(clippy::unwrap_used)]

mod support;

use std::sync::Arc;
use std::time::Duration;

use coordinator_core::time::{Millis, Timestamp};
use coordinator_server::Deps;
use protocol::{HeartbeatStatus, MemberState};
use store::{LockLimits, ManualClock, MemoryStore};
use support::{Server, config, heartbeat, obey, shards};
use testkit::wait_until_async;

async fn states(server: &Server) -> Vec<(String, MemberState)> {
    let members = server
        .client
        .members("orders", "orders")
        .await
        .unwrap()
        .members;
    members
        .into_iter()
        .map(|member| (member.member_id, member.state))
        .collect()
}

#[tokio::test]
async fn m6_c33_after_an_absence_everybody_gets_a_full_lease() {
    let clock = Arc::new(ManualClock::at(Timestamp::from_ms(1_000_000)));
    let store = MemoryStore::with(clock.clone(), LockLimits::default());
    let deps = || Deps::new(Arc::new(store.clone()));
    let mut first = Server::with(deps(), config()).await;
    first.create("orders", 2).await;
    let a = first.beat("orders", &heartbeat("a", 0, 0)).await;
    let a = first.beat("orders", &obey(&a)).await;
    first.terminate();
    first.ended().await;

    // A minute later another coordinator starts. The lease of 800 ms is long over.
    clock.advance(Millis::new(60_000));
    let second = Server::with(deps(), config()).await;
    let ticked = || async {
        second
            .client
            .health()
            .await
            .is_ok_and(|health| health.last_tick_at.is_some())
    };
    wait_until_async(Duration::from_secs(5), ticked)
        .await
        .unwrap();
    assert_eq!(
        states(&second).await,
        [("a".to_owned(), MemberState::Active)]
    );
    let again = second.beat("orders", &obey(&a)).await;
    assert_eq!(
        (again.status, again.assignment.assigned_shards),
        (HeartbeatStatus::Ok, shards(&[0, 1]))
    );

    // Time goes on under the eyes of a coordinator, and who is silent expires after one lease.
    let expired = || async {
        clock.advance(Millis::new(10));
        states(&second).await == [("a".to_owned(), MemberState::Expired)]
    };
    wait_until_async(Duration::from_secs(20), expired)
        .await
        .unwrap();
}

#[tokio::test]
async fn m7_a_clock_that_went_back_makes_no_silent_member_immortal() {
    let clock = Arc::new(ManualClock::at(Timestamp::from_ms(10_000_000)));
    let store = Arc::new(MemoryStore::with(clock.clone(), LockLimits::default()));
    let deps = Deps::new(store);
    let server = Server::with(deps, config()).await;
    server.create("orders", 2).await;
    let a = server.beat("orders", &heartbeat("a", 0, 0)).await;
    server.beat("orders", &obey(&a)).await;

    // Its lease now runs an hour ahead.
    clock.set(Timestamp::from_ms(10_000_000 - 3_600_000));
    let expired = || async {
        clock.advance(Millis::new(10));
        states(&server).await == [("a".to_owned(), MemberState::Expired)]
    };
    wait_until_async(Duration::from_secs(20), expired)
        .await
        .unwrap();
}
