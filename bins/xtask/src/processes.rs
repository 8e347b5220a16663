//! The processes of the demo and of measurements: started, told to end, killed. Whatever happens, none outlives the command that started it.

use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::process::{Child, Command};

/// How long a process that was told to end may take.
const PATIENCE: Duration = Duration::from_secs(15);

/// A process that ends with this value.
pub(crate) struct Process {
    pub(crate) name: String,
    child: Child,
}

impl Process {
    /// Starts a program; what it writes to its standard error goes to a file.
    pub(crate) fn start(
        name: &str,
        program: &Path,
        arguments: &[String],
        errors: &Path,
    ) -> Result<Self, Failure> {
        let errors = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(errors)?;
        let child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(errors)
            .kill_on_drop(true)
            .spawn()
            .map_err(|source| Failure::Start {
                program: program.to_owned(),
                source,
            })?;
        Ok(Self {
            name: name.to_owned(),
            child,
        })
    }

    /// For how long its threads have been running on a core so far.
    pub(crate) fn cpu_time(&self) -> Result<Duration, Failure> {
        let pid = self.child.id().unwrap_or_default();
        let mut total = 0;
        for thread in std::fs::read_dir(format!("/proc/{pid}/task"))? {
            // The first number is the time on a core in nanoseconds. A thread that has ended meanwhile has none.
            let text = std::fs::read_to_string(thread?.path().join("schedstat"));
            let text = text.unwrap_or_default();
            let first = text.split(' ').next().and_then(|it| it.parse().ok());
            total += first.unwrap_or(0_u64);
        }
        Ok(Duration::from_nanos(total))
    }

    /// Kills it with SIGKILL and waits for its end.
    pub(crate) async fn kill(mut self) -> Result<(), Failure> {
        self.child.kill().await?;
        Ok(())
    }

    /// Tells it to end with SIGTERM and waits until it has.
    pub(crate) async fn stop(mut self) -> Result<(), Failure> {
        if let Some(pid) = self.child.id().and_then(|pid| i32::try_from(pid).ok()) {
            kill(Pid::from_raw(pid), Signal::SIGTERM).map_err(std::io::Error::from)?;
        }
        match tokio::time::timeout(PATIENCE, self.child.wait()).await {
            Ok(Ok(status)) if status.success() => Ok(()),
            _ => Err(Failure::DidNotEnd {
                name: self.name.clone(),
            }),
        }
    }

    /// Waits until it ends by itself, well.
    pub(crate) async fn finished(&mut self) -> Result<(), Failure> {
        let status = self.child.wait().await?;
        if status.success() {
            Ok(())
        } else {
            Err(Failure::Ended {
                name: self.name.clone(),
                status,
            })
        }
    }
}

/// A program of this workspace, built beside the running one.
pub(crate) fn sibling(name: &str) -> Result<PathBuf, Failure> {
    let own = std::env::current_exe()?;
    Ok(own.with_file_name(name))
}

/// Builds the coordinator.
pub(crate) fn build_coordinator() -> Result<(), Failure> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let build = ["build", "--package", "coordinatord"];
    let status = std::process::Command::new(cargo).args(build).status()?;
    if status.success() {
        Ok(())
    } else {
        Err(Failure::Build(status))
    }
}

/// Why a command that runs processes did not come to its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("could not start {}", program.display())]
    Start {
        program: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("{name} ended early: {status}")]
    Ended { name: String, status: ExitStatus },
    #[error("{name} was told to end and did not end well")]
    DidNotEnd { name: String },
    #[error("{what} did not happen within {seconds} s")]
    TookTooLong { what: &'static str, seconds: u64 },
    #[error("there were too few {what}")]
    TooLittle { what: &'static str },
    #[error("cargo could not build coordinatord: {0}")]
    Build(ExitStatus),
    #[error("interrupted")]
    Interrupted,
    #[error(transparent)]
    Io(#[from] std::io::Error),
    #[error("the redis-server does not run")]
    RedisServer(#[from] testkit::StartError),
    #[error("Redis refused")]
    Redis(#[from] redis::RedisError),
    #[error("the coordinator refused")]
    Coordinator(#[from] coordinator_client::ClientError),
    #[error(transparent)]
    CoordinatorClient(#[from] coordinator_client::BuildError),
    #[error(transparent)]
    Producer(#[from] producer_client::BuildError),
    #[error("could not publish")]
    Publish(#[from] producer_client::PublishError),
    #[error(transparent)]
    Consumer(#[from] member_client::BuildError),
}

/// Runs work to its end.
pub(crate) fn block_on<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?
        .block_on(work)
}

/// The exit status: good only if the work says so. A failure is said with its causes.
pub(crate) fn report(command: &str, outcome: Result<bool, Failure>) -> ExitCode {
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(failure) => {
            let mut message = failure.to_string();
            let mut source = std::error::Error::source(&failure);
            while let Some(cause) = source {
                message = format!("{message}: {cause}");
                source = cause.source();
            }
            eprintln!("{command}: {message}");
            ExitCode::FAILURE
        }
    }
}
