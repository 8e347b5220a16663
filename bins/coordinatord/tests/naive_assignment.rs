//! Why shards that leave stay assignable until they are empty (rule G3): unassigned as soon as producers leave them, what is in them is read by nobody.
#![allow(clippy::unwrap_used)]

mod resharding;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use coordinator_core::planted::Fault;
use protocol::{GroupState, MigrationState};
use resharding::coordinator::{Coordinator, Setup, quick};
use resharding::kill::At;
use resharding::ledger::Ledger;
use resharding::streams::Streams;
use resharding::world::World;
use resharding::{PATIENCE, reader};
use testkit::{RedisServer, wait_until_async};

const UNREAD: usize = 10;
const PENDING: u32 = 2;
const OF_TWO_SHARDS: usize = 2 * (UNREAD + PENDING as usize);
/// So many more looks at the shards that leave come to nothing.
const LOOKS: usize = 20;

/// The negative control of the scale-in of case C45.
#[tokio::test]
async fn unassigning_what_leaves_at_once_strands_its_backlog_c45() {
    let server = RedisServer::builder().start().unwrap();
    let mut setup = Setup::new(&server.url(), "coord");
    setup.settings = quick().with_planted(Fault::LeavingIsUnassigned);
    let coordinator = Coordinator::start(setup).await;
    let streams = Streams::on(&server, "orders").await;
    let groups = vec!["orders".to_owned()];
    coordinator.create("orders", 4, &groups).await;
    let (client, operator) = (coordinator.client.clone(), coordinator.operator.clone());
    let world = World::new(
        streams,
        groups,
        Arc::new(Ledger::default()),
        client,
        operator,
    );
    world.publish_to_each(4, UNREAD + PENDING as usize).await;
    for shard in 0..4 {
        world.streams.leave_pending(shard, "orders", PENDING).await;
    }
    reader::start(&world, "orders", "first");
    world.settled().await;
    assert_eq!(coordinator.operator.scale("orders", 2).await.unwrap(), 202);
    world.reads.store(true, Ordering::SeqCst);

    let is_settled = || async {
        let group = world.client().group("orders", "orders").await.unwrap();
        let is_read = world.ledger.left("orders").len() == OF_TWO_SHARDS;
        is_read && group.state == GroupState::Stable
    };
    wait_until_async(PATIENCE, is_settled).await.unwrap();
    // Each look begins with a seal of both shards.
    coordinator.switch.arm(At::Number(usize::MAX));
    let sealed = || {
        let passed = coordinator.switch.passed();
        passed.iter().filter(|name| name.contains("seal")).count()
    };
    let are_enough = || std::future::ready(sealed() > 4 * LOOKS);
    wait_until_async(PATIENCE + Duration::from_secs(30), are_enough)
        .await
        .unwrap();
    let changes = world.changes().await.unwrap();
    assert_eq!(changes[0].state, MigrationState::Draining);
    assert_eq!(world.ledger.left("orders").len(), OF_TWO_SHARDS);
    let stranded = world.ledger.left("orders");
    for shard in [2, 3] {
        let there = world.streams.numbers(&world.streams.key(shard)).await;
        assert!(there.iter().all(|number| stranded.contains(number)));
    }
}
