//! Judges a run by what its processes wrote down: nothing lost, one reader a shard, order kept. It believes no coordinator.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;

use super::log::{Entry, Handled, Micros};
use super::{FEWEST_SHARDS, MOST_SHARDS};

/// What came of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    /// Records that producers were told are in the stream.
    pub(crate) published: usize,
    /// Different records that were handled.
    pub(crate) handled: usize,
    /// Published records that no handler saw.
    pub(crate) lost: usize,
    /// Runs of handlers beyond the first of a record: what "at least once" costs.
    pub(crate) duplicates: usize,
    /// Times that two owners of one shard handled at the same moment.
    pub(crate) overlaps: usize,
    /// Records that were first handled after a later one of the same key in the same shard. With another shard count a key may go to another shard.
    pub(crate) out_of_order: usize,
    /// Shards that were taken away.
    pub(crate) retired: u32,
    /// How long a shard that was handed over was read by nobody, the 99th percentile; none if none was.
    pub(crate) rebalance_p99_ms: Option<u64>,
}

impl Summary {
    /// Whether the run kept every promise.
    pub(crate) fn is_good(&self) -> bool {
        self.published > 0
            && self.lost == 0
            && self.overlaps == 0
            && self.out_of_order == 0
            && self.retired == MOST_SHARDS - FEWEST_SHARDS
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            published,
            handled,
            lost,
            duplicates,
            overlaps,
            out_of_order,
            retired,
            ..
        } = self;
        write!(
            f,
            "demo: published={published} handled={handled} lost={lost} duplicates={duplicates} overlaps={overlaps} out_of_order={out_of_order} retired={retired}"
        )?;
        match self.rebalance_p99_ms {
            Some(p99) => write!(f, " rebalance_p99_ms={p99}"),
            None => f.write_str(" rebalance_p99_ms=none"),
        }
    }
}

/// Judges a run. Shards that members in `crashed` owned last waited for a lease to end, which says nothing about handing over: their
/// gaps are left out of the percentile.
pub(crate) fn check(entries: &[Entry], crashed: &HashSet<String>, retired: u32) -> Summary {
    let mut published = HashSet::new();
    let mut runs: Vec<&Handled> = Vec::new();
    for entry in entries {
        match entry {
            Entry::Published { key, sequence } => {
                published.insert((key.as_str(), *sequence));
            }
            Entry::Handled(handled) => runs.push(handled),
        }
    }
    runs.sort_by_key(|run| run.start);
    let handled: HashSet<_> = runs
        .iter()
        .map(|run| (run.key.as_str(), run.sequence))
        .collect();
    let by_shard = by_shard(&runs);
    Summary {
        published: published.len(),
        handled: handled.len(),
        lost: published.difference(&handled).count(),
        duplicates: runs.len() - handled.len(),
        overlaps: by_shard.values().map(|runs| overlaps(runs)).sum(),
        out_of_order: by_shard.values().map(|runs| out_of_order(runs)).sum(),
        retired,
        rebalance_p99_ms: percentile_99(
            by_shard
                .values()
                .flat_map(|runs| gaps(runs, crashed))
                .collect(),
        ),
    }
}

fn by_shard<'a>(runs: &[&'a Handled]) -> BTreeMap<u32, Vec<&'a Handled>> {
    let mut by_shard: BTreeMap<u32, Vec<&Handled>> = BTreeMap::new();
    for run in runs {
        by_shard.entry(run.shard).or_default().push(run);
    }
    by_shard
}

/// One ownership of a shard.
fn owner(run: &Handled) -> (&str, i64) {
    (&run.member, run.epoch)
}

/// How often a run began before one of another owner had ended. The runs are of one shard, sorted by their start.
fn overlaps(runs: &[&Handled]) -> usize {
    let mut last_end: HashMap<(&str, i64), Micros> = HashMap::new();
    let mut overlaps = 0;
    for run in runs {
        let others = last_end.iter().filter(|(other, _)| **other != owner(run));
        overlaps += usize::from(
            others
                .map(|(_, end)| *end)
                .max()
                .is_some_and(|end| run.start < end),
        );
        let end = last_end.entry(owner(run)).or_default();
        *end = run.end.max(*end);
    }
    overlaps
}

/// Records whose first run came after that of a later one of the same key. The runs are of one shard, sorted by their start.
fn out_of_order(runs: &[&Handled]) -> usize {
    let mut seen = HashSet::new();
    let mut highest: HashMap<&str, u64> = HashMap::new();
    let mut out_of_order = 0;
    for run in runs {
        if !seen.insert((run.key.as_str(), run.sequence)) {
            continue;
        }
        let highest = highest.entry(&run.key).or_default();
        out_of_order += usize::from(run.sequence < *highest);
        *highest = run.sequence.max(*highest);
    }
    out_of_order
}

