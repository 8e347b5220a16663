//! News of commits over Redis' publish and subscribe, on a connection of their own.
//!
//! The channels are plain ones: in a cluster a message reaches all nodes, so that one connection to any of them is enough and no channel is
//! lost when a slot moves. Commits are rare: steady heartbeats publish nothing.

mod task;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use coordinator_core::names::GroupId;
use redis::Client;
use store::{ChangeStream, StoreError, change_stream};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

use crate::config::{ConfigError, RedisConfig};
use task::{Subscribe, Task};

/// Takes subscriptions. The connection is made with the first one, and ends with this.
pub(crate) struct Feed {
    nodes: Arc<Nodes>,
    task: OnceLock<UnboundedSender<Subscribe>>,
}

/// Where the news can be had, and how long it is waited for.
pub(crate) struct Nodes {
    clients: Vec<Client>,
    connect_timeout: Duration,
    response_timeout: Duration,
}

impl Feed {
    pub(crate) fn new(config: &RedisConfig) -> Result<Self, ConfigError> {
        let open = |(position, info)| {
            Client::open(info).map_err(|source| ConfigError::BadUrl { position, source })
        };
        let clients = (1..)
            .zip(config.checked()?)
            .map(open)
            .collect::<Result<_, _>>()?;
        Ok(Self {
            nodes: Arc::new(Nodes {
                clients,
                connect_timeout: config.connect_timeout,
                response_timeout: config.response_timeout,
            }),
            task: OnceLock::new(),
        })
    }

    /// News of a group from now on.
    pub(crate) async fn subscribe(
        &self,
        group: &GroupId,
        channel: String,
    ) -> Result<ChangeStream, StoreError> {
        let task = self.task.get_or_init(|| {
            let (subscriptions, taken) = unbounded_channel();
            tokio::spawn(Task::new(Arc::clone(&self.nodes), taken).run());
            subscriptions
        });
        let (answer, answered) = oneshot::channel();
        let subscribe = Subscribe {
            group: group.clone(),
            channel,
            answer,
        };
        let ended = || StoreError::Unavailable {
            reason: "the feed of changes has ended".to_owned(),
            source: None,
        };
        task.send(subscribe).map_err(|_| ended())?;
        let receiver = answered.await.map_err(|_| ended())??;
        Ok(change_stream(group.clone(), receiver))
    }
}
