//! The contract point by point, on each kind of index. What happens in between single steps of writers and builders has its own file.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use projection::{
    Build, Entry, FallbackReason, IndexError, Limit, Order, Position, Projected, Projection, Range,
    RebuildError, ServedBy,
};
use testkit::wait_until;

use crate::on_each_index;
use crate::source::{Item, Rows, id, item, space, version};
use crate::world::{PATIENCE, World, all, calm, first, pairs, until_indexed};

on_each_index![
    point_1_namespaces_are_apart,
    point_2_the_first_by_order_and_the_bytes_of_the_id,
    point_2_what_is_ahead_in_another_namespace_makes_no_answer_short,
    point_2_the_next_page_begins_behind_a_place_also_if_nothing_stands_there_any_more,
    point_3_one_entry_from_elsewhere_refuses_the_whole_page,
    point_3_a_rebuild_refuses_what_belongs_elsewhere_and_changes_nothing,
    point_3_readers_see_the_old_or_the_new_and_no_mix,
    point_4_what_was_never_built_is_asked_of_the_source_once,
    point_4_an_empty_namespace_is_asked_of_the_source_and_not_repaired_in_vain,
    point_4_a_range_that_is_empty_is_an_answer,
    point_4_single_writes_do_not_make_an_index_that_was_never_built_look_complete,
    point_5_repairs_are_single_and_read_pages,
    point_5_the_outcome_of_a_repair_changes_no_answer,
    point_5_a_repair_waits_for_its_interval,
    point_5_a_source_that_does_not_sort_is_named,
    point_6_only_a_failing_source_fails_a_read_and_both_causes_are_told,
    point_7_writes_commute,
    a_rebuild_that_is_old_is_followed_by_the_next,
];

async fn point_1_namespaces_are_apart(world: World) {
    world.row(&item("a", "x", 1, 5));
    world.row(&item("b", "x", 1, 5));
    world.rebuild("a").await;
    world.rebuild("b").await;
    world.remove("b", "x", 9).await;
    world.upsert(&item("b", "y", 0, 1)).await;
    world.rows.delete("b", "x");
    world.rebuild("b").await;
    assert_eq!(world.held("a").await, pairs(&[("x", 5)]));
    world.upsert(&item("a", "x", 1, 6)).await;
    assert_eq!(world.held("a").await, pairs(&[("x", 6)]));
    assert_eq!(world.held("b").await, []);
}

async fn point_2_the_first_by_order_and_the_bytes_of_the_id(world: World) {
    for (id, order) in [("é", 2), ("z", 2), ("Z", 2), ("a", 3), ("b", -1), ("ab", 2)] {
        world.row(&item("a", id, order, 1));
    }
    world.rebuild("a").await;
    let projection = world.projection(calm());
    let ids =
        |items: &[Item]| -> Vec<String> { items.iter().map(|item| item.id.clone()).collect() };
    let snapshot = first(&projection, "a", 5).await;
    assert_eq!(snapshot.served_by, ServedBy::Index);
    assert_eq!(ids(&snapshot.items), ["b", "Z", "ab", "z", "é"]);
    assert_eq!(snapshot.items, world.rows.all("a")[..5]);
    assert!(Limit::new(0).is_err() && Limit::new(1001).is_err());
}

async fn point_2_what_is_ahead_in_another_namespace_makes_no_answer_short(world: World) {
    world
        .rows
        .fill((0..300).map(|n| item("casual", &format!("c{n}"), n, 1)));
    world
        .rows
        .fill((0..80).map(|n| item("ranked", &format!("r{n}"), 1000 + n, 1)));
    world.rebuild("casual").await;
    world.rebuild("ranked").await;
    let snapshot = first(&world.projection(calm()), "ranked", 64).await;
    assert_eq!(snapshot.served_by, ServedBy::Index);
    assert_eq!(snapshot.items, world.rows.all("ranked")[..64]);
}

