//! The list of groups through an index on a real Redis, and by the records where that does not answer.
#![allow(clippy::unwrap_used)]

mod support;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use coordinator_core::assign::Sticky;
use coordinator_core::names::StreamPrefix;
use coordinator_core::settings::{Settings, Timing};
use coordinator_core::time::Millis;
use coordinator_server::{Deps, ServerConfig};
use futures_util::StreamExt;
use protocol::{GrafanaGroupRow, GroupList, GroupState, GroupsQuery, ListedFrom};
use store::MemoryStore;
use support::indexes::{PATIENCE, forget, keys, list, until_indexed};
use support::moody::MoodyStore;
use support::redis::{ask, deps, start};
use support::{Server, config, heartbeat};
use testkit::wait_until_async;

/// Nobody's lease ends while a test lasts.
fn lasting() -> ServerConfig {
    let mut config = config();
    config.settings = Settings::default();
    config
}

fn names(list: &GroupList) -> Vec<(&str, &str)> {
    let groups = list.groups.iter();
    groups
        .map(|group| (&*group.stream_prefix, &*group.consumer_group))
        .collect()
}

/// By the index, which is told behind the answers.
async fn until_listed(server: &Server, groups: &[(&str, &str)]) {
    let listed = || async {
        let listed = list(server, "").await;
        listed.served_by == Some(ListedFrom::Index) && names(&listed) == groups
    };
    wait_until_async(PATIENCE, listed).await.unwrap();
}

#[tokio::test]
async fn a_listing_is_served_by_the_index_and_by_the_records_when_that_is_lost() {
    let (redis, server) = start(config()).await;
    for stream in ["b", "a:b", "a"] {
        server.create(stream, 1).await;
    }
    until_indexed(&server).await;
    let all = [("a", "a"), ("a:b", "a:b"), ("b", "b")];
    let indexed = list(&server, "").await;
    assert_eq!(names(&indexed), all);
    assert!(indexed.index_age_ms.is_some());
    // What this coordinator changes is listed at once, unless Redis is slow.
    server.create("c", 1).await;
    until_listed(&server, &[all[0], all[1], all[2], ("c", "c")]).await;
    let deletion = protocol::DeleteGroupRequest {
        requested_by: "test".to_owned(),
        reason: "over".to_owned(),
        force: false,
    };
    server
        .client
        .delete_group("c", "c", &deletion)
        .await
        .unwrap();
    until_listed(&server, &all).await;
    let mut connection = redis.connection().await.unwrap();
    forget(&mut connection, "{pj:groups*").await;
    let recorded = list(&server, "").await;
    assert_eq!(names(&recorded), all);
    assert_eq!(recorded.served_by, Some(ListedFrom::Records));
    assert_eq!(recorded.index_age_ms, None);
    until_indexed(&server).await;
    assert_eq!(names(&list(&server, "").await), all);
}

async fn pages(server: &Server, served_by: ListedFrom) {
    for number in 0..7 {
        server.create(&format!("orders-{number}"), 1).await;
    }
    server.beat("orders", &heartbeat("a", 0, 0)).await;
    let is_told = || async {
        let listed = list(server, "").await;
        let empty = listed.groups.iter();
        let empty = empty.filter(|group| group.state == GroupState::Empty);
        listed.served_by == Some(served_by) && empty.count() == 7 && listed.groups.len() == 8
    };
    wait_until_async(PATIENCE, is_told).await.unwrap();
    let mut found = Vec::new();
    let mut query = GroupsQuery {
        limit: Some(3),
        ..GroupsQuery::default()
    };
    let mut sizes = Vec::new();
    loop {
        let page = server.client.groups_page(&query).await.unwrap();
        assert_eq!(page.served_by, Some(served_by));
        sizes.push(page.groups.len());
        found.extend(page.groups);
        query.cursor = page.next_cursor;
        if query.cursor.is_none() {
            break;
        }
    }
    assert_eq!(sizes, [3, 3, 2]);
    found.sort_by(|a, b| a.stream_prefix.cmp(&b.stream_prefix));
    assert_eq!(found, list(server, "").await.groups);
    let one = list(server, "?streamPrefix=orders&limit=1").await;
    assert_eq!(names(&one), [("orders", "orders")]);
    if let Some(rest) = one.next_cursor {
        let query = format!("?streamPrefix=orders&limit=1&cursor={rest}");
        assert_eq!(names(&list(server, &query).await), []);
    }
    let stable = list(server, "?state=EMPTY").await;
    assert_eq!(stable.groups.len(), 7);
    assert_eq!(names(&list(server, "?streamPrefix=none").await), []);
    for wrong in [
        "?limit=0",
        "?limit=1001",
        "?limit=x",
        "?state=WELL",
        "?streamPrefix=a%7B",
        "?cursor=a%7Ba",
        "?cursor=never",
    ] {
        let path = format!("/coord/v1/monitoring/groups{wrong}");
        let request = server.request("GET", &path);
        let answer = request.basic_auth("admin", Some("admin")).send().await;
        assert_eq!(answer.unwrap().status(), 400, "{wrong}");
    }
}

#[tokio::test]
async fn a_listing_has_pages_that_are_the_whole_list_with_an_index() {
    let (_redis, server) = start(lasting()).await;
    server.create("orders", 1).await;
    until_indexed(&server).await;
    pages(&server, ListedFrom::Index).await;
    until_indexed(&server).await;
}

#[tokio::test]
async fn a_listing_has_pages_that_are_the_whole_list_without_one() {
    let server = Server::with(Deps::new(Arc::new(MemoryStore::new())), lasting()).await;
    server.create("orders", 1).await;
    pages(&server, ListedFrom::Records).await;
    assert_eq!(list(&server, "").await.served_by, Some(ListedFrom::Records));
}

