//! The program on a terminal: what it writes there, with everything that a terminal obeys.

use std::fs::File;
use std::io::Read;
use std::sync::{Arc, Mutex};
use std::thread;

use nix::pty::{Winsize, openpty};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use testkit::wait_until;
use tokio::process::Child;
use tokio::time::timeout;

use super::{Ctl, PATIENCE};

/// A program whose standard output and error are a terminal of 24 lines and 100 columns; killed with this value.
pub(crate) struct Terminal {
    child: Child,
    written: Arc<Mutex<String>>,
}

impl Terminal {
    pub(crate) fn begin(ctl: &Ctl, line: &str) -> Self {
        let size = Winsize {
            ws_row: 24,
            ws_col: 100,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        let pair = openpty(Some(&size), None).unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        let mut command = ctl.command(&words);
        let end = || pair.slave.try_clone().unwrap();
        command.stdout(end()).stderr(end()).env("TERM", "xterm");
        let child = command.spawn().unwrap();
        // Only the program has that end now: its end is the end of what can be read.
        drop(command);
        drop(pair.slave);
        let written = Arc::new(Mutex::new(String::new()));
        let memory = Arc::clone(&written);
        let mut master = File::from(pair.master);
        thread::spawn(move || {
            let mut some = [0; 4_096];
            while let Ok(count) = master.read(&mut some) {
                if count == 0 {
                    break;
                }
                let text = String::from_utf8_lossy(&some[..count]).into_owned();
                memory.lock().unwrap().push_str(&text);
            }
        });
        Self { child, written }
    }

    /// Everything that was written.
    pub(crate) fn written(&self) -> String {
        self.written.lock().unwrap().clone()
    }

    /// Waits until all of the texts were written.
    pub(crate) async fn shows(&self, texts: &[&str]) {
        let all = || {
            let written = self.written();
            texts.iter().all(|text| written.contains(text))
        };
        let waited = wait_until(PATIENCE, all).await;
        waited.unwrap_or_else(|_| panic!("{texts:?} is not in {}", self.written()));
    }

    pub(crate) fn interrupt(&self) {
        let pid = i32::try_from(self.child.id().unwrap()).unwrap();
        kill(Pid::from_raw(pid), Signal::SIGINT).unwrap();
    }

    /// The exit code.
    pub(crate) async fn ended(&mut self) -> Option<i32> {
        let ended = timeout(PATIENCE, self.child.wait());
        ended.await.unwrap().unwrap().code()
    }
}
