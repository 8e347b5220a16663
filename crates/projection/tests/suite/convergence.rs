//! Random writers, builders and crashes, step by step from a seed, and then quiet: the index equals the source. A failing seed is told and
//! gives the same steps again.

use std::collections::HashMap;

use projection::{Build, Entry, IndexError, Position, Source};

use crate::source::{Item, item, space};
use crate::world::World;

const SEEDS: u64 = 100;
const STEPS: usize = 200;
const PAGE: usize = 3;

/// SplitMix64.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        usize::try_from(mixed % u64::try_from(below).unwrap()).unwrap()
    }
}

/// What goes wrong besides crashes of builders, delays and reordering.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Harm {
    /// Nothing: then single writes alone keep the index right, whatever builders do.
    None,
    /// Writers die between the source and the index: a last rebuild makes up for it.
    LostWrites,
    /// The index loses everything now and then.
    Flushes,
}

/// A write to the index that is on its way.
#[derive(Debug, Clone)]
enum Write {
    Upsert(Item),
    Remove(String, String, u64),
}

struct Builder {
    build: Build,
    space: String,
    after: Option<Position>,
    /// A page that was read and is not loaded yet.
    page: Option<Vec<Item>>,
    is_complete: bool,
}

struct Play<'a> {
    world: &'a mut World,
    dice: Dice,
    harm: Harm,
    spaces: [String; 2],
    versions: HashMap<String, u64>,
    on_their_way: Vec<Write>,
    builders: Vec<Builder>,
    committed: usize,
}

