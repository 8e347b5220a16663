//! A plan says what the coordinator then does: each is shown, then executed, and both must agree.

use protocol::{MigrationState, ShardId};
use serde_json::Value;
use testkit::{RedisServer, wait_until_async};

use crate::support::{Coordinator, Ctl, Member, PATIENCE, Streams, heartbeat};

/// A stream with three shards on a Redis.
struct World {
    redis: RedisServer,
    coordinator: Coordinator,
    ctl: Ctl,
}

impl World {
    async fn new() -> Self {
        let redis = RedisServer::builder().start().unwrap();
        let coordinator = Coordinator::on(&redis).await;
        let ctl = Ctl::of(&coordinator);
        ctl.run("stream create orders --shards 3").await.printed();
        Self {
            redis,
            coordinator,
            ctl,
        }
    }

    /// What a plan says stands in the way.
    async fn obstacles(&self, line: &str) -> Vec<String> {
        let plan = self.ctl.run(&format!("{line} -o json")).await.printed();
        let plan: Value = serde_json::from_str(&plan).unwrap();
        let told = plan["obstacles"].as_array().unwrap().iter();
        told.map(|it| it.as_str().unwrap().to_owned()).collect()
    }

    /// The plan names one thing in the way, and doing it is refused with a code.
    async fn refused(&self, line: &str, says: &str, code: &str) {
        let obstacles = self.obstacles(line).await;
        assert_eq!(obstacles.len(), 1, "{obstacles:?}");
        assert!(obstacles[0].contains(says), "{obstacles:?}");
        let text = self.ctl.run(line).await.printed();
        assert!(text.contains("refused as it stands: "), "{text}");
        assert!(!text.contains("Nothing would change"), "{text}");
        assert!(!text.contains("To do it"), "{text}");
        assert!(
            text.ends_with("\nNothing was changed, and --execute would be refused: see above.\n"),
            "{text}"
        );
        let done = self.ctl.run(&format!("{line} --execute --reason x")).await;
        assert!(
            done.err.starts_with(&format!("coordctl: {code}: ")),
            "{done:?}"
        );
    }

    /// Nothing is in the way, and it is done.
    async fn done(&self, line: &str) {
        let obstacles = self.obstacles(line).await;
        assert_eq!(obstacles, Vec::<String>::new());
        let execute = format!("{line} --execute --reason x");
        self.ctl.run(&execute).await.printed();
    }

    async fn say(&self, words: &[&str]) {
        let mut command = redis::cmd(words[0]);
        command.arg(&words[1..]);
        let mut connection = self.redis.connection().await.unwrap();
        command.exec_async(&mut connection).await.unwrap();
    }

    /// Joins a group and says nothing more: what its group begins stays ACTIVE.
    async fn silent(&self, group: &str) -> protocol::HeartbeatResponse {
        let client = &self.coordinator.client;
        let joins = heartbeat("silent", 0, 0);
        client.heartbeat("orders", group, &joins).await.unwrap()
    }

    async fn reaches(&self, group: &str, state: MigrationState) -> String {
        let change = || async {
            let group = self.coordinator.client.group("orders", group).await;
            group.unwrap().active_migration
        };
        let is_there = || async { change().await.is_some_and(|it| it.state == state) };
        wait_until_async(PATIENCE, is_there).await.unwrap();
        change().await.unwrap().resharding_id
    }
}

#[tokio::test]
async fn more_shards_than_a_stream_may_have_are_refused_however_many_are_asked_for() {
    let world = World::new().await;
    for count in [16_385, u32::MAX] {
        let line = format!("stream scale orders {count}");
        let says = "a stream has at most 16384 shards";
        world.refused(&line, says, "INVALID_REQUEST").await;
    }
}

#[tokio::test]
async fn a_group_that_is_half_made_stands_in_the_way_until_it_is_deleted() {
    let world = World::new().await;
    world.say(&["RENAME", "orders:2", "aside"]).await;
    world.say(&["SET", "orders:2", "somebody's"]).await;
    world.ctl.run("group create orders billing").await;
    world.say(&["RENAME", "aside", "orders:2"]).await;
    let (line, says) = ("stream scale orders 4", "billing is half made: ");
    world.refused(line, says, "STATE_VERSION_CONFLICT").await;
    world.done("group delete orders billing").await;
    world.done(line).await;
}

