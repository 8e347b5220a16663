//! What the tests work with: coordinators, the program, members, and text without what differs from run to run.

mod certificates;
mod coordinator;
mod fake;
mod member;
mod normal;
mod program;
mod snapshot;
mod streams;
mod terminal;

pub(crate) use certificates::{Authority, Identity};
pub(crate) use coordinator::Coordinator;
pub(crate) use fake::Fake;
pub(crate) use member::{Member, heartbeat};
pub(crate) use program::{Ctl, Done};
pub(crate) use snapshot::{Session, compare, folder};
pub(crate) use streams::Streams;
pub(crate) use terminal::Terminal;

use std::time::Duration;

/// The most that anything is waited for.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