/// Pages of every size put together are the whole list, whatever order the places have, and also while entries go.
async fn point_2_the_next_page_begins_behind_a_place_also_if_nothing_stands_there_any_more(
    world: World,
) {
    let names = ["é", "z", "Z", "a", "ab", "b", "zz", "\u{10ffff}"];
    let orders = [-7, 0, 0, 3, 3, 3, 9];
    let items = orders
        .iter()
        .flat_map(|order| names.map(|name| item("a", &format!("{name}{order}"), *order, 1)));
    world.rows.fill(items);
    world.rebuild("a").await;
    let projection = world.projection(calm());
    let all = world.rows.all("a");
    let next = async |after: &Item, limit| {
        let (limit, after) = (Limit::new(limit).unwrap(), Position::of(after));
        let page = projection.snapshot_after(&space("a"), limit, after).await;
        let page = page.unwrap();
        assert_eq!(page.served_by, ServedBy::Index);
        page.items
    };
    for (index, place) in all.iter().enumerate() {
        for limit in [1, 3, 1000] {
            let end = all.len().min(index + 1 + limit);
            assert_eq!(next(place, limit).await, all[index + 1..end]);
        }
    }
    for (name, order) in [("", -8), ("zza", 0), ("a ", 3), ("0", 4), ("é9", 9)] {
        let place = item("a", &format!("{name}!"), order, 1);
        let behind = |item: &&Item| Position::of(*item) > Position::of(&place);
        let wanted: Vec<Item> = all.iter().filter(behind).take(2).cloned().collect();
        assert_eq!(next(&place, 2).await, wanted, "{place:?}");
    }
    world.remove("a", "Z3", 1).await;
    let (gone, at) = (item("a", "Z3", 3, 1), |item: &Item| item.id == "Z3");
    let index = all.iter().position(at).unwrap();
    assert_eq!(next(&gone, 1).await, all[index + 1..=index + 1]);
    let up_to = Range {
        limit: Limit::MOST,
        after: Some(Position::of(&gone)),
        upper: Some(gone.order()),
    };
    let within = projection.range(&space("a"), &up_to).await.unwrap();
    let of_order = |item: &&Item| item.order == 3;
    let rest: Vec<Item> = all[index + 1..].iter().filter(of_order).cloned().collect();
    assert_eq!((within.items, within.served_by), (rest, ServedBy::Index));
    let asked = world.rows.heads_asked();
    assert_eq!(next(all.last().unwrap(), 5).await, []);
    assert_eq!(world.rows.heads_asked(), asked, "the end is an answer");
}

async fn point_3_one_entry_from_elsewhere_refuses_the_whole_page(world: World) {
    let mut build = world.begin("a").await;
    let page = [item("a", "x", 1, 1), item("b", "y", 2, 1)];
    let refusal = world.load(&mut build, &page).await.unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "the entry y belongs to the namespace b, not to a; nothing was loaded"
    );
    world.index.commit(build).await.unwrap();
    assert_eq!(world.read("a").await, Err(IndexError::Empty));
}

async fn point_3_a_rebuild_refuses_what_belongs_elsewhere_and_changes_nothing(world: World) {
    world.row(&item("a", "x", 1, 1));
    world.rebuild("a").await;
    let before = world.read("a").await.unwrap();
    let planted = vec![item("a", "y", 1, 1), item("b", "z", 2, 1)];
    world.rows.planted.lock().unwrap().push_back(planted);
    let outcome = world.projection(calm()).rebuild(&space("a")).await;
    let Err(RebuildError::Index(IndexError::Foreign { found, .. })) = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!(found, space("b"));
    let after = world.read("a").await.unwrap();
    assert_eq!((after.entries, after.epoch), (before.entries, before.epoch));
    world.begin("a").await;
}

async fn point_3_readers_see_the_old_or_the_new_and_no_mix(world: World) {
    world
        .rows
        .fill((0..40).map(|n| item("a", &format!("{n}"), n, 1)));
    world.rebuild("a").await;
    let (index, rows) = (Arc::clone(&world.index), Arc::clone(&world.rows));
    let builder = tokio::spawn(async move {
        for generation in 2..12 {
            rows.fill((0..40).map(|n| item("a", &format!("{n}"), n, generation)));
            let mut build = Build::new(&space("a"));
            index.begin(&mut build).await.unwrap();
            for page in rows.all("a").chunks(8) {
                let page: Vec<Entry> = page.iter().map(Entry::of).collect();
                index.load(&mut build, &page).await.unwrap();
                tokio::task::yield_now().await;
            }
            index.commit(build).await.unwrap();
        }
    });
    let mut seen = 0;
    while seen < 11 {
        let answer = world.read("a").await.unwrap();
        let versions: Vec<u64> = answer
            .entries
            .iter()
            .map(|entry| entry.version.get())
            .collect();
        assert_eq!(versions, vec![versions[0]; 40]);
        assert!(versions[0] >= seen);
        seen = versions[0];
        tokio::task::yield_now().await;
    }
    builder.await.unwrap();
}

