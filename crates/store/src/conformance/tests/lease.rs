//! Leases and commits: what a decision judged must still be so, and nobody's lease is cut behind its back.

use coordinator_core::holding::Quarantine;
use coordinator_core::time::{Millis, Timestamp};
use coordinator_core::write::{FenceCause, Write};

use crate::conformance::samples::member_id;
use crate::conformance::scene::{LEASE, Scene, lease_in, renewed_until};
use crate::conformance::world::World;
use crate::{CommitError, Snapshot, Stamp};

const LONGER: Millis = Millis::new(20_000);

fn expired(snapshot: &Snapshot, name: &str) -> Vec<Write> {
    vec![Write::MemberExpired {
        member: member_id(name),
        judged: lease_in(snapshot, name),
        at: snapshot.now,
    }]
}

fn fenced(snapshot: &Snapshot, name: &str, judged: Option<Timestamp>) -> Vec<Write> {
    let member = &snapshot.record.members[&member_id(name)];
    let quarantine = Quarantine {
        member: member_id(name),
        epoch: member.epoch,
        instance: None,
        until: judged.unwrap_or(snapshot.now.plus(LEASE)),
        lease_ttl: LEASE,
        holdings: member.holdings.clone(),
    };
    vec![
        Write::QuarantineOpened { quarantine, judged },
        Write::MemberFenced {
            member: member_id(name),
            cause: FenceCause::RebalanceTimeout,
            at: snapshot.now,
        },
    ]
}

/// Begins, lets `renewed` be renewed in between, and commits what `decide` makes of what was read.
async fn commit_after_renewal(
    scene: &Scene,
    renewed: &str,
    decide: impl Fn(&Snapshot) -> Vec<Write>,
) -> Result<Stamp, CommitError> {
    let begun = scene.begin().await;
    let expected = begun.snapshot.unwrap();
    renewed_until(&scene.renew(&expected, &[renewed], LONGER).await);
    let writes = decide(&expected);
    scene.commit(begun.lock, &expected, &writes).await
}

async fn assert_nothing_was_written(
    scene: &Scene,
    before: &Snapshot,
    refused: &Result<Stamp, CommitError>,
) {
    assert!(
        matches!(refused, Err(CommitError::LeaseRenewed { member }) if *member == member_id("b")),
        "{refused:?}"
    );
    let found = scene.load().await.unwrap();
    assert_eq!(found.stamp, before.stamp);
    assert!(found.has_live(&member_id("b")));
    assert!(lease_in(&found, "b") > lease_in(before, "b"));
}

/// The renewal was answered: to expire the member now would make two readers.
pub async fn a_lease_renewed_meanwhile_stops_an_expiry(world: &dyn World) {
    let (scene, before) = Scene::with_members(world).await;
    let refused = commit_after_renewal(&scene, "b", |read| expired(read, "b")).await;
    assert_nothing_was_written(&scene, &before, &refused).await;
    scene
        .change(&expired(&scene.load().await.unwrap(), "b"))
        .await;
}

/// The quarantine would end before the renewed lease does.
pub async fn a_lease_renewed_meanwhile_stops_a_quarantine(world: &dyn World) {
    let (scene, before) = Scene::with_members(world).await;
    let decide = |read: &Snapshot| fenced(read, "b", lease_in(read, "b"));
    let refused = commit_after_renewal(&scene, "b", decide).await;
    assert_nothing_was_written(&scene, &before, &refused).await;
    scene.change(&decide(&scene.load().await.unwrap())).await;
}

/// Steady members don't hold up a decision about another one.
pub async fn a_renewal_by_somebody_else_stops_nothing(world: &dyn World) {
    let (scene, before) = Scene::with_members(world).await;
    let stamp = commit_after_renewal(&scene, "a", |read| expired(read, "b"))
        .await
        .unwrap();
    assert_eq!(stamp.revision, before.stamp.revision.next());
    assert!(scene.lease("a").await > lease_in(&before, "a"));
}

