//! Many groups that wait for nothing (case P14): what it costs a coordinator that they are there.

use std::path::Path;
use std::time::{Duration, Instant};

use clap::Args;
use futures_util::stream::{self, StreamExt, TryStreamExt};

use super::stage::{Stage, command_counts};
use crate::processes::Failure;

/// How many groups are created at once.
const AT_ONCE: usize = 16;
/// The commands by which the record of a group is read: by a script, which asks for this field.
const LOADS: &str = "hget";
/// Groups that are looked at in a second, beyond which all of them are.
const FEW: f64 = 10.0;
/// How often all groups are visited and both indexes rebuilt, in seconds, and how many looks at a group that makes.
const ALL_AFTER: u64 = 600;
const LOOKS: f64 = 4.5;
/// What all of it may cost. A build that is not optimised takes about four times as long.
const MOST_OF_A_CORE: f64 = if cfg!(debug_assertions) { 0.08 } else { 0.02 };

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// How many groups
    #[arg(long, default_value_t = 10_000, value_name = "COUNT")]
    groups: usize,
    /// How long is measured; from 600 on, the visit to all groups and the rebuilds of both indexes are in it
    #[arg(long, default_value_t = 60, value_name = "COUNT")]
    seconds: u64,
    /// How long they are left alone before, so that the first sweep is over and no group has a task any more
    #[arg(long, default_value_t = 150, value_name = "COUNT")]
    rest: u64,
    /// How often the shard streams are looked at for the metrics, which is a look at all groups; 0s: not at all
    #[arg(long, default_value = "0s", value_name = "TIME")]
    sampling: String,
}

pub(super) async fn run(arguments: &Arguments, server: &Path) -> Result<bool, Failure> {
    let options = ["--shard-sampling-interval", &arguments.sampling];
    let stage = Stage::with(server, 1, &options).await?;
    let started = Instant::now();
    let names: Vec<String> = (0..arguments.groups)
        .map(|it| format!("idle-{it}"))
        .collect();
    let creations = names.iter().map(|name| stage.create(name, 1));
    stream::iter(creations)
        .buffer_unordered(AT_ONCE)
        .try_collect::<()>()
        .await?;
    println!(
        "idle: {} groups created in {:?}",
        arguments.groups,
        started.elapsed()
    );
    println!("idle: {} s of rest", arguments.rest);
    // waits: for what the creation left to do
    tokio::time::sleep(Duration::from_secs(arguments.rest)).await;

    let coordinator = &stage.coordinators[0].process;
    let mut redis = stage.redis.connection().await?;
    let before = (command_counts(&mut redis).await?, coordinator.cpu_time()?);
    let begun = Instant::now();
    // waits: for as long as is measured
    tokio::time::sleep(Duration::from_secs(arguments.seconds)).await;
    let after = (command_counts(&mut redis).await?, coordinator.cpu_time()?);
    let took = begun.elapsed().as_secs_f64();

    let share = (after.1 - before.1).as_secs_f64() / took;
    println!(
        "idle: {:.2} % of a core during {took:.0} s ({} build, sampling {})",
        share * 100.0,
        if cfg!(debug_assertions) {
            "debug"
        } else {
            "release"
        },
        arguments.sampling
    );
    let mut loads = 0.0;
    for (name, count) in &after.0 {
        let more = count - before.0.get(name).copied().unwrap_or(0);
        #[allow(clippy::cast_precision_loss)]
        let rate = more as f64 / took;
        if rate >= 0.1 {
            println!("idle: cmdstat_{name}: {rate:.1} a second");
        }
        if name == LOADS {
            loads = rate;
        }
    }
    let turns = arguments.seconds / ALL_AFTER;
    #[allow(clippy::cast_precision_loss)]
    let of_all = arguments.groups as f64 * LOOKS * turns as f64 / took;
    Ok(loads < FEW + of_all && share < MOST_OF_A_CORE)
}
