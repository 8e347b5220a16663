//! A coordinator with streams and members that go on heartbeating, before, in and after a fault.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use coordinator_client::CoordinatorClient;
use protocol::{
    GroupState, HeartbeatRequest, HeartbeatStatus, ListedFrom, MigrationState, ScaleRequest,
};
use testkit::wait_until_async;
use tokio::task::JoinHandle;

use crate::faults::{Fault, Redis};
use crate::requests::Steady;
use crate::support::{Daemon, PATIENCE, Plain};

pub struct Scene {
    fault: Fault,
    redis: Redis,
    pub daemon: Daemon,
    pub steady: Steady,
    beating: Vec<JoinHandle<()>>,
    statuses: Arc<Mutex<BTreeSet<String>>>,
    /// What every group was before.
    before: Vec<Seen>,
    keys: BTreeSet<String>,
}

/// What of a group no fault may change.
type Seen = (String, String, u32, Option<String>, Vec<(String, Vec<u32>)>);

impl Scene {
    pub async fn new(fault: Fault) -> Self {
        let redis = Redis::start(fault).await;
        let daemon = Daemon::start(&[
            "--store",
            &redis.url(fault),
            "--streams",
            &redis.streams_url(fault),
            "--heartbeat-interval",
            "200ms",
            "--member-lease-ttl",
            "2s",
        ])
        .await;
        for (stream, shards) in [("orders", 4), ("spare", 2), ("moving", 2)] {
            daemon.create(stream, shards).await;
        }
        let (change, slow) = never_ending_change(&daemon).await;
        let mut members = [Plain::new("a"), Plain::new("b")];
        settle(&daemon, &mut members).await;
        let heartbeat = steady(&members[0]);
        let statuses = Arc::new(Mutex::new(BTreeSet::new()));
        let beating = members.into_iter().map(|member| {
            let client = daemon.client.clone();
            tokio::spawn(beat(client, member, Arc::clone(&statuses)))
        });
        let beating = beating.chain([slow]).collect();
        let snapshot = daemon.client.snapshot().await.unwrap();
        let mut scene = Self {
            fault,
            redis,
            steady: Steady {
                heartbeat,
                change,
                snapshot: String::from_utf8(snapshot.to_vec()).unwrap(),
            },
            daemon,
            beating,
            statuses,
            before: Vec::new(),
            keys: BTreeSet::new(),
        };
        scene.listed_by_index().await;
        scene.before = scene.seen().await;
        scene.keys = scene.keys().await;
        scene
    }

    /// The page says what is answered where the index is built: it is, behind the first list that lacked it.
    async fn listed_by_index(&self) {
        let is_listed = || async {
            let listed = self.daemon.client.groups().await.unwrap();
            listed.served_by == Some(ListedFrom::Index)
        };
        wait_until_async(PATIENCE, is_listed).await.unwrap();
    }

    pub async fn begin(&mut self) {
        self.redis.begin(self.fault).await;
        if self.fault == Fault::Loading {
            // Away first, then loading.
            let is_loading = || async {
                let health = self.daemon.client.health().await.unwrap();
                health
                    .redis_detail
                    .is_some_and(|detail| detail.contains("LOADING"))
            };
            wait_until_async(PATIENCE, is_loading).await.unwrap();
        }
    }

    pub async fn end(&mut self) {
        // waits: for longer than a lease, so that somebody could have expired
        tokio::time::sleep(Duration::from_millis(2_500)).await;
        self.redis.end(self.fault).await;
        self.daemon.ready().await;
    }

    /// Rule M6, and nothing half written.
    pub async fn assert_nobody_lost_anything(&mut self) {
        // waits: one lease of grace, and one in which whoever was expired would have been
        tokio::time::sleep(Duration::from_millis(4_500)).await;
        let is_as_before = || async { self.seen().await == self.before };
        let outcome = wait_until_async(PATIENCE, is_as_before).await;
        assert!(outcome.is_ok(), "{:?} {:?}", self.seen().await, self.before);
        assert_eq!(self.keys().await, self.keys, "no key came or went");
        let statuses = self.statuses.lock().unwrap().clone();
        for lost in [
            HeartbeatStatus::FencedMemberEpoch,
            HeartbeatStatus::UnknownMemberId,
        ] {
            assert!(!statuses.contains(&format!("{lost:?}")), "{statuses:?}");
        }
        let metrics = self.daemon.client.metrics().await.unwrap();
        let expired = metrics.lines().find(|line| {
            line.starts_with("redis_stream_coord_member_expired_total{") && !line.ends_with(" 0")
        });
        assert_eq!(expired, None);
    }

