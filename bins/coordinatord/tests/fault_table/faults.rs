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
    /// The user may not do some of the commands.
    Denied,
}

impl Fault {
    pub const ALL: [Self; 6] = [
        Self::Hung,
        Self::Gone,
        Self::Loading,
        Self::ReadOnly,
        Self::Full,
        Self::Denied,
    ];

    /// How the page calls it.
    pub const fn column(self) -> &'static str {
        match self {
            Self::Hung => "hung",
            Self::Gone => "gone",
            Self::Loading => "`LOADING`",
            Self::ReadOnly => "`READONLY`",
            Self::Full => "full (`OOM`)",
            Self::Denied => "`HSET` and `SET` denied",
        }
    }
}

/// A Redis that can be brought into each of them.
pub struct Redis {
    server: Option<RedisServer>,
    loading: Option<JoinHandle<RedisServer>>,
}

impl Redis {
    pub async fn start(fault: Fault) -> Self {
        let mut builder = RedisServer::builder().append_only();
        if fault == Fault::Loading {
            builder = builder.setting("key-load-delay", "300");
        }
        let server = builder.start().unwrap();
        let mut redis = Self {
            server: Some(server),
            loading: None,
        };
        if fault == Fault::Denied {
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
        if fault != Fault::Denied {
            return self.server().url();
        }
        format!("redis://coordinator:secret@{}/", self.server().address())
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
