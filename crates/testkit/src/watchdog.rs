//! Ends a server whose test process died without running its destructors (SIGKILL, abort). It does nothing else, and
//! nothing at all when the test process ends the server itself.
//!
//! A shell waits on a pipe whose other end only the test process holds. The kernel closes that end however the process dies;
//! the shell then kills the one pid it was given and removes the server's folder. No unsafe code and no helper binary.

use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};

const SCRIPT: &str = r#"read -r _; kill -9 "$1"; rm -rf -- "$2""#;

/// Stands down when dropped; so it must be dropped *before* the watched pid is reaped and may be reused.
#[derive(Debug)]
pub(crate) struct Watchdog {
    shell: Child,
}

impl Watchdog {
    /// Watches over `pid` and `folder` on behalf of this process.
    pub(crate) fn start(pid: u32, folder: &Path) -> io::Result<Self> {
        let shell = Command::new("sh")
            .args(["-c", SCRIPT, "watchdog", &pid.to_string()])
            .arg(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Self { shell })
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        // `kill` comes before `wait`, because `wait` closes the pipe and would set it off. Both can only fail if it is gone.
        let _ = self.shell.kill();
        let _ = self.shell.wait();
    }
}
