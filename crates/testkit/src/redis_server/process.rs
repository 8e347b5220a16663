//! The operating-system side of one server: its child process, signals, and its end. It knows nothing about Redis.

use std::io;
use std::path::Path;
use std::process::{Child, Command};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::watchdog::Watchdog;

#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    watchdog: Option<Watchdog>,
}

impl Process {
    pub(super) fn spawn(command: &mut Command, folder: &Path) -> io::Result<Self> {
        let child = command.spawn()?;
        let mut process = Self {
            child,
            watchdog: None,
        };
        process.watchdog = Some(Watchdog::start(process.pid(), folder)?);
        Ok(process)
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Whether it has ended by itself.
    pub(super) fn has_ended(&mut self) -> io::Result<bool> {
        Ok(self.child.try_wait()?.is_some())
    }

    pub(super) fn pause(&self) {
        self.signal(Signal::SIGSTOP);
    }

    pub(super) fn resume(&self) {
        self.signal(Signal::SIGCONT);
    }

    fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.pid()).expect("process ids fit in 31 bits");
        kill(Pid::from_raw(pid), signal).expect("the child is not reaped yet, so its pid is valid");
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The watchdog goes first, so that it cannot hit a reused pid.
        self.watchdog = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
