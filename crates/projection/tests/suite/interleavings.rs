//! What may happen between the steps of writers, builders and readers, step by step, on each kind of index.

use projection::{FallbackReason, IndexError, ServedBy};

use crate::on_each_index;
use crate::source::{Item, item};
use crate::world::{World, calm, first, pairs, until_indexed};

on_each_index![
    read_a_page_upsert_newer_load_it_commit,
    read_a_page_load_it_upsert_newer_commit,
    read_a_row_remove_load_it_commit,
    load_a_row_remove_it_commit,
    an_entry_that_moves_between_pages_is_there_once,
    of_two_builders_one_waits,
    a_builder_that_was_overtaken_changes_nothing,
    a_crash_after_loading_leaves_the_old_and_delays_the_next_by_a_lease,
    a_lease_that_ran_out_does_not_come_back,
    a_lease_is_prolonged_while_the_source_is_read,
    a_removal_overtakes_its_upsert,
    a_removal_overtakes_its_upsert_with_a_whole_rebuild_between,
    fallback_upsert_repair,
];

async fn read_a_page_upsert_newer_load_it_commit(world: World) {
    world.row(&item("a", "x", 1, 1));
    let mut build = world.begin("a").await;
    let page = world.rows.all("a");
    let newer = item("a", "x", 7, 2);
    world.row(&newer);
    world.upsert(&newer).await;
    world.load(&mut build, &page).await.unwrap();
    world.index.commit(build).await.unwrap();
    let answer = world.read("a").await.unwrap();
    assert_eq!(answer.entries, [projection::Entry::of(&newer)]);
}

async fn read_a_page_load_it_upsert_newer_commit(world: World) {
    world.row(&item("a", "x", 1, 1));
    world.rebuild("a").await;
    let mut build = world.begin("a").await;
    world.load(&mut build, &world.rows.all("a")).await.unwrap();
    world.upsert(&item("a", "x", 7, 2)).await;
    world.upsert(&item("a", "new", 8, 1)).await;
    let wanted = pairs(&[("x", 2), ("new", 1)]);
    assert_eq!(world.held("a").await, wanted, "written to what is read");
    world.index.commit(build).await.unwrap();
    assert_eq!(world.held("a").await, wanted, "and to what is built");
}

async fn read_a_row_remove_load_it_commit(world: World) {
    world.row(&item("a", "x", 1, 1));
    world.row(&item("a", "y", 2, 1));
    world.rebuild("a").await;
    let mut build = world.begin("a").await;
    let page = world.rows.all("a");
    world.rows.delete("a", "x");
    world.remove("a", "x", 1).await;
    world.load(&mut build, &page).await.unwrap();
    world.index.commit(build).await.unwrap();
    assert_eq!(world.held("a").await, pairs(&[("y", 1)]));
}

async fn load_a_row_remove_it_commit(world: World) {
    world.row(&item("a", "x", 1, 1));
    let mut build = world.begin("a").await;
    world.load(&mut build, &world.rows.all("a")).await.unwrap();
    world.remove("a", "x", 1).await;
    world.index.commit(build).await.unwrap();
    assert_eq!(world.read("a").await, Err(IndexError::Empty));
}

async fn an_entry_that_moves_between_pages_is_there_once(world: World) {
    let (x, y) = (item("a", "x", 1, 1), item("a", "y", 5, 1));
    let mut build = world.begin("a").await;
    // It moves behind the pages that were read, and is read again there; another moves from what is ahead to what is behind.
    world.load(&mut build, &[x]).await.unwrap();
    world.upsert(&item("a", "x", 9, 2)).await;
    world.upsert(&item("a", "y", 0, 2)).await;
    let moved = item("a", "x", 9, 2);
    world.load(&mut build, &[y, moved]).await.unwrap();
    world.index.commit(build).await.unwrap();
    assert_eq!(world.held("a").await, pairs(&[("y", 2), ("x", 2)]));
}

async fn of_two_builders_one_waits(world: World) {
    world.row(&item("a", "x", 1, 1));
    let mut build = world.begin("a").await;
    let refusal = world.try_begin("a").await.unwrap_err();
    assert!(
        matches!(refusal, IndexError::Busy { remaining } if !remaining.is_zero()),
        "{refusal}"
    );
    // A driver may say it twice.
    world.index.begin(&mut build).await.unwrap();
    world.begin("b").await;
    world.load(&mut build, &world.rows.all("a")).await.unwrap();
    world.index.commit(build).await.unwrap();
    let build = world.begin("a").await;
    world.index.abandon(build).await.unwrap();
    world.begin("a").await;
}

