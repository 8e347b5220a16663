//! The processes of the demo: started, told to end, killed. Whatever happens, none outlives the demo.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::process::{Child, Command};

use super::Failure;

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
