//! Small questions to the machine: where a program is, what it says, whether we may install. Of itself it installs nothing but the
//! PostgreSQL that the tests of one example need.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest
        .ancestors()
        .nth(2)
        .expect("this crate lies two folders below the root")
        .to_owned()
}

/// The cargo that runs this command, else the one on the PATH.
pub(crate) fn cargo() -> PathBuf {
    env::var_os("CARGO").map_or_else(|| "cargo".into(), PathBuf::from)
}

/// Where a program is on the PATH.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|candidate| candidate.is_file())
}

/// What a program prints, if it can be run and succeeds.
pub(crate) fn output(program: impl AsRef<OsStr>, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(root())
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// How a command that needs root is begun without asking anybody: with nothing, with sudo, or not at all.
pub(crate) fn as_root() -> Option<&'static [&'static str]> {
    if output("id", &["-u"])?.trim() == "0" {
        return Some(&[]);
    }
    output("sudo", &["-n", "true"]).map(|_| ["sudo", "-n"].as_slice())
}

/// Where Debian's packages keep the servers of PostgreSQL, a folder per version.
const POSTGRES: &str = "/usr/lib/postgresql";

/// Package managers: the program, whether it needs root, what it runs before, and how it installs PostgreSQL.
const POSTGRES_BY: [(&str, bool, &[&str], &[&str]); 4] = [
    (
        "apt-get",
        true,
        &["update", "-q"],
        &["install", "-qy", "--no-install-recommends", "postgresql"],
    ),
    ("dnf", true, &[], &["install", "-qy", "postgresql-server"]),
    ("apk", true, &[], &["add", "--no-cache", "postgresql"]),
    ("brew", false, &[], &["install", "postgresql"]),
];

/// Where the server programs of PostgreSQL are: on the PATH, else the folder of some version.
pub(crate) fn postgres() -> Option<PathBuf> {
    find("initdb").and(find("postgres")).or_else(|| {
        let versions = std::fs::read_dir(POSTGRES).ok()?;
        versions
            .flatten()
            .map(|version| version.path().join("bin/postgres"))
            .find(|program| program.is_file() && program.with_file_name("initdb").is_file())
    })
}

/// Finds PostgreSQL, or installs it where that needs no question. Without it the tests that need it fail and say so.
pub(crate) fn ensure_postgres() -> Option<PathBuf> {
    postgres().or_else(|| {
        for command in postgres_commands()? {
            println!("   PostgreSQL is missing: {}", command.join(" "));
            let (program, arguments) = command.split_first()?;
            let status = Command::new(program)
                .args(arguments)
                .env("DEBIAN_FRONTEND", "noninteractive")
                .status();
            if !status.is_ok_and(|status| status.success()) {
                return None;
            }
        }
        postgres()
    })
}

/// What would install PostgreSQL here; nothing where somebody would have to be asked.
fn postgres_commands() -> Option<Vec<Vec<&'static str>>> {
    let (program, needs_root, refresh, install) = POSTGRES_BY
        .into_iter()
        .find(|(program, ..)| find(program).is_some())?;
    let prefix = if needs_root { as_root()? } else { &[] };
    let commands = [refresh, install]
        .into_iter()
        .filter(|step| !step.is_empty());
    Some(
        commands
            .map(|step| [prefix, &[program], step].concat())
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn postgres_is_found_or_there_is_a_command_that_ends_with_its_package() {
        let package = |commands: Vec<Vec<&str>>| {
            commands
                .last()
                .and_then(|install| install.last())
                .is_some_and(|package| package.starts_with("postgresql"))
        };
        match postgres() {
            Some(program) => assert!(program.with_file_name("initdb").is_file()),
            None => assert!(postgres_commands().is_none_or(package)),
        }
    }
}
