//! The driver on tokio: it gives the machine a clock, a coordinator and workers. The rules of membership are not here.

mod backoff;
mod build_error;
mod builder;
mod client;
mod clock;
mod handler;
mod member;
mod metrics;
mod naming;
mod outcome;
mod record;
mod redis_side;
mod settings;
mod troubles;
mod watcher;
mod worker;

pub use build_error::BuildError;
pub use builder::MemberClientBuilder;
pub use client::{MemberClient, RunningClient, StoppedMember};
pub use handler::{Handler, HandlerError, Outcome};
pub use metrics::MetricsSnapshot;
pub use record::Record;
pub use settings::Exhausted;
pub use troubles::{ShardTrouble, TroubleKind};
