//! A stream is given more shards while its members are busy: what becomes of the throughput of the shards that don't move (performance figure P10).

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clap::Args;
use coordinator_client::CoordinatorClient;
use member_client::{Handler, HandlerError, MemberClient, Record};
use protocol::{GroupState, ScaleRequest};
use testkit::wait_until_async;

use super::stage::Stage;
use crate::processes::Failure;

const STREAM: &str = "orders";
/// How long anything may take.
const LIMIT: Duration = Duration::from_secs(60);
/// How long is measured before, during (at least) and after.
const WINDOW: Duration = Duration::from_secs(1);
/// How many records are written in one go.
const AT_ONCE: u32 = 1_000;

#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Shards before; each has a member of its own
    #[arg(long, default_value_t = 8, value_name = "COUNT")]
    from: u32,
    /// Shards after
    #[arg(long, default_value_t = 12, value_name = "COUNT")]
    to: u32,
    /// Records that wait in each shard
    #[arg(long, default_value_t = 100_000, value_name = "COUNT")]
    records: u32,
    /// How many times
    #[arg(long, default_value_t = 5, value_name = "COUNT")]
    repeat: u32,
}

/// Counts what is handled in the shards that were there from the beginning.
#[derive(Clone)]
struct Count {
    handled: Arc<AtomicU64>,
    from: u32,
}

impl Handler for Count {
    async fn handle(&self, record: Record) -> Result<(), HandlerError> {
        if record.shard().shard_index < self.from {
            self.handled.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }
}

pub(super) async fn run(arguments: &Arguments, server: &Path) -> Result<bool, Failure> {
    println!(
        "reshard: {} shards become {}, {} records wait in each, one member each",
        arguments.from, arguments.to, arguments.records
    );
    let mut ratios = Vec::new();
    for _ in 0..arguments.repeat {
        let stage = Stage::start(server, 1).await?;
        let measured = measure(&stage, arguments).await?;
        println!(
            "reshard: before {:.0}/s, during {:.0}/s ({:?}), after {:.0}/s: ratio {:.3}",
            measured.before,
            measured.during,
            measured.took,
            measured.after,
            measured.ratio()
        );
        ratios.push(measured.ratio());
    }
    ratios.sort_unstable_by(f64::total_cmp);
    println!(
        "reshard: throughput of the shards that don't move, during to before and after: median {:.3}, from {:.3} to {:.3}",
        ratios[ratios.len() / 2],
        ratios[0],
        ratios[ratios.len() - 1]
    );
    Ok(true)
}

struct Measured {
    before: f64,
    during: f64,
    after: f64,
    /// How long the change took.
    took: Duration,
}

impl Measured {
    /// What is slower or faster anyhow, as a backlog shrinks, is in the mean of before and after.
    fn ratio(&self) -> f64 {
        2.0 * self.during / (self.before + self.after)
    }
}

async fn measure(stage: &Stage, arguments: &Arguments) -> Result<Measured, Failure> {
    let client = &stage.coordinators[0].client;
    stage.create(STREAM, arguments.from).await?;
    fill(stage, arguments).await?;
    let count = Count {
        handled: Arc::default(),
        from: arguments.from,
    };
    let coordinator = CoordinatorClient::builder([&stage.coordinators[0].url]).build()?;
    let running = MemberClient::builder(count.clone())
        .coordinator(coordinator)
        .redis_urls([stage.redis.url()])
        .stream_prefix(STREAM)
        .member_base("bench")
        .concurrency(arguments.from)
        .build()?
        .start();
    let is_stable = || async {
        let group = client.group(STREAM, STREAM).await;
        group.is_ok_and(|group| {
            let members = group.current_assignment_summary.len();
            group.state == GroupState::Stable && members == arguments.from as usize
        })
    };
    until(is_stable, "the start of the members").await?;
    let busy = || async { count.handled.load(Ordering::Relaxed) > u64::from(AT_ONCE) };
    until(busy, "the first records").await?;
    let before = rate(&count, tokio::time::sleep(WINDOW)).await;
    let started = Instant::now();
    let request = ScaleRequest {
        target_shard_count: arguments.to,
        requested_by: "bench".to_owned(),
        reason: "to measure".to_owned(),
        deprecated_after: None,
    };
    let changing = async {
        client.scale_stream(STREAM, &request).await?;
        let is_over = || async {
            let known = client.migrations(STREAM, STREAM).await;
            known.is_ok_and(|known| known.active_resharding_id.is_none())
        };
        until(is_over, "the change").await?;
        let took = started.elapsed();
        tokio::time::sleep(WINDOW.saturating_sub(took)).await;
        Ok::<Duration, Failure>(took)
    };
    let mut took = Ok(Duration::ZERO);
    let during = rate(&count, async { took = changing.await }).await;
    let after = rate(&count, tokio::time::sleep(WINDOW)).await;
    let left = u64::from(arguments.records) * u64::from(arguments.from);
    let is_exhausted = count.handled.load(Ordering::Relaxed) >= left;
    running.shutdown().await;
    if is_exhausted {
        return Err(Failure::TooLittle {
            what: "records: the members ran out of them; ask for more with --records",
        });
    }
    Ok(Measured {
        before,
        during,
        after,
        took: took?,
    })
}

async fn until<F>(condition: impl Fn() -> F, what: &'static str) -> Result<(), Failure>
where
    F: Future<Output = bool>,
{
    wait_until_async(LIMIT, condition)
        .await
        .map_err(|_| Failure::TookTooLong {
            what,
            seconds: LIMIT.as_secs(),
        })
}

/// Records a second while something goes on.
#[allow(clippy::cast_precision_loss)]
async fn rate(count: &Count, meanwhile: impl Future<Output = ()>) -> f64 {
    let (started, before) = (Instant::now(), count.handled.load(Ordering::Relaxed));
    meanwhile.await;
    let handled = count.handled.load(Ordering::Relaxed) - before;
    handled as f64 / started.elapsed().as_secs_f64()
}

async fn fill(stage: &Stage, arguments: &Arguments) -> Result<(), Failure> {
    let mut redis = stage.redis.connection().await?;
    for shard in 0..arguments.from {
        let key = protocol::stream_key(STREAM, shard);
        let mut left = arguments.records;
        while left > 0 {
            let count = left.min(AT_ONCE);
            let mut pipeline = redis::pipe();
            for _ in 0..count {
                pipeline
                    .cmd("XADD")
                    .arg(&key)
                    .arg("*")
                    .arg("k")
                    .arg("v")
                    .ignore();
            }
            pipeline.exec_async(&mut redis).await?;
            left -= count;
        }
    }
    Ok(())
}