    async fn seen(&self) -> Vec<Seen> {
        let Ok(groups) = self.daemon.client.groups().await else {
            return Vec::new();
        };
        let mut seen = Vec::new();
        for group in groups.groups {
            let (stream, name) = (group.stream_prefix, group.consumer_group);
            let members = self.daemon.client.members(&stream, &name).await.unwrap();
            let members = members.members.into_iter().map(|member| {
                let shards = member.current_assignment.iter();
                (
                    member.member_id,
                    shards.map(|shard| shard.shard_index).collect(),
                )
            });
            let change = group.active_migration.map(|change| change.resharding_id);
            seen.push((stream, name, group.shard_count, change, members.collect()));
        }
        seen
    }

    /// Rights run out by themselves; a name in the directory without a record is nobody's.
    async fn keys(&self) -> BTreeSet<String> {
        let mut connection = self.redis.connection().await;
        let mut command = redis::cmd("KEYS");
        let keys: Vec<String> = command.arg("*").query_async(&mut connection).await.unwrap();
        let passes = |key: &String| {
            let is_passing = key.ends_with(":mutex") || key.contains(":directory:");
            // Indexes are made and lost as it comes.
            let is_index = key.starts_with("{pj:");
            !is_passing && !is_index && !key.starts_with("filler-")
        };
        keys.into_iter().filter(passes).collect()
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        for task in &self.beating {
            task.abort();
        }
    }
}

/// A change that could still be taken back: its member never says that it has seen it, and has nothing new to say (rule G4).
async fn never_ending_change(daemon: &Daemon) -> (String, JoinHandle<()>) {
    let mut slow = Plain::new("slow");
    while slow.shards() != [0, 1] {
        slow.keep_up(&daemon.client, "moving").await.unwrap();
    }
    slow.keep_up(&daemon.client, "moving").await.unwrap();
    let request = steady(&slow);
    let client = daemon.client.clone();
    let beating = tokio::spawn(async move {
        loop {
            // What it is answered makes no difference to it.
            let _ = client.heartbeat("moving", "moving", &request).await;
            // waits: members heartbeat at an interval
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    });
    let request = ScaleRequest {
        target_shard_count: 1,
        requested_by: "test".to_owned(),
        reason: "to see".to_owned(),
        deprecated_after: None,
    };
    let scaled = daemon.client.scale_stream("moving", &request).await;
    let is_active = || async {
        let known = daemon.client.migrations("moving", "moving").await.unwrap();
        known.migrations[0].state == MigrationState::Active
    };
    wait_until_async(PATIENCE, is_active).await.unwrap();
    (scaled.unwrap().migrations[0].resharding_id.clone(), beating)
}

async fn settle(daemon: &Daemon, members: &mut [Plain]) {
    let end = tokio::time::Instant::now() + PATIENCE;
    loop {
        for member in members.iter_mut() {
            member.keep_up(&daemon.client, "orders").await.unwrap();
        }
        let group = daemon.client.group("orders", "orders").await.unwrap();
        let halves = members.iter().all(|member| member.shards().len() == 2);
        if halves && group.state == GroupState::Stable {
            return;
        }
        assert!(tokio::time::Instant::now() < end);
        // waits: members heartbeat at an interval
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

fn steady(member: &Plain) -> HeartbeatRequest {
    let last = member.last.as_ref().unwrap();
    HeartbeatRequest {
        protocol_version: 1,
        request_id: "steady".to_owned(),
        member_id: member.id.clone(),
        member_name: None,
        member_epoch: last.member_epoch,
        metadata_version: last.metadata_version,
        runtime_consumer_capacity: protocol::RuntimeConsumerCapacity {
            runtime_max_concurrency: 1,
            available_concurrency: 1,
        },
        owned_shards: last.assignment.assigned_shards.clone(),
        revoking_shards: Vec::new(),
        shard_progress: Vec::new(),
        instance_id: None,
        sequence: None,
        rack: None,
    }
}

async fn beat(
    client: CoordinatorClient,
    mut member: Plain,
    statuses: Arc<Mutex<BTreeSet<String>>>,
) {
    loop {
        if let Ok(status) = member.keep_up(&client, "orders").await {
            statuses.lock().unwrap().insert(format!("{status:?}"));
        }
        // waits: members heartbeat at an interval
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}
