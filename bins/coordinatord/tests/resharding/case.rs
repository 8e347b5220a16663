//! One change of the shard count with a death at one point of it, and what must be true afterwards.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use protocol::{MigrationState, ShardDrainPhase};
use testkit::wait_until_async;
use tokio::task::AbortHandle;

use super::coordinator::{Coordinator, Setup};
use super::kill::At;
use super::ledger::Ledger;
use super::streams::Streams;
use super::world::World;
use super::{PATIENCE, reader};

/// From where a change is taken back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum RollBack {
    Never,
    FromPreparing,
    FromActive,
}

/// What is done.
#[derive(Clone, Copy)]
pub struct Case {
    pub from: u32,
    pub to: u32,
    pub roll_back: RollBack,
    pub groups: usize,
    /// Whether the owner of all shards dies with the coordinator, and another member comes.
    pub owner_dies: bool,
    /// Whether the second coordinator dies soon, too.
    pub two_die: bool,
    /// Whether what dies is the creation of a further group, while the change is under way (rule G10).
    pub joins: bool,
}

/// The group that is created while the change is under way.
const LATE: &str = "late";

/// What came of one run.
pub struct Run {
    /// Where the coordinator died; none if the change was over before.
    pub died: Option<String>,
    pub ended: MigrationState,
}

/// Entries of each shard before the change: so many are pending at a consumer that is gone, the others unread (case C45).
const PENDING: u32 = 2;
const ENTRIES: usize = 12;

/// Runs a case in which one coordinator after the other dies at a point of its own, and the last one lives.
pub async fn run(case: Case, redis: &str, streams: Streams, deaths: &[At]) -> Result<Run, String> {
    let keys = format!("coord-{}", streams.name);
    let mut coordinator = Coordinator::start(Setup::new(redis, &keys)).await;
    let world = prepare(case, streams, &coordinator).await;
    let mut members = start_members(&world, "first");
    world.settled().await;
    let id = bring_to_stage(case, &world, &coordinator).await?;
    let producer = world.produce();
    let (mut answered, mut died) = (None, None);
    let mut deaths = deaths.iter();
    let ended = loop {
        if let Some(at) = deaths.next() {
            coordinator.switch.arm(*at);
        }
        let over = lead(case, &world, &id, &coordinator, &mut answered).await?;
        if let Some(ended) = over.filter(|_| coordinator.switch.disarm()) {
            break ended;
        }
        coordinator.bury();
        died = died.or_else(|| coordinator.switch.passed().pop());
        coordinator = Coordinator::start(Setup::new(redis, &keys)).await;
        world.turn_to(coordinator.client.clone(), coordinator.operator.clone());
        if case.owner_dies {
            members.iter().for_each(AbortHandle::abort);
            members = start_members(&world, "next");
        }
    };
    world.end_producing(producer).await;
    world.all_handled().await?;
    let state = check_outcome(case, answered, &ended)?;
    let live = if state == MigrationState::RolledBack {
        case.from
    } else {
        case.to
    };
    let mut groups = world.groups.clone();
    if case.joins {
        groups.push(LATE.to_owned());
    }
    check_streams(&world, &groups, live, case.from.max(case.to)).await?;
    Ok(Run { died, ended: state })
}

fn start_members(world: &Arc<World>, name: &str) -> Vec<AbortHandle> {
    let groups = world.groups.iter();
    groups
        .map(|group| reader::start(world, group, &format!("{group}-{name}")))
        .collect()
}

/// What happens while one coordinator leads: how the change ended in each group, or nothing if the coordinator died first.
async fn lead(
    case: Case,
    world: &Arc<World>,
    id: &str,
    coordinator: &Coordinator,
    answered: &mut Option<u16>,
) -> Result<Option<Vec<MigrationState>>, String> {
    let happens = async {
        if answered.is_none() {
            *answered = Some(ask(case, world, id).await?);
            // With nothing between: a death there would leave the group without a member.
            if case.joins {
                reader::start(world, LATE, "late-first");
            }
            world.beats.store(true, Ordering::SeqCst);
            something_stands_open(case, world).await;
        }
        world.reads.store(true, Ordering::SeqCst);
        world.ended().await.map(Some)
    };
    let outcome = tokio::select! {
        outcome = happens => outcome,
        () = coordinator.switch.killed() => Ok(None),
    };
    // Whatever the first one came to, the others find members that read.
    world.beats.store(true, Ordering::SeqCst);
    world.reads.store(true, Ordering::SeqCst);
    outcome
}

async fn prepare(case: Case, streams: Streams, first: &Coordinator) -> Arc<World> {
    let groups: Vec<String> = (0..case.groups)
        .map(|number| match number {
            0 => streams.name.clone(),
            _ => format!("audit-{number}"),
        })
        .collect();
    first.create(&streams.name, case.from, &groups).await;
    let world = World::new(
        streams,
        groups,
        Arc::new(Ledger::default()),
        first.client.clone(),
        first.operator.clone(),
    );
    world.publish_to_each(case.from, ENTRIES).await;
    for group in &world.groups {
        for shard in 0..case.from {
            world.streams.leave_pending(shard, group, PENDING).await;
        }
    }
    world
}

