//! Lists of actions that once led to a violation, kept: each is played to its end, and nothing is found. What each was about stands in its name.

use std::path::{Path, PathBuf};

use coordinator_sim::{Options, Replay, replay, simulate};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("regressions")
}

#[test]
fn no_kept_list_of_actions_leads_to_a_violation_any_more() {
    let entries = std::fs::read_dir(folder()).expect("the folder of kept runs");
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a readable folder").path())
        .collect();
    files.sort();
    assert!(!files.is_empty(), "there are kept runs");
    for file in files {
        let run = Replay::read(&file).expect("a kept run");
        let outcome = replay(&run);
        assert_eq!(outcome.violation, None, "{}", file.display());
        assert!(
            outcome.counts.commits > 0,
            "{} does something",
            file.display()
        );
    }
}

/// Seeds that once failed, with what they were about.
#[test]
fn no_kept_seed_leads_to_a_violation_any_more() {
    let kept = [
        (
            144,
            "a look at a group for a chore replaced what a decision under way went by",
        ),
        (
            1_438,
            "a late join of an earlier process took the id: that is no fault of its successor's",
        ),
        (
            3_982,
            "the last process that a member may have was counted as replaced",
        ),
        (
            4_602,
            "a shard was retired that another look had just given back to be read",
        ),
    ];
    for (seed, about) in kept {
        assert_eq!(
            simulate(seed, &Options::default()).violation,
            None,
            "{about}"
        );
    }
}
