//! From commands to one exchange with Redis and back. Several commands of one slot travel as a transaction: between them
//! nothing changes, so either the stream is there for all of them or for none.

use redis::{Cmd, ErrorKind, Pipeline, RedisError, ServerError, Value};

/// What became of one record.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Added {
    /// It is there, under this id.
    Id(String),
    /// Its stream does not exist.
    NoStream,
    /// Redis refused it.
    Refused(ServerError),
}

/// What became of an exchange.
#[derive(Debug, PartialEq)]
pub(crate) enum Exchange<T> {
    /// What the replies come to.
    Answered(T),
    /// Nothing was carried out.
    Rejected(ServerError),
}

/// Something to be sent to one slot, and how its replies are read.
pub(crate) trait Request: Sync {
    /// What the replies come to.
    type Answer;

    /// The commands as they are sent; `asking` where the slot is on its way to the node they go to.
    fn exchange(&self, asking: bool) -> Pipeline;

    /// Reads the replies. An error means that they make no sense, and nothing is known.
    fn read(&self, replies: Vec<Value>) -> Result<Exchange<Self::Answer>, RedisError>;
}

/// Records to be added, as commands that answer ids: all of them or none.
pub(crate) struct Adds<'a>(pub(crate) &'a [Cmd]);

impl Request for Adds<'_> {
    type Answer = Vec<Added>;

    fn exchange(&self, asking: bool) -> Pipeline {
        exchange_of(self.0, asking)
    }

    fn read(&self, replies: Vec<Value>) -> Result<Exchange<Vec<Added>>, RedisError> {
        read(replies, self.0.len())
    }
}

/// The commands as they are sent; `asking` where the slot is on its way to the node they go to.
fn exchange_of(commands: &[Cmd], asking: bool) -> Pipeline {
    let mut pipeline = Pipeline::with_capacity(commands.len() + 3);
    if asking {
        pipeline.cmd("ASKING");
    }
    if let [only] = commands {
        pipeline.add_command(only.clone());
        return pipeline;
    }
    pipeline.cmd("MULTI");
    for command in commands {
        pipeline.add_command(command.clone());
    }
    pipeline.cmd("EXEC");
    pipeline
}

/// Reads the replies to [`exchange_of`] of `count` commands.
///
/// An error means that the replies make no sense, and nothing is known.
fn read(mut replies: Vec<Value>, count: usize) -> Result<Exchange<Vec<Added>>, RedisError> {
    let last = replies.pop().ok_or_else(senseless)?;
    if count == 1 {
        return match outcome(last)? {
            Added::Refused(error) => Ok(Exchange::Rejected(error)),
            added => Ok(Exchange::Answered(vec![added])),
        };
    }
    match last {
        Value::Array(outcomes) if outcomes.len() == count => Ok(Exchange::Answered(
            outcomes
                .into_iter()
                .map(outcome)
                .collect::<Result<_, _>>()?,
        )),
        // The transaction was dropped; the reason is the first command that was refused, where one was.
        Value::ServerError(dropped) => {
            let reason = replies.into_iter().find_map(|reply| match reply {
                Value::ServerError(error) => Some(error),
                _ => None,
            });
            Ok(Exchange::Rejected(reason.unwrap_or(dropped)))
        }
        _ => Err(senseless()),
    }
}

fn outcome(value: Value) -> Result<Added, RedisError> {
    match value {
        Value::BulkString(id) => Ok(Added::Id(String::from_utf8(id).map_err(|_| senseless())?)),
        Value::SimpleString(id) => Ok(Added::Id(id)),
        Value::Nil => Ok(Added::NoStream),
        Value::ServerError(error) => Ok(Added::Refused(error)),
        _ => Err(senseless()),
    }
}

pub(super) fn senseless() -> RedisError {
    RedisError::from((
        ErrorKind::UnexpectedReturnType,
        "the replies do not fit the commands",
    ))
}

#[cfg(test)]
mod tests {
    use redis::{ServerError, Value};

    use super::{Added, Exchange, exchange_of, read};

    fn error(code: &str) -> ServerError {
        let error = redis::make_extension_error(code.to_owned(), None);
        error.into_server_errors().expect("a server's error")[0]
            .1
            .clone()
    }

    fn id(text: &str) -> Value {
        Value::BulkString(text.as_bytes().to_vec())
    }

    #[test]
    fn one_command_goes_alone_and_several_as_a_transaction() {
        let ping = redis::cmd("PING");
        let count =
            |commands: usize, asking| exchange_of(&vec![ping.clone(); commands], asking).len();
        assert_eq!(
            [
                count(1, false),
                count(1, true),
                count(3, false),
                count(3, true)
            ],
            [1, 2, 5, 6]
        );
    }

    #[test]
    fn ids_and_missing_streams_are_told_apart() {
        let replies = vec![
            Value::Okay,
            Value::Okay,
            Value::Array(vec![id("1-0"), Value::Nil]),
        ];
        let added = vec![Added::Id("1-0".to_owned()), Added::NoStream];
        assert_eq!(read(replies, 2), Ok(Exchange::Answered(added)));
        assert_eq!(
            read(vec![Value::Nil], 1),
            Ok(Exchange::Answered(vec![Added::NoStream]))
        );
    }

    #[test]
    fn a_dropped_transaction_tells_the_first_refusal() {
        let refused = vec![
            Value::Okay,
            Value::ServerError(error("OOM")),
            Value::ServerError(error("ASK")),
            Value::ServerError(error("EXECABORT")),
        ];
        assert_eq!(read(refused, 2), Ok(Exchange::Rejected(error("OOM"))));
        let unexplained = vec![
            Value::Okay,
            Value::Okay,
            Value::Okay,
            Value::ServerError(error("EXECABORT")),
        ];
        assert_eq!(
            read(unexplained, 2),
            Ok(Exchange::Rejected(error("EXECABORT")))
        );
    }

    #[test]
    fn replies_that_do_not_fit_tell_nothing() {
        assert!(read(Vec::new(), 1).is_err());
        assert!(read(vec![Value::Int(1)], 1).is_err());
        assert!(read(vec![Value::Array(vec![id("1-0")])], 2).is_err());
        assert!(read(vec![Value::Nil], 2).is_err());
    }
}
