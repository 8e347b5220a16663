//! What may happen in a state. More is listed than applies: what does not is no step.

use super::World;
use super::action::{Action, Way};
use super::process::Process;
use super::state::State;

impl World {
    /// Everything that may happen. What turns out not to apply is no step.
    pub(super) fn list(&self, state: &State, actions: &mut Vec<Action>) {
        let left = &state.left;
        for (request, _) in (0_u8..).zip(&state.requests) {
            for way in [Way::Short, Way::Long] {
                for again in [false, true] {
                    actions.push(Action::Serve {
                        request,
                        way,
                        again,
                    });
                }
            }
        }
        actions.push(Action::Tick);
        for (pending, _) in (0_u8..)
            .zip(&state.pending)
            .filter(|(_, pending)| pending.is_some())
        {
            actions.push(Action::Commit { pending });
            actions.push(Action::Abort { pending });
        }
        for (index, process) in state.living() {
            if self.configuration.has_news {
                actions.push(Action::News { process: index });
            }
            list_of_process(index, process, actions);
        }
        if left.time > 0 {
            actions.push(Action::TimePasses);
        }
        actions.push(Action::NobodyWatches);
        actions.extend(
            (0_u8..)
                .zip(&state.earlier)
                .map(|(back, _)| Action::LoseWrites { back }),
        );
        if self.configuration.bounds.scales > 0 {
            list_of_streams(state, actions);
        }
    }
}

fn list_of_process(process: u8, it: &Process, actions: &mut Vec<Action>) {
    if it.is_over {
        return;
    }
    if !it.is_started() {
        actions.push(Action::Start { process });
        return;
    }
    actions.extend(
        (0_u8..)
            .zip(&it.answers)
            .map(|(answer, _)| Action::Hear { process, answer }),
    );
    if it.waits_for.is_some() {
        actions.push(Action::GiveUp { process });
    }
    let stopping = (0_u8..)
        .zip(&it.workers)
        .filter(|(_, worker)| worker.is_stopping);
    actions.extend(stopping.map(|(worker, _)| Action::WorkerEnds { process, worker }));
    if !it.is_leaving {
        actions.push(Action::ShutDown { process });
    }
    actions.push(Action::Crash { process });
    actions.push(Action::Restart { process });
    actions.push(Action::Twin { process });
}

fn list_of_streams(state: &State, actions: &mut Vec<Action>) {
    actions.extend([
        Action::Scale,
        Action::RollBack,
        Action::CarryOut,
        Action::CarryOutHalf,
        Action::Observe,
    ]);
    for (shard, _) in (0_u8..).zip(&state.streams.shards) {
        actions.extend([
            Action::Publish { shard },
            Action::Read { shard },
            Action::Acknowledge { shard },
            Action::LagLies { shard },
        ]);
    }
}
