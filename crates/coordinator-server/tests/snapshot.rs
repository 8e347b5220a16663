//! The metadata as a file, and back, over HTTP: what is restored looks like a store that lost writes (rules C1 to C8).
#![allow(clippy::unwrap_used)]

mod support;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use coordinator_core::names::StreamPrefix;
use coordinator_server::Deps;
use protocol::{AuditEvent, AuditOutcome, HeartbeatStatus, RestoreOutcome, Restored, SnapshotLine};
use store::{AuditFilter, AuditSink as _, GroupStore as _, LockLimits, MemoryStore, PageCursor};
use support::{Server, config, heartbeat, redis, refusal, shards};
use testkit::{RedisServer, wait_until_async};

const PATIENCE: Duration = Duration::from_secs(20);
/// For how long a member reads on that hears nothing (rule T2): the lease of these tests less a tenth.
const OWN_LEASE: Duration = Duration::from_millis(720);

fn deps(store: &MemoryStore) -> Deps {
    Deps::new(Arc::new(store.clone()))
}

async fn save(server: &Server) -> String {
    let request = server.request("GET", "/coord/v1/admin/snapshot");
    let answer = request.basic_auth("admin", Some("admin")).send().await;
    let answer = answer.unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.headers()["content-type"], "application/x-ndjson");
    answer.text().await.unwrap()
}

async fn send(server: &Server, file: &str, force: bool) -> reqwest::Response {
    let path = format!("/coord/v1/admin/snapshot/restore?force={force}");
    let request = server.request("POST", &path);
    let request = request.basic_auth("admin", Some("admin"));
    request.body(file.to_owned()).send().await.unwrap()
}

async fn restore(server: &Server, file: &str, force: bool) -> Restored {
    let answer = send(server, file, force).await;
    let (status, text) = (answer.status(), answer.text().await.unwrap());
    assert_eq!(status, 200, "{text}");
    serde_json::from_str(&text).unwrap()
}

