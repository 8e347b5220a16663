//! Every state of each small world is visited; the invariants hold in all of them, and what the worlds are for is reached.
#![allow(clippy::unwrap_used)]

use coordinator_sim::model::{check, configurations};

/// Searches the worlds whose names are given.
fn search(name: &str) {
    let found = configurations()
        .into_iter()
        .find(|configuration| configuration.name == name)
        .unwrap();
    let checked = check(found);
    println!("{checked}");
    assert!(checked.counterexample.is_none(), "{checked}");
    assert!(checked.missed.is_empty(), "{checked}");
}

#[test]
fn messages() {
    search("messages");
}

#[test]
fn joining() {
    search("joining");
}

#[test]
fn restarts() {
    search("restarts");
}

#[test]
fn split() {
    search("split");
}

#[test]
fn leaving() {
    search("leaving");
}

#[test]
fn slow_clock() {
    search("slow clock");
}

#[test]
fn overdue() {
    search("overdue");
}

#[test]
fn scale_in() {
    search("scale-in");
}

#[test]
fn scale_out() {
    search("scale-out");
}
