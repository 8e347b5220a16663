//! Shards are taken away, under the right to change all groups of the stream: in between they could take a shard back, and give it to somebody (rule G5).

use std::sync::Arc;
use std::time::{Duration, Instant};

use coordinator_core::input::Input;
use coordinator_core::names::{GroupId, ReshardingId, StreamPrefix};
use coordinator_core::resharding::GroupView;
use coordinator_core::shard_set::ShardSet;
use coordinator_core::time::Clock;
use store::{Begun, GroupLock, Lives, Retire, Retirement, Snapshot};

use super::Progress;
use super::carry_out::coordinated;
use crate::engine::group_task::Cached;
use crate::engine::{Engine, EngineError};

/// How many shards are taken away under one right: heartbeats that change something wait meanwhile.
const AT_ONCE: usize = 16;
/// For how long rights are used after the first of them was asked for; well below the time after which they end by themselves.
const PATIENCE: Duration = Duration::from_secs(3);

impl Engine {
    pub(super) async fn retire(
        &self,
        stream: &StreamPrefix,
        looked: &[GroupView],
        change: &ReshardingId,
        shards: &ShardSet,
    ) -> Result<Progress, EngineError> {
        let shards: ShardSet = shards.iter().take(AT_ONCE).collect();
        if self.0.deps.plane.is_none() {
            self.tell_retired(looked, change, shards).await?;
            return Ok(Progress::Went);
        }
        let seen = self.lives(stream, &shards).await?;
        let begun = self.begin_change()?;
        // Once begun it goes on, even if the coordinator is told to end: given up half way it would leave its rights taken.
        let (engine, stream_of, change_of) = (self.clone(), stream.clone(), change.clone());
        let retiring = tokio::spawn(async move {
            let since = Instant::now();
            let rights = engine.take_rights(&stream_of).await?;
            let outcome = engine.retire_under(&rights, &change_of, &shards, &seen, since);
            let outcome = outcome.await;
            engine.give_back(rights).await;
            drop(begun);
            outcome
        });
        let news = retiring.await.map_err(|_| EngineError::Interrupted)??;
        let looked = self.look_at_stream(stream).await?;
        for input in &news {
            self.tell_all(&looked.groups, input).await?;
        }
        Ok(if news.is_empty() {
            Progress::Waits
        } else {
            Progress::Went
        })
    }

    /// The right to change every group of the stream, and its own group's, which whoever creates a group takes first. In the order of their names, so that no
    /// two wait for each other.
    async fn take_rights(&self, stream: &StreamPrefix) -> Result<Vec<Right>, EngineError> {
        let own = stream.own_group();
        let mut rights = vec![self.take_right(own.clone()).await?];
        // Asked once nobody can create another.
        let groups = match self.groups_of_stream(stream).await {
            Ok(groups) => groups,
            Err(error) => {
                self.give_back(rights).await;
                return Err(error);
            }
        };
        for group in groups.into_iter().filter(|group| *group != own) {
            match self.take_right(group).await {
                Ok(right) => rights.push(right),
                Err(error) => {
                    self.give_back(rights).await;
                    return Err(error);
                }
            }
        }
        Ok(rights)
    }

    async fn take_right(&self, group: GroupId) -> Result<Right, EngineError> {
        let Begun { lock, snapshot, .. } = self.store().begin(&group, None).await?;
        Ok(Right { lock, snapshot })
    }

    async fn give_back(&self, rights: Vec<Right>) {
        for right in rights {
            self.store().release(right.lock).await;
        }
    }

    /// What became of the shards, if every group that has the change still asks for it.
    async fn retire_under(
        &self,
        rights: &[Right],
        change: &ReshardingId,
        shards: &ShardSet,
        seen: &Lives,
        since: Instant,
    ) -> Result<Vec<Input>, EngineError> {
        let mut looked = Vec::new();
        for snapshot in rights.iter().filter_map(|right| right.snapshot.as_ref()) {
            looked.push(self.look_at_snapshot(snapshot).await?);
        }
        let Some(plane) = &self.0.deps.plane else {
            return Ok(Vec::new());
        };
        if looked.is_empty()
            || !looked
                .iter()
                .all(|group| group.asks_to_retire(change, shards))
        {
            return Ok(Vec::new());
        }
        let mut retired = Vec::new();
        let mut news = Vec::new();
        for shard in shards {
            if since.elapsed() > PATIENCE {
                // The rights run out by themselves: the rest is for the next time.
                break;
            }
            let order = Retire {
                stream: looked[0].record.id.stream.clone(),
                shard,
                seen: seen.get(&shard).copied(),
                recorded: looked[0].record.generations.of(shard),
                coordinated: coordinated(&looked),
                proof: self.settings().drain_proof(),
                keep: self.0.resharding.keep_retired,
            };
            match plane.retire(&order).await? {
                Retirement::Gone => retired.push(shard),
                Retirement::Refused(open) => news.push(Input::RetireRefused {
                    resharding: change.clone(),
                    shard,
                    open,
                }),
            }
        }
        if !retired.is_empty() {
            news.push(Input::ShardsRetired {
                resharding: change.clone(),
                shards: retired.into_iter().collect(),
            });
        }
        Ok(news)
    }

    async fn look_at_snapshot(&self, snapshot: &Snapshot) -> Result<GroupView, EngineError> {
        let Cached { snapshot, group } = Cached::new(self, snapshot.clone())?;
        let clock = self.0.watchtower.clock(snapshot.now).await?;
        let clock = Clock {
            doubted_at: self.doubt_of(&snapshot),
            ..clock
        };
        Ok(GroupView {
            record: Arc::clone(&snapshot.record),
            effect: group.asks_for(clock),
            doubted_at: clock.doubted_at,
        })
    }
}

/// The right to change a group, and the group as it is meanwhile.
struct Right {
    lock: GroupLock,
    snapshot: Option<Snapshot>,
}
