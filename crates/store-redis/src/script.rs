//! The scripts, and calls of them. What comes back is read elsewhere.

use std::sync::LazyLock;

use redis::aio::ConnectionLike;
use redis::{Cmd, ErrorKind, RedisResult, ServerErrorKind, Value};

const PRELUDE: &str = include_str!("scripts/prelude.lua");

/// Whether a script runs when Redis is full: those that free memory, or need next to none (case C09).
const WHEN_FULL: &str = "allow-oom";
/// A script without flags is refused by a read-only replica and by a full Redis before its first line (cases C05 and C09).
const NOT_WHEN_FULL: &str = "";
/// One that only reads runs on a replica, too.
const READS: &str = "no-writes,allow-oom";

/// A script: its name in messages, its text, and the hash by which Redis knows it.
#[derive(Debug)]
pub(crate) struct Script {
    name: &'static str,
    text: String,
    hash: String,
}

macro_rules! scripts {
    ($($(#[$meta:meta])* $ident:ident = $name:literal, $flags:expr;)*) => {
        $(
            $(#[$meta])*
            pub(crate) static $ident: LazyLock<Script> = LazyLock::new(|| {
                Script::new($name, $flags, include_str!(concat!("scripts/", $name, ".lua")))
            });
        )*

        #[cfg(test)]
        static ALL: &[&LazyLock<Script>] = &[$(&$ident),*];
    };
}

scripts! {
    /// Takes the right to change a group and reads it.
    BEGIN = "begin", NOT_WHEN_FULL;
    /// Reads a group.
    LOAD = "load", WHEN_FULL;
    /// Writes a record.
    COMMIT = "commit", NOT_WHEN_FULL;
    /// Renews leases.
    RENEW = "renew", WHEN_FULL;
    /// Writes the first record.
    CREATE = "create", NOT_WHEN_FULL;
    /// Writes the first record over one that can't be read.
    REPLACE = "replace", NOT_WHEN_FULL;
    /// Removes a record.
    REMOVE = "remove", WHEN_FULL;
    /// Gives a right back.
    RELEASE = "release", WHEN_FULL;
    /// Finds out what became of a change.
    SETTLE = "settle", WHEN_FULL;
    /// Says that a coordinator is watching.
    WATCH_OVER = "watch_over", WHEN_FULL;
    /// Remembers that writes may be lost.
    DOUBT = "doubt", WHEN_FULL;
    /// Keeps an audit event.
    AUDIT = "audit", NOT_WHEN_FULL;
    /// Shows that the store can work, memory included.
    READY = "ready", NOT_WHEN_FULL;
    /// Shows that a full store can do what it can.
    READY_THOUGH_FULL = "ready", WHEN_FULL;
    /// Shows that the shard streams can be written.
    PLANE_READY = "plane_ready", NOT_WHEN_FULL;
    /// Shows that those of a full Redis can be acknowledged.
    PLANE_READY_THOUGH_FULL = "plane_ready", WHEN_FULL;
    /// Reads a page of entries.
    PAGE = "page", READS;
}

impl Script {
    fn new(name: &'static str, flags: &str, body: &str) -> Self {
        let text = format!("#!lua flags={flags}\n{PRELUDE}{body}");
        let hash = redis::Script::new(&text).get_hash().to_owned();
        Self { name, text, hash }
    }

    /// How it is called in messages.
    pub(crate) const fn name(&self) -> &'static str {
        self.name
    }

    /// A call on these keys, which share a slot.
    pub(crate) const fn call<'a>(&'a self, keys: &'a [&'a str]) -> Call<'a> {
        Call {
            script: self,
            keys,
            arguments: Vec::new(),
        }
    }
}

/// A call of a script.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    script: &'a Script,
    keys: &'a [&'a str],
    arguments: Vec<Vec<u8>>,
}

impl<'a> Call<'a> {
    /// The script.
    pub(crate) const fn script(&self) -> &'a Script {
        self.script
    }

    /// Adds an argument.
    pub(crate) fn arg(mut self, argument: impl Into<Vec<u8>>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// Adds a number as decimal digits.
    pub(crate) fn number(self, number: u64) -> Self {
        self.arg(number.to_string())
    }

    /// Adds a list with its length before it.
    pub(crate) fn list<const WIDTH: usize>(
        mut self,
        rows: impl IntoIterator<Item = [String; WIDTH]>,
    ) -> Self {
        let length = self.arguments.len();
        self.arguments.push(Vec::new());
        let mut count = 0_u64;
        for row in rows {
            count += 1;
            self.arguments.extend(row.map(String::into_bytes));
        }
        self.arguments[length] = count.to_string().into_bytes();
        self
    }

    /// Runs it by its hash, and by its text where Redis has lost it (case C07).
    pub(crate) async fn run(&self, link: &mut (impl ConnectionLike + Send)) -> RedisResult<Value> {
        let by_hash = self.command("EVALSHA", &self.script.hash);
        match by_hash.query_async(link).await {
            Err(error) if error.kind() == ErrorKind::Server(ServerErrorKind::NoScript) => {
                let by_text = self.command("EVAL", &self.script.text);
                by_text.query_async(link).await
            }
            outcome => outcome,
        }
    }

    fn command(&self, command: &str, script: &str) -> Cmd {
        let mut command = redis::cmd(command);
        command.arg(script).arg(self.keys.len()).arg(self.keys);
        for argument in &self.arguments {
            command.arg(argument.as_slice());
        }
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_script_says_what_it_does() {
        for script in ALL {
            let first = format!("-- {}: ", script.name());
            assert!(script.text.contains(&first), "{}", script.name());
        }
    }

    /// Case C49: what Redis' Lua makes of JSON loses empty lists and digits.
    #[test]
    fn no_script_reads_or_writes_json_c49() {
        for script in ALL {
            assert!(!script.text.contains("cjson"), "{}", script.name());
        }
    }

    #[test]
    fn a_list_is_counted() {
        let call = BEGIN
            .call(&["k"])
            .number(7)
            .list([["a", "b"], ["c", "d"]].map(|row| row.map(str::to_owned)))
            .list(Vec::<[String; 1]>::new());
        let arguments: Vec<String> = call
            .arguments
            .iter()
            .map(|argument| String::from_utf8_lossy(argument).into_owned())
            .collect();
        assert_eq!(arguments, ["7", "2", "a", "b", "c", "d", "0"]);
    }
}
