//! That what coordinators answer in these tests is compared with their OpenAPI document.

use crate::world::World;

#[tokio::test]
async fn what_members_are_answered_is_judged() {
    let mut world = World::new(1).await;
    let member = world.process("one", "a");
    world.wait_for_stable(1).await;
    member.shutdown().await;
    let verdict = world.servers[0].conformity.end();
    // The creation, a heartbeat that joins, one that leaves, and a look at the group.
    assert!(verdict.answers >= 4, "{verdict:?}");
    assert!(verdict.faults.is_empty(), "{verdict:?}");
}
