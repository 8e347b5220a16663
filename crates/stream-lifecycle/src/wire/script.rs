//! The scripts, and calls of them, one at a time or many at once. What comes back is read elsewhere.

use redis::{Arg, Cmd, ErrorKind, RedisError, ServerErrorKind, ToRedisArgs, Value};

use super::classify::classify;
use super::link::RedisLink;
use super::refusal::{self, Context};
use super::reply::Reply;
use crate::error::LifecycleError;
use crate::model::{Identity, Keys};

/// How often commands of a pipeline that met a server without the script are sent again.
const ROUNDS: usize = 3;

/// A script: its name in messages, its text, and the hash by which Redis knows it.
#[derive(Debug)]
pub(crate) struct Script {
    name: &'static str,
    text: String,
    hash: String,
    /// Redis itself sees to it that nothing is written.
    reads: bool,
}

/// Every script, by its file's name.
pub(crate) mod scripts {
    use std::sync::LazyLock;

    use super::Script;

    /// Writes that need memory: refused by a full Redis and by a replica before the first line.
    const WRITES: &str = "";
    /// Writes that free memory, or need next to none: a full Redis allows them (case C09).
    const FREES: &str = " flags=allow-oom";
    /// Reads: Redis itself sees to it that nothing is written.
    const READS: &str = " flags=no-writes";

    macro_rules! scripts {
        ($($ident:ident = $name:literal, $flags:expr, [$($part:literal),*];)*) => {
            $(
                pub(crate) static $ident: LazyLock<Script> = LazyLock::new(|| {
                    let parts = [
                        $(include_str!(concat!("../scripts/", $part, ".lua")),)*
                        include_str!(concat!("../scripts/", $name, ".lua")),
                    ];
                    Script::new($name, $flags, &parts.concat())
                });
            )*

            #[cfg(test)]
            pub(super) static ALL: &[&LazyLock<Script>] = &[$(&$ident),*];
        };
    }

    scripts! {
        OPEN = "open", READS, [];
        CREATE = "create", WRITES, ["guard", "birth"];
        RECREATE = "recreate", WRITES, ["guard", "birth"];
        SEAL = "seal", FREES, ["guard"];
        DESTROY = "destroy", FREES, ["guard", "group", "ids", "lag"];
        FENCE_ALL = "fence_all", FREES, ["guard"];
        STANDING = "standing", READS, ["guard", "group"];
        STATUS = "status", READS, ["guard", "group", "ids", "lag"];
        EVIDENCE = "evidence", READS, ["guard", "group", "ids", "lag"];
        PEEK = "peek", READS, ["guard"];
        SNAPSHOT = "snapshot", READS, ["guard"];
        PUBLISH = "publish", WRITES, ["fast", "guard", "expiry", "add"];
        PUBLISH_MANY = "publish_many", WRITES, ["guard", "expiry", "add"];
        ADD_MANY_ONCE = "add_many_once", WRITES, ["guard", "expiry", "add"];
        ADD_ONCE = "add_once", WRITES, ["fast_once", "guard", "expiry", "add"];
        REMOVE = "remove", FREES, ["guard"];
        ENSURE_GROUP = "ensure_group", WRITES, ["guard", "expiry", "group", "ids"];
        REGISTER = "register", FREES, ["guard", "expiry", "group"];
        REFRESH = "refresh", FREES, ["guard", "expiry", "group"];
        ACK = "ack", FREES, ["guard", "expiry", "group", "ids", "settle"];
        DEREGISTER = "deregister", FREES, ["guard", "group"];
        LEASE = "lease", FREES, ["guard", "expiry", "group"];
        CLAIM = "claim", FREES, ["guard", "expiry", "group", "ids", "settle"];
        CLEANUP = "cleanup", FREES, ["guard", "group"];
        ATTEMPT = "attempt", FREES, ["guard", "expiry", "group", "attempted"];
        ATTEMPTS = "attempts", READS, ["guard"];
        POSTPONE = "postpone", FREES, ["guard", "expiry", "group", "attempted"];
        DEAD_LETTER = "dead_letter", WRITES, ["guard", "expiry", "group", "ids", "settle", "attempted"];
        ACK_DELETE = "ack_delete", FREES, ["guard", "expiry", "group", "ids", "settle"];
        REFRESH_COUNTING = "refresh_counting", FREES, ["guard", "expiry", "group", "ids"];
    }
}

impl Script {
    fn new(name: &'static str, flags: &str, body: &str) -> Self {
        let text = format!("#!lua{flags}\n{body}");
        let hash = redis::Script::new(&text).get_hash().to_owned();
        Self {
            name,
            text,
            hash,
            reads: flags.contains("no-writes"),
        }
    }

    /// A call on these keys, which share a slot.
    pub(crate) fn call(&'static self, keys: &[&str]) -> Call {
        let mut command = redis::cmd("EVALSHA");
        command.arg(&self.hash).arg(keys.len()).arg(keys);
        Call {
            script: self,
            command,
        }
    }

