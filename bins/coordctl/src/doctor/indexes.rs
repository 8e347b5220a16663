//! Indexes that do not answer: nothing is wrong with what is told, and all of it costs more. What they are is not known here.

use std::collections::{BTreeMap, BTreeSet};

use super::Numbers;
use super::exposition::Sample;
use super::finding::{Finding, Kind};

/// Parts that are left alone since they failed repeatedly, and rebuilds by how they ended.
const LEFT_ALONE: &str = "redis_stream_coord_index_circuit_open";
const REBUILDS: &str = "redis_stream_coord_index_rebuild_total";

/// What the numbers of the coordinators say.
pub(super) fn examine(numbers: &[Numbers], findings: &mut Vec<Finding>) {
    for Numbers { url, text } in numbers {
        for (index, what) in found(text) {
            let what = format!("the index of {index} {what}");
            findings.push(Finding::new(Kind::IndexNotAnswering, url, what));
        }
    }
}

/// Indexes with something wrong, and what.
fn found(text: &str) -> BTreeMap<String, &'static str> {
    let samples = |family: &'static str| {
        let lines = text.lines();
        lines.filter_map(move |line| Sample::read(family, line))
    };
    let label = |sample: &Sample, name| sample.labels.get(name).cloned().unwrap_or_default();
    let ended = |wanted| -> BTreeSet<String> {
        let some = samples(REBUILDS).filter(|it| it.value > 0 && label(it, "outcome") == wanted);
        some.map(|it| label(&it, "index")).collect()
    };
    let (failed, built) = (ended("failed"), ended("built"));
    let never_built = failed.difference(&built).cloned();
    let never_built = never_built.map(|index| (index, "could not be built since it began"));
    let left_alone = samples(LEFT_ALONE).filter(|sample| sample.value > 0);
    let left_alone = left_alone.map(|it| {
        (
            label(&it, "index"),
            "fails again and again, and is left alone",
        )
    });
    never_built.chain(left_alone).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_of_each_index_is_told() {
        let rebuilds = |index, outcome, count| {
            format!("{REBUILDS}{{index=\"{index}\",outcome=\"{outcome}\"}} {count}\n")
        };
        let alone = |index, count| format!("{LEFT_ALONE}{{index=\"{index}\"}} {count}\n");
        let never = ("groups".to_owned(), "could not be built since it began");
        let ill = ("due".to_owned(), "fails again and again, and is left alone");
        let text = rebuilds("groups", "failed", 3) + &rebuilds("groups", "built", 0);
        assert_eq!(found(&text), [never].into());
        // It failed once, and was built before or since.
        let text = rebuilds("due", "failed", 1) + &rebuilds("due", "built", 16);
        assert_eq!(found(&(text.clone() + &alone("due", 0))), BTreeMap::new());
        assert_eq!(found(&(text + &alone("due", 16))), [ill].into());
    }
}
