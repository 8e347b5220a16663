//! What deciding a heartbeat costs in a group of 1,000 members and 10,000 shards.
#![allow(missing_docs, clippy::unwrap_used)]

use std::hint::black_box;

use coordinator_core::Group;
use coordinator_core::input::{Heartbeat, Input, PROTOCOL_VERSION};
use coordinator_core::names::{MemberId, RequestId, StreamPrefix};
use coordinator_core::numbers::{Concurrency, MetadataVersion, ShardCount};
use coordinator_core::record::{GroupRecord, Provisioning};
use coordinator_core::settings::Settings;
use coordinator_core::shard_set::ShardSet;
use coordinator_core::step::{HeartbeatReply, Reply};
use coordinator_core::time::{Clock, Timestamp};
use criterion::{Criterion, criterion_group, criterion_main};

const MEMBERS: usize = 1_000;
const SHARDS: u32 = 10_000;

fn heartbeat(member: &str, answer: Option<&HeartbeatReply>) -> Heartbeat {
    let member = MemberId::parse(member).unwrap();
    Heartbeat {
        protocol_version: PROTOCOL_VERSION,
        request: RequestId::new("r"),
        addressed_to: member.clone(),
        member,
        epoch: answer.map_or(0, |answer| i64::try_from(answer.member_epoch).unwrap()),
        version: answer.map_or(MetadataVersion::new(0), |answer| answer.metadata_version),
        instance: None,
        sequence: None,
        name: None,
        max_concurrency: Concurrency::new(1),
        owned: answer
            .map(|answer| answer.assigned.clone())
            .unwrap_or_default(),
        revoking: Vec::new(),
        progress: ShardSet::new(),
    }
}

fn clock() -> Clock {
    Clock {
        now: Timestamp::from_ms(1_000_000),
        coordination_since: Timestamp::from_ms(0),
        doubted_at: None,
    }
}

fn beat(group: &mut Group, heartbeat: Heartbeat) -> HeartbeatReply {
    let step = group
        .decide(clock(), &Input::HeartbeatReceived(heartbeat))
        .unwrap();
    group.apply(&step.writes);
    match step.reply {
        Reply::Heartbeat(reply) => reply,
        Reply::Scale(_) | Reply::Done => unreachable!("a heartbeat is answered"),
    }
}

/// A group in which everybody has reported everything.
fn settled() -> (Group, Heartbeat) {
    let id = StreamPrefix::parse("orders").unwrap().own_group();
    let record = GroupRecord::new(id, ShardCount::new(SHARDS), Provisioning::Done);
    let mut group = Group::restore(record, Settings::default()).unwrap();
    let names: Vec<String> = (0..MEMBERS)
        .map(|index| format!("member-{index:04}"))
        .collect();
    let mut answers: Vec<_> = names
        .iter()
        .map(|name| beat(&mut group, heartbeat(name, None)))
        .collect();
    for _ in 0..3 {
        for (name, answer) in names.iter().zip(&mut answers) {
            *answer = beat(&mut group, heartbeat(name, Some(answer)));
        }
    }
    let steady = heartbeat(&names[500], Some(&answers[500]));
    assert!(
        group.decide_steady(&steady, None).is_some(),
        "the group is at rest"
    );
    (group, steady)
}

fn heartbeats(criterion: &mut Criterion) {
    let (group, steady) = settled();
    let mut bench = criterion.benchmark_group(format!("{MEMBERS} members, {SHARDS} shards"));
    bench.bench_function("a heartbeat that changes nothing", |bencher| {
        bencher.iter(|| group.decide_steady(black_box(&steady), None));
    });
    let mut renamed = steady.clone();
    renamed.name = Some("renamed".to_owned());
    let renamed = Input::HeartbeatReceived(renamed);
    bench.bench_function("a heartbeat that changes something", |bencher| {
        bencher.iter(|| group.decide(clock(), black_box(&renamed)));
    });
    let join = Input::HeartbeatReceived(heartbeat("newcomer", None));
    bench.bench_function("a join", |bencher| {
        bencher.iter(|| group.decide(clock(), black_box(&join)))
    });
    bench.finish();
}

criterion_group!(benches, heartbeats);
criterion_main!(benches);
