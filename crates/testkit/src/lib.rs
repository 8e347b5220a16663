//! Real servers and faults for tests: a `redis-server` per test on a free port, a small cluster, a TCP proxy that misbehaves
//! on demand, and waiting for conditions with a deadline. It holds no assertions about the product and is never part of it.
//!
//! ```
//! let server = testkit::RedisServer::builder().start().expect("redis-server starts");
//! let mut connection = server.client().get_connection().expect("it answers");
//! redis::cmd("SET").arg("greeting").arg("hello").exec(&mut connection).expect("it stores");
//! // Dropping `server` ends the process and removes its folder.
//! ```

mod port;
mod proxy;
mod redis_cluster;
mod redis_server;
mod wait;
mod watchdog;

pub use port::free_port;
pub use proxy::TcpProxy;
pub use redis_cluster::{ClusterError, RedisCluster};
pub use redis_server::{RedisServer, RedisServerBuilder, StartError};
pub use wait::{TimedOut, wait_until, wait_until_async};