/// Of a group with many members the index keeps numbers, and the rest is read of its record.
#[tokio::test]
async fn what_the_index_keeps_of_a_group_does_not_grow_with_its_members() {
    let (redis, server) = start(lasting()).await;
    server.create("orders", 64).await;
    until_indexed(&server).await;
    let member = |number| format!("a-member-with-a-name-{number}");
    for number in 0..64 {
        server
            .beat("orders", &heartbeat(&member(number), 0, 0))
            .await;
    }
    let recorded = server.client.group("orders", "orders").await.unwrap();
    assert_eq!(recorded.target_assignment_summary.len(), 64);
    let is_listed = || async {
        let listed = list(&server, "").await;
        listed.served_by == Some(ListedFrom::Index) && listed.groups == [recorded.clone()]
    };
    wait_until_async(PATIENCE, is_listed).await.unwrap();
    let mut connection = redis.connection().await.unwrap();
    let kept = keys(&mut connection, "{pj:groups*}:h").await.remove(0);
    let kept: Vec<String> = ask(&mut connection, &["HVALS", &kept]).await;
    assert_eq!(kept.len(), 1);
    assert!(kept[0].len() < 512, "{}", kept[0]);
    assert_eq!(list(&server, "?state=EMPTY").await.groups, []);
    let rows = server.request("GET", "/coord/v1/monitoring/grafana/groups");
    let rows = rows.basic_auth("admin", Some("admin")).send().await;
    let rows: Vec<GrafanaGroupRow> = rows.unwrap().json().await.unwrap();
    assert_eq!((rows[0].target_shards, rows[0].total_members), (64, 64));
}

/// Redis lost writes while nobody was there, and kept what the index was told of them. No change of the group would mend the list.
#[tokio::test]
async fn a_group_that_is_listed_as_it_is_no_more_is_listed_anew() {
    let (redis, mut first) = start(config()).await;
    first.create("orders", 2).await;
    until_indexed(&first).await;
    let mut connection = redis.connection().await.unwrap();
    let [record] = &keys(&mut connection, "redis-stream:coord:{*}:metadata").await[..] else {
        panic!("one record");
    };
    let copy: Vec<u8> = ask(&mut connection, &["DUMP", record]).await;
    let before = first.client.group("orders", "orders").await.unwrap();
    first.beat("orders", &heartbeat("a", 0, 0)).await;
    let is_in_state = async |server: &Server, state| {
        let listed = list(server, "").await;
        listed.served_by == Some(ListedFrom::Index) && listed.groups[0].state == state
    };
    let is_listed = || is_in_state(&first, GroupState::Reconciling);
    wait_until_async(PATIENCE, is_listed).await.unwrap();
    first.terminate();
    first.ended().await;
    let mut put_back = redis::cmd("RESTORE");
    put_back.arg(record).arg(0).arg(copy).arg("REPLACE");
    put_back.exec_async(&mut connection).await.unwrap();
    let second = Server::with(deps(&redis.url()).await, config()).await;
    let is_listed = || is_in_state(&second, GroupState::Empty);
    wait_until_async(PATIENCE, is_listed).await.unwrap();
    assert_eq!(list(&second, "").await.groups, [before]);
}

/// The directory may name groups that are gone, more of them than a page holds.
#[tokio::test]
async fn names_without_a_group_make_no_page_short() {
    let store = MoodyStore::new(None);
    let deps = Deps {
        store: store.clone(),
        ..Deps::new(Arc::clone(&store.store))
    };
    let server = Server::with(deps, config()).await;
    for stream in ["b", "c", "d"] {
        server.create(stream, 1).await;
    }
    let ghost = |number| {
        StreamPrefix::parse(&format!("a-{number}"))
            .unwrap()
            .own_group()
    };
    store.ghosts.lock().unwrap().extend((0..5).map(ghost));
    let first = list(&server, "?limit=2").await;
    assert_eq!(names(&first), [("b", "b"), ("c", "c")]);
    let next = first.next_cursor.unwrap();
    let second = list(&server, &format!("?limit=2&cursor={next}")).await;
    assert_eq!(names(&second), [("d", "d")]);
    assert_eq!(second.next_cursor, None);
}

/// However many pages there are, the directory is walked for the first one and for all others.
#[tokio::test]
async fn a_whole_list_without_an_index_costs_two_walks() {
    let store = MoodyStore::new(None);
    let deps = Deps {
        store: store.clone(),
        ..Deps::new(Arc::clone(&store.store))
    };
    let mut config = config();
    // No sweep meanwhile: there is one in a lease.
    let timing = Timing {
        member_lease_ttl: Millis::new(3_600_000),
        ..Timing::default()
    };
    config.settings = Settings::validated(timing, &Sticky).unwrap();
    let server = Server::with(deps, config).await;
    let streams: Vec<String> = (0..2_100).map(|it| format!("orders-{it:04}")).collect();
    let created = futures_util::stream::iter(&streams).map(|stream| server.create(stream, 1));
    created.buffer_unordered(8).collect::<()>().await;
    let pages = || store.pages.load(Ordering::SeqCst);
    let before = pages();
    let first = list(&server, "?limit=1000").await;
    let of_a_walk = pages() - before;
    assert_eq!(first.groups.len(), 1_000);
    let before = pages();
    let all = list(&server, "").await;
    let of_all = pages() - before;
    let listed = all.groups.iter().map(|group| &group.stream_prefix);
    assert!(listed.eq(&streams));
    assert!(
        of_all <= 2 * of_a_walk,
        "{of_all}, {of_a_walk} for one walk"
    );
}