/// For each change of owner, how long nobody handled a record of the shard. The runs are of one shard, sorted by their start.
fn gaps<'a>(
    runs: &'a [&Handled],
    crashed: &'a HashSet<String>,
) -> impl Iterator<Item = Micros> + 'a {
    let changes = runs
        .windows(2)
        .filter(|pair| owner(pair[0]) != owner(pair[1]));
    let handed_over = changes.filter(|pair| !crashed.contains(&pair[0].member));
    handed_over.map(|pair| pair[1].start.saturating_sub(pair[0].end))
}

fn percentile_99(mut gaps: Vec<Micros>) -> Option<u64> {
    gaps.sort_unstable();
    let rank = (gaps.len() * 99).div_ceil(100).checked_sub(1)?;
    gaps.get(rank).map(|gap| gap.div_ceil(1_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn published(key: &str, sequence: u64) -> Entry {
        Entry::Published {
            key: key.to_owned(),
            sequence,
        }
    }

    fn handled(member: &str, start: Micros, end: Micros, key: &str, sequence: u64) -> Entry {
        let (member, key) = (member.to_owned(), key.to_owned());
        Entry::Handled(Handled {
            shard: 0,
            member,
            epoch: 1,
            start,
            end,
            key,
            sequence,
        })
    }

    fn judge(entries: &[Entry]) -> Summary {
        check(entries, &HashSet::new(), MOST_SHARDS - FEWEST_SHARDS)
    }

    #[test]
    fn a_clean_run_is_good() {
        let run = [
            published("k", 1),
            published("k", 2),
            handled("a", 0, 1_000, "k", 1),
            handled("b", 3_500, 4_000, "k", 2),
        ];
        let summary = judge(&run);
        assert!(summary.is_good());
        assert_eq!(
            summary.to_string(),
            "demo: published=2 handled=2 lost=0 duplicates=0 overlaps=0 out_of_order=0 retired=7 rebalance_p99_ms=3"
        );
    }

    #[test]
    fn a_planted_loss_is_found() {
        let summary = judge(&[
            published("k", 1),
            published("k", 2),
            handled("a", 0, 1, "k", 2),
        ]);
        assert_eq!((summary.lost, summary.is_good()), (1, false));
    }

    #[test]
    fn a_planted_overlap_is_found_whatever_lies_between() {
        let run = [
            published("k", 1),
            handled("a", 0, 50, "k", 1),
            handled("a", 10, 12, "k", 2),
            handled("b", 49, 60, "k", 3),
        ];
        let summary = judge(&run);
        assert_eq!((summary.overlaps, summary.is_good()), (1, false));
        // The same owner may handle side by side; two that touch do not overlap.
        assert_eq!(
            judge(&[handled("a", 0, 50, "k", 1), handled("a", 10, 12, "k", 2)]).overlaps,
            0
        );
        assert_eq!(
            judge(&[handled("a", 0, 50, "k", 1), handled("b", 50, 60, "k", 2)]).overlaps,
            0
        );
    }

    #[test]
    fn one_member_under_two_epochs_is_two_owners() {
        let mut again = handled("a", 40, 60, "k", 2);
        if let Entry::Handled(handled) = &mut again {
            handled.epoch = 2;
        }
        assert_eq!(judge(&[handled("a", 0, 50, "k", 1), again]).overlaps, 1);
    }

    #[test]
    fn a_planted_disorder_is_found_and_a_repetition_is_none() {
        let run = [
            published("k", 1),
            handled("a", 0, 1, "k", 2),
            handled("a", 2, 3, "k", 1),
        ];
        let summary = judge(&run);
        assert_eq!((summary.out_of_order, summary.is_good()), (1, false));
        let repeated = [
            handled("a", 0, 1, "k", 1),
            handled("a", 2, 3, "k", 2),
            handled("b", 4, 5, "k", 1),
            handled("b", 6, 7, "k", 2),
        ];
        let summary = judge(&repeated);
        assert_eq!((summary.out_of_order, summary.duplicates), (0, 2));
    }

    #[test]
    fn a_key_that_went_to_another_shard_keeps_its_order_in_each() {
        let mut elsewhere = handled("b", 0, 1, "k", 2);
        if let Entry::Handled(handled) = &mut elsewhere {
            handled.shard = 1;
        }
        let run = [published("k", 1), elsewhere, handled("a", 2, 3, "k", 1)];
        assert_eq!(judge(&run).out_of_order, 0);
    }

    #[test]
    fn a_shard_that_was_to_go_and_stayed_is_no_success() {
        let run = [published("k", 1), handled("a", 0, 1, "k", 1)];
        assert!(judge(&run).is_good());
        assert!(!check(&run, &HashSet::new(), 6).is_good());
    }

    #[test]
    fn nothing_published_is_no_success() {
        assert!(!judge(&[]).is_good());
    }

    #[test]
    fn shards_of_a_crashed_member_do_not_count_as_handed_over() {
        let run = [
            handled("a", 0, 1, "k", 1),
            handled("b", 900_000, 900_001, "k", 2),
        ];
        assert_eq!(
            check(&run, &HashSet::from(["a".to_owned()]), 7).rebalance_p99_ms,
            None
        );
        assert_eq!(judge(&run).rebalance_p99_ms, Some(900));
    }
}
