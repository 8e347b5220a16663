//! What happens in the demo, and when.

use std::path::Path;
use std::time::{Duration, Instant};

use coordinator_client::CoordinatorClient;
use protocol::CreateStreamRequest;
use testkit::RedisServer;

use super::check::{Summary, check};
use super::stage::{COORDINATORS, Stage};
use super::view::View;
use super::{Arguments, FEWEST_SHARDS, MOST_SHARDS, SHARDS, STREAM, scale};
use crate::processes::{Failure, Process, build_coordinator};

/// Between two looks at the streams.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// How long the consumers may take to catch up once everything is published.
const CATCH_UP: Duration = Duration::from_secs(20);
/// What is done to the processes while records flow.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    /// The stream is given this many shards; the coordinator that was asked is killed before that is done.
    Scale(u32),
    AddConsumer,
    KillConsumer,
    RestartCoordinator,
    StopConsumer,
}

/// When it is done, in parts of a hundred of all records.
const EVENTS: [(u64, Event); 6] = [
    (15, Event::Scale(MOST_SHARDS)),
    (30, Event::AddConsumer),
    (40, Event::KillConsumer),
    (55, Event::Scale(FEWEST_SHARDS)),
    (70, Event::RestartCoordinator),
    (85, Event::StopConsumer),
];

/// Runs the demo and judges it.
pub(crate) async fn run(arguments: &Arguments, server: &Path) -> Result<Summary, Failure> {
    build_coordinator()?;
    let temporary = tempfile::tempdir()?;
    let folder = match &arguments.keep_logs {
        Some(folder) => {
            std::fs::create_dir_all(folder)?;
            folder.clone()
        }
        None => temporary.path().to_owned(),
    };
    let redis = RedisServer::builder().binary(server).start()?;
    let mut stage = Stage::new(folder, redis);
    for place in 0..COORDINATORS {
        stage.start_coordinator(place)?;
    }
    let client = stage.client()?;
    wait_until_ready(&client).await?;
    let request = CreateStreamRequest {
        initial_shard_count: Some(SHARDS),
        requested_by: "demo".to_owned(),
        reason: None,
    };
    client.create_stream(STREAM, &request).await?;
    for members in [3, 3, 2] {
        stage.start_consumer(members)?;
    }
    let mut view = View::new(client.clone(), stage.redis().await?);
    view.say(&format!("stream {STREAM} with {SHARDS} shards; 2 coordinators, 3 consumer processes with 8 members, 2 producer processes"));
    let producers = [
        stage.start_producer("a", arguments)?,
        stage.start_producer("b", arguments)?,
    ];
    let played = play(&mut stage, &mut view, producers, arguments.records * 2);
    tokio::select! {
        outcome = played => outcome?,
        _ = tokio::signal::ctrl_c() => return Err(Failure::Interrupted),
    }
    let retired = view.retired().await?;
    stage.end().await?;
    let entries = stage.entries()?;
    Ok(check(&entries, &stage.crashed, retired))
}

async fn wait_until_ready(client: &CoordinatorClient) -> Result<(), Failure> {
    let limit = Duration::from_secs(20);
    let ready = || async { client.is_ready().await.unwrap_or(false) };
    testkit::wait_until_async(limit, ready)
        .await
        .map_err(|_| Failure::TookTooLong {
            what: "the start of the coordinator",
            seconds: limit.as_secs(),
        })
}

/// Plays all events while the producers publish, then waits until everything is handled.
async fn play(
    stage: &mut Stage,
    view: &mut View,
    producers: [Process; 2],
    records: u64,
) -> Result<(), Failure> {
    let mut publishing = Box::pin(async {
        let [mut first, mut second] = producers;
        tokio::try_join!(first.finished(), second.finished()).map(|_| ())
    });
    let mut events = EVENTS.into_iter().peekable();
    let mut looks = tokio::time::interval(LOOK_EVERY);
    let mut is_publishing = true;
    let mut caught_up_by = None;
    loop {
        tokio::select! {
            outcome = &mut publishing, if is_publishing => {
                outcome?;
                is_publishing = false;
                caught_up_by = Some(Instant::now() + CATCH_UP);
                view.say("everything is published");
            }
            _ = looks.tick() => {
                let totals = view.show().await?;
                if let Some((_, event)) = events.next_if(|(percent, _)| totals.published * 100 >= records * percent) {
                    stage.play(event, view).await?;
                }
                let is_done = !is_publishing && totals.handled >= totals.published && events.peek().is_none();
                if is_done && scale::is_over(&stage.client()?).await {
                    return Ok(());
                }
                if caught_up_by.is_some_and(|limit| Instant::now() > limit) {
                    return Err(Failure::TookTooLong { what: "handling the rest", seconds: CATCH_UP.as_secs() });
                }
            }
        }
    }
}