async fn a_builder_that_was_overtaken_changes_nothing(world: World) {
    world.row(&item("a", "old", 1, 1));
    let mut slow = world.begin("a").await;
    world.load(&mut slow, &world.rows.all("a")).await.unwrap();
    world.lapse("a").await;
    world.rows.delete("a", "old");
    world.row(&item("a", "new", 1, 1));
    let mut quick = world.begin("a").await;
    let late = world.load(&mut slow, &[item("a", "older", 2, 1)]).await;
    assert_eq!(late, Err(IndexError::BuildLost));
    world.index.abandon(slow.clone()).await.unwrap();
    world.load(&mut quick, &world.rows.all("a")).await.unwrap();
    assert_eq!(world.index.commit(slow).await, Err(IndexError::BuildLost));
    world.index.commit(quick).await.unwrap();
    assert_eq!(world.held("a").await, pairs(&[("new", 1)]));
}

async fn a_crash_after_loading_leaves_the_old_and_delays_the_next_by_a_lease(world: World) {
    world.row(&item("a", "x", 1, 1));
    world.rebuild("a").await;
    let mut build = world.begin("a").await;
    world
        .load(&mut build, &[item("a", "y", 2, 1)])
        .await
        .unwrap();
    drop(build);
    assert_eq!(world.held("a").await, pairs(&[("x", 1)]));
    assert!(matches!(
        world.try_begin("a").await,
        Err(IndexError::Busy { .. })
    ));
    world.lapse("a").await;
    world.rebuild("a").await;
    assert_eq!(world.held("a").await, pairs(&[("x", 1)]));
}

/// A writer that saw it run out wrote nothing to the rebuild; so it must not be committed.
async fn a_lease_that_ran_out_does_not_come_back(world: World) {
    world.row(&item("a", "x", 1, 1));
    let mut build = world.begin("a").await;
    world.load(&mut build, &world.rows.all("a")).await.unwrap();
    world.lapse("a").await;
    world.upsert(&item("a", "y", 2, 1)).await;
    assert_eq!(
        world.load(&mut build, &[]).await,
        Err(IndexError::BuildLost)
    );
    assert_eq!(world.index.commit(build).await, Err(IndexError::BuildLost));
    assert_eq!(world.read("a").await, Err(IndexError::Unbuilt));
}

async fn a_lease_is_prolonged_while_the_source_is_read(world: World) {
    world.row(&item("a", "x", 1, 1));
    let mut build = world.begin("a").await;
    world.index.renew(&build).await.unwrap();
    world.load(&mut build, &world.rows.all("a")).await.unwrap();
    world.index.renew(&build).await.unwrap();
    world.upsert(&item("a", "y", 2, 1)).await;
    world.index.commit(build.clone()).await.unwrap();
    assert_eq!(world.held("a").await, pairs(&[("x", 1), ("y", 1)]));
    let over = world.index.renew(&build).await;
    assert_eq!(over, Err(IndexError::BuildLost), "there is none any more");
    let build = world.begin("a").await;
    world.lapse("a").await;
    let late = world.index.renew(&build).await;
    assert_eq!(late, Err(IndexError::BuildLost), "what ran out stays so");
    world.begin("a").await;
}

async fn a_removal_overtakes_its_upsert(world: World) {
    world.row(&item("a", "other", 1, 1));
    world.rebuild("a").await;
    world.remove("a", "x", 5).await;
    world.upsert(&item("a", "x", 2, 5)).await;
    world.upsert(&item("a", "x", 2, 4)).await;
    assert_eq!(world.held("a").await, pairs(&[("other", 1)]));
    world.upsert(&item("a", "x", 2, 6)).await;
    assert_eq!(world.held("a").await, pairs(&[("other", 1), ("x", 6)]));
}

async fn a_removal_overtakes_its_upsert_with_a_whole_rebuild_between(world: World) {
    world.row(&item("a", "other", 1, 1));
    world.remove("a", "x", 5).await;
    world.rebuild("a").await;
    world.rebuild("a").await;
    world.upsert(&item("a", "x", 2, 5)).await;
    assert_eq!(world.held("a").await, pairs(&[("other", 1)]));
}

async fn fallback_upsert_repair(world: World) {
    world.row(&item("a", "x", 1, 1));
    let projection = world.projection(calm());
    let fallback = first(&projection, "a", 5).await;
    assert_eq!(
        fallback.served_by,
        ServedBy::Source(FallbackReason::Unbuilt)
    );
    let newer: Item = item("a", "x", 3, 2);
    world.row(&newer);
    projection.upsert(&newer).await.unwrap();
    until_indexed(&projection, "a").await;
    assert_eq!(first(&projection, "a", 5).await.items, [newer]);
    assert_eq!(
        fallback.items[0].version, 1,
        "an answer stays as it was given"
    );
}