async fn point_4_what_was_never_built_is_asked_of_the_source_once(world: World) {
    world
        .rows
        .fill((0..10).map(|n| item("a", &format!("{n}"), n, 1)));
    let projection = world.projection(calm());
    let (limit, upper) = (Limit::new(3).unwrap(), Order::new(7).unwrap());
    let snapshot = projection.snapshot_up_to(&space("a"), limit, upper).await;
    let snapshot = snapshot.unwrap();
    assert_eq!(snapshot.items, world.rows.all("a")[..3]);
    assert_eq!(
        snapshot.served_by,
        ServedBy::Source(FallbackReason::Unbuilt)
    );
    assert_eq!(snapshot.epoch, None);
    let asked = world.rows.heads.lock().unwrap().clone();
    let [(namespace, range)] = &asked[..] else {
        panic!("{asked:?}");
    };
    assert_eq!(*namespace, space("a"));
    assert_eq!((range.limit, range.upper), (limit, Some(upper)));
    until_indexed(&projection, "a").await;
    assert_eq!(
        projection.metrics().fallbacks.unbuilt as usize,
        world.rows.heads_asked()
    );
}

async fn point_4_an_empty_namespace_is_asked_of_the_source_and_not_repaired_in_vain(world: World) {
    world.rebuild("a").await;
    let projection = world.projection(calm());
    let empty = ServedBy::Source(FallbackReason::Empty);
    assert_eq!(first(&projection, "a", 5).await.served_by, empty);
    assert_eq!(world.rows.heads_asked(), 1);
    assert_eq!(projection.metrics().repairs_begun, 0);
    world.row(&item("a", "x", 1, 1));
    let snapshot = first(&projection, "a", 5).await;
    assert_eq!((snapshot.items.len(), snapshot.served_by), (1, empty));
    assert_eq!(projection.metrics().repairs_begun, 1);
    until_indexed(&projection, "a").await;
}

async fn point_4_a_range_that_is_empty_is_an_answer(world: World) {
    world.row(&item("due", "later", 1000, 1));
    world.rebuild("due").await;
    let projection = world.projection(calm());
    let now = Order::new(999).unwrap();
    let due = projection
        .snapshot_up_to(&space("due"), Limit::MOST, now)
        .await
        .unwrap();
    assert_eq!((due.items.len(), due.served_by), (0, ServedBy::Index));
    let then = Order::new(1000).unwrap();
    let due = projection
        .snapshot_up_to(&space("due"), Limit::MOST, then)
        .await
        .unwrap();
    assert_eq!((due.items.len(), due.served_by), (1, ServedBy::Index));
    assert_eq!(world.rows.heads_asked(), 0);
}

async fn point_4_single_writes_do_not_make_an_index_that_was_never_built_look_complete(
    world: World,
) {
    let (x, y) = (item("a", "x", 1, 1), item("a", "y", 2, 1));
    world.row(&x);
    world.row(&y);
    let projection = world.projection(calm());
    projection.upsert(&y).await.unwrap();
    assert_eq!(first(&projection, "a", 5).await.items, [x, y]);
}

async fn point_5_repairs_are_single_and_read_pages(world: World) {
    world
        .rows
        .fill((0..25).map(|n| item("a", &format!("{n}"), n, 1)));
    *world.rows.delay.lock().unwrap() = Duration::from_millis(5);
    let projection = world.projection(calm().page_size(10));
    let reads: Vec<_> = (0..20)
        .map(|_| {
            let projection = projection.clone();
            tokio::spawn(async move { first(&projection, "a", 15).await })
        })
        .collect();
    for read in reads {
        assert_eq!(read.await.unwrap().items.len(), 15);
    }
    until_indexed(&projection, "a").await;
    assert_eq!(
        first(&projection, "a", 100).await.items,
        world.rows.all("a")
    );
    assert_eq!(world.rows.most_pages_at_once.load(Ordering::SeqCst), 1);
    assert!(
        world
            .rows
            .pages
            .lock()
            .unwrap()
            .iter()
            .all(|size| *size == 10)
    );
}

async fn point_5_the_outcome_of_a_repair_changes_no_answer(world: World) {
    world.row(&item("a", "x", 1, 1));
    world.rows.pages_fail.store(true, Ordering::SeqCst);
    let projection = world.projection(calm());
    for _ in 0..3 {
        assert_eq!(first(&projection, "a", 5).await.items, world.rows.all("a"));
        let failed = || projection.metrics().rebuilds_failed == projection.metrics().repairs_begun;
        wait_until(PATIENCE, failed).await.unwrap();
    }
    world.rows.pages_fail.store(false, Ordering::SeqCst);
    until_indexed(&projection, "a").await;
}

