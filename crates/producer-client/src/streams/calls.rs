//! Calls of scripts on a shard, over the producer's own connections. Which script, and what its answer means, is not known here.

use std::sync::Arc;

use redis::{Cmd, ErrorKind, Pipeline, RedisError, RedisResult, ServerErrorKind, Value};
use stream_lifecycle::RedisLink;

use super::AddError;
use super::link::Link;
use super::reply::{Exchange, Request, senseless};

/// The way to the keys of one slot.
#[derive(Debug, Clone)]
pub(crate) struct SlotLink {
    link: Arc<Link>,
    slot: u16,
}

impl SlotLink {
    pub(crate) const fn new(link: Arc<Link>, slot: u16) -> Self {
        Self { link, slot }
    }

    async fn answers(&self, commands: Vec<Cmd>) -> RedisResult<Vec<Value>> {
        let outcome = self.link.run(self.slot, &Calls(commands)).await;
        outcome.map_err(as_the_driver_says_it)
    }
}

impl RedisLink for SlotLink {
    async fn send(&self, command: &Cmd) -> RedisResult<Value> {
        let answer = self.answers(vec![command.clone()]).await?.pop();
        answer.ok_or_else(senseless)?.extract_error()
    }

    async fn send_all(&self, commands: Pipeline) -> RedisResult<Vec<Value>> {
        self.answers(commands.cmd_iter().cloned().collect()).await
    }
}

/// What is told of a failure to those who know only the driver's errors.
fn as_the_driver_says_it(error: AddError) -> RedisError {
    match error {
        AddError::Rejected(reply) => RedisError::from(reply),
        AddError::Lost { source, .. } => source,
        // Redis refused the connection itself, and its code tells more.
        AddError::Unreachable { source, .. }
            if source.code().is_some() || source.kind() == ErrorKind::AuthenticationFailed =>
        {
            source
        }
        // Whatever went wrong, nothing was sent. Only some of the driver's errors say so by themselves.
        AddError::Unreachable { address, source } => RedisError::from((
            ErrorKind::ClusterConnectionNotFound,
            "no connection",
            format!("{address}: {source}"),
        )),
    }
}

/// Commands that are independent of each other, each with an answer of its own.
struct Calls(Vec<Cmd>);

impl Request for Calls {
    type Answer = Vec<Value>;

    fn exchange(&self, asking: bool) -> Pipeline {
        let mut pipeline = Pipeline::with_capacity(self.0.len() * 2);
        for command in &self.0 {
            if asking {
                pipeline.cmd("ASKING");
            }
            pipeline.add_command(command.clone());
        }
        pipeline
    }

    fn read(&self, mut replies: Vec<Value>) -> Result<Exchange<Vec<Value>>, RedisError> {
        if replies.len() == 2 * self.0.len() {
            let mut is_answer = false;
            replies.retain(|_| {
                is_answer = !is_answer;
                !is_answer
            });
        }
        if replies.len() != self.0.len() {
            return Err(senseless());
        }
        let elsewhere = |reply: &Value| match reply {
            Value::ServerError(error) => matches!(
                error.kind(),
                Some(ServerErrorKind::Moved | ServerErrorKind::Ask | ServerErrorKind::ReadOnly)
            ),
            _ => false,
        };
        // Only if none was carried out may all of them be sent again, elsewhere.
        match replies.first() {
            Some(Value::ServerError(first)) if replies.iter().all(elsewhere) => {
                Ok(Exchange::Rejected(first.clone()))
            }
            _ => Ok(Exchange::Answered(replies)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use redis::{ErrorKind, RedisError, ServerError, Value};

    use super::{AddError, Calls, Exchange, Request, as_the_driver_says_it};

    fn error(code: &str) -> ServerError {
        let error = redis::make_extension_error(code.to_owned(), None);
        error.into_server_errors().expect("a server's error")[0]
            .1
            .clone()
    }

    fn moved() -> ServerError {
        let reply = redis::parse_redis_value(b"-MOVED 3999 10.0.0.2:7001\r\n");
        match reply {
            Ok(Value::ServerError(error)) => error,
            other => panic!("no error of a server: {other:?}"),
        }
    }

    fn two() -> Calls {
        Calls(vec![redis::cmd("PING"), redis::cmd("PING")])
    }

    #[test]
    fn every_command_of_a_slot_on_its_way_asks() {
        assert_eq!(
            (two().exchange(false).len(), two().exchange(true).len()),
            (2, 4)
        );
        let replies = vec![Value::Okay, Value::Int(1), Value::Okay, Value::Int(2)];
        let answers = vec![Value::Int(1), Value::Int(2)];
        assert_eq!(two().read(replies), Ok(Exchange::Answered(answers)));
    }

    #[test]
    fn only_if_none_was_carried_out_all_go_elsewhere() {
        let elsewhere = || Value::ServerError(moved());
        assert_eq!(
            two().read(vec![elsewhere(), elsewhere()]),
            Ok(Exchange::Rejected(moved()))
        );
        let half = vec![Value::Int(1), elsewhere()];
        assert_eq!(two().read(half.clone()), Ok(Exchange::Answered(half)));
        let refused = vec![
            Value::ServerError(error("NOSCRIPT")),
            Value::ServerError(error("NOSCRIPT")),
        ];
        assert_eq!(two().read(refused.clone()), Ok(Exchange::Answered(refused)));
        assert!(two().read(vec![Value::Int(1)]).is_err());
    }

    #[test]
    fn no_connection_is_told_apart_from_no_answer() {
        let source = || RedisError::from(io::Error::from(io::ErrorKind::TimedOut));
        let address = || "127.0.0.1:6379".to_owned();
        let unreachable = as_the_driver_says_it(AddError::Unreachable {
            address: address(),
            source: source(),
        });
        assert_eq!(unreachable.kind(), ErrorKind::ClusterConnectionNotFound);
        let lost = as_the_driver_says_it(AddError::Lost {
            address: address(),
            source: source(),
        });
        assert_eq!(lost.kind(), ErrorKind::Io);
        let loading = as_the_driver_says_it(AddError::Unreachable {
            address: address(),
            source: RedisError::from(error("LOADING")),
        });
        assert_eq!(loading.code(), Some("LOADING"));
    }
}