/// A change that is to be taken back is begun, and held where it is; gives its id.
async fn bring_to_stage(
    case: Case,
    world: &Arc<World>,
    first: &Coordinator,
) -> Result<String, String> {
    let wanted = match case.roll_back {
        RollBack::Never if case.joins => {
            let asked = first.operator.scale(world.name(), case.to).await;
            something_stands_open(case, world).await;
            return asked.map(|_| String::new()).map_err(|it| it.to_string());
        }
        RollBack::Never => return Ok(String::new()),
        RollBack::FromPreparing => {
            first.plane.is_short.store(true, Ordering::SeqCst);
            MigrationState::Preparing
        }
        RollBack::FromActive => {
            // Who has not seen the new version keeps the change there.
            world.beats.store(false, Ordering::SeqCst);
            MigrationState::Active
        }
    };
    let asked = first.operator.scale(world.name(), case.to).await;
    // A coordinator that found no turn, on a busy machine, goes on by itself.
    let are_there = || async {
        let changes = world.changes().await.unwrap_or_default();
        !changes.is_empty() && changes.iter().all(|it| it.state == wanted)
    };
    let there = wait_until_async(PATIENCE, are_there).await;
    let changes = world.changes().await.unwrap_or_default();
    if there.is_err() {
        return Err(format!("not at the stage: {asked:?}, {changes:?}"));
    }
    if case.roll_back == RollBack::FromActive {
        world.publish_to_each(case.to, 3).await;
    }
    Ok(changes[0].resharding_id.clone())
}

/// What the operator wants, asked for until there is an answer that is none of haste; gives its status. Repeating changes nothing (rules G8 and G9).
async fn ask(case: Case, world: &World, id: &str) -> Result<u16, String> {
    let last = Mutex::new(None);
    let asked = wait_until_async(PATIENCE, || async {
        let (operator, name) = (world.operator(), world.name());
        let status = match case.roll_back {
            RollBack::Never if case.joins => world.create_group(LATE).await,
            RollBack::Never => operator.scale(name, case.to).await.ok(),
            _ => operator.roll_back(name, &world.groups[0], id).await.ok(),
        };
        *last.lock().unwrap() = status;
        match status {
            Some(202 | 422) => true,
            // There is such a change; or the coordinator had no turn.
            Some(409) if case.roll_back == RollBack::Never => world.changes().await.is_some(),
            _ => false,
        }
    });
    let outcome = asked.await;
    match (outcome, last.into_inner().unwrap()) {
        (Ok(()), Some(status)) => Ok(status),
        (_, last) => Err(format!("the operator gets no answer: {last:?}")),
    }
}

/// Waits until a shard that leaves is seen with entries in it, or the change is over; where none leaves, for nothing.
async fn something_stands_open(case: Case, world: &World) {
    if case.roll_back != RollBack::Never || case.to >= case.from {
        return;
    }
    let is_open = || async {
        let changes = world.changes().await.unwrap_or_default();
        let is_over = changes
            .iter()
            .any(|it| it.state == MigrationState::Deprecated);
        let mut shards = changes.iter().flat_map(|it| it.shards.iter().flatten());
        is_over || shards.any(|it| it.phase == ShardDrainPhase::Draining && !it.open.is_empty())
    };
    let _ = wait_until_async(PATIENCE, is_open).await;
}

fn check_outcome(
    case: Case,
    accepted: Option<u16>,
    ended: &[MigrationState],
) -> Result<MigrationState, String> {
    let wanted = match (case.roll_back, accepted) {
        (RollBack::Never, _) | (_, Some(422)) => MigrationState::Deprecated,
        _ => MigrationState::RolledBack,
    };
    if ended.iter().all(|state| *state == wanted) {
        Ok(wanted)
    } else {
        Err(format!("{wanted:?} was expected ({accepted:?}): {ended:?}"))
    }
}

/// Live shards have streams with every group, and are read by all; those that left are gone, and their lifecycles say so; nothing else is there.
pub async fn check_streams(
    world: &World,
    groups: &[String],
    live: u32,
    most: u32,
) -> Result<(), String> {
    let streams = &world.streams;
    let mut expected_groups = groups.to_vec();
    expected_groups.sort();
    for group in groups {
        let is_through = || async {
            let found = world.client().group(world.name(), group).await;
            found.is_ok_and(|it| it.shard_count == live && it.active_migration.is_none())
        };
        if wait_until_async(PATIENCE, is_through).await.is_err() {
            let found = world.client().group(world.name(), group).await;
            return Err(format!("{group} is not through: {found:?}"));
        }
    }
    let all = streams.all().await;
    for shard in 0..live {
        let key = streams.key(shard);
        if !all.contains(&key) {
            return Err(format!("{key} is not there"));
        }
        let are_read = || async {
            let groups = streams.groups(&key).await;
            groups.iter().all(|(_, pending)| *pending == 0)
                && !streams.has_unread(&key).await
                && groups.into_iter().map(|(name, _)| name).collect::<Vec<_>>() == expected_groups
        };
        if wait_until_async(PATIENCE, are_read).await.is_err() {
            return Err(format!("{key}: {:?}", streams.groups(&key).await));
        }
    }
    for shard in live..most {
        let state = streams.state(shard).await;
        if state.as_deref() != Some("destroyed") {
            return Err(format!("shard {shard} left and is {state:?}"));
        }
    }
    for key in all {
        let is_live = (0..live).any(|shard| key == streams.key(shard));
        let is_retired = (live..most)
            .any(|shard| key.starts_with(&format!("{{{}}}:retired:", streams.key(shard))));
        if !is_live && !is_retired {
            return Err(format!("{key} is a stream that nobody reads"));
        }
        for number in streams.numbers(&key).await {
            let mut unseen = world.groups.iter();
            if let Some(group) = unseen.find(|group| !world.ledger.has_handled(group, number)) {
                return Err(format!("{key} has {number}, which {group} never saw"));
            }
        }
    }
    Ok(())
}