/// A change that is not through is in the way of the count that it leads to as well.
#[tokio::test]
async fn g9_a_change_under_way_is_in_the_way_also_of_the_same_count() {
    let world = World::new().await;
    world.silent("orders").await;
    world.done("stream scale orders 2").await;
    world.reaches("orders", MigrationState::Active).await;
    for line in ["stream scale orders 2", "stream scale orders 4"] {
        let says = "is under way: ACTIVE 3 → 2";
        world.refused(line, says, "ACTIVE_MIGRATION_EXISTS").await;
    }
}

/// Shards that are still drained are not new ones.
#[tokio::test]
async fn shards_that_are_on_their_way_out_are_not_said_to_appear() {
    let world = World::new().await;
    let mut streams = Streams::of(&world.redis).await;
    streams.add("orders:2", &["1"]).await;
    world.done("stream scale orders 1").await;
    world.reaches("orders", MigrationState::Draining).await;
    let says = "is under way: DRAINING 3 → 1; wait for it (coordctl watch orders)";
    let line = "stream scale orders 3";
    world.refused(line, says, "ACTIVE_MIGRATION_EXISTS").await;
    let plan = world.ctl.run("stream scale orders 5").await.printed();
    assert!(plan.contains("appear: 3-4, empty"), "{plan}");
    assert!(
        plan.contains("note: taken by the change that is under way: 1-2; "),
        "{plan}"
    );
}

/// What can't be mended afterwards is said before.
#[tokio::test]
async fn a_plan_with_fewer_shards_says_that_there_is_no_way_back() {
    let world = World::new().await;
    for (line, is_said) in [
        ("stream scale orders 2", true),
        ("stream scale orders 4", false),
    ] {
        let plan = world.ctl.run(line).await.printed();
        let said = plan.contains("note: there is no way back once shards are DRAINING");
        assert_eq!(said, is_said, "{plan}");
    }
}

/// What could not be made is asked for again, and goes on.
#[tokio::test]
async fn g9_a_change_whose_streams_are_not_made_is_gone_on_with() {
    let world = World::new().await;
    let scale = "stream scale orders 5";
    world
        .say(&["ACL", "SETUSER", "default", "-xgroup|create"])
        .await;
    let done = world
        .ctl
        .run(&format!("{scale} --execute --reason more"))
        .await;
    assert_ne!(done.code, 0, "{done:?}");
    world.reaches("orders", MigrationState::Preparing).await;
    let (other, says) = ("stream scale orders 4", "is under way: PREPARING 3 → 5");
    world.refused(other, says, "ACTIVE_MIGRATION_EXISTS").await;
    assert_eq!(world.obstacles(scale).await, Vec::<String>::new());
    let plan = world.ctl.run(scale).await.printed();
    assert!(
        plan.contains("asked for again, it is gone on with"),
        "{plan}"
    );
    // It is not refused as another change would be: the same is tried again.
    let again = format!("{scale} --execute --reason more");
    let said = world.ctl.run(&again).await.failed(6);
    assert!(said.contains("REDIS_STREAM_PROVISIONING_FAILED"), "{said}");
    world
        .say(&["ACL", "SETUSER", "default", "+xgroup|create"])
        .await;
    world.ctl.run(&again).await.printed();
}

/// One group that has gone too far is enough.
#[tokio::test]
async fn g8_a_change_is_not_taken_back_where_any_group_drains() {
    let world = World::new().await;
    world.ctl.run("group create orders billing").await.printed();
    let _member = Member::start(&world.coordinator, "orders", "orders", "m-1");
    world.coordinator.settled("orders", "orders", 1).await;
    world.silent("billing").await;
    let mut streams = Streams::of(&world.redis).await;
    streams.add("orders:2", &["1"]).await;
    world.done("stream scale orders 2").await;
    let id = world.reaches("orders", MigrationState::Draining).await;
    world.reaches("billing", MigrationState::Active).await;
    let line = format!("migration rollback orders {id} --group billing");
    let says = "it is DRAINING in orders, and only";
    world.refused(&line, says, "ROLLBACK_NOT_ALLOWED").await;
    let text = world.ctl.run(&line).await.printed();
    assert!(
        text.contains("groups: billing ACTIVE, orders DRAINING\n"),
        "{text}"
    );
}

