//! A small Redis Cluster of masters on loopback, formed by plain cluster commands. It has no replicas, and moves a slot in one go;
//! tests that look at a move half-way talk to the nodes themselves.

use std::time::Duration;

use crate::redis_server::{RedisServer, StartError};
use crate::wait::poll_blocking;

const SLOTS: u32 = 16_384;
const FORM_LIMIT: Duration = Duration::from_secs(30);

/// Why a cluster did not form.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClusterError {
    /// One of the nodes did not start.
    #[error("a cluster node did not start")]
    Start(#[from] StartError),
    /// A node refused a cluster command.
    #[error("a cluster command was refused")]
    Command(#[from] redis::RedisError),
    /// The nodes did not agree in time.
    #[error("the nodes did not form a cluster within {limit:?}; the last view was:\n{view}")]
    NotFormed {
        /// How long it was waited for.
        limit: Duration,
        /// `CLUSTER INFO` of the node that was not ready.
        view: String,
    },
}

/// Master nodes that share all slots evenly, in order of their index.
#[derive(Debug)]
pub struct RedisCluster {
    nodes: Vec<RedisServer>,
}

impl RedisCluster {
    /// Starts `count` nodes and returns once every one of them reports a complete cluster.
    ///
    /// # Errors
    ///
    /// [`ClusterError`].
    pub fn start(count: u16) -> Result<Self, ClusterError> {
        let nodes = (0..count)
            .map(|_| RedisServer::builder().cluster().start())
            .collect::<Result<Vec<_>, _>>()?;
        let cluster = Self { nodes };
        cluster.assign_slots()?;
        cluster.introduce()?;
        cluster.wait_for_agreement()?;
        Ok(cluster)
    }

    /// The nodes; node `i` of `n` serves slots from `i · 16384 / n`.
    #[must_use]
    pub fn nodes(&self) -> &[RedisServer] {
        &self.nodes
    }

    /// A node to be paused, killed or restarted. A restarted node keeps its identity and slots.
    ///
    /// # Panics
    ///
    /// If there is no such node.
    pub fn node_mut(&mut self, index: usize) -> &mut RedisServer {
        &mut self.nodes[index]
    }

    /// One URL per node, as a cluster client takes them.
    #[must_use]
    pub fn urls(&self) -> Vec<String> {
        self.nodes.iter().map(RedisServer::url).collect()
    }

    /// Moves the slot of a key, with all that is in it, to the next node, and gives that node's position.
    ///
    /// # Errors
    ///
    /// [`ClusterError::Command`].
    pub fn move_slot_of(&self, key: &str) -> Result<usize, ClusterError> {
        let slot: u32 = ask(&self.nodes[0], &["CLUSTER", "KEYSLOT", key])?;
        let count = u32::try_from(self.nodes.len()).expect("the count came from 16 bits");
        let is_there = |node: &&RedisServer| {
            let keys: Result<u32, _> =
                ask(node, &["CLUSTER", "COUNTKEYSINSLOT", &slot.to_string()]);
            keys.is_ok_and(|keys| keys > 0)
        };
        let from = self.nodes.iter().position(|node| is_there(&node));
        // Of an empty slot the first distribution tells who has it.
        let first = (0..count).rfind(|index| index * SLOTS / count <= slot);
        let from = from.unwrap_or_else(|| first.unwrap_or_default() as usize);
        let to = (from + 1) % self.nodes.len();
        let (from, node) = (&self.nodes[from], &self.nodes[to]);
        let slot = slot.to_string();
        let old: String = ask(from, &["CLUSTER", "MYID"])?;
        let new: String = ask(node, &["CLUSTER", "MYID"])?;
        let set = |at: &RedisServer, state: &str, id: &str| -> Result<String, ClusterError> {
            ask(at, &["CLUSTER", "SETSLOT", &slot, state, id])
        };
        set(node, "IMPORTING", &old)?;
        set(from, "MIGRATING", &new)?;
        let keys: Vec<String> = ask(from, &["CLUSTER", "GETKEYSINSLOT", &slot, "1000"])?;
        let port = node.port().to_string();
        for key in &keys {
            let _moved: String = ask(from, &["MIGRATE", "127.0.0.1", &port, key, "0", "5000"])?;
        }
        set(node, "NODE", &new)?;
        set(from, "NODE", &new)?;
        Ok(to)
    }

    fn assign_slots(&self) -> Result<(), ClusterError> {
        let count = u32::try_from(self.nodes.len()).expect("the count came from 16 bits");
        for (index, node) in (0..).zip(&self.nodes) {
            let mut connection = node.client().get_connection()?;
            let (first, last) = (index * SLOTS / count, (index + 1) * SLOTS / count - 1);
            redis::cmd("CLUSTER")
                .arg("ADDSLOTSRANGE")
                .arg(first)
                .arg(last)
                .exec(&mut connection)?;
            redis::cmd("CLUSTER")
                .arg("SET-CONFIG-EPOCH")
                .arg(index + 1)
                .exec(&mut connection)?;
        }
        Ok(())
    }

    fn introduce(&self) -> Result<(), ClusterError> {
        let Some((first, others)) = self.nodes.split_first() else {
            return Ok(());
        };
        let mut connection = first.client().get_connection()?;
        for node in others {
            redis::cmd("CLUSTER")
                .arg("MEET")
                .arg("127.0.0.1")
                .arg(node.port())
                .arg(node.bus_port())
                .exec(&mut connection)?;
        }
        Ok(())
    }

    fn wait_for_agreement(&self) -> Result<(), ClusterError> {
        let known = format!("cluster_known_nodes:{}\r", self.nodes.len());
        for node in &self.nodes {
            let mut connection = node.client().get_connection()?;
            let mut view = String::new();
            let agreed = poll_blocking(FORM_LIMIT, || {
                view = redis::cmd("CLUSTER").arg("INFO").query(&mut connection)?;
                Ok::<_, redis::RedisError>(
                    (view.contains("cluster_state:ok") && view.contains(&known)).then_some(()),
                )
            })?;
            if agreed.is_none() {
                return Err(ClusterError::NotFormed {
                    limit: FORM_LIMIT,
                    view,
                });
            }
        }
        Ok(())
    }
}

fn ask<T: redis::FromRedisValue>(node: &RedisServer, words: &[&str]) -> Result<T, ClusterError> {
    let mut connection = node.client().get_connection()?;
    let mut command = redis::cmd(words[0]);
    command.arg(&words[1..]);
    Ok(command.query(&mut connection)?)
}
