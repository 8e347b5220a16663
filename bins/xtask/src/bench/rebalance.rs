//! One member joins others: how long until everybody reads what it should, with the watch and without (performance figure P3).

use std::path::Path;
use std::time::{Duration, Instant};

use clap::Args;
use member_client::{Handler, HandlerError, MemberClient, Record, RunningClient};
use protocol::{GroupState, MemberState};

use super::stage::Stage;
use crate::processes::Failure;

/// How long a rebalance may take.
const LIMIT: Duration = Duration::from_secs(120);
/// Between two looks at the group.
const LOOK_EVERY: Duration = Duration::from_millis(2);

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// How many members there are before
    #[arg(long, default_value_t = 10, value_name = "COUNT")]
    members: u32,
    /// How many shards
    #[arg(long, default_value_t = 900, value_name = "COUNT")]
    shards: u32,
    /// How many times
    #[arg(long, default_value_t = 5, value_name = "COUNT")]
    repeat: u32,
}

struct Nothing;

impl Handler for Nothing {
    async fn handle(&self, _: Record) -> Result<(), HandlerError> {
        Ok(())
    }
}

pub(super) async fn run(arguments: &Arguments, server: &Path) -> Result<bool, Failure> {
    let Arguments {
        members, shards, ..
    } = *arguments;
    println!("rebalance: one member joins {members} with {shards} shards, heartbeats every 3 s");
    for watch in [true, false] {
        let mut times = Vec::new();
        let mut round_trips = Vec::new();
        for _ in 0..arguments.repeat {
            // A Redis and a coordinator for each, so that nothing of the last one is left.
            let stage = Stage::start(server, 1).await?;
            let (took, round_trip) = measure(&stage, arguments, watch).await?;
            times.push(took);
            round_trips.push(round_trip);
        }
        times.sort_unstable();
        round_trips.sort_unstable();
        let (median, round_trip) = (times[times.len() / 2], round_trips[round_trips.len() / 2]);
        #[allow(clippy::cast_precision_loss)]
        let ratio = median.as_micros() as f64 / round_trip.as_micros().max(1) as f64;
        println!(
            "rebalance: watch {}: median {median:?}, from {:?} to {:?}; {ratio:.0} x the time of reading the group, {round_trip:?}",
            if watch { "on " } else { "off" },
            times[0],
            times[times.len() - 1],
        );
    }
    Ok(true)
}

/// The time from the start of the newcomer until the group is stable with it, and that of one round trip.
async fn measure(
    stage: &Stage,
    arguments: &Arguments,
    watch: bool,
) -> Result<(Duration, Duration), Failure> {
    let stream = "orders";
    stage.create(stream, arguments.shards).await?;
    let old = start(stage, "old", arguments.members, watch)?;
    until_stable(stage, stream, arguments.members as usize).await?;
    let asked = Instant::now();
    stage.coordinators[0].client.group(stream, stream).await?;
    let round_trip = asked.elapsed();
    let started = Instant::now();
    let new = start(stage, "new", 1, watch)?;
    until_stable(stage, stream, arguments.members as usize + 1).await?;
    let took = started.elapsed();
    new.shutdown().await;
    old.shutdown().await;
    Ok((took, round_trip))
}

fn start(stage: &Stage, name: &str, members: u32, watch: bool) -> Result<RunningClient, Failure> {
    let coordinator =
        coordinator_client::CoordinatorClient::builder([&stage.coordinators[0].url]).build()?;
    let client = MemberClient::builder(Nothing)
        .coordinator(coordinator)
        .redis_urls([stage.redis.url()])
        .stream_prefix("orders")
        .member_base(name)
        .concurrency(members)
        .watch(watch)
        .build()?;
    Ok(client.start())
}

/// Waits until so many members report exactly what they should own.
async fn until_stable(stage: &Stage, stream: &str, members: usize) -> Result<(), Failure> {
    let client = &stage.coordinators[0].client;
    let end = Instant::now() + LIMIT;
    loop {
        let group = client.group(stream, stream).await?;
        if group.state == GroupState::Stable && group.current_assignment_summary.len() == members {
            return Ok(());
        }
        if Instant::now() > end {
            let states = client.members(stream, stream).await?.members;
            let active = states
                .iter()
                .filter(|member| member.state == MemberState::Active)
                .count();
            eprintln!(
                "bench: {:?} with {active} active members of {members}",
                group.state
            );
            return Err(Failure::TookTooLong {
                what: "the rebalance",
                seconds: LIMIT.as_secs(),
            });
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}
