//! What is to be done next about a change of the shard count, from what several groups of one stream have recorded (rules G1, G4, G5, G8 and G10).
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use coordinator_core::Group;
use coordinator_core::evidence::ShardEvidence;
use coordinator_core::generations::Generations;
use coordinator_core::input::Input;
use coordinator_core::migration::MigrationState;
use coordinator_core::names::{ConsumerGroup, GroupId, ReshardingId, StreamPrefix};
use coordinator_core::numbers::{ShardCount, ShardIndex};
use coordinator_core::record::{GroupRecord, Provisioning};
use coordinator_core::resharding::{GroupView, Plan, plan};
use coordinator_core::settings::Settings;
use coordinator_core::shard_set::ShardSet;
use coordinator_core::time::{Clock, Timestamp};

/// Groups `a`, `b` … of the stream `orders`, without members.
struct Stream(Vec<Group>);

fn clock() -> Clock {
    let now = Timestamp::from_ms(1_000);
    Clock {
        now,
        coordination_since: now,
        doubted_at: None,
    }
}

fn change() -> ReshardingId {
    ReshardingId::new("reshard-1")
}

fn shards(list: &[u32]) -> ShardSet {
    list.iter().copied().map(ShardIndex::new).collect()
}

fn scale(target: u32) -> Input {
    Input::ScaleRequested {
        resharding: change(),
        target: ShardCount::new(target),
    }
}

fn provisioned() -> Input {
    Input::MigrationProvisioned {
        resharding: change(),
        generations: Generations::default(),
    }
}

fn rollback() -> Input {
    Input::RollbackRequested {
        resharding: change(),
        is_decided: false,
    }
}

impl Stream {
    fn new(groups: usize, count: u32) -> Self {
        let stream = StreamPrefix::parse("orders").unwrap();
        let names = ["a", "b", "c"].into_iter().take(groups);
        let groups = names.map(|name| {
            let id = GroupId {
                stream: stream.clone(),
                group: ConsumerGroup::parse(name).unwrap(),
            };
            let record = GroupRecord::new(id, ShardCount::new(count), Provisioning::Done);
            Group::restore(record, Settings::default()).unwrap()
        });
        Self(groups.collect())
    }

    fn tell(&mut self, group: usize, input: &Input) {
        let step = self.0[group].decide(clock(), input).unwrap();
        self.0[group].apply(&step.writes);
    }

    fn tell_all(&mut self, input: &Input) {
        for group in 0..self.0.len() {
            self.tell(group, input);
        }
    }

    /// Every shard that leaves is empty.
    fn observe(&mut self, group: usize, leaving: &[u32]) {
        let evidence = shards(leaving)
            .iter()
            .map(|shard| (shard, ShardEvidence::Missing))
            .collect();
        let input = Input::DrainObserved {
            resharding: change(),
            evidence,
            coordinated: Vec::new(),
        };
        self.tell(group, &input);
    }

    fn plan(&self) -> Option<Plan> {
        let views: Vec<GroupView> = self
            .0
            .iter()
            .map(|group| GroupView {
                record: Arc::new(group.record().clone()),
                effect: group.asks_for(clock()),
                doubted_at: None,
            })
            .collect();
        plan(&views)
    }

    /// Who is told what, where something is handed on.
    fn handed_on(&self) -> Vec<(String, Input)> {
        match self.plan() {
            Some(Plan::HandOn(hand_on)) => hand_on
                .into_iter()
                .map(|it| (it.group.group.as_str().to_owned(), it.input))
                .collect(),
            other => panic!("nothing is handed on: {other:?}"),
        }
    }

    fn state(&self, group: usize) -> Option<MigrationState> {
        let record = self.0[group].record();
        let mut known = record.migration.iter().chain(&record.finished_migrations);
        known.find(|it| it.id == change()).map(|it| it.state)
    }

    fn counts(&self) -> Vec<u32> {
        let counts = self.0.iter().map(|group| group.record().shard_count.get());
        counts.collect()
    }
}

#[test]
fn where_no_group_has_a_change_nothing_is_done() {
    assert!(Stream::new(2, 4).plan().is_none());
    assert!(plan(&[]).is_none());
}

