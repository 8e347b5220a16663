//! What happens in the demo, and when.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use coordinator_client::{CoordinatorClient, Credentials};
use protocol::CreateStreamRequest;
use testkit::{RedisServer, free_port};

use super::check::{Summary, check};
use super::view::View;
use super::{Arguments, SHARDS, STREAM, log};
use crate::processes::{Failure, Process, build_coordinator, sibling};

/// Between two looks at the streams.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// How long the consumers may take to catch up once everything is published.
const CATCH_UP: Duration = Duration::from_secs(20);
/// Records a second of one producer.
const RATE: u64 = 600;

/// What is done to the processes while records flow.
#[derive(Clone, Copy, Debug)]
enum Event {
    AddConsumer,
    KillConsumer,
    RestartCoordinator,
    StopConsumer,
}

/// When it is done, in parts of a hundred of all records.
const EVENTS: [(u64, Event); 4] = [
    (20, Event::AddConsumer),
    (40, Event::KillConsumer),
    (60, Event::RestartCoordinator),
    (80, Event::StopConsumer),
];

/// The running processes and where they write.
struct Stage {
    folder: PathBuf,
    redis: RedisServer,
    port: u16,
    coordinator: Option<Process>,
    consumers: Vec<Process>,
    crashed: HashSet<String>,
    started: usize,
}

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
    let port = free_port();
    let mut stage = Stage {
        folder,
        redis,
        port,
        coordinator: None,
        consumers: Vec::new(),
        crashed: HashSet::new(),
        started: 0,
    };
    stage.start_coordinator()?;
    let client = CoordinatorClient::builder([stage.coordinator_url()])
        .credentials(Credentials::basic("admin", "admin"))
        .build()?;
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
    let mut view = View::new(client.clone(), stage.redis.connection().await?);
    view.say(&format!("stream {STREAM} with {SHARDS} shards; 3 consumer processes with 8 members, 2 producer processes"));
    let producers = [
        stage.start_producer("a", arguments)?,
        stage.start_producer("b", arguments)?,
    ];
    let played = play(&mut stage, &mut view, producers, arguments.records * 2);
    tokio::select! {
        outcome = played => outcome?,
        _ = tokio::signal::ctrl_c() => return Err(Failure::Interrupted),
    }
    stage.end().await?;
    let entries = stage.entries()?;
    Ok(check(&entries, &stage.crashed))
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
                if is_done {
                    return Ok(());
                }
                if caught_up_by.is_some_and(|limit| Instant::now() > limit) {
                    return Err(Failure::TookTooLong { what: "handling the rest", seconds: CATCH_UP.as_secs() });
                }
            }
        }
    }
}

impl Stage {
    fn coordinator_url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    fn start_coordinator(&mut self) -> Result<(), Failure> {
        let arguments = [
            ("--listen", format!("127.0.0.1:{}", self.port)),
            ("--store", self.redis.url()),
            ("--coordinator-id", "demo".to_owned()),
            ("--heartbeat-interval", "300ms".to_owned()),
            ("--member-lease-ttl", "1500ms".to_owned()),
            ("--rebalance-timeout", "5s".to_owned()),
        ];
        let arguments: Vec<String> = arguments
            .into_iter()
            .flat_map(|(flag, value)| [flag.to_owned(), value])
            .collect();
        let errors = self.folder.join("coordinator.err");
        self.coordinator = Some(Process::start(
            "coordinator",
            &sibling("coordinatord")?,
            &arguments,
            &errors,
        )?);
        Ok(())
    }

    fn start_consumer(&mut self, members: u32) -> Result<(), Failure> {
        let name = format!(
            "consumer-{}",
            char::from(b'a' + u8::try_from(self.started % 26).unwrap_or_default())
        );
        self.started += 1;
        let more = [("--members", members.to_string())];
        let consumer = self.start_worker("demo-consumer", &name, &more)?;
        self.consumers.push(consumer);
        Ok(())
    }

    fn start_producer(&self, name: &str, arguments: &Arguments) -> Result<Process, Failure> {
        let more = [
            ("--records", arguments.records.to_string()),
            ("--keys", "64".to_owned()),
            ("--rate", RATE.to_string()),
        ];
        self.start_worker("demo-producer", &format!("producer-{name}"), &more)
    }

    fn start_worker(
        &self,
        command: &str,
        name: &str,
        more: &[(&str, String)],
    ) -> Result<Process, Failure> {
        let log = self
            .folder
            .join(format!("{name}.log"))
            .display()
            .to_string();
        let common = [
            ("--coordinator", self.coordinator_url()),
            ("--redis", self.redis.url()),
            ("--log", log),
            ("--name", name.to_owned()),
        ];
        let flags = common
            .iter()
            .chain(more)
            .flat_map(|(flag, value)| [(*flag).to_owned(), value.clone()]);
        let arguments: Vec<String> = std::iter::once(command.to_owned()).chain(flags).collect();
        let errors = self.folder.join(format!("{name}.err"));
        Process::start(name, &std::env::current_exe()?, &arguments, &errors)
    }

    async fn play(&mut self, event: Event, view: &mut View) -> Result<(), Failure> {
        match event {
            Event::AddConsumer => {
                view.say("a fourth consumer process joins with 2 members");
                self.start_consumer(2)
            }
            Event::KillConsumer => {
                let consumer = self.consumers.remove(1);
                view.say(&format!("{} is killed with SIGKILL", consumer.name));
                self.crashed
                    .extend((0..3).map(|index| format!("{}-m{index}", consumer.name)));
                consumer.kill().await
            }
            Event::RestartCoordinator => {
                view.say("the coordinator is stopped and started again");
                if let Some(coordinator) = self.coordinator.take() {
                    coordinator.stop().await?;
                }
                self.start_coordinator()
            }
            Event::StopConsumer => {
                let consumer = self.consumers.remove(1);
                view.say(&format!("{} is told to end", consumer.name));
                consumer.stop().await
            }
        }
    }

    /// Ends everything that still runs, well.
    async fn end(&mut self) -> Result<(), Failure> {
        for consumer in self.consumers.drain(..) {
            consumer.stop().await?;
        }
        if let Some(coordinator) = self.coordinator.take() {
            coordinator.stop().await?;
        }
        Ok(())
    }

    /// Everything that any process wrote down.
    fn entries(&self) -> Result<Vec<log::Entry>, Failure> {
        let mut entries = Vec::new();
        for file in std::fs::read_dir(&self.folder)? {
            let path = file?.path();
            if path.extension().is_some_and(|extension| extension == "log") {
                entries.extend(log::read(&path)?);
            }
        }
        Ok(entries)
    }
}
