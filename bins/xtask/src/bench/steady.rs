//! Many members heartbeating through two coordinators (case C41, rule H17): every join succeeds, nobody is fenced or expired, and a steady heartbeat
//! commits nothing.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use clap::Args;
use coordinator_client::CoordinatorClient;
use futures_util::future::try_join_all;
use protocol::{GroupState, HeartbeatStatus, MemberState};
use redis::aio::MultiplexedConnection;
use tokio::time::MissedTickBehavior;

use super::members::Member;
use super::stage::{Stage, command_counts};
use crate::processes::Failure;

const STREAM: &str = "orders";
/// Between two heartbeats of a member: that of protocol version 1.
const INTERVAL: Duration = Duration::from_secs(3);
/// The commands whose counts tell what a heartbeat costs: scripts, and what they write.
const COMMANDS: [&str; 6] = ["evalsha", "eval", "hset", "zadd", "publish", "set"];

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// How many members
    #[arg(long, default_value_t = 300, value_name = "COUNT")]
    members: usize,
    /// How many shards
    #[arg(long, default_value_t = 900, value_name = "COUNT")]
    shards: u32,
    /// How long they heartbeat once the group is at rest
    #[arg(long, default_value_t = 60, value_name = "COUNT")]
    seconds: u64,
}

/// What the store says of a group.
#[derive(Debug, PartialEq, Eq)]
struct Recorded {
    revision: u64,
    etag: String,
}

pub(super) async fn run(arguments: &Arguments, server: &Path) -> Result<bool, Failure> {
    let stage = Stage::start(server, 2).await?;
    stage.create(STREAM, arguments.shards).await?;
    let clients: Vec<CoordinatorClient> = stage
        .coordinators
        .iter()
        .map(|it| it.client.clone())
        .collect();
    let mut members: Vec<Member> = (0..arguments.members).map(Member::new).collect();
    let started = Instant::now();
    let joined = round(&mut members, &clients, 0).await?;
    println!(
        "steady: {} of {} joins succeeded in {:?}",
        joined.get("OK").unwrap_or(&0),
        arguments.members,
        started.elapsed()
    );
    let mut rounds = 1;
    while clients[0].group(STREAM, STREAM).await?.state != GroupState::Stable || rounds < 4 {
        round(&mut members, &clients, rounds).await?;
        rounds += 1;
    }
    println!(
        "steady: at rest after {rounds} rounds and {:?}",
        started.elapsed()
    );
    let shards: usize = members.iter().map(Member::shards).sum();

    let mut redis = stage.redis.connection().await?;
    let (before, counts_before) = (
        recorded(&mut redis).await?,
        command_counts(&mut redis).await?,
    );
    let (heartbeats, statuses, took) = beat_on(&mut members, &clients, arguments.seconds).await?;
    let (after, counts_after) = (
        recorded(&mut redis).await?,
        command_counts(&mut redis).await?,
    );

    let alive = clients[0].members(STREAM, STREAM).await?.members;
    let ended = alive
        .iter()
        .filter(|it| matches!(it.state, MemberState::Fenced | MemberState::Expired))
        .count();
    println!(
        "steady: {heartbeats} heartbeats of {} members with {shards} shards in {took:?}: {statuses:?}",
        members.len()
    );
    println!(
        "steady: revision {} before, {} after: {} commits",
        before.revision,
        after.revision,
        after.revision - before.revision
    );
    for name in COMMANDS {
        let Some(count) = counts_after.get(name) else {
            continue;
        };
        let more = count - counts_before.get(name).copied().unwrap_or(0);
        #[allow(clippy::cast_precision_loss)]
        let per_heartbeat = more as f64 / heartbeats as f64;
        println!("steady: cmdstat_{name}: {more} calls, {per_heartbeat:.3} a heartbeat");
    }
    println!("steady: {ended} members fenced or expired");
    Ok(joined.get("OK") == Some(&arguments.members)
        && ended == 0
        && before == after
        && statuses.len() == 1)
}

/// One heartbeat of every member, all at once, half of them through each coordinator and the other half through the other in the next round.
async fn round(
    members: &mut [Member],
    clients: &[CoordinatorClient],
    round: usize,
) -> Result<BTreeMap<String, usize>, Failure> {
    let beats = members.iter_mut().enumerate().map(|(index, member)| {
        let client = &clients[(index + round) % clients.len()];
        async move { member.beat(client, STREAM).await }
    });
    let mut statuses = BTreeMap::new();
    for status in try_join_all(beats).await? {
        *statuses.entry(name(status)).or_default() += 1;
    }
    Ok(statuses)
}

/// Every member heartbeats at its interval, spread evenly over it, for some seconds.
async fn beat_on(
    members: &mut Vec<Member>,
    clients: &[CoordinatorClient],
    seconds: u64,
) -> Result<(usize, BTreeMap<String, usize>, Duration), Failure> {
    let started = Instant::now();
    let end = started + Duration::from_secs(seconds);
    let count = u32::try_from(members.len()).unwrap_or(u32::MAX).max(1);
    let tasks = members.drain(..).zip(0_u32..).map(|(mut member, index)| {
        let clients = clients.to_vec();
        tokio::spawn(async move {
            let first = tokio::time::Instant::now() + INTERVAL * index / count;
            let mut beats = tokio::time::interval_at(first, INTERVAL);
            beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
            let mut statuses = Vec::new();
            while Instant::now() < end {
                beats.tick().await;
                let client = &clients[(statuses.len() + index as usize) % clients.len()];
                statuses.push(member.beat(client, STREAM).await?);
            }
            Ok::<_, coordinator_client::ClientError>((member, statuses))
        })
    });
    let mut all = BTreeMap::new();
    let mut heartbeats = 0;
    for task in tasks.collect::<Vec<_>>() {
        let (member, statuses) = task.await.map_err(std::io::Error::other)??;
        heartbeats += statuses.len();
        for status in statuses {
            *all.entry(name(status)).or_default() += 1;
        }
        members.push(member);
    }
    Ok((heartbeats, all, started.elapsed()))
}

fn name(status: HeartbeatStatus) -> String {
    format!("{status:?}").to_uppercase()
}

async fn recorded(redis: &mut MultiplexedConnection) -> Result<Recorded, Failure> {
    let key = format!("redis-stream:coord:{{{STREAM}:{STREAM}}}:metadata");
    let (revision, etag) = redis::cmd("HMGET")
        .arg(key)
        .arg(&["revision", "etag"])
        .query_async(redis)
        .await?;
    Ok(Recorded { revision, etag })
}