/// Taking back what is being taken back is no mistake.
#[tokio::test]
async fn g8_a_change_that_is_taken_back_may_be_taken_back_again() {
    let world = World::new().await;
    world.silent("orders").await;
    world.done("stream scale orders 4").await;
    let id = world.reaches("orders", MigrationState::Active).await;
    let mut streams = Streams::of(&world.redis).await;
    streams.add("orders:3", &["1"]).await;
    let line = format!("migration rollback orders {id}");
    world.done(&line).await;
    world.reaches("orders", MigrationState::RollingBack).await;
    let plan = world.ctl.run(&line).await.printed();
    assert!(
        plan.contains("orders: on the way back to 3 shards"),
        "{plan}"
    );
    world.done(&line).await;
}

#[tokio::test]
async fn g8_a_change_that_is_over_is_not_taken_back() {
    let world = World::new().await;
    world.done("stream scale orders 4").await;
    let through = || async {
        let list = world
            .coordinator
            .client
            .migrations("orders", "orders")
            .await;
        list.unwrap().active_resharding_id.is_none()
    };
    wait_until_async(PATIENCE, through).await.unwrap();
    let known = world
        .coordinator
        .client
        .migrations("orders", "orders")
        .await;
    let id = known.unwrap().migrations[0].resharding_id.clone();
    let line = format!("migration rollback orders {id}");
    let says = "it is DEPRECATED in orders, and only";
    world.refused(&line, says, "ROLLBACK_NOT_ALLOWED").await;
    let plan = world.ctl.run(&line).await.printed();
    assert!(plan.contains("orders: went from 3 to 4 shards\n"), "{plan}");
    assert!(!plan.contains("leave again"), "{plan}");
}

/// Rule O6: who was cut off may still be reading, and is no member any more.
#[tokio::test]
async fn o6_a_member_that_was_cut_off_is_told_of_before_its_group_is_deleted() {
    let world = World::new().await;
    let joined = world.silent("orders").await;
    let line = "group delete orders orders";
    let says = "orders has 1 member; stop them, or add --force";
    world.refused(line, says, "GROUP_HAS_ACTIVE_MEMBERS").await;
    let mut claim = heartbeat("silent", joined.member_epoch, joined.metadata_version);
    claim.owned_shards = vec![ShardId::new(7)];
    let client = &world.coordinator.client;
    client.heartbeat("orders", "orders", &claim).await.unwrap();
    assert_eq!(world.obstacles(line).await, Vec::<String>::new());
    let plan = world.ctl.run(line).await.printed();
    let note = "note: orders has members that were cut off and may still be reading (silent): it may be refused until their lease is over (at the latest in N s)";
    assert!(plan.contains(note), "{plan}");
    let done = world.ctl.run(&format!("{line} --execute --reason x")).await;
    assert_eq!(done.code, 4, "{done:?}");
    world.done(&format!("{line} --force")).await;
}

/// What was said once need not be said again, or thought of.
#[tokio::test]
async fn a_plan_ends_with_the_reason_and_the_name_that_it_was_asked_for_with() {
    let coordinator = Coordinator::in_memory().await;
    let ctl = Ctl::of(&coordinator);
    ctl.run("stream create orders --shards 2").await.printed();
    for line in [
        "stream scale orders 3",
        "stream delete orders",
        "group delete orders orders",
    ] {
        let plan = ctl
            .run(&format!("{line} --reason more --requested-by ops"))
            .await
            .printed();
        let told =
            format!("To do it: coordctl {line} --execute --reason more --requested-by ops\n");
        assert!(plan.ends_with(&told), "{plan}");
        let plan = ctl.run(line).await.printed();
        let told = format!("To do it: coordctl {line} --execute --reason TEXT\n");
        assert!(plan.ends_with(&told), "{plan}");
    }
}
