//! Why evidence and removal are one step (rule G5, case C47): with a producer that writes between them, two steps lose what it wrote, one step does not.
#![allow(clippy::unwrap_used)]

mod resharding;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use protocol::MigrationState;
use resharding::case::check_streams;
use resharding::coordinator::{Coordinator, Setup};
use resharding::ledger::Ledger;
use resharding::plane::{Removal, StaleWriter};
use resharding::reader;
use resharding::streams::Streams;
use resharding::world::World;
use testkit::RedisServer;

/// Scales 4 shards in to 2, with an entry written to each of the others at the worst moment.
async fn scale_in_with_a_late_writer(server: &RedisServer, removal: Removal) -> Arc<World> {
    let streams = Streams::on(server, "orders").await;
    let ledger = Arc::new(Ledger::default());
    let mut setup = Setup::new(&server.url(), "coord");
    setup.removal = removal;
    setup.stale = Some(StaleWriter {
        streams: streams.clone(),
        ledger: Arc::clone(&ledger),
    });
    let coordinator = Coordinator::start(setup).await;
    let groups = vec!["orders".to_owned(), "audit".to_owned()];
    coordinator.create("orders", 4, &groups).await;
    let (client, operator) = (coordinator.client.clone(), coordinator.operator.clone());
    let world = World::new(streams, groups, ledger, client, operator);
    world.publish_to_each(4, 5).await;
    world.reads.store(true, Ordering::SeqCst);
    for group in &world.groups {
        reader::start(&world, group, &format!("{group}-first"));
    }
    world.settled().await;
    assert_eq!(coordinator.operator.scale("orders", 2).await.unwrap(), 202);
    let ended = world.ended().await.unwrap();
    assert_eq!(ended, [MigrationState::Deprecated; 2]);
    assert_eq!(
        world.ledger.count(),
        4 * 5 + 2,
        "both late entries were taken"
    );
    world
}

#[tokio::test]
async fn removal_in_one_step_keeps_what_is_written_at_the_last_moment_c47() {
    let server = RedisServer::builder().start().unwrap();
    let world = scale_in_with_a_late_writer(&server, Removal::Atomic).await;
    world.all_handled().await.unwrap();
    check_streams(&world, &world.groups, 2, 4).await.unwrap();
}

/// The negative control of the test above.
#[tokio::test]
async fn removal_in_two_steps_loses_what_is_written_between_them_c47() {
    let server = RedisServer::builder().start().unwrap();
    let world = scale_in_with_a_late_writer(&server, Removal::InTwoSteps).await;
    for group in &world.groups {
        let lost = world.ledger.left(group);
        assert_eq!(lost.len(), 2, "{lost:?}");
        for key in world.streams.all().await {
            let there = world.streams.numbers(&key).await;
            assert!(lost.iter().all(|number| !there.contains(number)), "{key}");
        }
    }
}
