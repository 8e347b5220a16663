//! Connections to the node that has a shard's stream: the one server, or the owner of its slot in a cluster. It repeats
//! nothing; whoever loses a connection asks for another.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{
    AsyncConnectionConfig, Client, ConnectionAddr, ErrorKind, IntoConnectionInfo, RedisError,
    RedisResult, Value,
};

const CONNECT_LIMIT: Duration = Duration::from_secs(3);
const ANSWER_LIMIT: Duration = Duration::from_secs(3);

/// Finds nodes and opens connections.
#[derive(Debug)]
pub(crate) struct Connector {
    seeds: Vec<Client>,
    /// Their addresses, for people.
    places: String,
    is_cluster: bool,
    /// Connections for short commands, one per node, shared by all workers.
    shared: Mutex<HashMap<String, MultiplexedConnection>>,
}

/// Two connections to one node.
pub(crate) struct Link {
    /// For blocking reads: nobody else uses it, and it waits as long as it takes.
    pub(crate) own: MultiplexedConnection,
    /// For short commands beside a blocked read.
    pub(crate) shared: MultiplexedConnection,
    /// The node.
    pub(crate) node: Arc<str>,
}

impl Connector {
    /// Several URLs are nodes of one cluster.
    pub(crate) fn new(urls: &[String]) -> RedisResult<Self> {
        let seeds = urls
            .iter()
            .map(|url| Client::open(url.as_str()))
            .collect::<RedisResult<Vec<_>>>()?;
        let places: Vec<String> = seeds
            .iter()
            .map(|seed| seed.get_connection_info().addr().to_string())
            .collect();
        Ok(Self {
            places: places.join(", "),
            is_cluster: seeds.len() > 1,
            seeds,
            shared: Mutex::new(HashMap::new()),
        })
    }

    /// The addresses that were configured, without users and passwords.
    pub(crate) fn places(&self) -> &str {
        &self.places
    }

    /// Opens connections to the node that has `key` now.
    pub(crate) async fn open(&self, key: &str) -> RedisResult<Link> {
        let client = if self.is_cluster {
            self.owner_of(key).await?
        } else {
            self.first_seed()?.clone()
        };
        let node = client.get_connection_info().addr().to_string();
        let patient = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(CONNECT_LIMIT))
            .set_response_timeout(None);
        let own = client
            .get_multiplexed_async_connection_with_config(&patient)
            .await?;
        let shared = self.shared(&client, &node).await?;
        Ok(Link {
            own,
            shared,
            node: node.into(),
        })
    }

    /// The shared connection to this node is not to be used any more.
    pub(crate) fn forget(&self, node: &str) {
        self.cache().remove(node);
    }

    async fn shared(&self, client: &Client, node: &str) -> RedisResult<MultiplexedConnection> {
        let cached = self.cache().get(node).cloned();
        if let Some(connection) = cached {
            return Ok(connection);
        }
        let brief = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(CONNECT_LIMIT))
            .set_response_timeout(Some(ANSWER_LIMIT));
        let connection = client
            .get_multiplexed_async_connection_with_config(&brief)
            .await?;
        self.cache().insert(node.to_owned(), connection.clone());
        Ok(connection)
    }

    fn cache(&self) -> std::sync::MutexGuard<'_, HashMap<String, MultiplexedConnection>> {
        self.shared
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn first_seed(&self) -> RedisResult<&Client> {
        self.seeds
            .first()
            .ok_or_else(|| RedisError::from((ErrorKind::InvalidClientConfig, "no Redis URL")))
    }

    /// Asks the seeds, one after another, who owns the key's slot.
    async fn owner_of(&self, key: &str) -> RedisResult<Client> {
        let mut failure = RedisError::from((
            ErrorKind::ClusterConnectionNotFound,
            "no node of the cluster answers",
        ));
        for seed in &self.seeds {
            match self.ask_owner(seed, key).await {
                Ok(owner) => return Ok(owner),
                Err(error) => {
                    self.forget(&seed.get_connection_info().addr().to_string());
                    failure = error;
                }
            }
        }
        Err(failure)
    }

    async fn ask_owner(&self, seed: &Client, key: &str) -> RedisResult<Client> {
        let info = seed.get_connection_info();
        let mut connection = self.shared(seed, &info.addr().to_string()).await?;
        let slot: i64 = redis::cmd("CLUSTER")
            .arg("KEYSLOT")
            .arg(key)
            .query_async(&mut connection)
            .await?;
        let slots: Vec<Vec<Value>> = redis::cmd("CLUSTER")
            .arg("SLOTS")
            .query_async(&mut connection)
            .await?;
        let (host, port) = slots
            .iter()
            .find_map(|range| owner_in_range(range, slot))
            .ok_or_else(|| {
                RedisError::from((ErrorKind::ClusterConnectionNotFound, "nobody owns the slot"))
            })?;
        Client::open(
            info.clone()
                .set_addr(at(info.addr(), host, port))
                .into_connection_info()?,
        )
    }
}

/// Host and port of the owner, if the range `[first, last, [host, port, …], …]` contains the slot.
fn owner_in_range(range: &[Value], slot: i64) -> Option<(String, u16)> {
    let [Value::Int(first), Value::Int(last), Value::Array(owner), ..] = range else {
        return None;
    };
    if !(*first..=*last).contains(&slot) {
        return None;
    }
    let host = match owner.first()? {
        Value::BulkString(host) => String::from_utf8(host.clone()).ok()?,
        // The node does not know its own address: it is the one that was asked.
        Value::Nil => String::new(),
        _ => return None,
    };
    let Value::Int(port) = owner.get(1)? else {
        return None;
    };
    Some((host, u16::try_from(*port).ok()?))
}

/// The same kind of address, TLS included, at another place.
fn at(seed: &ConnectionAddr, new_host: String, new_port: u16) -> ConnectionAddr {
    match seed.clone() {
        ConnectionAddr::Tcp(host, _) => ConnectionAddr::Tcp(either(new_host, host), new_port),
        ConnectionAddr::TcpTls {
            host,
            insecure,
            tls_params,
            ..
        } => ConnectionAddr::TcpTls {
            host: either(new_host, host),
            port: new_port,
            insecure,
            tls_params,
        },
        other => other,
    }
}

fn either(new_host: String, host: String) -> String {
    if new_host.is_empty() { host } else { new_host }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(host: Value) -> Vec<Value> {
        vec![
            Value::Int(10),
            Value::Int(20),
            Value::Array(vec![host, Value::Int(7001)]),
        ]
    }

    #[test]
    fn the_owner_of_a_slot_is_found_in_its_range_only() {
        let named = range(Value::BulkString(b"10.0.0.9".to_vec()));
        assert_eq!(owner_in_range(&named, 15), Some(("10.0.0.9".into(), 7001)));
        assert_eq!(owner_in_range(&named, 21), None);
    }

    #[test]
    fn an_owner_without_a_host_is_at_the_host_that_was_asked() {
        let (host, port) = owner_in_range(&range(Value::Nil), 10).expect("in range");
        assert_eq!(
            at(&ConnectionAddr::Tcp("seed".into(), 1), host, port),
            ConnectionAddr::Tcp("seed".into(), 7001)
        );
    }
}
