//! Groups that are as they were last seen and wait for nothing: a visit would find nothing to do, so that none is made. It decides nothing; where it is in doubt
//! the group is visited.

use coordinator_core::names::GroupId;
use store::Snapshot;

use super::Engine;
use super::recorded::restored;

impl Engine {
    /// Whether nothing is to be done for a group.
    pub(super) async fn is_at_rest(&self, group: &GroupId) -> bool {
        // Its task, where there is one, knows more of it.
        if self.0.registry.knows(group) {
            return false;
        }
        let Some(seen) = self.0.views.stamp(group) else {
            return false;
        };
        match self.store().load(group, None).await {
            Ok(Some(found)) => found.stamp == seen && self.waits_for_nothing(&found),
            Ok(None) | Err(_) => false,
        }
    }

    /// Nobody's time, nobody's loss and no change of the shard count is waited for.
    fn waits_for_nothing(&self, found: &Snapshot) -> bool {
        let record = &found.record;
        let is_whole = record.migration.is_none() && record.lineage.correction.is_none();
        is_whole
            && self.doubt_of(found).is_none()
            && restored(record, self.settings()).is_ok_and(|it| it.next_deadline().is_none())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::Arc;

    use coordinator_core::assign::Sticky;
    use coordinator_core::names::{MemberId, StreamPrefix};
    use coordinator_core::numbers::ShardCount;
    use coordinator_core::settings::{Settings, Timing};
    use coordinator_core::time::Millis;
    use store::{GroupStore, MemoryStore};

    use super::super::create::Creation;
    use super::super::group_task::Ask;
    use super::*;
    use crate::engine::{Deps, GROUP_IDLE};

    /// It sweeps once in a lease.
    fn engine(store: &Arc<MemoryStore>) -> Engine {
        let config = crate::ServerConfig::new("test");
        let timing = Timing {
            member_lease_ttl: Millis::new(3_600_000),
            ..Timing::default()
        };
        Engine::start(
            Deps::new(Arc::clone(store)),
            Settings::validated(timing, &Sticky).unwrap(),
            config.resharding_times(),
            config.watching_times(),
        )
    }

    fn creation() -> Creation {
        Creation {
            group: StreamPrefix::parse("orders").unwrap().own_group(),
            requested: None,
            default: ShardCount::new(4),
            new_stream: true,
        }
    }

    /// Lets the group's task end, as it does when nobody asks it anything. Time is the test's own.
    async fn is_at_rest(engine: &Engine, group: &GroupId) -> bool {
        // waits: for the task to end
        tokio::time::sleep(GROUP_IDLE * 2).await;
        assert!(!engine.0.registry.knows(group));
        engine.is_at_rest(group).await
    }

    #[tokio::test(start_paused = true)]
    async fn m5_a_group_is_at_rest_while_nobody_changes_it_and_it_waits_for_nothing() {
        let store = Arc::new(MemoryStore::new());
        let (engine, other) = (engine(&store), engine(&store));
        let creation = creation();
        let group = creation.group.clone();
        assert!(!engine.is_at_rest(&group).await, "there is none");
        engine.create(&creation).await.unwrap();
        assert!(!engine.is_at_rest(&group).await, "it has a task");
        assert!(is_at_rest(&engine, &group).await);
        other.delete(&group, false).await.unwrap();
        assert!(!engine.is_at_rest(&group).await, "it is gone");
        other.create(&creation).await.unwrap();
        assert!(!engine.is_at_rest(&group).await, "it is another one");
        engine.ask(&group, Ask::Tick(None)).unwrap();
        assert!(is_at_rest(&engine, &group).await);
        // Rule C8: writes may be lost.
        let now = engine.0.watchtower.estimated_now().unwrap();
        store.doubt(now).await.unwrap();
        // waits: for the next tick, which hears of it
        tokio::time::sleep(GROUP_IDLE).await;
        assert!(!engine.is_at_rest(&group).await, "it is in doubt");
        engine.stop();
        other.stop();
    }

    #[tokio::test(start_paused = true)]
    async fn m5_a_group_with_a_member_is_never_at_rest() {
        let engine = engine(&Arc::new(MemoryStore::new()));
        let creation = creation();
        let group = creation.group.clone();
        engine.create(&creation).await.unwrap();
        let request = serde_json::json!({
            "protocolVersion": 1, "requestId": "r", "memberId": "m", "memberEpoch": 0, "metadataVersion": 0,
            "runtimeConsumerCapacity": {"runtimeMaxConcurrency": 1, "availableConcurrency": 1},
        });
        let request = serde_json::from_value(request).unwrap();
        let (heartbeat, progress) =
            crate::convert::request(MemberId::parse("m").unwrap(), request).unwrap();
        engine.heartbeat(&group, heartbeat, progress).await.unwrap();
        assert!(!is_at_rest(&engine, &group).await, "its lease runs");
        engine.stop();
    }
}
