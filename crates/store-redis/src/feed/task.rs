//! The task behind the feed: keeps the subscriptions over losses of the connection, and says where news may have been missed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use coordinator_core::names::GroupId;
use coordinator_core::numbers::MetadataVersion;
use futures_util::StreamExt;
use redis::aio::{PubSubSink, PubSubStream};
use redis::{Msg, RedisError, RedisResult};
use store::{Change, StoreError};
use tokio::sync::broadcast::{Receiver, Sender, channel};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::oneshot;
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::Nodes;
use crate::classify::classify;

/// How many changes of one group a subscriber may be behind.
const BACKLOG: usize = 64;
/// How many channels are subscribed to at once after a loss.
const CHUNK: usize = 500;
/// How often an idle connection is tried, and channels nobody listens to any more are given up.
const LOOK_AROUND: Duration = Duration::from_secs(5);
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// A wish for the news of one group.
pub(super) struct Subscribe {
    pub(super) group: GroupId,
    pub(super) channel: String,
    pub(super) answer: oneshot::Sender<Result<Receiver<Change>, StoreError>>,
}

/// One group's subscribers.
struct Channel {
    group: GroupId,
    sender: Sender<Change>,
}

/// Why a connection is of no more use.
enum End {
    /// It is lost, and is made anew.
    Lost,
    /// Nobody can subscribe any more.
    Closed,
}

pub(super) struct Task {
    nodes: Arc<Nodes>,
    wishes: UnboundedReceiver<Subscribe>,
    channels: BTreeMap<String, Channel>,
    /// Wishes that wait for a connection.
    waiting: Vec<Subscribe>,
    /// Which node is tried next.
    turn: usize,
}

impl Task {
    pub(super) fn new(nodes: Arc<Nodes>, wishes: UnboundedReceiver<Subscribe>) -> Self {
        Self {
            nodes,
            wishes,
            channels: BTreeMap::new(),
            waiting: Vec::new(),
            turn: 0,
        }
    }

    pub(super) async fn run(mut self) {
        while let Some((sink, stream)) = self.connect().await {
            match self.serve(sink, stream).await {
                End::Lost => tracing::warn!("the feed of changes lost its connection"),
                End::Closed => return,
            }
        }
    }

    /// Connects as soon as there is something to subscribe to, again and again; none when nobody can subscribe any more.
    async fn connect(&mut self) -> Option<(PubSubSink, PubSubStream)> {
        let mut pause = FIRST_PAUSE;
        loop {
            if self.channels.is_empty() && self.waiting.is_empty() {
                let wish = self.wishes.recv().await?;
                self.waiting.push(wish);
            }
            match self.try_connect().await {
                Ok(connection) => return Some(connection),
                Err(error) => self.disappoint(&error),
            }
            // Whoever wishes something new need not wait for the pause to end.
            match timeout(pause, self.wishes.recv()).await {
                Ok(wish) => self.waiting.push(wish?),
                Err(_) => pause = (pause * 2).min(LONGEST_PAUSE),
            }
        }
    }

    async fn try_connect(&mut self) -> Result<(PubSubSink, PubSubStream), StoreError> {
        let client = &self.nodes.clients[self.turn % self.nodes.clients.len()];
        // If it fails, or is lost later, another node may do better.
        self.turn += 1;
        let connecting = client.get_async_pubsub();
        let connected = timeout(self.nodes.connect_timeout, connecting).await;
        let connected = connected.map_err(|_| late("connect"))?;
        let (mut sink, stream) = connected.map_err(classify)?.split();
        let known: Vec<&String> = self.channels.keys().collect();
        for chunk in known.chunks(CHUNK) {
            self.in_time(sink.subscribe(chunk))
                .await
                .map_err(classify)?;
        }
        // What was published since the last connection was lost has not been seen.
        for channel in self.channels.values() {
            channel.tell(None);
        }
        for wish in std::mem::take(&mut self.waiting) {
            self.take(wish, &mut sink).await.map_err(classify)?;
        }
        Ok((sink, stream))
    }

    fn disappoint(&mut self, error: &StoreError) {
        tracing::debug!(%error, "the feed of changes has no connection");
        for wish in self.waiting.drain(..) {
            // Whoever wished it may have given up.
            let _ = wish.answer.send(Err(error.clone()));
        }
    }

    async fn serve(&mut self, mut sink: PubSubSink, mut stream: PubSubStream) -> End {
        let mut look_around = interval(LOOK_AROUND);
        look_around.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                message = stream.next() => match message {
                    Some(message) => self.tell(&message),
                    None => return End::Lost,
                },
                wish = self.wishes.recv() => match wish {
                    Some(wish) => {
                        if self.take(wish, &mut sink).await.is_err() {
                            return End::Lost;
                        }
                    }
                    None => return End::Closed,
                },
                _ = look_around.tick() => {
                    if self.look_around(&mut sink).await.is_err() {
                        return End::Lost;
                    }
                }
            }
        }
    }

    /// Fulfils a wish. What Redis refuses is told to whoever wished it; the error returned is one of the connection.
    async fn take(&mut self, wish: Subscribe, sink: &mut PubSubSink) -> RedisResult<()> {
        if let Some(channel) = self.channels.get(&wish.channel) {
            let _ = wish.answer.send(Ok(channel.sender.subscribe()));
            return Ok(());
        }
        match self.in_time(sink.subscribe(&wish.channel)).await {
            Ok(()) => {
                let (sender, receiver) = channel(BACKLOG);
                let group = wish.group;
                self.channels
                    .insert(wish.channel, Channel { group, sender });
                let _ = wish.answer.send(Ok(receiver));
                Ok(())
            }
            Err(error) => {
                let _ = wish.answer.send(Err(classify(error.clone())));
                if error.code().is_some() {
                    Ok(())
                } else {
                    Err(error)
                }
            }
        }
    }

    fn tell(&self, message: &Msg) {
        if let Some(channel) = self.channels.get(message.get_channel_name()) {
            let text = std::str::from_utf8(message.get_payload_bytes());
            let version = text.ok().and_then(|text| text.parse().ok());
            channel.tell(version.map(MetadataVersion::new));
        }
    }

    async fn look_around(&mut self, sink: &mut PubSubSink) -> RedisResult<()> {
        let is_unheard = |channel: &Channel| channel.sender.receiver_count() == 0;
        let unheard = self.channels.iter().filter(|(_, it)| is_unheard(it));
        let unheard: Vec<String> = unheard.map(|(name, _)| name.clone()).collect();
        for chunk in unheard.chunks(CHUNK) {
            self.in_time(sink.unsubscribe(chunk)).await?;
        }
        for name in &unheard {
            self.channels.remove(name);
        }
        self.in_time(sink.ping::<()>()).await
    }

    async fn in_time<T>(&self, asking: impl Future<Output = RedisResult<T>>) -> RedisResult<T> {
        match timeout(self.nodes.response_timeout, asking).await {
            Ok(outcome) => outcome,
            Err(_) => Err(RedisError::from(std::io::Error::from(
                std::io::ErrorKind::TimedOut,
            ))),
        }
    }
}

impl Channel {
    fn tell(&self, version: Option<MetadataVersion>) {
        // It is an error only if nobody listens.
        let _ = self.sender.send(Change {
            group: self.group.clone(),
            version,
        });
    }
}

fn late(what: &str) -> StoreError {
    StoreError::Unavailable {
        reason: format!("Redis did not {what} in time"),
        source: None,
    }
}