/// A lease that the store had lost was judged to be none.
pub async fn a_lost_lease_renewed_meanwhile_stops_a_quarantine(world: &dyn World) {
    let scene = Scene::empty(world).await;
    let before = scene.create_members(None).await;
    let decide = |read: &Snapshot| fenced(read, "b", None);
    let refused = commit_after_renewal(&scene, "b", decide).await;
    assert_nothing_was_written(&scene, &before, &refused).await;

    let begun = scene.begin().await;
    let read = begun.snapshot.unwrap();
    scene
        .commit(begun.lock, &read, &fenced(&read, "c", None))
        .await
        .unwrap();
}

/// One decision may give a full lease (M7) and then fence by the rebalance timeout (H20): what it judged is then its own write.
/// The store compares with what was read.
pub async fn a_lease_is_judged_as_it_was_read_m7_h20(world: &dyn World) {
    for lost in [true, false] {
        let scene = Scene::empty(world).await;
        let far = scene.now().await.plus(Millis::new(3_600_000));
        let before = scene.create_members((!lost).then_some(far)).await;
        let decide = |read: &Snapshot| {
            let deadline = read.now.plus(LEASE);
            let given = Write::LeaseSet {
                member: member_id("b"),
                deadline,
            };
            let mut writes = vec![given];
            writes.extend(fenced(read, "b", Some(deadline)));
            writes
        };
        if lost {
            let refused = commit_after_renewal(&scene, "b", decide).await;
            assert_nothing_was_written(&scene, &before, &refused).await;
        }
        let after = scene.change(&decide(&scene.load().await.unwrap())).await;
        assert_eq!(lease_in(&after, "b"), None);
        scene.remove().await;
    }
}

/// Rule T3a: an answer that was given keeps its lease, though a commit that began before it sets an earlier one.
pub async fn a_lease_renewed_meanwhile_is_not_shortened_t3a(world: &dyn World) {
    let (scene, _) = Scene::with_members(world).await;
    let begun = scene.begin().await;
    let expected = begun.snapshot.unwrap();
    let until = renewed_until(&scene.renew(&expected, &["a"], LONGER).await);
    let (a, b) = (expected.now.plus(LEASE), expected.now.plus(Millis::new(1)));
    let writes = [("a", a), ("b", b)].map(|(name, deadline)| Write::LeaseSet {
        member: member_id(name),
        deadline,
    });
    scene.commit(begun.lock, &expected, &writes).await.unwrap();
    assert_eq!(scene.lease("a").await, Some(until));
    assert_eq!(scene.lease("b").await, Some(b));
}

/// Rule M7: a clock that jumped makes nobody immortal.
pub async fn a_lease_far_ahead_is_cut_m7(world: &dyn World) {
    let scene = Scene::empty(world).await;
    let now = scene.now().await;
    let before = scene
        .create_members(Some(now.plus(Millis::new(3_600_000))))
        .await;
    assert!(lease_in(&before, "a") > Some(now.plus(LEASE)));
    let deadline = now.plus(LEASE);
    let member = member_id("a");
    scene.change(&[Write::LeaseSet { member, deadline }]).await;
    assert_eq!(scene.lease("a").await, Some(deadline));
}

/// Expired, fenced and pruned: none of them has a lease, in the record or beside it.
pub async fn an_ended_member_has_no_lease(world: &dyn World) {
    let (scene, before) = Scene::with_members(world).await;
    let mut writes = expired(&before, "a");
    writes.extend(fenced(&before, "b", lease_in(&before, "b")));
    let after = scene.change(&writes).await;
    assert_eq!((lease_in(&after, "a"), lease_in(&after, "b")), (None, None));
    assert_eq!(lease_in(&after, "c"), lease_in(&before, "c"));

    let member = member_id("a");
    let after = scene
        .change(&[Write::MemberPruned {
            member: member.clone(),
        }])
        .await;
    assert!(!after.record.members.contains_key(&member));
    assert!(!after.has_live(&member));
}
