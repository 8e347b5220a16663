//! Changes of the shard count on a real Redis, with coordinators in this process that can be made to die at any point. What is expected stands in the tests.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

pub mod case;
pub mod coordinator;
pub mod journal;
pub mod kill;
pub mod ledger;
pub mod plane;
pub mod points;
pub mod reader;
pub mod store;
pub mod streams;
pub mod world;

use std::time::Duration;

/// How long is waited for what must happen.
pub const PATIENCE: Duration = Duration::from_secs(30);
