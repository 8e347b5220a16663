//! Settings of one `redis-server` and its start: command line, free port, waiting for the first PONG. It does not keep the
//! process.

use std::env;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::{Process, RedisServer};
use crate::port::free_port;
use crate::wait::poll_blocking;

const START_LIMIT: Duration = Duration::from_secs(20);
const ATTEMPTS: u32 = 5;

/// Why a server did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The temporary folder, the log file or the process could not be created.
    #[error("{} could not be started", .binary.display())]
    Spawn {
        /// The program that was tried.
        binary: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The process ended before it answered.
    #[error("redis-server ended at its start on port {port}; its log ends with:\n{log}")]
    Ended {
        /// The port it was to use.
        port: u16,
        /// The end of its log.
        log: String,
    },
    /// The process runs but did not answer PING in time.
    #[error(
        "redis-server on port {port} did not answer within {limit:?}; its log ends with:\n{log}"
    )]
    Silent {
        /// The port it was to use.
        port: u16,
        /// How long it was waited for.
        limit: Duration,
        /// The end of its log.
        log: String,
    },
}

/// What to start a server with. The binary is `REDIS_SERVER_BIN` from the environment, else `redis-server` on the PATH.
#[derive(Debug, Clone, Default)]
pub struct RedisServerBuilder {
    binary: Option<PathBuf>,
    arguments: Vec<String>,
    append_only: bool,
    cluster: bool,
}

impl RedisServerBuilder {
    /// Starts this server instead of the one that the environment names.
    #[must_use]
    pub fn binary(mut self, path: &Path) -> Self {
        self.binary = Some(path.to_owned());
        self
    }

    /// Adds one setting as in `redis.conf`: `setting("maxmemory", "10mb")`.
    #[must_use]
    pub fn setting(mut self, name: &str, value: &str) -> Self {
        self.arguments
            .extend([format!("--{name}"), value.to_owned()]);
        self
    }

    /// Adds command-line arguments as they are.
    #[must_use]
    pub fn args<I>(mut self, arguments: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Keeps an append-only file, synchronised with every write, so that a restart finds the data again.
    #[must_use]
    pub fn append_only(mut self) -> Self {
        self.append_only = true;
        self
    }

    /// Limits the memory, in Redis' notation (`10mb`), with the given eviction policy (`noeviction`, `allkeys-lru`, …).
    #[must_use]
    pub fn max_memory(self, limit: &str, policy: &str) -> Self {
        self.setting("maxmemory", limit)
            .setting("maxmemory-policy", policy)
    }

    /// Makes it a replica of the loopback server on `port`.
    #[must_use]
    pub fn replica_of(self, port: u16) -> Self {
        self.setting("replicaof", &format!("127.0.0.1 {port}"))
    }

    /// Makes it a cluster node (without slots: see [`RedisCluster`](crate::RedisCluster) for a complete cluster).
    #[must_use]
    pub fn cluster(mut self) -> Self {
        self.cluster = true;
        self
    }

    /// Starts it and returns once it answers PING and has loaded its data (a replica that still synchronises counts as answering).
    ///
    /// # Errors
    ///
    /// [`StartError`]. A port lost to another process is not one of them: another port is tried.
    pub fn start(self) -> Result<RedisServer, StartError> {
        let folder = tempfile::Builder::new()
            .prefix("redis-test-")
            .tempdir()
            .map_err(spawn_error)?;
        let mut attempt = 1;
        loop {
            let (port, bus_port) = (free_port(), free_port());
            match self.launch(port, bus_port, folder.path()) {
                Ok(process) => {
                    return Ok(RedisServer {
                        process: Some(process),
                        settings: self,
                        port,
                        bus_port,
                        folder,
                    });
                }
                Err(StartError::Ended { .. }) if attempt < ATTEMPTS => attempt += 1,
                Err(error) => return Err(error),
            }
        }
    }

    /// Starts the process on the given ports and waits for its first answer.
    pub(super) fn launch(
        &self,
        port: u16,
        bus_port: u16,
        folder: &Path,
    ) -> Result<Process, StartError> {
        let log = folder.join("redis.log");
        let output = File::create(&log).map_err(spawn_error)?;
        let mut command = Command::new(self.binary.clone().unwrap_or_else(binary));
        command
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(output.try_clone().map_err(spawn_error)?)
            .stderr(output)
            .args([
                "--bind",
                "127.0.0.1",
                "--port",
                &port.to_string(),
                "--save",
                "",
                "--daemonize",
                "no",
            ])
            .args(["--enable-debug-command", "local", "--loglevel", "notice"])
            .args(["--repl-diskless-sync-delay", "0"]);
        if self.append_only {
            command.args(["--appendonly", "yes", "--appendfsync", "always"]);
        } else {
            command.args(["--appendonly", "no"]);
        }
        if self.cluster {
            command.args([
                "--cluster-enabled",
                "yes",
                "--cluster-port",
                &bus_port.to_string(),
            ]);
            command.args(["--cluster-node-timeout", "2000"]);
        }
        command.args(&self.arguments);

        let mut process = Process::spawn(&mut command, folder).map_err(spawn_error)?;
        let answered = poll_blocking(START_LIMIT, || {
            if process.has_ended().map_err(spawn_error)? {
                return Err(StartError::Ended {
                    port,
                    log: end_of(&log),
                });
            }
            Ok(answers(port).then_some(()))
        })?;
        match answered {
            Some(()) => Ok(process),
            None => Err(StartError::Silent {
                port,
                limit: START_LIMIT,
                log: end_of(&log),
            }),
        }
    }
}

fn binary() -> PathBuf {
    env::var_os("REDIS_SERVER_BIN")
        .filter(|value| !value.is_empty())
        .map_or_else(|| "redis-server".into(), PathBuf::from)
}

fn spawn_error(source: io::Error) -> StartError {
    StartError::Spawn {
        binary: binary(),
        source,
    }
}

/// Almost any well-formed answer will do: an error such as NOAUTH comes from a running server too. One that still loads its
/// data is not there yet.
fn answers(port: u16) -> bool {
    use std::io::{Read, Write};
    use std::net::{Ipv4Addr, SocketAddr, TcpStream};

    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let patience = Duration::from_millis(500);
    let ask = || -> io::Result<[u8; 4]> {
        let mut stream = TcpStream::connect_timeout(&address, patience)?;
        stream.set_read_timeout(Some(patience))?;
        stream.write_all(b"PING\r\n")?;
        let mut first = [0_u8; 4];
        stream.read_exact(&mut first)?;
        Ok(first)
    };
    matches!(ask(), Ok(first) if first[0] == b'+' || (first[0] == b'-' && &first != b"-LOA"))
}

fn end_of(log: &Path) -> String {
    let text = std::fs::read_to_string(log).unwrap_or_else(|error| format!("(no log: {error})"));
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(8)..].join("\n")
}
