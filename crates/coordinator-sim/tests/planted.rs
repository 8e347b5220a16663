//! Rules that are broken on purpose: each must be noticed, by the model check or by the simulation, and be noticed for what it is. One line of the table
//! of docs/testing.md is printed for each. That nothing is noticed where nothing is broken is seen in the last test and in those of the model.
#![allow(clippy::unwrap_used)]

use coordinator_sim::model::{self, Configuration, configurations};
use coordinator_sim::planted::{Fault, MachineFault, Planted};
use coordinator_sim::{Options, StoreFaults, simulate_many};

/// How many seeds are simulated at most until a fault is noticed.
const SEEDS: u64 = 600;

/// A rule that is broken on purpose.
#[derive(Clone, Default)]
struct Broken {
    planted: Option<Planted>,
    of_model: model::StoreFaults,
    of_simulation: StoreFaults,
}

impl From<Fault> for Broken {
    fn from(fault: Fault) -> Self {
        Self {
            planted: Some(Planted::Core(fault)),
            // The step that takes a stream away goes by the same proof as the group.
            of_model: model::StoreFaults {
                retires_by_lag: fault == Fault::LagIsProof,
                ..model::StoreFaults::default()
            },
            ..Self::default()
        }
    }
}

impl From<MachineFault> for Broken {
    fn from(fault: MachineFault) -> Self {
        Self {
            planted: Some(Planted::Machine(fault)),
            ..Self::default()
        }
    }
}

fn in_store(fault: impl FnOnce(&mut model::StoreFaults, &mut StoreFaults)) -> Broken {
    let mut broken = Broken::default();
    fault(&mut broken.of_model, &mut broken.of_simulation);
    broken
}

/// The model check finds the fault in a world, and says which invariant or rule does not hold.
fn model_finds(what: &str, rule: &str, broken: impl Into<Broken>, world: &str, invariant: &str) {
    let broken = broken.into();
    let worlds = configurations();
    let found = worlds.into_iter().find(|it| it.name == world).unwrap();
    let checked = model::check(Configuration {
        planted: broken.planted,
        store_faults: broken.of_model,
        ..found
    });
    let wrong = checked.counterexample.clone().unwrap_or_else(|| {
        panic!("{what} ({rule}) is not noticed: {checked}");
    });
    assert_eq!(wrong.invariant, invariant, "{what} ({rule}): {checked}");
    let steps = wrong.steps.len();
    println!("| {what} | {rule} | model `{world}` | {invariant} | – | {steps} |");
}

/// The simulation finds the fault, and says which invariant does not hold: one of those that such a fault breaks.
fn simulation_finds(
    what: &str,
    rule: &str,
    broken: impl Into<Broken>,
    options: Options,
    invariants: &[u8],
) {
    let broken = broken.into();
    let options = Options {
        planted: broken.planted,
        store_faults: broken.of_simulation,
        ..options
    };
    let fleet = simulate_many(0, &options, 1, |number| number < SEEDS);
    let failed = fleet
        .failed
        .unwrap_or_else(|| panic!("{what} ({rule}) is not noticed: {:?}", fleet.counts));
    let violation = failed.violation.unwrap();
    let number = violation.invariant.number().unwrap_or_default();
    assert!(invariants.contains(&number), "{what} ({rule}): {violation}");
    let (seed, step) = (failed.seed, violation.step);
    println!("| {what} | {rule} | simulation | {number} | {seed} | {step} |");
}

#[test]
fn o2_o3_and_o6_what_may_be_read_is_not_given_to_another() {
    let what = "granted shards do not count as held";
    model_finds(what, "O2", Fault::GrantedIsNotHeld, "messages", "1");
    simulation_finds(
        what,
        "O2",
        Fault::GrantedIsNotHeld,
        Options::default(),
        &[1, 2],
    );
    let what = "what another holds is given all the same";
    model_finds(what, "O3", Fault::HeldIsGiven, "joining", "1");
    simulation_finds(what, "O3", Fault::HeldIsGiven, Options::default(), &[1, 2]);
    let what = "fencing releases at once";
    model_finds(what, "O6", Fault::FencingReleases, "overdue", "2");
    let what = "whoever joins ends the quarantine of another process";
    model_finds(
        what,
        "O6",
        Fault::AnyJoinEndsQuarantine,
        "overdue twins",
        "2",
    );
}

#[test]
fn e6_h14a_and_o5a_messages_that_are_lost_or_late_do_no_harm() {
    let what = "the previous epoch is refused";
    model_finds(what, "E6", Fault::PreviousEpochRefused, "messages", "9");
    simulation_finds(
        what,
        "E6",
        Fault::PreviousEpochRefused,
        Options::messages_only(),
        &[2, 9],
    );
    let what = "an older message is processed";
    model_finds(
        what,
        "H14a",
        Fault::OldMessageProcessed,
        "late messages",
        "9",
    );
    let what = "a late report releases what has left the target";
    model_finds(what, "O5a", Fault::LateReportReleases, "messages", "9");
    model_finds(what, "O5a", Fault::LateReportReleases, "plain clients", "2");
}

