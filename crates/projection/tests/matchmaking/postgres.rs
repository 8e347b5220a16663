//! A PostgreSQL on a free loopback port with its data in a temporary folder, ended with the test by its process id. It refuses to run as
//! root, so that root hands it over to `nobody`.

use std::ffi::OsStr;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;
use testkit::{free_port, wait_until_async};

const MISSING: &str = "no PostgreSQL server was found: these tests need `initdb` and `postgres` on the PATH or below \
    /usr/lib/postgresql; install the package `postgresql` (`cargo xtask test` does so where it can)";

/// Ends the server and removes its folder if the test dies without doing so.
const WATCHDOG: &str = r#"read -r _; kill -QUIT "$1"; rm -rf -- "$2""#;

pub(crate) struct Postgres {
    child: Child,
    watchdog: Child,
    port: u16,
    folder: TempDir,
}

fn bin_folder() -> PathBuf {
    let on_path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&on_path).collect();
    if let Ok(versions) = std::fs::read_dir("/usr/lib/postgresql") {
        folders.extend(versions.flatten().map(|version| version.path().join("bin")));
    }
    let has_both =
        |folder: &PathBuf| folder.join("postgres").is_file() && folder.join("initdb").is_file();
    folders.into_iter().find(has_both).expect(MISSING)
}

fn id_of(arguments: &[&str]) -> u32 {
    let output = Command::new("id").args(arguments).output().unwrap();
    String::from_utf8(output.stdout)
        .unwrap()
        .trim()
        .parse()
        .unwrap()
}

/// A command that PostgreSQL agrees to be run by.
fn unprivileged(program: &Path, folder: &Path) -> Command {
    let mut command = if id_of(&["-u"]) == 0 {
        let (user, group) = (id_of(&["-u", "nobody"]), id_of(&["-g", "nobody"]));
        chown(folder, Some(user), Some(group)).unwrap();
        let mut command = Command::new("setpriv");
        command.args([format!("--reuid={user}"), format!("--regid={group}")]);
        command.arg("--clear-groups").arg(program);
        command
    } else {
        Command::new(program)
    };
    command.current_dir(folder).stdin(Stdio::null());
    command
}

impl Postgres {
    pub(crate) async fn start() -> Self {
        let bin = bin_folder();
        let folder = tempfile::Builder::new()
            .prefix("postgres-test-")
            .tempdir()
            .unwrap();
        let data = folder.path().join("data");
        let made = unprivileged(&bin.join("initdb"), folder.path())
            .args([
                "-U",
                "postgres",
                "-A",
                "trust",
                "-E",
                "UTF8",
                "--locale=C",
                "--no-sync",
                "-D",
            ])
            .arg(&data)
            .output()
            .unwrap();
        assert!(
            made.status.success(),
            "{}",
            String::from_utf8_lossy(&made.stderr)
        );
        let port = free_port();
        let log = std::fs::File::create(folder.path().join("postgres.log")).unwrap();
        let settings = [
            "listen_addresses=127.0.0.1",
            "unix_socket_directories=",
            "fsync=off",
            "shared_buffers=16MB",
        ];
        let mut command = unprivileged(&bin.join("postgres"), folder.path());
        command.arg("-D").arg(&data).args(["-p", &port.to_string()]);
        for setting in settings {
            command.args(["-c", setting]);
        }
        let child = command
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        let watchdog = Command::new("sh")
            .args([
                OsStr::new("-c"),
                OsStr::new(WATCHDOG),
                OsStr::new("watchdog"),
            ])
            .arg(child.id().to_string())
            .arg(folder.path())
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let server = Self {
            child,
            watchdog,
            port,
            folder,
        };
        let address = server.address();
        let answers = || async {
            tokio_postgres::connect(&address, tokio_postgres::NoTls)
                .await
                .is_ok()
        };
        let log = server.folder.path().join("postgres.log");
        if wait_until_async(Duration::from_secs(30), answers)
            .await
            .is_err()
        {
            panic!("{}", std::fs::read_to_string(log).unwrap());
        }
        server
    }

    pub(crate) fn address(&self) -> String {
        format!(
            "host=127.0.0.1 port={} user=postgres dbname=postgres",
            self.port
        )
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // The watchdog goes first, so that it cannot hit a reused pid.
        let _ = self.watchdog.kill();
        let _ = self.watchdog.wait();
        if let Ok(pid) = i32::try_from(self.child.id()) {
            let _ = kill(Pid::from_raw(pid), Signal::SIGQUIT);
        }
        let _ = self.child.wait();
    }
}
