//! Makes sure of a `redis-server`: given, found, or installed where that needs no question. It starts none.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::tools;

const NAMES: [&str; 2] = ["redis-server", "valkey-server"];
const OLDEST: u32 = 7;
const ADVICE: &str =
    "install Redis 7.0 or newer (or Valkey 7.2 or newer), or name its server with --redis-bin PATH";

/// Why there is no usable server.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unavailable {
    #[error("{} is no redis-server that can be run; {ADVICE}", .0.display())]
    NotAServer(PathBuf),
    #[error("{} has version {found}, at least {OLDEST}.0 is needed; {ADVICE}", .path.display())]
    TooOld { path: PathBuf, found: String },
    #[error(
        "no redis-server on the PATH, and it can't be installed from here without asking; {ADVICE}"
    )]
    Missing,
    #[error("no redis-server on the PATH, and `{command}` failed; {ADVICE}")]
    InstallFailed { command: String },
}

/// The server to use for tests and demos.
pub(crate) fn ensure(given: Option<&Path>) -> Result<PathBuf, Unavailable> {
    if let Some(path) = given {
        return checked(path.to_owned());
    }
    if let Some(path) = on_path() {
        return checked(path);
    }
    install()?;
    checked(on_path().ok_or(Unavailable::Missing)?)
}

fn on_path() -> Option<PathBuf> {
    NAMES.into_iter().find_map(tools::find)
}

fn checked(path: PathBuf) -> Result<PathBuf, Unavailable> {
    let Some(found) = tools::output(&path, &["--version"])
        .as_deref()
        .and_then(version)
    else {
        return Err(Unavailable::NotAServer(path));
    };
    match found
        .split('.')
        .next()
        .and_then(|major| major.parse::<u32>().ok())
    {
        Some(major) if major >= OLDEST => Ok(path),
        _ => Err(Unavailable::TooOld { path, found }),
    }
}

/// `7.0.15` of `Redis server v=7.0.15 sha=00000000:0 …`.
fn version(text: &str) -> Option<String> {
    text.split_whitespace()
        .find_map(|word| word.strip_prefix("v="))
        .map(str::to_owned)
}

/// A package manager: its program, whether it needs root, what it runs before, and the packages to try one after another.
struct Manager {
    program: &'static str,
    needs_root: bool,
    refresh: &'static [&'static str],
    install: &'static [&'static str],
    packages: &'static [&'static str],
}

const MANAGERS: [Manager; 4] = [
    Manager {
        program: "apt-get",
        needs_root: true,
        refresh: &["update", "-q"],
        install: &["install", "-qy", "--no-install-recommends"],
        packages: &["redis-server"],
    },
    Manager {
        program: "dnf",
        needs_root: true,
        refresh: &[],
        install: &["install", "-qy"],
        packages: &["redis", "valkey"],
    },
    Manager {
        program: "apk",
        needs_root: true,
        refresh: &[],
        install: &["add", "--no-cache"],
        packages: &["redis", "valkey"],
    },
    Manager {
        program: "brew",
        needs_root: false,
        refresh: &[],
        install: &["install"],
        packages: &["redis"],
    },
];

fn install() -> Result<(), Unavailable> {
    let Some(manager) = MANAGERS
        .iter()
        .find(|manager| tools::find(manager.program).is_some())
    else {
        return Err(Unavailable::Missing);
    };
    let prefix = if manager.needs_root {
        tools::as_root().ok_or(Unavailable::Missing)?
    } else {
        &[]
    };
    let line = |arguments: &[&'static str]| [prefix, &[manager.program], arguments].concat();
    if !manager.refresh.is_empty() && !succeeds(&line(manager.refresh)) {
        return Err(Unavailable::InstallFailed {
            command: line(manager.refresh).join(" "),
        });
    }
    let mut commands = manager
        .packages
        .iter()
        .map(|package| [line(manager.install), vec![*package]].concat());
    if commands.any(|command| succeeds(&command)) {
        return Ok(());
    }
    let first = [line(manager.install), vec![manager.packages[0]]].concat();
    Err(Unavailable::InstallFailed {
        command: first.join(" "),
    })
}

fn succeeds(command: &[&str]) -> bool {
    println!("   redis-server is missing: {}", command.join(" "));
    let Some((program, arguments)) = command.split_first() else {
        return false;
    };
    let status = Command::new(program)
        .args(arguments)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .status();
    status.is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_read_from_what_redis_and_valkey_print() {
        let redis = "Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=1";
        let valkey = "Valkey server v=8.1.0 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=1";
        assert_eq!(version(redis).as_deref(), Some("7.0.15"));
        assert_eq!(version(valkey).as_deref(), Some("8.1.0"));
        assert_eq!(version("no server"), None);
    }

    #[test]
    fn a_given_program_that_is_no_server_is_refused_by_its_name() {
        let path = PathBuf::from("/nonexistent/redis-server");
        assert_eq!(ensure(Some(&path)), Err(Unavailable::NotAServer(path)));
    }

    #[test]
    fn the_server_on_the_path_is_found() {
        let found = ensure(None).expect("tests need a redis-server too");
        assert!(found.is_file(), "{}", found.display());
    }
}
