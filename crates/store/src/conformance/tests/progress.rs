//! What members report of their work: kept as it was said, and no longer than they are members.

use std::collections::BTreeMap;
use std::sync::Arc;

use coordinator_core::numbers::ShardIndex;
use coordinator_core::time::Timestamp;
use coordinator_core::write::{FenceCause, Write};

use crate::conformance::samples::member_id;
use crate::conformance::scene::{LEASE, Scene, applied};
use crate::conformance::world::World;
use crate::{Commit, MemberProgress, Renewal, Renewed, ShardProgress, Snapshot};

fn progress(available: u32) -> MemberProgress {
    let row = |shard: u32| ShardProgress {
        shard: ShardIndex::new(shard),
        stream_key: format!("orders:{shard}"),
        last_delivered_id: Some("1700000000000-1".to_owned()),
        last_acked_id: None,
        pending_count: u64::MAX,
        updated_at: Some(Timestamp::from_ms(1_700_000_000_001)),
    };
    let bare = ShardProgress {
        last_delivered_id: None,
        last_acked_id: Some("0-0".to_owned()),
        pending_count: 0,
        updated_at: None,
        ..row(7)
    };
    MemberProgress {
        available_concurrency: available,
        shards: vec![row(0), bare],
    }
}

async fn renew(scene: &Scene, known: &Snapshot, names: &[&str]) {
    let renewals: Vec<Renewal> = names
        .iter()
        .map(|name| Renewal {
            member: member_id(name),
            progress: Some(progress(1)),
        })
        .collect();
    let renewed = scene.store.renew(&scene.id, known, &renewals, LEASE).await;
    assert!(matches!(renewed, Ok(Renewed::Ok { .. })), "{renewed:?}");
}

async fn change(scene: &Scene, writes: &[Write], reported: &[(&str, u32)]) {
    let begun = scene.begin().await;
    let expected = begun.snapshot.unwrap();
    let kept: Vec<_> = reported
        .iter()
        .map(|(name, available)| (member_id(name), progress(*available)))
        .collect();
    let commit = Commit {
        expected: &expected,
        record: &applied(&expected, writes),
        writes,
        progress: &kept,
    };
    scene.store.commit(begun.lock, commit).await.unwrap();
}

async fn kept(scene: &Scene) -> Vec<(String, u32)> {
    let found: BTreeMap<_, _> = scene.store.progress(&scene.id).await.unwrap();
    found
        .iter()
        .map(|(member, progress)| (member.to_string(), progress.available_concurrency))
        .collect()
}

fn rows(expected: &[(&str, u32)]) -> Vec<(String, u32)> {
    let owned = |(name, available): &(&str, u32)| ((*name).to_owned(), *available);
    expected.iter().map(owned).collect()
}

/// The last word of each member counts; nothing is lost of it.
pub async fn progress_is_kept_by_renewals_and_commits(world: &dyn World) {
    let (scene, known) = Scene::with_members(world).await;
    assert_eq!(kept(&scene).await, []);
    renew(&scene, &known, &["a", "b"]).await;
    change(&scene, &[], &[("b", 2), ("c", 3), ("nobody", 4)]).await;
    assert_eq!(kept(&scene).await, rows(&[("a", 1), ("b", 2), ("c", 3)]));
    let found = scene.store.progress(&scene.id).await.unwrap();
    assert_eq!(found[&member_id("c")], progress(3));
}

/// Expired, fenced or pruned: its progress is nobody's.
pub async fn progress_goes_with_its_member(world: &dyn World) {
    let (scene, known) = Scene::with_members(world).await;
    renew(&scene, &known, &["a", "b", "c"]).await;
    let (a, b, c) = (member_id("a"), member_id("b"), member_id("c"));
    let at = known.now;
    let read = scene.load().await.unwrap();
    let judged = read.record.members[&a].lease_deadline;
    let expiry = Write::MemberExpired {
        member: a,
        judged,
        at,
    };
    change(&scene, &[expiry], &[]).await;
    assert_eq!(kept(&scene).await, rows(&[("b", 1), ("c", 1)]));
    let fencing = Write::MemberFenced {
        member: b,
        cause: FenceCause::RebalanceTimeout,
        at,
    };
    change(&scene, &[fencing], &[("b", 9)]).await;
    assert_eq!(kept(&scene).await, rows(&[("c", 1)]));
    change(&scene, &[Write::MemberPruned { member: c }], &[]).await;
    assert_eq!(kept(&scene).await, []);
}

/// It was another process's.
pub async fn progress_of_an_earlier_process_goes_with_the_next_join(world: &dyn World) {
    let (scene, known) = Scene::with_members(world).await;
    renew(&scene, &known, &["a", "b"]).await;
    let join = |name| {
        let member = member_id(name);
        let record = Arc::clone(&known.record.members[&member]);
        Write::MemberJoined { member, record }
    };
    change(&scene, &[join("a"), join("b")], &[("b", 2)]).await;
    assert_eq!(kept(&scene).await, rows(&[("b", 2)]));
}
