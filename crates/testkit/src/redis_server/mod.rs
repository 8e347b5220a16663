//! One `redis-server` process: how it is reached, stopped for a while, killed and brought back. What it is started with is
//! the builder's business.

mod builder;
mod process;

pub use builder::{RedisServerBuilder, StartError};

use process::Process;
use tempfile::TempDir;

/// A real `redis-server` on a free loopback port with its data in a temporary folder. Dropping it ends the process and
/// removes the folder; if the test process dies without dropping, a watchdog does the same.
#[derive(Debug)]
pub struct RedisServer {
    process: Option<Process>,
    settings: RedisServerBuilder,
    port: u16,
    bus_port: u16,
    folder: TempDir,
}

impl RedisServer {
    /// Settings of a server to be started. Nothing is persisted unless asked for.
    #[must_use]
    pub fn builder() -> RedisServerBuilder {
        RedisServerBuilder::default()
    }

    /// The port it listens on; the same after a restart.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The cluster bus port, meaningful for a cluster node only.
    #[must_use]
    pub fn bus_port(&self) -> u16 {
        self.bus_port
    }

    /// `host:port`.
    #[must_use]
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// A `redis://` URL of its database 0.
    #[must_use]
    pub fn url(&self) -> String {
        format!("redis://{}/", self.address())
    }

    /// A client for it. Opening one does not connect.
    ///
    /// # Panics
    ///
    /// Never in practice: the URL is well-formed.
    #[must_use]
    pub fn client(&self) -> redis::Client {
        redis::Client::open(self.url()).expect("a loopback URL with a port is well-formed")
    }

    /// A new shared connection.
    ///
    /// # Errors
    ///
    /// What the driver says when the server cannot be reached.
    pub async fn connection(&self) -> redis::RedisResult<redis::aio::MultiplexedConnection> {
        self.client().get_multiplexed_async_connection().await
    }

    /// The process id, if the process runs.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.process.as_ref().map(Process::pid)
    }

    /// Where it keeps its files: `redis.log`, and the append-only files if enabled.
    #[must_use]
    pub fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    /// Stops the process (SIGSTOP): connections stay open, new ones are accepted by the kernel, nothing is answered.
    ///
    /// # Panics
    ///
    /// If it was killed before.
    pub fn pause(&self) {
        self.running().pause();
    }

    /// Lets a stopped process go on (SIGCONT).
    ///
    /// # Panics
    ///
    /// If it was killed before.
    pub fn resume(&self) {
        self.running().resume();
    }

    /// Kills the process (SIGKILL) and returns once it is gone. Killing it twice does nothing.
    pub fn kill(&mut self) {
        self.process = None;
    }

    /// Kills the process if it runs and starts it again on the same port and folder; returns once it answers. What was
    /// persisted is loaded: nothing, unless the append-only file was enabled.
    ///
    /// # Errors
    ///
    /// [`StartError`] as for a first start.
    pub fn restart(&mut self) -> Result<(), StartError> {
        self.kill();
        self.process = Some(
            self.settings
                .launch(self.port, self.bus_port, self.folder.path())?,
        );
        Ok(())
    }

    fn running(&self) -> &Process {
        self.process
            .as_ref()
            .expect("pause and resume are only used on a server that was not killed")
    }
}
