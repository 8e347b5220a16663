//! What a coordinator is asked about one group.

use coordinator_core::Group;
use coordinator_core::input::{Heartbeat, Input};
use coordinator_core::names::ReshardingId;
use coordinator_core::numbers::ShardCount;
use coordinator_core::time::Timestamp;
use store::Snapshot;

use super::doubt_of;

/// See the module.
#[derive(Clone, Debug)]
pub(crate) enum Ask {
    /// A member reports; the process waits for an answer.
    Heartbeat {
        process: usize,
        heartbeat: Box<Heartbeat>,
    },
    /// Time has passed.
    Tick,
    /// Something was asked for or has happened; nobody waits for an answer.
    Input(Box<Input>),
    /// An operator asks for something that was looked into under this doubt: a newer one makes that void (rule C8).
    Admin {
        input: Box<Input>,
        doubted_at: Option<Timestamp>,
    },
    /// Another group of the stream has a change that this one is to have, too (rules G1 and G10). It was seen under this doubt: under a newer one the other
    /// group may not have it any more.
    Join {
        resharding: ReshardingId,
        target: ShardCount,
        doubted_at: Option<Timestamp>,
    },
}

impl Ask {
    /// What the core is asked, in view of the group as it is now, and as it was read. Nothing where the group has had the change that it is to join.
    pub(crate) fn input(&self, group: &Group, snapshot: &Snapshot) -> Option<Input> {
        match self {
            Self::Heartbeat { heartbeat, .. } => {
                Some(Input::HeartbeatReceived((**heartbeat).clone()))
            }
            Self::Tick => Some(Input::TickDue),
            Self::Input(input) => Some((**input).clone()),
            Self::Admin { input, doubted_at } => {
                (*doubted_at == doubt_of(snapshot)).then(|| (**input).clone())
            }
            Self::Join {
                resharding,
                target,
                doubted_at,
            } => {
                let record = group.record();
                let mut known = record.migration.iter().chain(&record.finished_migrations);
                let is_new = known.all(|migration| migration.id != *resharding);
                (is_new && *doubted_at == doubt_of(snapshot)).then(|| Input::ScaleRequested {
                    resharding: resharding.clone(),
                    target: *target,
                })
            }
        }
    }
}
