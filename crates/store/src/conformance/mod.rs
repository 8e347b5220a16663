//! The suite that every store must pass: what the traits mean, as tests. It knows no store; each case is given a [`World`] with an
//! empty one.
//!
//! A store's own tests expand [`conformance!`](crate::conformance!), which makes one test of each case.
#![allow(clippy::unwrap_used, clippy::missing_panics_doc)]

mod samples;
mod scene;
pub mod tests;
mod world;

pub use samples::{full_record, group_id, member_id, plain_record};
pub use scene::Scene;
pub use world::{TestedStore, World};

/// Calls a macro with the names of all cases: `$then!{ {$args} module::case … }`.
#[doc(hidden)]
#[macro_export]
macro_rules! conformance_cases {
    ($then:path, { $($args:tt)* }) => {
        $then! {
            { $($args)* }
            lock::a_group_that_somebody_changes_is_locked_to_others
            lock::a_released_right_goes_to_the_one_who_waits
            lock::a_commit_gives_the_right_back
            lock::a_failed_commit_gives_the_right_back
            lock::a_removal_gives_the_right_back
            lock::a_right_that_is_not_given_back_runs_out
            lock::rights_to_different_groups_are_independent
            lock::a_late_holder_commits_nothing
            lock::a_late_holder_creates_and_removes_nothing
            lock::a_late_release_leaves_the_successor_alone
            commit::a_commit_raises_the_revision_by_one_and_gives_a_fresh_etag_e1
            commit::a_commit_on_an_older_version_writes_nothing_e1
            commit::a_commit_on_another_lineage_writes_nothing_e1_e7
            commit::a_commit_on_a_removed_group_writes_nothing
            commit::concurrent_commits_lose_no_change_e1
            commit::a_full_record_comes_back_as_it_was_committed
            create::a_created_group_starts_at_revision_1
            create::a_full_record_comes_back_as_it_was_created
            create::a_group_is_created_once
            create::a_group_that_can_be_read_is_not_replaced_c6
            create::a_created_group_can_be_committed_under_the_same_right
            create::a_removed_group_is_gone_with_all_it_had
            create::a_group_that_changed_is_not_removed
            lease::a_lease_renewed_meanwhile_stops_an_expiry
            lease::a_lease_renewed_meanwhile_stops_a_quarantine
            lease::a_renewal_by_somebody_else_stops_nothing
            lease::a_lost_lease_renewed_meanwhile_stops_a_quarantine
            lease::a_lease_is_judged_as_it_was_read_m7_h20
            lease::a_lease_renewed_meanwhile_is_not_shortened_t3a
            lease::a_lease_far_ahead_is_cut_m7
            lease::an_ended_member_has_no_lease
            renew::a_batch_is_renewed_until_now_and_one_lease_t1
            renew::a_longer_lease_is_not_shortened
            renew::a_changed_group_is_returned_and_nothing_renewed
            renew::another_lineage_of_equal_revision_is_returned_e1_e7
            renew::an_empty_batch_confirms_the_record
            renew::a_removed_group_is_gone_and_stays_gone
            renew::a_member_that_is_not_live_gets_no_lease
            read::a_group_that_does_not_exist_is_begun_and_loaded_as_none
            read::leases_and_time_are_of_the_same_moment
            read::a_known_record_is_shared_while_it_is_current
            read::a_known_record_of_another_lineage_is_not_used_e1_e7
            directory::every_group_is_listed_whatever_it_is_called
            directory::names_that_look_alike_are_different_groups
            directory::a_named_group_without_a_record_is_listed_and_is_none
            progress::progress_is_kept_by_renewals_and_commits
            progress::progress_goes_with_its_member
            progress::progress_of_an_earlier_process_goes_with_the_next_join
            audit::events_are_told_newest_first_by_group_and_by_fleet
            audit::a_name_that_is_no_group_gets_no_place_of_its_own
            audit::events_outlive_their_group
            audit::whoever_proves_nothing_pushes_nothing_out
            audit::the_oldest_events_go
            watch::a_watch_without_a_gap_goes_on_m6
            watch::a_gap_begins_a_new_watch_m6
            watch::a_mark_that_was_lost_is_a_doubt_for_all_c8
            watch::a_mark_ahead_of_the_clock_is_no_doubt_m7
            watch::a_doubt_is_remembered_unless_a_later_one_is_known_c8
            feed::a_commit_is_told_to_subscribers
            feed::a_commit_of_another_coordinator_is_told_too
            feed::creation_and_removal_wake_subscribers
            feed::changes_of_other_groups_are_not_told
            feed::a_store_in_order_says_that_it_is_ready
        }
    };
}

/// Makes one test of each case of the suite. The expression is evaluated for each, awaited, and gives a [`World`].
#[macro_export]
macro_rules! conformance {
    ($world:expr) => {
        $crate::conformance_cases! { $crate::conformance_tests, { $world } }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! conformance_tests {
    ({ $world:expr } $($module:ident :: $case:ident)*) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                let world = $world.await;
                $crate::conformance::tests::$module::$case(&world).await;
            }
        )*
    };
}

/// Runs all cases in one test, one after the other, for stores whose world is slow to make. The expression is evaluated and awaited for
/// each case; the name of the case that fails is in the output.
#[macro_export]
macro_rules! conformance_in_one {
    ($world:expr) => {
        $crate::conformance_cases! { $crate::conformance_sequence, { $world } }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! conformance_sequence {
    ({ $world:expr } $($module:ident :: $case:ident)*) => {
        $(
            eprintln!("case {}::{}", stringify!($module), stringify!($case));
            $crate::conformance::tests::$module::$case(&$world.await).await;
        )*
    };
}
