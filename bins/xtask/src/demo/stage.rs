//! The demo's processes, and what is done to them.

use std::collections::HashSet;
use std::path::PathBuf;

use coordinator_client::{CoordinatorClient, Credentials};
use redis::aio::MultiplexedConnection;
use testkit::{RedisServer, free_port};

use super::scenario::Event;
use super::view::View;
use super::{Arguments, log, scale};
use crate::processes::{Failure, Process, sibling};

/// How many coordinators there are.
pub(super) const COORDINATORS: usize = 2;
/// Records a second of one producer.
const RATE: u64 = 600;

/// The running processes and where they write.
pub(super) struct Stage {
    folder: PathBuf,
    redis: RedisServer,
    /// The port of each coordinator, and the process while it runs.
    coordinators: Vec<(u16, Option<Process>)>,
    consumers: Vec<Process>,
    pub(super) crashed: HashSet<String>,
    started: usize,
}

impl Stage {
    pub(super) fn new(folder: PathBuf, redis: RedisServer) -> Self {
        Self {
            folder,
            redis,
            coordinators: (0..COORDINATORS).map(|_| (free_port(), None)).collect(),
            consumers: Vec::new(),
            crashed: HashSet::new(),
            started: 0,
        }
    }

    pub(super) async fn redis(&self) -> Result<MultiplexedConnection, Failure> {
        Ok(self.redis.connection().await?)
    }

    fn url(&self, place: usize) -> String {
        format!("http://127.0.0.1:{}", self.coordinators[place].0)
    }

    /// A client of all coordinators.
    pub(super) fn client(&self) -> Result<CoordinatorClient, Failure> {
        self.client_of(0..COORDINATORS)
    }

    pub(super) fn client_of(
        &self,
        places: impl IntoIterator<Item = usize>,
    ) -> Result<CoordinatorClient, Failure> {
        let urls = places.into_iter().map(|place| self.url(place));
        Ok(CoordinatorClient::builder(urls)
            .credentials(Credentials::basic("admin", "admin"))
            .build()?)
    }

    /// A coordinator that runs, and another one.
    pub(super) fn running(&self) -> Option<(usize, usize)> {
        let runs = |place: &usize| self.coordinators[*place].1.is_some();
        let mut running = (0..COORDINATORS).filter(runs);
        Some((running.next()?, running.next()?))
    }

    /// Kills a coordinator, whatever it is doing.
    pub(super) async fn kill_coordinator(&mut self, place: usize) -> Result<(), Failure> {
        match self.coordinators[place].1.take() {
            Some(coordinator) => coordinator.kill().await,
            None => Ok(()),
        }
    }

    /// Starts every coordinator that does not run.
    pub(super) fn start_coordinators(&mut self) -> Result<(), Failure> {
        for place in 0..COORDINATORS {
            if self.coordinators[place].1.is_none() {
                self.start_coordinator(place)?;
            }
        }
        Ok(())
    }

    pub(super) fn start_coordinator(&mut self, place: usize) -> Result<(), Failure> {
        let name = format!("coordinator-{}", place + 1);
        let arguments = [
            (
                "--listen",
                format!("127.0.0.1:{}", self.coordinators[place].0),
            ),
            ("--store", self.redis.url()),
            ("--coordinator-id", name.clone()),
            ("--heartbeat-interval", "300ms".to_owned()),
            ("--member-lease-ttl", "1500ms".to_owned()),
            ("--rebalance-timeout", "5s".to_owned()),
        ];
        let arguments: Vec<String> = arguments
            .into_iter()
            .flat_map(|(flag, value)| [flag.to_owned(), value])
            .collect();
        let errors = self.folder.join(format!("{name}.err"));
        let program = sibling("coordinatord")?;
        let coordinator = Process::start(&name, &program, &arguments, &errors)?;
        self.coordinators[place].1 = Some(coordinator);
        Ok(())
    }

    pub(super) fn start_consumer(&mut self, members: u32) -> Result<(), Failure> {
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

    pub(super) fn start_producer(
        &self,
        name: &str,
        arguments: &Arguments,
    ) -> Result<Process, Failure> {
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
        let coordinators = (0..COORDINATORS).map(|place| ("--coordinator", self.url(place)));
        let common = [
            ("--redis", self.redis.url()),
            ("--log", log),
            ("--name", name.to_owned()),
        ];
        let flags = common
            .into_iter()
            .chain(coordinators)
            .chain(more.iter().cloned())
            .flat_map(|(flag, value)| [flag.to_owned(), value]);
        let arguments: Vec<String> = std::iter::once(command.to_owned()).chain(flags).collect();
        let errors = self.folder.join(format!("{name}.err"));
        Process::start(name, &std::env::current_exe()?, &arguments, &errors)
    }

    pub(super) async fn play(&mut self, event: Event, view: &mut View) -> Result<(), Failure> {
        match event {
            Event::Scale(shards) => scale::scale(self, view, shards).await,
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
                view.say("a coordinator is stopped and started again");
                if let Some(coordinator) = self.coordinators[0].1.take() {
                    coordinator.stop().await?;
                }
                self.start_coordinators()
            }
            Event::StopConsumer => {
                let consumer = self.consumers.remove(1);
                view.say(&format!("{} is told to end", consumer.name));
                consumer.stop().await
            }
        }
    }

    /// Ends everything that still runs, well.
    pub(super) async fn end(&mut self) -> Result<(), Failure> {
        for consumer in self.consumers.drain(..) {
            consumer.stop().await?;
        }
        for (_, coordinator) in &mut self.coordinators {
            if let Some(coordinator) = coordinator.take() {
                coordinator.stop().await?;
            }
        }
        Ok(())
    }

    /// Everything that any process wrote down.
    pub(super) fn entries(&self) -> Result<Vec<log::Entry>, Failure> {
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