async fn point_5_a_repair_waits_for_its_interval(world: World) {
    world.row(&item("a", "x", 1, 1));
    world.rows.pages_fail.store(true, Ordering::SeqCst);
    let projection = world.projection(calm().repair_interval(Duration::from_secs(3600)));
    for _ in 0..5 {
        first(&projection, "a", 5).await;
        wait_until(PATIENCE, || projection.metrics().rebuilds_failed == 1)
            .await
            .unwrap();
    }
    assert_eq!(projection.metrics().repairs_begun, 1);
    assert_eq!(world.rows.pages.lock().unwrap().len(), 1);
}

async fn point_5_a_source_that_does_not_sort_is_named(world: World) {
    let planted = vec![item("a", "y", 2, 1), item("a", "x", 1, 1)];
    world.rows.planted.lock().unwrap().push_back(planted);
    let outcome = world.projection(calm()).rebuild(&space("a")).await;
    assert!(matches!(&outcome, Err(RebuildError::Unsorted { id: found, .. }) if *found == id("x")));
}

async fn point_6_only_a_failing_source_fails_a_read_and_both_causes_are_told(world: World) {
    world.row(&item("a", "x", 1, 1));
    world.rows.fails.store(true, Ordering::SeqCst);
    let projection = world.projection(calm());
    let error = projection
        .snapshot(&space("a"), Limit::MOST)
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the source of a was asked because the index is not built, and failed: the table is locked"
    );
    assert_eq!(world.rows.heads_asked(), 1);
    world.rebuild("a").await;
    assert_eq!(first(&projection, "a", 1).await.served_by, ServedBy::Index);
    let alone = Projection::shared(world.rows.clone(), None, calm());
    assert!(alone.snapshot(&space("a"), Limit::MOST).await.is_err());
}

/// Point 7, and every order of the same writes.
async fn point_7_writes_commute(world: World) {
    world.row(&item("a", "other", 9, 1));
    let writes = [Some(1), None, Some(2), Some(3)];
    let mut orders = vec![vec![]];
    for _ in 0..4 {
        let longer = |order: &Vec<usize>| -> Vec<Vec<usize>> {
            let rest = (0..4).filter(|step| !order.contains(step));
            rest.map(|step| [&order[..], &[step]].concat()).collect()
        };
        orders = orders.iter().flat_map(longer).collect();
    }
    assert_eq!(orders.len(), 24);
    world.rebuild("a").await;
    for (number, order) in orders.iter().enumerate() {
        let (lasting, gone) = (format!("lasting{number}"), format!("gone{number}"));
        for step in order {
            match writes[*step] {
                Some(version) => {
                    let order = 10 - i64::try_from(version).unwrap();
                    world.upsert(&item("a", &lasting, order, version)).await;
                    world.upsert(&item("a", &gone, order, version)).await;
                }
                None => {
                    world.remove("a", &lasting, 2).await;
                    world.remove("a", &gone, 3).await;
                }
            }
        }
        let held = world.held("a").await;
        let of = |name: &str| {
            held.iter()
                .filter(|(id, _)| id == name)
                .map(|(_, v)| *v)
                .collect()
        };
        let (lasting, gone): (Vec<u64>, Vec<u64>) = (of(&lasting), of(&gone));
        assert_eq!((&lasting[..], &gone[..]), (&[3][..], &[][..]), "{order:?}");
    }
}

async fn a_rebuild_that_is_old_is_followed_by_the_next(world: World) {
    world.row(&item("a", "x", 1, 1));
    world.rebuild("a").await;
    let lost = item("a", "y", 2, 1);
    world.row(&lost);
    let projection = world.projection(calm().reconcile_after(Duration::ZERO));
    assert_eq!(first(&projection, "a", 5).await.served_by, ServedBy::Index);
    wait_until(PATIENCE, || projection.metrics().rebuilds == 1)
        .await
        .unwrap();
    let answer = world.index.read(&space("a"), &all()).await.unwrap();
    assert_eq!(answer.entries[1].id, id("y"));
    assert_eq!(answer.entries[1].version, version(1));
}

#[tokio::test]
async fn point_6_the_index_is_optional() {
    let rows = Arc::new(Rows::default());
    rows.put(&item("a", "x", 1, 1));
    let projection = Projection::shared(rows.clone(), None, calm());
    let snapshot = first(&projection, "a", 5).await;
    assert_eq!(snapshot.items, rows.all("a"));
    assert_eq!(
        snapshot.served_by,
        ServedBy::Source(FallbackReason::NoIndex)
    );
    projection.upsert(&item("a", "x", 1, 2)).await.unwrap();
    assert!(matches!(
        projection.rebuild(&space("a")).await,
        Err(RebuildError::NoIndex)
    ));
    assert_eq!(projection.metrics().repairs_begun, 0);
}
