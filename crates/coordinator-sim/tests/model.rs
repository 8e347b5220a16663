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
fn messages_are_lost_late_and_repeated() {
    search("messages");
}

#[test]
fn messages_are_late_for_longer() {
    search("late messages");
}

#[test]
fn two_members_join_at_once() {
    search("joining");
}

#[test]
fn processes_end_and_begin_anew() {
    search("restarts");
}

#[test]
fn two_processes_have_one_id() {
    search("twins");
}

#[test]
fn the_decisions_of_two_coordinators_cross() {
    search("split");
}

#[test]
fn members_leave() {
    search("leaving");
}

#[test]
fn members_crash_while_coordinators_are_away() {
    search("absence");
}

#[test]
fn a_clock_is_slow() {
    search("slow clock");
}

#[test]
fn shards_are_kept_for_too_long() {
    search("overdue");
}

#[test]
fn a_shard_leaves_while_producers_write_to_it() {
    search("scale-in");
}

#[test]
fn a_shard_is_added_and_taken_away_again() {
    search("scale-out");
}

#[test]
fn the_store_goes_back_while_a_member_joins() {
    search("lost writes");
}

#[test]
fn the_store_goes_back_while_a_member_leaves() {
    search("lost release");
}

#[test]
fn the_store_goes_back_between_two_processes_of_one_id() {
    search("lost epochs");
}

#[test]
fn a_shard_is_kept_for_too_long_and_another_process_has_the_id() {
    search("overdue twins");
}

#[test]
fn clients_neither_name_nor_number_anything() {
    search("plain clients");
}

#[test]
fn two_processes_have_one_id_and_two_coordinators_decide() {
    search("split twins");
}

/// Rules E6 and H5.
#[test]
fn the_store_goes_back_between_two_plain_processes_of_one_id() {
    search("lost twins");
}
