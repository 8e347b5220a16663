//! The built program, with an environment that holds nothing but what the test says.

use std::process::{Output, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};
use tokio::time::timeout;

use super::normal::normal;
use super::{Coordinator, PATIENCE};

/// The program, a home for it, and whom it asks.
pub(crate) struct Ctl {
    pub(crate) home: TempDir,
    url: String,
    environment: Vec<(String, String)>,
}

/// What a run of the program printed, and how it ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Done {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ctl {
    /// As the administrator, at a coordinator.
    pub(crate) fn of(coordinator: &Coordinator) -> Self {
        Self::at(&coordinator.url)
            .with("COORDCTL_USER", "admin")
            .with("COORDCTL_PASSWORD", "admin")
    }

    /// As nobody, at a URL.
    pub(crate) fn at(url: &str) -> Self {
        Self::bare(url)
            .with("COORDCTL_SERVER", url)
            .with("COORDCTL_REQUESTED_BY", "tester@here")
    }

    /// Nothing is said; the URL is only known.
    pub(crate) fn bare(url: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let config = home.path().to_str().unwrap().to_owned();
        let ctl = Self {
            home,
            url: url.to_owned(),
            environment: Vec::new(),
        };
        ctl.with("XDG_CONFIG_HOME", &config).with("USER", "tester")
    }

    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_coordctl"));
        command.args(arguments).env_clear().kill_on_drop(true);
        command.envs(self.environment.iter().cloned());
        command.stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs a line, its words apart by spaces.
    pub(crate) async fn run(&self, line: &str) -> Done {
        self.words(&line.split_whitespace().collect::<Vec<_>>())
            .await
    }

    pub(crate) async fn words(&self, arguments: &[&str]) -> Done {
        let output = timeout(PATIENCE, self.command(arguments).output());
        self.done(output.await.unwrap().unwrap())
    }

    /// What a line prints, as it is.
    pub(crate) async fn raw(&self, line: &str) -> String {
        let words: Vec<&str> = line.split_whitespace().collect();
        let output = timeout(PATIENCE, self.command(&words).output());
        String::from_utf8(output.await.unwrap().unwrap().stdout).unwrap()
    }

    /// Runs a line that reads from standard input.
    pub(crate) async fn fed(&self, line: &str, input: &str) -> Done {
        let words: Vec<&str> = line.split_whitespace().collect();
        let mut child = self.command(&words).stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(input.as_bytes()).await.unwrap();
        drop(stdin);
        let output = timeout(PATIENCE, child.wait_with_output());
        self.done(output.await.unwrap().unwrap())
    }

    /// Begins a line that does not end by itself.
    pub(crate) fn begin(&self, line: &str) -> Running<'_> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let mut child = self.command(&words).spawn().unwrap();
        Running {
            ctl: self,
            out: BufReader::new(child.stdout.take().unwrap()),
            err: BufReader::new(child.stderr.take().unwrap()),
            child,
        }
    }

    fn done(&self, output: Output) -> Done {
        Done {
            code: output.status.code().unwrap_or(-1),
            out: self.normal(&String::from_utf8(output.stdout).unwrap()),
            err: self.normal(&String::from_utf8(output.stderr).unwrap()),
        }
    }

    pub(crate) fn normal(&self, text: &str) -> String {
        normal(text, &self.url, self.home.path().to_str().unwrap())
    }
}

impl Done {
    /// What was printed by a run that did what it should.
    #[track_caller]
    pub(crate) fn printed(self) -> String {
        assert_eq!((self.code, self.err.as_str()), (0, ""), "{}", self.out);
        self.out
    }

    /// What was said by a run that failed and printed nothing.
    #[track_caller]
    pub(crate) fn failed(self, code: i32) -> String {
        assert_eq!((self.code, self.out.as_str()), (code, ""), "{}", self.err);
        self.err
    }
}

/// A program that is running; killed with this value.
pub(crate) struct Running<'a> {
    ctl: &'a Ctl,
    child: Child,
    out: BufReader<ChildStdout>,
    err: BufReader<ChildStderr>,
}

impl Running<'_> {
    /// The next line of standard output.
    pub(crate) async fn line(&mut self) -> String {
        let mut line = String::new();
        let reading = self.out.read_line(&mut line);
        timeout(PATIENCE, reading).await.unwrap().unwrap();
        self.ctl.normal(&line)
    }

    /// The lines of standard error up to the one that contains `text`.
    pub(crate) async fn says(&mut self, text: &str) -> Vec<String> {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            let reading = self.err.read_line(&mut line);
            let count = timeout(PATIENCE, reading).await.unwrap().unwrap();
            assert!(count > 0, "ended without saying {text:?}: {lines:?}");
            lines.push(self.ctl.normal(&line).trim_end().to_owned());
            if line.contains(text) {
                return lines;
            }
        }
    }

    pub(crate) fn interrupt(&self) {
        let pid = i32::try_from(self.child.id().unwrap()).unwrap();
        kill(Pid::from_raw(pid), Signal::SIGINT).unwrap();
    }

    /// What was printed since, and how it ended.
    pub(crate) async fn ended(mut self) -> Done {
        let status = timeout(PATIENCE, self.child.wait()).await.unwrap().unwrap();
        let (mut out, mut err) = (String::new(), String::new());
        self.out.read_to_string(&mut out).await.unwrap();
        self.err.read_to_string(&mut err).await.unwrap();
        Done {
            code: status.code().unwrap_or(-1),
            out: self.ctl.normal(&out),
            err: self.ctl.normal(&err),
        }
    }
}
