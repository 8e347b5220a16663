//! One change of the shard count with a death at one point of it, and what must be true afterwards.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use protocol::{MigrationState, ShardDrainPhase};
use redis::aio::MultiplexedConnection;
use testkit::wait_until_async;

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
}

/// What came of one run.
pub struct Run {
    /// Where the coordinator died; none if the change was over before.
    pub died: Option<String>,
    pub ended: MigrationState,
}

/// Entries of each shard before the change: so many are pending at a consumer that is gone, the others unread (case C45).
const PENDING: u32 = 2;
const ENTRIES: usize = 12;

/// Runs a case in which the coordinator dies at one point.
pub async fn run(
    case: Case,
    redis: &str,
    connection: MultiplexedConnection,
    name: &str,
    at: At,
) -> Result<Run, String> {
    let keys = format!("coord-{name}");
    let first = Coordinator::start(Setup::new(redis, &keys)).await;
    let streams = Streams {
        name: name.to_owned(),
        connection,
    };
    let world = prepare(case, streams, &first).await;
    let mut members = Vec::new();
    for group in &world.groups {
        members.push(reader::start(&world, group, &format!("{group}-first")));
    }
    world.settled().await;
    let id = bring_to_stage(case, &world, &first).await?;
    let producer = world.produce();

    first.switch.arm(at);
    let answered = tokio::select! {
        status = ask(case, &world, &id) => Some(status?),
        () = first.switch.killed() => None,
    };
    world.beats.store(true, Ordering::SeqCst);
    if answered.is_some() {
        tokio::select! {
            () = something_stands_open(case, &world) => {}
            () = first.switch.killed() => {}
        }
    }
    world.reads.store(true, Ordering::SeqCst);
    let over = tokio::select! {
        ended = world.ended() => Some(ended?),
        () = first.switch.killed() => None,
    };
    let is_alive = first.switch.disarm();
    let (died, accepted, ended) = match over {
        Some(ended) if is_alive => (None, answered, ended),
        _ => {
            first.bury();
            if case.owner_dies {
                members.iter().for_each(tokio::task::AbortHandle::abort);
            }
            let second = Coordinator::start(Setup::new(redis, &keys)).await;
            world.turn_to(second.client.clone(), second.operator.clone());
            if case.owner_dies {
                for group in &world.groups {
                    reader::start(&world, group, &format!("{group}-second"));
                }
            }
            let accepted = match answered {
                Some(status) => Some(status),
                None => Some(ask(case, &world, &id).await?),
            };
            let died = first.switch.passed().pop();
            (died, accepted, world.ended().await?)
        }
    };
    world.end_producing(producer).await;
    world.all_handled().await?;
    let state = check_outcome(case, accepted, &ended)?;
    let live = if state == MigrationState::RolledBack {
        case.from
    } else {
        case.to
    };
    check_streams(&world, live, case.from.max(case.to)).await?;
    Ok(Run { died, ended: state })
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
    let changes = world.changes().await.unwrap_or_default();
    if changes.is_empty() || changes.iter().any(|it| it.state != wanted) {
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
            RollBack::Never => operator.scale(name, case.to).await,
            _ => operator.roll_back(name, &world.groups[0], id).await,
        };
        let is_answer = matches!(status, Ok(202 | 409 | 422));
        *last.lock().unwrap() = Some(status);
        is_answer
    });
    let outcome = asked.await;
    match (outcome, last.into_inner().unwrap()) {
        (Ok(()), Some(Ok(status))) => Ok(status),
        (_, last) => Err(format!("the operator gets no answer: {last:?}")),
    }
}

/// Waits until a shard that leaves is seen with entries in it, or the change is over, or no shard leaves.
async fn something_stands_open(case: Case, world: &World) {
    if case.roll_back != RollBack::Never || case.to >= case.from {
        return;
    }
    let is_open = || async {
        let changes = world.changes().await.unwrap_or_default();
        let mut shards = changes.iter().flat_map(|it| it.shards.iter().flatten());
        shards.any(|it| it.phase == ShardDrainPhase::Draining && !it.open.is_empty())
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

/// Live shards have streams with every group; those that left are gone, and their lifecycles say so; nothing else is there.
pub async fn check_streams(world: &World, live: u32, most: u32) -> Result<(), String> {
    let streams = &world.streams;
    let mut expected_groups = world.groups.clone();
    expected_groups.sort();
    for group in &world.groups {
        let found = world.client().group(world.name(), group).await;
        let count = found.map(|found| found.shard_count);
        if !matches!(count, Ok(count) if count == live) {
            return Err(format!("{group} has not {live} shards: {count:?}"));
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