#[test]
fn t3a_h11_and_m6_leases_are_what_was_promised() {
    let what = "a replayed join does not renew the lease";
    model_finds(what, "T3a", Fault::ReplayKeepsLease, "slow clock", "2");
    simulation_finds(
        what,
        "T3a",
        Fault::ReplayKeepsLease,
        Options::messages_only(),
        &[2, 9],
    );
    let what = "a second process is given what the first one has";
    model_finds(
        what,
        "H10, H11",
        Fault::SecondProcessInherits,
        "twins",
        "C7",
    );
    simulation_finds(
        what,
        "H10, H11",
        Fault::SecondProcessInherits,
        Options::default(),
        &[2, 6, 9],
    );
    let what = "leases run out while no coordinator is there";
    model_finds(what, "M6", Fault::AbsenceCounts, "absence", "M6");
    simulation_finds(
        what,
        "M6",
        Fault::AbsenceCounts,
        Options::default(),
        &[2, 9],
    );
}

#[test]
fn g3_g4_g5_and_g8_no_entry_is_left_unread() {
    let what = "removed shards have no owner from ACTIVE on";
    model_finds(what, "G3", Fault::LeavingIsUnassigned, "scale-in", "3");
    simulation_finds(
        what,
        "G3",
        Fault::LeavingIsUnassigned,
        Options::default(),
        &[3, 8],
    );
    let what = "a lag of 0 is proof";
    model_finds(what, "G4", Fault::LagIsProof, "scale-in", "6");
    model_finds(what, "G4", Fault::LagIsProof, "scale-out", "6");
    let what = "a shard is retired while it is held";
    model_finds(what, "G5", Fault::RetiredWhileHeld, "scale-in", "6");
    simulation_finds(
        what,
        "G5",
        Fault::RetiredWhileHeld,
        Options::default(),
        &[6, 8],
    );
    let what = "a rollback drops added shards without draining them";
    model_finds(what, "G8", Fault::RollbackDropsAdded, "scale-out", "6");
}

#[test]
fn c4_c7_and_c8_lost_writes_are_survived() {
    let what = "a correction round closes before its handoffs ended";
    model_finds(what, "C4", Fault::RoundClosesEarly, "lost writes", "C4");
    let what = "epochs are reused after lost writes";
    model_finds(what, "C7", Fault::EpochsReused, "lost epochs", "C7");
    let what = "the hold is ignored";
    model_finds(what, "C8", Fault::HoldIgnored, "lost writes", "2");
    let what = "the store does not show that it lost writes";
    let hidden = in_store(|_, store| store.hidden_doubt = true);
    simulation_finds(what, "C8", hidden, Options::default(), &[2, 8, 9]);
}

#[test]
fn t2_and_o5b_a_client_stops_in_time_and_gives_up_at_the_end() {
    let what = "the client's lease counts from the receiving of the answer";
    model_finds(
        what,
        "T2",
        MachineFault::LeaseFromReceiving,
        "messages",
        "9",
    );
    simulation_finds(
        what,
        "T2",
        MachineFault::LeaseFromReceiving,
        Options::default(),
        &[2, 6, 9],
    );
    let what = "a member reads on after its lease";
    model_finds(
        what,
        "T2",
        MachineFault::ReadsOnAfterLease,
        "slow clock",
        "2",
    );
    simulation_finds(
        what,
        "T2",
        MachineFault::ReadsOnAfterLease,
        Options::default(),
        &[2, 9],
    );
    let what = "a shard is given up before its worker has ended";
    model_finds(
        what,
        "O5b",
        MachineFault::GivesUpBeforeTheEnd,
        "leaving",
        "2",
    );
}

#[test]
fn e1_and_h17_a_commit_stands_only_on_what_was_read() {
    let what = "a commit does not look at the leases that it judged";
    let broken = in_store(|store, _| store.commits_without_lease_check = true);
    model_finds(what, "E1, M1", broken, "split twins", "2");
    let what = "a commit does not look at the record that it changes";
    let broken = in_store(|of_model, of_simulation| {
        of_model.commits_over_others = true;
        of_simulation.commit_without_stamp_check = true;
    });
    model_finds(what, "E1", broken.clone(), "split", "2");
    simulation_finds(what, "E1", broken, Options::default(), &[1, 2, 4, 9]);
    let what = "a renewal does not look at the record that it confirms";
    let broken = in_store(|_, store| store.renew_without_stamp_check = true);
    simulation_finds(what, "H17", broken, Options::default(), &[2, 9]);
}

#[test]
fn nothing_is_noticed_where_nothing_is_broken() {
    for options in [Options::default(), Options::messages_only()] {
        let fleet = simulate_many(0, &options, 2, |number| number < SEEDS);
        assert!(
            fleet.failed.is_none(),
            "{:?}",
            fleet.failed.unwrap().violation
        );
    }
}
