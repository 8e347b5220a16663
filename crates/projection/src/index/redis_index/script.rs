//! The scripts, and calls of them. What comes back is read elsewhere.

use redis::{Cmd, ErrorKind, RedisError, ServerErrorKind, Value};

use super::link::ConnectionLink;
use crate::index::IndexError;

/// A script: its name in messages, its text, and the hash by which Redis knows it.
#[derive(Debug)]
pub(super) struct Script {
    name: &'static str,
    text: String,
    hash: String,
}

impl Script {
    fn new(name: &'static str, flags: &str, body: &str) -> Self {
        let text = format!("#!lua{flags}\n{body}");
        let hash = redis::Script::new(&text).get_hash().to_owned();
        Self { name, text, hash }
    }

    /// Its name in messages.
    pub(super) fn name(&self) -> &'static str {
        self.name
    }
}

/// Every script, by its file's name.
pub(super) mod scripts {
    use std::sync::LazyLock;

    use super::Script;

    /// Writes that need memory: refused by a full Redis and by a replica before the first line.
    const WRITES: &str = "";
    /// Writes that free memory, or need next to none: a full Redis allows them.
    const FREES: &str = " flags=allow-oom";
    /// Reads: Redis itself sees to it that nothing is written.
    const READS: &str = " flags=no-writes";

    macro_rules! scripts {
        ($($ident:ident = $name:literal, $flags:expr, [$($part:literal)?];)*) => {
            $(
                pub(in super::super) static $ident: LazyLock<Script> = LazyLock::new(|| {
                    let parts = [
                        $(include_str!(concat!("../../scripts/", $part, ".lua")),)?
                        include_str!(concat!("../../scripts/", $name, ".lua")),
                    ];
                    Script::new($name, $flags, &parts.concat())
                });
            )*

            #[cfg(test)]
            pub(super) static ALL: &[&LazyLock<Script>] = &[$(&$ident),*];
        };
    }

    scripts! {
        READ = "read", READS, [];
        UPSERT = "upsert", WRITES, ["common"];
        REMOVE = "remove", FREES, ["common"];
        BEGIN = "begin", WRITES, ["common"];
        LOAD = "load", WRITES, ["common"];
        RENEW = "renew", FREES, ["common"];
        COMMIT = "commit", FREES, ["common"];
        ABANDON = "abandon", FREES, ["common"];
    }
}

/// Runs a script by its hash, and by its text where Redis has lost it.
pub(super) async fn run(
    link: &impl ConnectionLink,
    script: &Script,
    keys: &[String],
    arguments: &[&[u8]],
) -> Result<Value, IndexError> {
    let by_hash = call("EVALSHA", &script.hash, keys, arguments);
    match link.send(&by_hash).await {
        Err(error) if error.kind() == ErrorKind::Server(ServerErrorKind::NoScript) => {
            run_at_once(link, script, keys, arguments).await
        }
        outcome => outcome.map_err(|error| failure(script, &error)),
    }
}

/// Runs a script by its text: what is sent is all that is needed, though nobody may wait for the answer.
pub(super) async fn run_at_once(
    link: &impl ConnectionLink,
    script: &Script,
    keys: &[String],
    arguments: &[&[u8]],
) -> Result<Value, IndexError> {
    let outcome = link
        .send(&call("EVAL", &script.text, keys, arguments))
        .await;
    outcome.map_err(|error| failure(script, &error))
}

fn call(command: &str, script: &str, keys: &[String], arguments: &[&[u8]]) -> Cmd {
    let mut call = redis::cmd(command);
    call.arg(script).arg(keys.len()).arg(keys).arg(arguments);
    call
}

fn failure(script: &Script, error: &RedisError) -> IndexError {
    match error.code() {
        Some("WRONGTYPE") => IndexError::Damaged(format!("{}: {error}", script.name)),
        _ => IndexError::Failed(format!("{}: {error}", script.name)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_script_says_what_it_does() {
        for script in scripts::ALL {
            let first = format!("-- {}: ", script.name);
            assert!(script.text.contains(&first), "{}", script.name);
        }
    }

    #[test]
    fn what_reads_is_kept_from_writing_by_redis_itself() {
        assert!(scripts::READ.text.starts_with("#!lua flags=no-writes\n"));
    }
}
