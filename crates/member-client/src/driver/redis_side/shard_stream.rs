//! The commands of one shard's stream and group, for the one consumer that owns it. When they are used is the worker's
//! business.

use std::sync::Arc;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{Cmd, RedisResult, Value, cmd};

use super::exact::{Exact, Life};
use super::reply::{self, Entry, Malformed};
use super::trouble::Cause;
use super::{Link, Trouble};

/// How long a command may take that does not block.
const ANSWER_LIMIT: Duration = Duration::from_secs(3);
/// How many pending entries are claimed in one step.
const CLAIM_PAGE: usize = 1_000;

/// Names of one shard in Redis.
#[derive(Debug, Clone)]
pub(crate) struct ShardStream {
    pub(crate) key: Arc<str>,
    pub(crate) group: Arc<str>,
    pub(crate) consumer: Arc<str>,
    /// Which life of the shard is meant, where lives are told apart.
    pub(crate) life: Option<Life>,
}

/// A connection that reads the shard, and the means to end its wait.
pub(crate) struct Reader {
    own: MultiplexedConnection,
    shared: MultiplexedConnection,
    node: Arc<str>,
    identity: Option<Identity>,
    /// The life of the shard it is bound to, where lives are told apart.
    pub(super) exact: Option<Exact>,
}

/// A client connection as the server knows it. Both parts together are never reused, unlike the id after a restart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Identity {
    id: String,
    address: String,
}

impl Identity {
    /// The command that ends the connection.
    fn end(&self) -> Cmd {
        let mut command = cmd("CLIENT");
        command
            .arg("KILL")
            .arg("ID")
            .arg(&self.id)
            .arg("ADDR")
            .arg(&self.address);
        command
    }
}

impl Reader {
    pub(crate) async fn new(link: Link) -> Result<Self, Trouble> {
        let Link {
            mut own,
            shared,
            node,
        } = link;
        // Without the right to ask (NOPERM) waits end by themselves.
        let identity = match brief(&mut own, cmd("CLIENT").arg("INFO")).await {
            Ok(info) => identity(&info),
            Err(Trouble::Refused(_)) => None,
            Err(trouble) => return Err(trouble),
        };
        Ok(Self {
            own,
            shared,
            node,
            identity,
            exact: None,
        })
    }

    pub(crate) fn identity(&self) -> Option<&Identity> {
        self.identity.as_ref()
    }

    /// The node it is connected to.
    pub(crate) fn node(&self) -> &Arc<str> {
        &self.node
    }

    /// A handle that can end this reader's wait while it waits.
    pub(crate) fn waker(&self) -> Waker {
        Waker {
            shared: self.shared.clone(),
            identity: self.identity.clone(),
        }
    }

    /// Ends an earlier connection of this worker, lest a command that it had sent takes entries later on.
    pub(crate) async fn end_earlier(&mut self, earlier: &Identity) -> Result<(), Trouble> {
        match brief(&mut self.own, &earlier.end()).await {
            Ok(_) | Err(Trouble::Refused(_)) => Ok(()),
            Err(trouble) => Err(trouble),
        }
    }
}

/// See [`Reader::waker`].
pub(crate) struct Waker {
    shared: MultiplexedConnection,
    identity: Option<Identity>,
}

impl Waker {
    /// Ends the wait, if there is one just now, by ending the connection that waits: its worker has no more use for it. Says whether the server has
    /// ended it; if not, the wait lasts until its end. `CLIENT UNBLOCK` is no way: Redis before 8.2 and Valkey before 9 crash of it while
    /// writes are paused, as during a fail-over.
    pub(crate) async fn wake(&mut self) -> bool {
        let Some(identity) = &self.identity else {
            return false;
        };
        let ended: RedisResult<i64> = identity.end().query_async(&mut self.shared).await;
        match ended {
            Ok(ended) => ended > 0,
            Err(error) => {
                tracing::debug!(%error, "a blocked read could not be ended early");
                false
            }
        }
    }
}