impl Play<'_> {
    fn a_space(&mut self) -> String {
        self.spaces[self.dice.roll(2)].clone()
    }

    /// A row is written, moved or deleted in the source; the index is told at once, later, or never.
    async fn change(&mut self) {
        let (name, entry) = (self.a_space(), format!("id{}", self.dice.roll(12)));
        let last = self.versions.entry(entry.clone()).or_default();
        *last += 1;
        let number = *last;
        let mut told = Vec::new();
        for old in self.spaces.clone() {
            if self.world.rows.all(&old).iter().any(|row| row.id == entry) {
                self.world.rows.delete(&old, &entry);
                if old != name {
                    told.push(Write::Remove(old, entry.clone(), number));
                }
            }
        }
        if self.dice.roll(3) == 0 {
            told.push(Write::Remove(name, entry, number));
        } else {
            let order = i64::try_from(self.dice.roll(20)).unwrap();
            let row = item(&name, &entry, order, number);
            self.world.row(&row);
            told.push(Write::Upsert(row));
        }
        if self.harm == Harm::LostWrites && self.dice.roll(8) == 0 {
            return;
        }
        if self.dice.roll(2) == 0 {
            self.on_their_way.extend(told);
            return;
        }
        for write in told {
            self.tell(write).await;
        }
    }

    async fn tell(&self, write: Write) {
        match write {
            Write::Upsert(item) => self.world.upsert(&item).await,
            Write::Remove(name, entry, number) => self.world.remove(&name, &entry, number).await,
        }
    }

    async fn deliver(&mut self) {
        if self.on_their_way.is_empty() {
            return;
        }
        let which = self.dice.roll(self.on_their_way.len());
        let write = self.on_their_way.swap_remove(which);
        // Some arrive twice.
        if self.dice.roll(6) == 0 {
            self.on_their_way.push(write.clone());
        }
        self.tell(write).await;
    }

    async fn begin(&mut self) {
        let name = self.a_space();
        match self.world.try_begin(&name).await {
            Ok(build) => self.builders.push(Builder {
                build,
                space: name,
                after: None,
                page: None,
                is_complete: false,
            }),
            Err(IndexError::Busy { .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }

    /// One step of one builder: it reads a page, loads it, or commits.
    async fn build(&mut self) {
        if self.builders.is_empty() {
            return self.begin().await;
        }
        let which = self.dice.roll(self.builders.len());
        let mut builder = self.builders.swap_remove(which);
        if builder.is_complete {
            match self.world.index.commit(builder.build).await {
                Ok(_) => self.committed += 1,
                Err(error) => assert_eq!(error, IndexError::BuildLost),
            }
            return;
        }
        if let Some(page) = builder.page.take() {
            if let Err(error) = self.world.load(&mut builder.build, &page).await {
                return assert_eq!(error, IndexError::BuildLost);
            }
            builder.is_complete = page.len() < PAGE;
        } else {
            let (rows, name) = (&self.world.rows, space(&builder.space));
            let page = rows
                .page(&name, builder.after.as_ref(), PAGE)
                .await
                .unwrap();
            builder.after = page.last().map(Position::of).or(builder.after);
            builder.page = Some(page);
        }
        self.builders.push(builder);
    }

    async fn step(&mut self) {
        match self.dice.roll(40) {
            0..=10 => self.change().await,
            11..=23 => self.deliver().await,
            24..=36 => self.build().await,
            37 => {
                // A builder crashes; its lease goes on.
                self.builders.pop();
            }
            38 => {
                let name = self.a_space();
                self.world.lapse(&name).await;
            }
            _ if self.harm == Harm::Flushes => self.world.flush().await,
            _ => self.begin().await,
        }
    }

    async fn deliver_all(&mut self) {
        while !self.on_their_way.is_empty() {
            self.deliver().await;
        }
    }

    async fn rebuild_all(&mut self, only_unbuilt: bool) {
        for name in self.spaces.clone() {
            let unbuilt = self.world.read(&name).await == Err(IndexError::Unbuilt);
            if unbuilt || !only_unbuilt {
                self.world.lapse(&name).await;
                self.world.rebuild(&name).await;
            }
        }
    }

    async fn quiet(&mut self) {
        match self.harm {
            Harm::None => {
                // Late writes arrive before a last rebuild, or after it, or there is none.
                if self.dice.roll(4) == 0 {
                    self.rebuild_all(false).await;
                }
                self.deliver_all().await;
                self.rebuild_all(true).await;
            }
            Harm::LostWrites | Harm::Flushes => {
                self.deliver_all().await;
                self.rebuild_all(false).await;
            }
        }
    }
}

/// Plays one seed; answers how many rebuilds were committed in its midst.
async fn play(world: &mut World, seed: u64, harm: Harm) -> usize {
    let mut play = Play {
        world,
        dice: Dice(seed),
        harm,
        spaces: [format!("a{seed}"), format!("b{seed}")],
        versions: HashMap::new(),
        on_their_way: Vec::new(),
        builders: Vec::new(),
        committed: 0,
    };
    for _ in 0..STEPS {
        play.step().await;
    }
    play.quiet().await;
    for name in play.spaces.clone() {
        let rows = play.world.rows.all(&name);
        let wanted: Vec<Entry> = rows.iter().map(Entry::of).collect();
        match play.world.read(&name).await {
            Ok(answer) => assert_eq!(answer.entries, wanted, "seed {seed}, {harm:?}, {name}"),
            Err(error) => {
                assert_eq!(error, IndexError::Empty, "seed {seed}, {harm:?}, {name}");
                assert_eq!(wanted, [], "seed {seed}, {harm:?}, {name}");
            }
        }
    }
    play.committed
}

async fn converges(mut world: World, harms: &[Harm]) {
    let mut committed = 0;
    for seed in 0..SEEDS {
        let harm = harms[usize::try_from(seed).unwrap() % harms.len()];
        committed += play(&mut world, seed, harm).await;
    }
    let most = usize::try_from(SEEDS).unwrap();
    assert!(
        committed > most,
        "too few rebuilds to show anything: {committed}"
    );
}

#[tokio::test]
async fn the_index_in_memory_equals_the_source_in_the_end() {
    converges(World::in_memory(), &[Harm::None, Harm::LostWrites]).await;
}

#[tokio::test]
async fn the_index_in_redis_equals_the_source_in_the_end() {
    let harms = [Harm::None, Harm::LostWrites, Harm::Flushes];
    converges(World::in_redis().await, &harms).await;
}
