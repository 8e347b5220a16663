//! The faults, and how a server is brought into each and out of it.

use redis::aio::MultiplexedConnection;
use testkit::RedisServer;
use tokio::task::JoinHandle;

/// What is wrong with Redis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It accepts connections and answers nothing.
    Hung,
    /// It is not there.
    Gone,
    /// It reads its file.
    Loading,
    /// It has become a replica.
    ReadOnly,
    /// It has reached its memory limit.
    Full,
    /// The user may not do some of the commands that write.
    Denied,
    /// The user may not do some of those that read streams and lists.
    Unread,
    /// The Redis of the streams alone is not there.
    StreamsGone,
}

impl Fault {
    pub const ALL: [Self; 8] = [
        Self::Hung,
        Self::Gone,
        Self::Loading,
        Self::ReadOnly,
        Self::Full,
        Self::Denied,
        Self::Unread,
        Self::StreamsGone,
    ];

    /// Whether no change can take place.
    pub const fn stops_changes(self) -> bool {
        !matches!(self, Self::Unread | Self::StreamsGone)
    }

    const fn is_of_a_user(self) -> bool {
        matches!(self, Self::Denied | Self::Unread)
    }

    /// How the page calls it.
    pub const fn column(self) -> &'static str {
        match self {
            Self::Hung => "hung",
            Self::Gone => "gone",
            Self::Loading => "`LOADING`",
            Self::ReadOnly => "`READONLY`",
            Self::Full => "full (`OOM`)",
            Self::Denied => "`HSET` and `SET` denied",
            Self::Unread => "`XINFO`, `XREVRANGE` and `LRANGE` denied",
            Self::StreamsGone => "`--streams` gone",
        }
    }
}

/// A Redis that can be brought into each of them.
pub struct Redis {
    server: Option<RedisServer>,
    /// Another one for the streams.
    streams: Option<RedisServer>,
    loading: Option<JoinHandle<RedisServer>>,
}

impl Redis {
    pub async fn start(fault: Fault) -> Self {
        let mut builder = RedisServer::builder().append_only();
        if fault == Fault::Loading {
            builder = builder.setting("key-load-delay", "300");
        }
        let server = builder.start().unwrap();
        let has_streams = fault == Fault::StreamsGone;
        let mut redis = Self {
            server: Some(server),
            streams: has_streams.then(|| RedisServer::builder().append_only().start().unwrap()),
            loading: None,
        };
        if fault.is_of_a_user() {
            let user = [
                "ACL",
                "SETUSER",
                "coordinator",
                "on",
                ">secret",
                "~*",
                "&*",
                "+@all",
            ];
            redis.say(&user).await;
        }
        if fault == Fault::Loading {
            redis.fill().await;
        }
        redis
    }

    /// As the coordinator goes there.
    pub fn url(&self, fault: Fault) -> String {
        if !fault.is_of_a_user() {
            return self.server().url();
        }
        format!("redis://coordinator:secret@{}/", self.server().address())
    }

    /// Where the coordinator finds the streams.
    pub fn streams_url(&self, fault: Fault) -> String {
        let streams = self.streams.as_ref();
        streams.map_or_else(|| self.url(fault), RedisServer::url)
    }

    pub fn server(&self) -> &RedisServer {
        self.server.as_ref().expect("it is not being started")
    }

    pub async fn begin(&mut self, fault: Fault) {
        match fault {
            Fault::Hung => self.server().pause(),
            Fault::Gone => self.server.as_mut().unwrap().kill(),
            Fault::Loading => {
                let mut server = self.server.take().unwrap();
                server.kill();
                self.loading = Some(tokio::task::spawn_blocking(move || {
                    server.restart().unwrap();
                    server
                }));
            }
            // Nothing listens there, so that the data stays what it is.
            Fault::ReadOnly => self.say(&["REPLICAOF", "127.0.0.1", "1"]).await,
            Fault::Full => self.say(&["CONFIG", "SET", "maxmemory", "1"]).await,
            Fault::Denied => {
                self.say(&["ACL", "SETUSER", "coordinator", "-hset", "-set"])
                    .await
            }
            Fault::Unread => {
                let rights = ["-xinfo", "-xrevrange", "-lrange"];
                self.say(&[&["ACL", "SETUSER", "coordinator"], &rights[..]].concat())
                    .await
            }
            Fault::StreamsGone => self.streams.as_mut().unwrap().kill(),
        }
    }

    pub async fn end(&mut self, fault: Fault) {
        match fault {
            Fault::Hung => self.server().resume(),
            Fault::Gone => {
                let mut server = self.server.take().unwrap();
                let restarting = tokio::task::spawn_blocking(move || {
                    server.restart().unwrap();
                    server
                });
                self.server = Some(restarting.await.unwrap());
            }
            Fault::Loading => {
                self.server = Some(self.loading.take().unwrap().await.unwrap());
            }
            Fault::ReadOnly => self.say(&["REPLICAOF", "NO", "ONE"]).await,
            Fault::Full => self.say(&["CONFIG", "SET", "maxmemory", "0"]).await,
            Fault::Denied => {
                self.say(&["ACL", "SETUSER", "coordinator", "+hset", "+set"])
                    .await
            }
            Fault::Unread => self.say(&["ACL", "SETUSER", "coordinator", "+@all"]).await,
            Fault::StreamsGone => {
                let mut streams = self.streams.take().unwrap();
                let restarting = tokio::task::spawn_blocking(move || {
                    streams.restart().unwrap();
                    streams
                });
                self.streams = Some(restarting.await.unwrap());
            }
        }
    }

    async fn fill(&mut self) {
        let mut connection = self.connection().await;
        for part in 0..200 {
            let mut pipeline = redis::pipe();
            for number in 0..200 {
                let key = format!("filler-{part}-{number}");
                pipeline.cmd("SET").arg(key).arg(number).ignore();
            }
            pipeline.exec_async(&mut connection).await.unwrap();
        }
    }

    pub async fn connection(&self) -> MultiplexedConnection {
        self.server().connection().await.unwrap()
    }

    async fn say(&self, words: &[&str]) {
        let mut command = redis::cmd(words[0]);
        command.arg(&words[1..]);
        let mut connection = self.connection().await;
        command.exec_async(&mut connection).await.unwrap();
    }
}