impl ShardStream {
    /// Waits up to `block` for entries nobody was given yet.
    pub(crate) async fn read_new(
        &self,
        reader: &mut Reader,
        count: usize,
        block: Duration,
    ) -> Result<Vec<Entry>, Trouble> {
        let command = self.read_command(count, Some(block), ">");
        let limit = block + ANSWER_LIMIT;
        let answer = tokio::time::timeout(limit, command.query_async(&mut reader.own)).await;
        entries(answer.map_err(|_| Trouble::Silent("a blocking read was not answered in time"))??)
    }

    /// Entries nobody was given yet, if there are any now.
    pub(crate) async fn read_at_once(
        &self,
        reader: &mut Reader,
        count: usize,
    ) -> Result<Vec<Entry>, Trouble> {
        entries(brief(&mut reader.own, &self.read_command(count, None, ">")).await?)
    }

    /// The next page of what this consumer was given and has not acknowledged, after `after`.
    pub(crate) async fn read_history(
        &self,
        reader: &mut Reader,
        count: usize,
        after: &str,
    ) -> Result<Vec<Entry>, Trouble> {
        entries(brief(&mut reader.own, &self.read_command(count, None, after)).await?)
    }

    fn read_command(&self, count: usize, block: Option<Duration>, from: &str) -> Cmd {
        let mut command = cmd("XREADGROUP");
        command
            .arg("GROUP")
            .arg(&*self.group)
            .arg(&*self.consumer)
            .arg("COUNT")
            .arg(count);
        if let Some(block) = block {
            command
                .arg("BLOCK")
                .arg(u64::try_from(block.as_millis()).unwrap_or(u64::MAX).max(1));
        }
        command.arg("STREAMS").arg(&*self.key).arg(from);
        command
    }

    /// Binds the reader to the life that was told, if one was.
    pub(crate) async fn bind(&self, reader: &mut Reader) -> Result<(), Trouble> {
        if let Some(life) = &self.life {
            let shared = reader.shared.clone();
            reader.exact = Some(Exact::open(shared, self, life).await?);
        }
        Ok(())
    }

    /// Becomes the only consumer that may acknowledge, where lives are told apart.
    pub(crate) async fn register(&self, reader: &Reader) -> Result<(), Trouble> {
        match &reader.exact {
            Some(exact) => exact.register().await,
            None => Ok(()),
        }
    }

    /// Takes over everybody's pending entries, whatever their age. Returns how many were dropped because their record is gone.
    pub(crate) async fn take_over(&self, reader: &mut Reader) -> Result<usize, Trouble> {
        if let Some(exact) = &reader.exact {
            return exact.take_over().await;
        }
        let (mut cursor, mut lost) = ("0-0".to_owned(), 0);
        loop {
            let mut command = cmd("XAUTOCLAIM");
            command
                .arg(&*self.key)
                .arg(&*self.group)
                .arg(&*self.consumer)
                .arg(0)
                .arg(&cursor);
            command.arg("COUNT").arg(CLAIM_PAGE).arg("JUSTID");
            let page = brief(&mut reader.own, &command).await?;
            let (next, dropped) = reply::claim_reply(page)?;
            (cursor, lost) = (next, lost + dropped);
            if cursor == "0-0" {
                return Ok(lost);
            }
        }
    }

    /// How often each of this consumer's pending entries from `first` to `last` has been delivered.
    pub(crate) async fn deliveries(
        &self,
        reader: &mut Reader,
        (first, last): (&str, &str),
        count: usize,
    ) -> Result<Vec<(String, u64)>, Trouble> {
        let mut command = cmd("XPENDING");
        command
            .arg(&*self.key)
            .arg(&*self.group)
            .arg(first)
            .arg(last)
            .arg(count)
            .arg(&*self.consumer);
        Ok(reply::pending_reply(
            brief(&mut reader.own, &command).await?,
        )?)
    }

