//! The rules of a coordinator for sharded Redis Streams: no I/O, no clock, no randomness.
//!
//! A [`Group`] is one consumer group of one stream. It is asked to [`decide`](Group::decide) about an [`Input`](input::Input) at a
//! [`Clock`](time::Clock) and answers with a [`Step`](step::Step): the writes to be committed, and the reply that may be given once they are.
//! Committed writes are [applied](Group::apply); nothing else changes a group.
//!
//! ```
//! use coordinator_core::Group;
//! use coordinator_core::input::Input;
//! use coordinator_core::names::StreamPrefix;
//! use coordinator_core::numbers::ShardCount;
//! use coordinator_core::record::{GroupRecord, Provisioning};
//! use coordinator_core::settings::Settings;
//! use coordinator_core::time::{Clock, Timestamp};
//!
//! let id = StreamPrefix::parse("orders").map(|stream| stream.own_group())?;
//! let record = GroupRecord::new(id, ShardCount::new(8), Provisioning::Done);
//! let mut group = Group::restore(record, Settings::default())?;
//!
//! let now = Timestamp::from_ms(1_000);
//! let step = group.decide(Clock { now, coordination_since: now, doubted_at: None }, &Input::TickDue)?;
//! // Here a coordinator commits `step.writes`. Only then:
//! group.apply(&step.writes);
//! assert_eq!(group.next_deadline(), None);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![no_std]

extern crate alloc;

pub mod assign;
pub mod evidence;
pub mod generations;
pub mod holding;
pub mod input;
pub mod invariants;
pub mod lineage;
pub mod member;
pub mod migration;
pub mod names;
pub mod numbers;
#[cfg(feature = "planted")]
pub mod planted;
pub mod record;
pub mod resharding;
pub mod routing;
pub mod settings;
pub mod shard_set;
pub mod state;
pub mod step;
pub mod target;
pub mod time;
pub mod write;

mod apply;
mod deadline;
mod decide;
mod draft;
mod group;
#[cfg(not(feature = "planted"))]
mod planted;

pub use decide::decide_without_group;
pub use group::Group;
