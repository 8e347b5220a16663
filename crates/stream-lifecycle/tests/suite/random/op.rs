//! The operations of the random test, and how they are chosen. What they do is the model's and the crate's business.

use stream_lifecycle::Naming;

use crate::support::Random;

/// Which handle.
pub(super) type Slot = usize;
pub(super) const SLOTS: u64 = 5;

#[derive(Clone, Debug)]
pub(super) enum Op {
    Create {
        slot: Slot,
        incarnation: u128,
        naming: Naming,
    },
    Recreate {
        slot: Slot,
        expected: u64,
        incarnation: u128,
        naming: Naming,
    },
    Open {
        slot: Slot,
    },
    Seal(Slot),
    Unseal(Slot),
    Destroy(Slot),
    Drain {
        slot: Slot,
        keep: bool,
    },
    Publish(Slot, u64),
    Once {
        slot: Slot,
        key: u64,
        value: u64,
    },
    Remove {
        slot: Slot,
        nth: u64,
    },
    Snapshot(Slot),
    Ensure(Slot, &'static str),
    Register {
        slot: Slot,
        who: Who,
        sole: bool,
    },
    Refresh(Slot, Who),
    Deregister(Slot, Who),
    Read {
        slot: Slot,
        group: &'static str,
        consumer: &'static str,
        count: usize,
    },
    Ack {
        slot: Slot,
        group: &'static str,
        nth: u64,
    },
    AckAs {
        slot: Slot,
        who: Who,
        nth: u64,
    },
    Acquire {
        slot: Slot,
        group: &'static str,
        owner: &'static str,
    },
    Release(Slot),
    Claim {
        slot: Slot,
        consumer: &'static str,
    },
    Cleanup(Slot),
    Again {
        slot: Slot,
        who: Who,
        nth: u64,
        what: Again,
    },
    Trim(usize),
    LoseStream,
    LoseGroup(&'static str),
    Flush,
}

/// What is done about an entry that has to be handled again, or not any more.
#[derive(Clone, Copy, Debug)]
pub(super) enum Again {
    Attempt,
    Postpone { is_long: bool },
    DeadLetter,
    AckAndDelete,
    Count { knows: bool },
}

/// A registration.
#[derive(Clone, Copy, Debug)]
pub(super) struct Who {
    pub(super) group: &'static str,
    pub(super) consumer: &'static str,
    pub(super) token: u64,
    pub(super) epoch: u64,
}

fn pick<T: Copy>(random: &mut Random, all: &[T]) -> T {
    let index = random.below(all.len() as u64);
    all[usize::try_from(index).unwrap()]
}

pub(super) const GROUPS: [&str; 2] = ["g", "h"];
pub(super) const CONSUMERS: [&str; 3] = ["a", "b", "c"];

fn choose_again(random: &mut Random) -> Again {
    match random.below(36) {
        0..12 => Again::Attempt,
        12..16 => Again::Postpone {
            is_long: random.below(2) == 0,
        },
        16..21 => Again::DeadLetter,
        21..27 => Again::AckAndDelete,
        _ => Again::Count {
            knows: random.below(6) > 0,
        },
    }
}

/// `generation`: the one that the shard is in, so that many recreations hit.
pub(super) fn choose(random: &mut Random, generation: u64) -> Op {
    let slot = usize::try_from(random.below(SLOTS)).unwrap();
    let group = pick(random, &GROUPS);
    let consumer = pick(random, &CONSUMERS);
    let nth = random.below(8);
    let naming = pick(
        random,
        &[
            Naming::FirstFlat,
            Naming::FirstFlat,
            Naming::Flat,
            Naming::Qualified,
        ],
    );
    let who = Who {
        group,
        consumer,
        token: random.below(3),
        epoch: random.below(12),
    };
    let incarnation = u128::from(random.below(3));
    match random.below(240) {
        0..6 => Op::Create {
            slot,
            incarnation,
            naming,
        },
        6..18 => {
            let expected = (generation + random.below(3)).saturating_sub(1).max(1);
            let expected = if random.below(3) > 0 {
                generation.max(1)
            } else {
                expected
            };
            Op::Recreate {
                slot,
                expected,
                incarnation,
                naming,
            }
        }
        18..34 => Op::Open { slot },
        34..36 => Op::Seal(slot),
        36..42 => Op::Unseal(slot),
        42..43 => Op::Destroy(slot),
        43..50 => Op::Drain {
            slot,
            keep: random.below(2) == 0,
        },
        50..75 => Op::Publish(slot, nth),
        75..95 => Op::Once {
            slot,
            key: random.below(12),
            value: random.below(2),
        },
        95..101 => Op::Remove { slot, nth },
        101..106 => Op::Snapshot(slot),
        106..112 => Op::Ensure(slot, group),
        112..122 => Op::Register {
            slot,
            who,
            sole: random.below(4) == 0,
        },
        122..127 => Op::Refresh(slot, who),
        127..132 => Op::Deregister(slot, who),
        132..155 => Op::Read {
            slot,
            group,
            consumer,
            count: 3,
        },
        155..172 => Op::Ack { slot, group, nth },
        172..182 => Op::AckAs { slot, who, nth },
        182..187 => Op::Acquire {
            slot,
            group,
            owner: pick(random, &["o", "p"]),
        },
        187..188 => Op::Release(slot),
        188..193 => Op::Claim { slot, consumer },
        193..196 => Op::Cleanup(slot),
        196..197 => Op::LoseStream,
        197..199 => Op::LoseGroup(group),
        199..235 => Op::Again {
            slot,
            who,
            nth,
            what: choose_again(random),
        },
        235..238 => Op::Trim(usize::try_from(nth).unwrap()),
        238 if random.below(4) == 0 => Op::Flush,
        _ => Op::Open { slot },
    }
}