    /// Whether anything is pending in the group.
    pub(crate) async fn has_pending(&self, reader: &mut Reader) -> Result<bool, Trouble> {
        let mut command = cmd("XPENDING");
        command.arg(&*self.key).arg(&*self.group);
        match brief(&mut reader.own, &command).await? {
            Value::Array(summary) => Ok(summary.first() != Some(&Value::Int(0))),
            _ => Err(Malformed.into()),
        }
    }

    /// Acknowledges, where lives are told apart only as the owner (case C36). Returns how many of the ids were pending.
    pub(crate) async fn acknowledge(
        &self,
        reader: &mut Reader,
        ids: &[Arc<str>],
    ) -> Result<usize, Trouble> {
        if let Some(exact) = &reader.exact {
            return exact.acknowledge(ids).await;
        }
        let mut command = cmd("XACK");
        command.arg(&*self.key).arg(&*self.group);
        for id in ids {
            command.arg(&**id);
        }
        match brief(&mut reader.own, &command).await? {
            Value::Int(known) => Ok(usize::try_from(known).unwrap_or(0)),
            _ => Err(Malformed.into()),
        }
    }

    /// Makes the group anew: where it had come to, if that is known, else at the stream's beginning, never at its end (case
    /// C02). Makes the stream only where lives are told apart and this one is over for nobody. What was missing is told;
    /// if somebody else made it meanwhile, that is as good.
    pub(crate) async fn restore_group(&self, reader: &mut Reader) -> Result<Restored, Trouble> {
        if let Some(exact) = &reader.exact {
            let (group, is_lost) = exact.ensure_group().await?;
            let stream = group && is_lost;
            return Ok(Restored { group, stream });
        }
        let mut command = cmd("XGROUP");
        command
            .arg("CREATE")
            .arg(&*self.key)
            .arg(&*self.group)
            .arg("0");
        let stream = false;
        match brief(&mut reader.own, &command).await {
            Ok(_) => Ok(Restored {
                group: true,
                stream,
            }),
            Err(Trouble::Reconnect(Cause::Redis(error))) if error.code() == Some("BUSYGROUP") => {
                Ok(Restored {
                    group: false,
                    stream,
                })
            }
            Err(trouble) => Err(trouble),
        }
    }
}

/// What had to be made anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Restored {
    pub(crate) group: bool,
    /// The stream was gone, and what was in it is lost.
    pub(crate) stream: bool,
}

async fn brief(connection: &mut MultiplexedConnection, command: &Cmd) -> Result<Value, Trouble> {
    let answer = tokio::time::timeout(ANSWER_LIMIT, command.query_async(connection)).await;
    Ok(answer.map_err(|_| Trouble::Silent("a command was not answered in time"))??)
}

fn entries(value: Value) -> Result<Vec<Entry>, Trouble> {
    Ok(reply::read_reply(value)?)
}

impl From<Malformed> for Trouble {
    fn from(_: Malformed) -> Self {
        Self::Silent("a reply could not be understood")
    }
}

/// `id=7 addr=127.0.0.1:51234 laddr=… name= …`
fn identity(info: &Value) -> Option<Identity> {
    let text = match info {
        Value::BulkString(bytes) => std::str::from_utf8(bytes).ok()?,
        Value::VerbatimString { text, .. } | Value::SimpleString(text) => text,
        _ => return None,
    };
    let part = |name: &str| {
        text.split_whitespace()
            .find_map(|word| word.strip_prefix(name))
            .map(str::to_owned)
    };
    Some(Identity {
        id: part("id=")?,
        address: part("addr=")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_is_known_by_its_id_and_its_address() {
        let info = Value::BulkString(
            b"id=7 addr=127.0.0.1:51234 laddr=127.0.0.1:6379 fd=8 name=\n".to_vec(),
        );
        let expected = Identity {
            id: "7".into(),
            address: "127.0.0.1:51234".into(),
        };
        assert_eq!(identity(&info), Some(expected));
        assert_eq!(identity(&Value::Nil), None);
    }
}
