//! Consumer membership for sharded Redis Streams: [`machine::MemberMachine`], the pure rules of being a member, and
//! [`MemberClient`], the driver on tokio with a worker per owned shard. It knows nothing about how the coordinator decides.
#![doc = include_str!("../README.md")]

mod driver;
pub mod machine;

pub use driver::{
    BuildError, Exhausted, Handler, HandlerError, MemberClient, MemberClientBuilder,
    MetricsSnapshot, Outcome, Record, RunningClient, ShardTrouble, StoppedMember, TroubleKind,
};
pub use machine::{Health, StopReason};
/// The messages that [`machine::Event`] and [`machine::Action`] carry.
pub use protocol;
