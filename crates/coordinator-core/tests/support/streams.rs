//! Shard streams without Redis: what producers wrote and nobody has read yet, and what becomes of it when the shard count changes.

use coordinator_core::evidence::{DrainProof, ShardEvidence};
use coordinator_core::generations::Generations;
use coordinator_core::input::Input;
use coordinator_core::names::ReshardingId;
use coordinator_core::numbers::{ShardCount, ShardIndex};
use coordinator_core::shard_set::ShardSet;
use coordinator_core::step::Effect;

use super::choices::Choices;
use super::obedient::Bench;
use super::shards::{coordinated, found};

/// The streams of one stream prefix.
pub struct Streams {
    /// For each shard, the entries that nobody has read; none where there is no stream.
    unread: Vec<Option<u64>>,
    /// Evidence that was read and has not arrived yet.
    on_its_way: Vec<Input>,
    changes: u32,
    pub retired: usize,
}

impl Streams {
    pub fn new(shards: u32, most: u32) -> Self {
        let unread = (0..most)
            .map(|shard| (shard < shards).then_some(0))
            .collect();
        Self {
            unread,
            on_its_way: Vec::new(),
            changes: 0,
            retired: 0,
        }
    }

    /// One step of producers, readers, an operator, and whoever carries out what the record asks for.
    pub fn step(&mut self, bench: &mut Bench, choices: &mut Choices) -> Result<(), String> {
        match choices.below(16) {
            // Producers may still go by an older count: a stream that is there takes their entry.
            0..=4 => self.publish(choices.below(self.unread.len())),
            5..=8 => self.read(bench, choices.below(self.unread.len())),
            9..=12 => self.carry_out(bench, choices.below(2) == 0)?,
            13 => self.deliver(bench, choices),
            14 => self.ask_for_a_change(bench, choices),
            _ => {}
        }
        Ok(())
    }

    /// Everything is read, and everything that is asked for is done, at once.
    pub fn good_step(&mut self, bench: &mut Bench) -> Result<(), String> {
        for shard in 0..self.unread.len() {
            self.read(bench, shard);
        }
        self.on_its_way.clear();
        self.carry_out(bench, false)
    }

    /// Entries that nobody has read, wherever they are.
    pub fn left(&self) -> u64 {
        self.unread.iter().flatten().sum()
    }

    fn publish(&mut self, shard: usize) {
        if let Some(unread) = &mut self.unread[shard] {
            *unread += 1;
        }
    }

    fn read(&mut self, bench: &Bench, shard: usize) {
        let index = u32::try_from(shard).expect("a small index");
        if bench.readers(index) > 0 && self.unread[shard].is_some() {
            self.unread[shard] = Some(0);
        }
    }

    fn ask_for_a_change(&mut self, bench: &mut Bench, choices: &mut Choices) {
        let active = bench
            .world
            .group
            .record()
            .migration
            .as_ref()
            .map(|migration| migration.id.clone());
        let input = match active {
            Some(resharding) => Input::RollbackRequested {
                resharding,
                is_decided: false,
            },
            None => {
                self.changes += 1;
                let target =
                    u32::try_from(choices.below(self.unread.len() + 1)).expect("a small count");
                let resharding = ReshardingId::new(&format!("reshard-{}", self.changes));
                Input::ScaleRequested {
                    resharding,
                    target: ShardCount::new(target),
                }
            }
        };
        // A refusal changes nothing.
        if bench.world.decide(&input).is_ok() {
            bench.world.command(&input);
        }
    }

    /// Does what the record asks for. Evidence may be a while on its way.
    fn carry_out(&mut self, bench: &mut Bench, is_slow: bool) -> Result<(), String> {
        for effect in bench.world.effects() {
            match effect {
                Effect::Provision { resharding, shards } => {
                    for shard in &shards {
                        self.unread[shard.as_usize()].get_or_insert(0);
                    }
                    bench.world.command(&Input::MigrationProvisioned {
                        resharding,
                        generations: Generations::default(),
                    });
                }
                Effect::ReadDrainEvidence { resharding, shards } => {
                    let evidence = shards
                        .iter()
                        .map(|shard| (shard, self.look_at(shard)))
                        .collect();
                    let observed = Input::DrainObserved {
                        resharding,
                        evidence,
                        coordinated: vec![coordinated()],
                    };
                    if is_slow {
                        self.on_its_way.push(observed);
                    } else {
                        bench.world.command(&observed);
                    }
                }
                Effect::Retire { resharding, shards } => {
                    self.retire(bench, &resharding, &shards)?
                }
                Effect::DoubtWrites { at } => bench.world.doubted_at = Some(at),
            }
        }
        Ok(())
    }

    fn deliver(&mut self, bench: &mut Bench, choices: &mut Choices) {
        if !self.on_its_way.is_empty() {
            let observed = self
                .on_its_way
                .swap_remove(choices.below(self.on_its_way.len()));
            bench.world.command(&observed);
        }
    }

    fn look_at(&self, shard: ShardIndex) -> ShardEvidence {
        match self.unread[shard.as_usize()] {
            None => ShardEvidence::Missing,
            Some(unread) => found(0, Some(unread), unread > 0),
        }
    }

    /// One step that proves and takes away (rule G5).
    fn retire(
        &mut self,
        bench: &mut Bench,
        resharding: &ReshardingId,
        shards: &ShardSet,
    ) -> Result<(), String> {
        for shard in shards {
            if bench.readers(shard.get()) > 0 {
                return Err(format!(
                    "shard {shard} is to be retired and somebody reads it"
                ));
            }
            let open = self
                .look_at(shard)
                .open_conditions(&[coordinated()], DrainProof::Lag);
            let resharding = resharding.clone();
            let input = if open.is_empty() {
                self.unread[shard.as_usize()] = None;
                self.retired += 1;
                Input::ShardsRetired {
                    resharding,
                    shards: ShardSet::from_iter([shard]),
                }
            } else {
                Input::RetireRefused {
                    resharding,
                    shard,
                    open,
                }
            };
            bench.world.command(&input);
        }
        Ok(())
    }
}
