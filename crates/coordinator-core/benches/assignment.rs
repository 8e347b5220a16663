//! Rule A7: what computing a target costs, beside one pass over the owners.
#![allow(missing_docs, clippy::unwrap_used)]

use std::hint::black_box;

use coordinator_core::assign::{AssignmentStrategy, Candidate, Owners, Problem, Sticky};
use coordinator_core::numbers::ShardIndex;
use coordinator_core::shard_set::ShardSet;
use criterion::{Criterion, criterion_group, criterion_main};

const MEMBERS: usize = 10_000;

fn solve(previous: &[ShardSet], assignable: &ShardSet) -> Owners {
    let candidates: Vec<_> = previous
        .iter()
        .map(|previous| Candidate {
            previous,
            holdings: &[],
        })
        .collect();
    Sticky.solve(&Problem {
        candidates: &candidates,
        assignable,
    })
}

fn assignment(criterion: &mut Criterion) {
    for shards in [100_000_u32, 500_000] {
        let assignable: ShardSet = (0..shards).map(ShardIndex::new).collect();
        let empty = vec![ShardSet::new(); MEMBERS];
        let full = solve(&empty, &assignable);
        let mut one_more = full.by_candidate(MEMBERS);
        one_more.push(ShardSet::new());
        let mut group = criterion.benchmark_group(format!("{MEMBERS} members, {shards} shards"));
        group.sample_size(20);
        group.bench_function("one pass over the owners", |bencher| {
            bencher.iter(|| black_box(&full).by_candidate(MEMBERS).len());
        });
        group.bench_function("full", |bencher| {
            bencher.iter(|| solve(black_box(&empty), &assignable))
        });
        group.bench_function("one member more", |bencher| {
            bencher.iter(|| solve(black_box(&one_more), &assignable))
        });
        group.finish();
    }
}

criterion_group!(benches, assignment);
criterion_main!(benches);