    /// A call for one identity, which the script checks.
    pub(crate) fn bound(&'static self, keys: &Keys, identity: &Identity) -> Call {
        self.bound_with(&keys.five(), identity)
    }

    /// As [`bound`](Self::bound), with more than the five keys.
    pub(crate) fn bound_with(&'static self, keys: &[&str], identity: &Identity) -> Call {
        self.call(keys)
            .arg(identity.generation.to_string())
            .arg(identity.incarnation.to_string())
    }
}

/// A call of a script, as the command that runs it by its hash.
#[derive(Debug)]
pub(crate) struct Call {
    script: &'static Script,
    command: Cmd,
}

impl Call {
    /// Adds an argument.
    pub(crate) fn arg(mut self, argument: impl ToRedisArgs) -> Self {
        self.command.arg(argument);
        self
    }

    /// Adds arguments.
    pub(crate) fn args(mut self, arguments: impl IntoIterator<Item = impl ToRedisArgs>) -> Self {
        for argument in arguments {
            self.command.arg(argument);
        }
        self
    }

    /// The same call with the script's text.
    fn by_text(&self) -> Cmd {
        let mut command = redis::cmd("EVAL");
        command.arg(&self.script.text);
        for argument in self.command.args_iter().skip(2) {
            if let Arg::Simple(bytes) = argument {
                command.arg(bytes);
            }
        }
        command
    }

    /// The shard: its lifecycle is the first key.
    fn base(&self) -> String {
        super::classify::base_of(&self.first_key()).to_owned()
    }

    /// The first key, which names the shard.
    fn first_key(&self) -> String {
        match self.command.args_iter().nth(3) {
            Some(Arg::Simple(key)) => String::from_utf8_lossy(key).into_owned(),
            _ => String::new(),
        }
    }

    fn failure(&self, error: RedisError) -> LifecycleError {
        let command = format!("EVALSHA ({})", self.script.name);
        match classify(error, &command, &self.first_key()) {
            // What only reads has done nothing, whatever became of it.
            LifecycleError::Ambiguous(error) if self.script.reads => {
                LifecycleError::Unreachable(error)
            }
            error => error,
        }
    }

    fn read(
        &self,
        outcome: Result<Value, RedisError>,
        bound: Option<&Identity>,
    ) -> Result<Reply, LifecycleError> {
        let context = Context {
            base: &self.base(),
            bound,
        };
        let value = outcome.map_err(|error| self.failure(error))?;
        refusal::accept(Reply::read(self.script.name, value)?, &context)
    }
}

fn is_unknown_script(error: &RedisError) -> bool {
    error.kind() == ErrorKind::Server(ServerErrorKind::NoScript)
}

/// Runs a script by its hash, and by its text where Redis has lost it (case C07).
pub(crate) async fn run(
    link: &impl RedisLink,
    call: &Call,
    bound: Option<&Identity>,
) -> Result<Reply, LifecycleError> {
    let outcome = match link.send(&call.command).await {
        Err(error) if is_unknown_script(&error) => link.send(&call.by_text()).await,
        outcome => outcome,
    };
    call.read(outcome, bound)
}

/// Runs many calls of one script at once, in order, never inside MULTI. Each has an outcome of its own.
pub(crate) async fn run_all(
    link: &impl RedisLink,
    calls: &[Call],
    bound: Option<&Identity>,
) -> Vec<Result<Reply, LifecycleError>> {
    let mut outcomes: Vec<Option<Result<Value, RedisError>>> = calls.iter().map(|_| None).collect();
    for round in 0..ROUNDS {
        let open: Vec<usize> = (0..calls.len())
            .filter(|index| match &outcomes[*index] {
                None => true,
                Some(outcome) => outcome.as_ref().is_err_and(is_unknown_script),
            })
            .collect();
        if open.is_empty() {
            break;
        }
        let mut pipeline = redis::pipe();
        for (place, index) in open.iter().enumerate() {
            // Whoever does not know the script learns it from the first of several: one that is refused must not be overtaken by one that
            // follows, only because another client brings the script in between.
            let teaches = round > 1 || place == 0 && (round > 0 || open.len() > 1);
            let call = &calls[*index];
            pipeline.add_command(if teaches {
                call.by_text()
            } else {
                call.command.clone()
            });
        }
        let answers: Vec<Result<Value, RedisError>> = match link.send_all(pipeline).await {
            Ok(values) => values.into_iter().map(Value::extract_error).collect(),
            Err(error) => open.iter().map(|_| Err(error.clone())).collect(),
        };
        for (index, answer) in open.into_iter().zip(answers) {
            outcomes[index] = Some(answer);
        }
    }
    let outcomes = outcomes.into_iter().zip(calls);
    outcomes
        .map(|(outcome, call)| match outcome {
            Some(outcome) => call.read(outcome, bound),
            None => Err(super::unexpected(call.script.name, "no answer")),
        })
        .collect()
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

    /// Case C49: what Redis' Lua makes of JSON loses empty lists and digits.
    #[test]
    fn no_script_reads_or_writes_json_c49() {
        for script in scripts::ALL {
            assert!(!script.text.contains("cjson"), "{}", script.name);
        }
    }
}
