//! That a failing run can be played again from a file, and made shorter without becoming another failure. The failure here is one on purpose:
//! a happening that the options forbid.

use coordinator_sim::{
    Happening, Invariant, Options, Outcome, Replay, events_of, replay, shrink, simulate,
};

fn failing(never: Happening) -> (Outcome, Replay) {
    let options = Options {
        never: Some(never),
        ..Options::default()
    };
    let mut outcomes = (0..500).map(|seed| simulate(seed, &options));
    let failed = outcomes
        .find(|outcome| outcome.violation.is_some() && outcome.actions.len() > 20)
        .expect("it happens in some run");
    let run = Replay {
        seed: failed.seed,
        options,
        actions: failed.actions.clone(),
    };
    (failed, run)
}

#[test]
fn a_run_that_was_drawn_is_the_same_when_its_actions_are_played() {
    let (failed, run) = failing(Happening::Handoff);
    assert_eq!(replay(&run), failed);
    let drawn = events_of(run.seed, &run.options, None);
    assert_eq!(events_of(run.seed, &run.options, Some(&run.actions)), drawn);
    assert!(drawn.iter().any(|line| line.contains("violation")));
}

#[test]
fn a_shrunk_run_is_shorter_and_breaks_the_same_invariant() {
    for never in [Happening::Handoff, Happening::Retired] {
        let (failed, run) = failing(never);
        let short = shrink(&run);
        let found = replay(&short).violation.expect("it still fails");
        assert_eq!(found.invariant, Invariant::Forbidden);
        assert!(
            short.actions.len() * 2 < failed.actions.len(),
            "{} of {} actions are left",
            short.actions.len(),
            failed.actions.len()
        );
    }
}

#[test]
fn a_run_without_a_violation_is_not_made_shorter() {
    let outcome = simulate(1, &Options::default());
    let run = Replay {
        seed: 1,
        options: Options::default(),
        actions: outcome.actions,
    };
    assert_eq!(shrink(&run), run);
}

#[test]
fn a_run_is_read_from_its_file_as_it_was_written() {
    let (_, run) = failing(Happening::Expiry);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("run.json");
    run.write(&file).expect("it is written");
    assert_eq!(Replay::read(&file).expect("it is read"), run);
    std::fs::write(&file, "{}").expect("it is written");
    let error = Replay::read(&file).expect_err("that is no run").to_string();
    assert!(error.contains("is no run of the simulator"), "{error}");
}