#[test]
fn g1_g10_nothing_is_made_before_every_group_has_recorded_the_change() {
    let mut stream = Stream::new(3, 4);
    stream.tell(1, &scale(6));
    let told = stream.handed_on();
    let names: Vec<&str> = told.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["a", "c"]);
    assert!(
        matches!(&told[0].1, Input::ScaleRequested { resharding, target } if *resharding == change() && target.get() == 6)
    );
    stream.tell_all(&scale(6));
    let plan = stream.plan();
    assert!(
        matches!(&plan, Some(Plan::Provision { shards: made, .. }) if *made == shards(&[4, 5])),
        "{plan:?}"
    );
    // Also once one of them has gone further: it is repeated for the others.
    stream.tell(0, &provisioned());
    assert!(matches!(stream.plan(), Some(Plan::Provision { .. })));
}

#[test]
fn g5_shards_are_taken_away_only_once_every_group_asks_for_it() {
    let mut stream = Stream::new(2, 4);
    stream.tell_all(&scale(2));
    stream.tell_all(&provisioned());
    let plan = stream.plan();
    assert!(
        matches!(&plan, Some(Plan::Look { shards: looked_at, .. }) if *looked_at == shards(&[2, 3])),
        "{plan:?}"
    );
    stream.observe(0, &[2, 3]);
    assert!(matches!(stream.plan(), Some(Plan::Look { .. })));
    stream.observe(1, &[2, 3]);
    let plan = stream.plan();
    assert!(
        matches!(&plan, Some(Plan::Retire { shards: gone, are_gone: false, .. }) if *gone == shards(&[2, 3])),
        "{plan:?}"
    );
    // One group was told and is through: what is there now is not this change's.
    let retired = Input::ShardsRetired {
        resharding: change(),
        shards: shards(&[2, 3]),
    };
    stream.tell(0, &retired);
    assert!(matches!(
        stream.plan(),
        Some(Plan::Retire { are_gone: true, .. })
    ));
    stream.tell(1, &retired);
    assert!(stream.plan().is_none());
    assert_eq!(stream.counts(), [2, 2]);
}

#[test]
fn g8_a_group_that_has_gone_further_follows_the_one_that_takes_the_change_back() {
    let mut stream = Stream::new(2, 4);
    stream.tell_all(&scale(2));
    stream.tell(1, &provisioned());
    // The first one takes it back before it is active, the other one drains already.
    stream.tell(0, &rollback());
    assert_eq!(
        [stream.state(0), stream.state(1)],
        [
            Some(MigrationState::RolledBack),
            Some(MigrationState::Draining)
        ]
    );
    let told = stream.handed_on();
    assert_eq!(told.len(), 1);
    assert!(
        matches!(&told[0], (name, Input::RollbackRequested { is_decided: true, .. }) if name == "b")
    );
    stream.tell(1, &told[0].1);
    assert!(stream.plan().is_none());
    assert_eq!(stream.counts(), [4, 4]);
}

#[test]
fn g8_a_group_that_is_through_takes_the_change_up_again_to_take_it_back() {
    let mut stream = Stream::new(2, 4);
    stream.tell_all(&scale(6));
    // Without members an added shard is all there is to do.
    stream.tell(1, &provisioned());
    assert_eq!(stream.state(1), Some(MigrationState::Deprecated));
    stream.tell(0, &rollback());
    let told = stream.handed_on();
    stream.tell(1, &told[0].1);
    assert_eq!(
        [stream.state(0), stream.state(1)],
        [Some(MigrationState::RollingBack); 2]
    );
    assert!(matches!(stream.plan(), Some(Plan::Look { .. })));
    assert_eq!(stream.counts(), [4, 4]);
}

#[test]
fn g10_a_group_that_lost_a_change_is_brought_up_to_those_that_are_through_with_it() {
    let mut stream = Stream::new(2, 4);
    let before = stream.0[1].clone();
    stream.tell_all(&scale(6));
    stream.tell_all(&provisioned());
    assert!(stream.plan().is_none());
    stream.0[1] = before;
    let told = stream.handed_on();
    assert!(matches!(&told[0], (name, Input::ScaleRequested { .. }) if name == "b"));
    stream.tell(1, &told[0].1);
    assert!(matches!(stream.plan(), Some(Plan::Provision { .. })));
    stream.tell_all(&provisioned());
    assert!(stream.plan().is_none());
    assert_eq!(stream.counts(), [6, 6]);
    // Late, it is not begun again.
    stream.tell(0, &scale(6));
    assert_eq!(stream.counts(), [6, 6]);
}