fn lines(file: &str) -> Vec<SnapshotLine> {
    let lines = file.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// A member that does what it is told, and what it reads.
struct Member {
    name: &'static str,
    epoch: i64,
    version: u64,
    owned: BTreeSet<u32>,
    heard: Instant,
    last: Option<HeartbeatStatus>,
    statuses: BTreeSet<String>,
    /// The highest epoch of the group that it was told.
    seen: u64,
}

impl Member {
    fn new(name: &'static str) -> Self {
        Self {
            name,
            epoch: 0,
            version: 0,
            owned: BTreeSet::new(),
            heard: Instant::now(),
            last: None,
            statuses: BTreeSet::new(),
            seen: 0,
        }
    }

    async fn beat(&mut self, server: &Server) {
        let owned: Vec<u32> = self.owned.iter().copied().collect();
        let mut request = heartbeat(self.name, self.epoch, self.version);
        request.owned_shards = shards(&owned);
        let sent = Instant::now();
        let answer = server.beat("orders", &request).await;
        let assigned = answer.assignment.assigned_shards.iter();
        let assigned: BTreeSet<u32> = assigned.map(|shard| shard.shard_index).collect();
        match answer.status {
            HeartbeatStatus::Ok => self.owned = assigned,
            HeartbeatStatus::SyncMetadata | HeartbeatStatus::RevokePending => {
                self.owned = &self.owned & &assigned;
            }
            HeartbeatStatus::Retry => return,
            _ => {
                self.owned.clear();
                self.epoch = 0;
                self.version = 0;
                self.note(answer.status);
                return;
            }
        }
        self.heard = sent;
        self.epoch = answer.member_epoch;
        self.version = answer.metadata_version;
        self.seen = self.seen.max(answer.group_epoch);
        self.note(answer.status);
    }

    fn note(&mut self, status: HeartbeatStatus) {
        self.last = Some(status);
        self.statuses.insert(format!("{status:?}"));
    }

    /// What it reads at this moment.
    fn reads(&self) -> BTreeSet<u32> {
        if self.heard.elapsed() > OWN_LEASE {
            return BTreeSet::new();
        }
        self.owned.clone()
    }
}

fn assert_one_reader(members: &[Member]) {
    let read = members.iter().flat_map(Member::reads);
    let read: Vec<u32> = read.collect();
    let once: BTreeSet<u32> = read.iter().copied().collect();
    let who = members.iter().map(|it| (it.name, it.reads(), it.last));
    assert_eq!(
        read.len(),
        once.len(),
        "two readers: {:?}",
        who.collect::<Vec<_>>()
    );
}

/// Lets members heartbeat until all are content and every shard is read; at no moment has one two readers.
async fn settle(server: &Server, members: &mut [Member], silent: Option<usize>) {
    let end = Instant::now() + PATIENCE;
    loop {
        let mut is_settled = true;
        for at in 0..members.len() {
            if silent != Some(at) {
                members[at].beat(server).await;
                is_settled &= members[at].last == Some(HeartbeatStatus::Ok);
                is_settled &= !members[at].owned.is_empty();
            }
            assert_one_reader(members);
        }
        let read: BTreeSet<u32> = members.iter().flat_map(Member::reads).collect();
        if is_settled && read.len() == 4 {
            return;
        }
        let who = members.iter().map(|it| (it.name, it.reads(), it.last));
        assert!(Instant::now() < end, "{:?}", who.collect::<Vec<_>>());
        // waits: members heartbeat at an interval
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// `a` has all shards when the snapshot is taken; then `b` and `c` come and take theirs over.
async fn scene(server: &Server) -> (String, Vec<Member>) {
    server.create("orders", 4).await;
    let mut members = vec![Member::new("a")];
    settle(server, &mut members, None).await;
    let file = save(server).await;
    members.push(Member::new("b"));
    members.push(Member::new("c"));
    settle(server, &mut members, None).await;
    (file, members)
}

#[tokio::test]
async fn a_snapshot_has_a_header_every_group_and_an_end_with_the_digest() {
    let server = Server::start().await;
    server.create("orders", 4).await;
    server.create("bills", 2).await;
    let file = save(&server).await;
    let lines = lines(&file);
    let [
        SnapshotLine::Header(header),
        SnapshotLine::Group(bills),
        SnapshotLine::Group(orders),
        SnapshotLine::End(end),
    ] = &lines[..]
    else {
        panic!("{file}");
    };
    assert_eq!((header.format_version, header.groups), (1, 2));
    assert_eq!(header.coordinator_id, "test");
    assert_eq!(
        (bills.stream_prefix.as_str(), bills.shard_count),
        ("bills", 2)
    );
    assert_eq!(
        (orders.consumer_group.as_str(), orders.shard_count),
        ("orders", 4)
    );
    let record: serde_json::Value = serde_json::from_str(&orders.record).unwrap();
    assert_eq!(record["shardCount"], 4);
    assert_eq!(end.groups, 2);
    assert!(!file.contains("argon2"), "no secrets");
}

/// Rules C7 and C8, with `--force`: the record goes back, and nobody gets what another still reads.
#[tokio::test]
async fn c7_c8_a_forced_restore_gives_no_shard_two_readers_and_no_epoch_twice() {
    let server = Server::start().await;
    let (file, mut members) = scene(&server).await;
    let seen = members.iter().map(|member| member.seen).max().unwrap();
    let restored = restore(&server, &file, true).await;
    let [group] = &restored.groups[..] else {
        panic!("{restored:?}");
    };
    assert_eq!(group.outcome, RestoreOutcome::Replaced);
    assert!(group.group_epoch > seen);
    assert!(
        group.metadata_version < members[0].version,
        "C1: the store stays the truth"
    );
    settle(&server, &mut members, None).await;
    assert!(
        members
            .iter()
            .all(|member| member.epoch > i64::try_from(seen).unwrap())
    );
    let of_a = &members[0].statuses;
    assert!(of_a.contains("SyncMetadata"), "C2: a knows more: {of_a:?}");
    assert!(!of_a.contains("FencedMemberEpoch"), "{of_a:?}");
}

/// The same where the one that the file does not know is cut off at that very moment, and reads on until its own lease ends.
#[tokio::test]
async fn c8_a_member_that_hears_nothing_of_a_restore_is_waited_for() {
    let server = Server::start().await;
    let (file, mut members) = scene(&server).await;
    members[2].beat(&server).await;
    restore(&server, &file, true).await;
    let before = members[2].owned.clone();
    settle(&server, &mut members, Some(2)).await;
    assert!(
        members[2].reads().is_empty(),
        "its shards {before:?} are read by others only after its lease"
    );
    settle(&server, &mut members, None).await;
}

/// Rule C7: an empty store does not say how often writes were lost since the file was written.
#[tokio::test]
async fn c7_an_old_file_in_an_empty_store_hands_out_no_epoch_twice() {
    let store = MemoryStore::new();
    let empty = store.save();
    let server = Server::with(deps(&store), config()).await;
    let (file, mut members) = scene(&server).await;
    for _ in 0..3 {
        store.go_back_to(&store.save());
        settle(&server, &mut members, None).await;
    }
    // The same file twice: what was handed out after the first time is not handed out after the second.
    for _ in 0..2 {
        let seen = members.iter().map(|member| member.seen).max().unwrap();
        assert!(seen > 2 << 20, "the losses raised the epochs: {seen}");
        // A loss raises epochs by as much as half a second does; here losses come faster than that.
        let is_later = || async {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
            now.as_secs() << 21 > seen
        };
        wait_until_async(PATIENCE, is_later).await.unwrap();
        store.go_back_to(&empty);
        // Another coordinator remembers nothing.
        let other = Server::with(deps(&store), config()).await;
        let restored = restore(&other, &file, false).await;
        assert_eq!(restored.groups[0].outcome, RestoreOutcome::Created);
        assert!(restored.groups[0].group_epoch > seen);
        settle(&other, &mut members, None).await;
        let seen = i64::try_from(seen).unwrap();
        assert!(members.iter().all(|member| member.epoch > seen));
        store.go_back_to(&store.save());
        settle(&other, &mut members, None).await;
    }
    let of_a = &members[0].statuses;
    assert!(!of_a.contains("FencedMemberEpoch"), "{of_a:?}");
}

/// Rule C7: the record is lost or can't be read, so that nobody knows how far its epochs came, and the next one puts it back at once.
#[tokio::test]
async fn c7_epochs_rise_with_every_restore_and_repair_by_whomever_within_a_second() {
    let redis = RedisServer::builder().start().unwrap();
    let url = redis.url();
    let mut connection = redis.connection().await.unwrap();
    let first = Server::with(redis::deps(&url).await, config()).await;
    let other = Server::with(redis::deps(&url).await, config()).await;
    first.create("orders", 4).await;
    let mut file = save(&first).await;
    let metadata = "redis-stream:coord:{orders:orders}:metadata";
    let exists: u64 = redis::ask(&mut connection, &["EXISTS", metadata]).await;
    assert_eq!(exists, 1);
    let mut last = 0;
    for round in 0..24 {
        match round % 4 {
            0 | 1 => {}
            2 => {
                // Another etag: nobody writes over it what is in memory.
                let broken = ["HSET", metadata, "aggregate", "nonsense", "etag", "x"];
                redis::ask::<u64>(&mut connection, &broken).await;
            }
            _ => {
                redis::ask::<u64>(&mut connection, &["DEL", metadata]).await;
            }
        }
        let server = if round % 3 == 0 { &first } else { &other };
        let restored = restore(server, &file, true).await;
        let group = &restored.groups[0];
        let expected = [
            RestoreOutcome::Replaced,
            RestoreOutcome::Replaced,
            RestoreOutcome::Repaired,
            RestoreOutcome::Created,
        ];
        assert_eq!(group.outcome, expected[round % 4]);
        let epoch = group.group_epoch;
        assert!(epoch > last, "{epoch} after {last}, round {round}");
        assert!(epoch < 1 << 53, "{epoch}");
        last = epoch;
        if round == 12 {
            // A file of a moment ago has an epoch of that moment.
            file = save(&first).await;
        }
    }
}

#[tokio::test]
async fn a_store_that_is_not_empty_is_left_alone_without_force() {
    let server = Server::start().await;
    server.create("orders", 4).await;
    let file = save(&server).await;
    let (status, code, message) = refusal(send(&server, &file, false).await).await;
    assert_eq!((status, code.as_str()), (409, "GROUP_ALREADY_EXISTS"));
    assert!(
        message.contains("orders") && message.contains("force"),
        "{message}"
    );
    assert_eq!(save_groups(&save(&server).await), save_groups(&file));
}

#[tokio::test]
async fn groups_that_are_not_in_the_file_stay() {
    let server = Server::start().await;
    server.create("orders", 4).await;
    let file = save(&server).await;
    server.create("bills", 2).await;
    let restored = restore(&server, &file, true).await;
    assert_eq!(restored.groups.len(), 1);
    let groups = server.client.groups().await.unwrap().groups;
    let counts = groups
        .iter()
        .map(|it| (it.stream_prefix.as_str(), it.shard_count));
    assert_eq!(counts.collect::<Vec<_>>(), [("bills", 2), ("orders", 4)]);
}

/// What stands in a file of its groups.
fn save_groups(file: &str) -> Vec<String> {
    let group = |line: &str| line.contains("\"kind\":\"group\"").then(|| line.to_owned());
    file.lines().filter_map(group).collect()
}

/// Whatever is wrong with a file is named, and what is wrong is not written.
#[tokio::test]
async fn a_file_that_was_cut_or_changed_is_refused() {
    let source = Server::start().await;
    source.create("orders", 4).await;
    let file = save(&source).await;
    let lines: Vec<&str> = file.lines().collect();
    let [header, group, end] = lines[..] else {
        panic!("{file}");
    };
    let wrong = [
        (String::new(), "is empty"),
        ("{}\n".to_owned(), "line 1"),
        (format!("{group}\n{end}\n"), "begins with its header"),
        (
            header.replace("\"formatVersion\":1", "\"formatVersion\":2"),
            "format version 2",
        ),
        (header.replace("-snapshot", "-other"), "no snapshot"),
        (
            file.replace("\\\"shardCount\\\":4", "\\\"shardCount\\\":5"),
            "digest is not that of the record",
        ),
        (
            format!("{header}\n{header}\n{group}\n{end}\n"),
            "second header",
        ),
        (
            file.replace("\"streamPrefix\":\"orders\"", "\"streamPrefix\":\"others\""),
            "of group orders",
        ),
        // All of it is looked at before the first is written.
        (format!("{header}\n{group}\n"), "has no end"),
        (format!("{header}\n{group} \n{end}\n"), "the digest is not"),
        (
            format!("{header}\n{group}\n{end}\n{end}\n"),
            "after the end",
        ),
        (
            format!("{header}\n{group}\n{group}\n{end}\n"),
            "the digest is not",
        ),
    ];
    for (file, expected) in wrong {
        let store = MemoryStore::new();
        let server = Server::with(deps(&store), config()).await;
        let (status, code, message) = refusal(send(&server, &file, false).await).await;
        assert_eq!(
            (status, code.as_str()),
            (400, "INVALID_REQUEST"),
            "{message}"
        );
        assert!(message.contains(expected), "{message} | {expected}");
        let there = store.groups(&PageCursor::default()).await.unwrap();
        assert!(there.groups.is_empty(), "nothing was written: {expected}");
    }
}

/// Also where there is something to lose.
#[tokio::test]
async fn a_forced_restore_of_a_file_that_was_cut_leaves_all_as_it_is() {
    let server = Server::start().await;
    for stream in ["a", "b"] {
        server.create(stream, 2).await;
    }
    let file = save(&server).await;
    let before = save_groups(&file);
    let cut: Vec<&str> = file.lines().take(3).collect();
    let (status, _, message) = refusal(send(&server, &cut.join("\n"), true).await).await;
    assert_eq!(status, 400, "{message}");
    assert!(message.contains("has no end"), "{message}");
    assert_eq!(save_groups(&save(&server).await), before);
    let restored = restore(&server, &file, true).await.groups;
    let names = restored.iter().map(|it| it.stream_prefix.as_str());
    assert_eq!(names.collect::<Vec<_>>(), ["a", "b"]);
}

/// What fails once writing has begun says how far it came, and each group that was put back has its event.
#[tokio::test]
async fn a_restore_that_breaks_off_says_how_many_groups_it_put_back() {
    let store = MemoryStore::new();
    let limits = LockLimits {
        ttl: PATIENCE,
        wait: Duration::from_millis(50),
    };
    let server = Server::with(deps(&store.under(limits)), config()).await;
    for stream in ["a", "b", "c"] {
        server.create(stream, 2).await;
    }
    let file = save(&server).await;
    let held = StreamPrefix::parse("b").unwrap().own_group();
    let held = store.begin(&held, None).await.unwrap().lock;
    let (status, code, message) = refusal(send(&server, &file, true).await).await;
    assert_eq!(
        (status, code.as_str()),
        (503, "COORDINATOR_STATE_MUTEX_UNAVAILABLE")
    );
    let said = "1 groups were restored before this; with force the same can be repeated";
    assert!(message.ends_with(said), "{message}");
    let events = store.latest(&AuditFilter::Fleet, 2).await.unwrap();
    let told = events.iter().map(|text| {
        let event: AuditEvent = serde_json::from_str(text).unwrap();
        (event.stream_prefix, event.outcome, event.status)
    });
    let of_request = (None, AuditOutcome::Failed, 503);
    let of_a = (Some("a".to_owned()), AuditOutcome::Success, 503);
    assert_eq!(told.collect::<Vec<_>>(), [of_a, of_request]);
    store.release(held).await;
    assert_eq!(restore(&server, &file, true).await.groups.len(), 3);
}

#[tokio::test]
async fn a_line_that_never_ends_is_refused() {
    let server = Server::start().await;
    let endless = " ".repeat(protocol::SNAPSHOT_LINE_MAX_BYTES + 100_000);
    let (status, code, message) = refusal(send(&server, &endless, false).await).await;
    assert_eq!((status, code.as_str()), (413, "PAYLOAD_TOO_LARGE"));
    assert!(message.contains("a line"), "{message}");
}
