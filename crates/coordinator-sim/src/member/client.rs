//! What decides in a member's process: the machine of the product, or a plain client. Both take facts in and say what is to be done.

use member_client::machine::{Action, Event, MemberMachine, MonotonicMillis};

use super::PlainClient;

/// See the module.
#[derive(Debug)]
pub(crate) enum Client {
    Machine(Box<MemberMachine>),
    Plain(PlainClient),
}

impl Client {
    pub(crate) fn handle(&mut self, now: u64, event: Event) -> Vec<Action> {
        let now = MonotonicMillis::new(now);
        match self {
            Self::Machine(machine) => machine.handle(now, event),
            Self::Plain(client) => client.handle(now, event),
        }
    }

    pub(crate) fn next_deadline(&self) -> Option<u64> {
        let deadline = match self {
            Self::Machine(machine) => machine.next_deadline(),
            Self::Plain(client) => client.next_deadline(),
        };
        deadline.map(MonotonicMillis::as_millis)
    }

    pub(crate) fn lease_until(&self) -> Option<u64> {
        let until = match self {
            Self::Machine(machine) => machine.lease_until(),
            Self::Plain(client) => client.lease_until(),
        };
        until.map(MonotonicMillis::as_millis)
    }

    pub(crate) const fn is_plain(&self) -> bool {
        matches!(self, Self::Plain(_))
    }
}
