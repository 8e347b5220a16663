//! What a coordinator is asked about one group.

use coordinator_core::input::{Heartbeat, Input};
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
    /// An operator or another group of the stream asks for something that was looked into under this doubt: a newer one makes that void (rule C8).
    Admin {
        input: Box<Input>,
        doubted_at: Option<Timestamp>,
    },
}

impl Ask {
    /// What the core is asked, in view of the group as it was read.
    pub(crate) fn input(&self, snapshot: &Snapshot) -> Option<Input> {
        match self {
            Self::Heartbeat { heartbeat, .. } => {
                Some(Input::HeartbeatReceived((**heartbeat).clone()))
            }
            Self::Tick => Some(Input::TickDue),
            Self::Input(input) => Some((**input).clone()),
            Self::Admin { input, doubted_at } => {
                (*doubted_at == doubt_of(snapshot)).then(|| (**input).clone())
            }
        }
    }
}
