//! The model check: every state of small worlds is visited, with the real core and the real member machine, and the invariants are checked in each. For
//! large worlds, plain clients and progress there is the simulation.

mod action;
mod bounds;
mod configuration;
mod coordinator;
mod happenings;
mod migrating;
mod possible;
mod process;
mod record_store;
mod search;
mod seen;
mod state;
mod streams;
mod worlds;

use coordinator_core::Group;
use coordinator_core::names::StreamPrefix;
use coordinator_core::numbers::ShardCount;
use coordinator_core::record::{GroupRecord, Provisioning};
use coordinator_core::settings::Settings;
use stateright::{Model, Property};

pub use action::{Action, Way};
pub use bounds::Bounds;
pub use configuration::Configuration;
pub use record_store::StoreFaults;
pub use search::{Checked, Counterexample, check};
pub use seen::Reached;
pub use state::State;
pub use worlds::configurations;

use configuration::STEP_MS;
use record_store::Stored;
use seen::Seen;
use streams::Streams;

/// A world and all that can happen in it.
#[derive(Debug)]
pub struct World {
    configuration: Configuration,
    settings: Settings,
    seen: Seen,
}

impl World {
    /// The world of a configuration.
    #[must_use]
    pub fn new(configuration: Configuration) -> Self {
        Self {
            settings: configuration.settings(),
            configuration,
            seen: Seen::default(),
        }
    }

    fn empty(&self) -> State {
        let id = StreamPrefix::parse("orders")
            .expect("the name has nothing that names may not have")
            .own_group();
        let shards = self.configuration.shards;
        let record = GroupRecord::new(id, ShardCount::new(shards), Provisioning::Done);
        let group = Group::restore(record, self.settings).expect("a new record can be restored");
        State::new(Stored { group, edition: 0 }, Streams::new(shards))
    }
}

impl Model for World {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let mut state = self.empty();
        for member in 0..self.configuration.members {
            self.bear(&mut state, member);
        }
        self.settle(&mut state);
        state.left = self.configuration.bounds;
        vec![state]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        if state.wrong.is_none() {
            self.list(state, actions);
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        self.happen(&mut state, action)?;
        if let Some((invariant, what)) = migrating::stranded(&state) {
            state.accuse(invariant, what);
        }
        self.look_at_readers(&mut state);
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        fn holds(state: &State, invariant: &str) -> bool {
            state
                .wrong
                .as_ref()
                .is_none_or(|wrong| wrong.invariant != invariant)
        }
        vec![
            Property::always("1: no shard is held twice", |_, state| holds(state, "1")),
            Property::always("2: no shard is read by two", |_, state| holds(state, "2")),
            Property::always("3: every shard has one owner", |_, state| holds(state, "3")),
            Property::always("4: epochs stand in order", |_, state| holds(state, "4")),
            Property::always("5: the target can be had", |_, state| holds(state, "5")),
            Property::always("6: only what is drained is retired", |_, state| {
                holds(state, "6")
            }),
            Property::always("7: records give the same group", |_, state| {
                holds(state, "7")
            }),
            Property::always("C4: a round ends with its handoffs", |_, state| {
                holds(state, "C4")
            }),
            Property::always("C7: no epoch is told twice", |_, state| holds(state, "C7")),
            Property::always("M6: absence expires nobody", |_, state| holds(state, "M6")),
            Property::always("9: who obeys is not cut off", |_, state| holds(state, "9")),
        ]
    }
}

impl World {
    /// Invariant 2, seen from outside: who may be reading at this moment of true time.
    fn look_at_readers(&self, state: &mut State) {
        let now_ms = state.now_ms(STEP_MS);
        for shard in 0..u32::try_from(state.streams.shards.len()).unwrap_or(u32::MAX) {
            let readers = state.readers(shard, now_ms);
            if readers > 1 {
                state.accuse("2", format!("shard {shard} is read by {readers} processes"));
            }
        }
    }
}
