//! Indexes that do not answer: nothing is wrong with what is told, and all of it costs more. What they are is not known here.

use std::collections::BTreeMap;

use super::exposition::Sample;
use super::finding::{Finding, Kind};
use super::{Diagnosis, Named};

/// Parts that are left alone since they failed repeatedly, and parts that missed a write and were not rebuilt since.
const LEFT_ALONE: &str = "redis_stream_coord_index_circuit_open";
const IN_DOUBT: &str = "redis_stream_coord_index_in_doubt";

/// What the numbers of a coordinator say. That they could not be read is told by who counts heartbeats.
pub(super) async fn examine(coordinators: &[&Named], diagnosis: &mut Diagnosis) {
    for named in coordinators {
        let Ok(text) = named.client.metrics().await else {
            continue;
        };
        for (index, what) in found(&text) {
            let what = format!("the index of {index} {what}");
            diagnosis
                .findings
                .push(Finding::new(Kind::IndexNotAnswering, &named.url, what));
        }
    }
}

/// Indexes with something wrong, and what.
fn found(text: &str) -> BTreeMap<String, &'static str> {
    let mut found = BTreeMap::new();
    for (family, what) in [
        (IN_DOUBT, "missed a write and was not rebuilt since"),
        (LEFT_ALONE, "fails again and again, and is left alone"),
    ] {
        let samples = text.lines().filter_map(|line| Sample::read(family, line));
        for sample in samples.filter(|sample| sample.value > 0) {
            let index = sample.labels.get("index").cloned();
            found.insert(index.unwrap_or_default(), what);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_of_each_index_is_told() {
        let text = format!(
            "# TYPE {LEFT_ALONE} gauge\n{LEFT_ALONE}{{index=\"due\"}} 16\n{LEFT_ALONE}{{index=\"groups\"}} 0\n\
             {IN_DOUBT}{{index=\"due\"}} 3\n{IN_DOUBT}{{index=\"groups\"}} 1\n"
        );
        let due = ("due".to_owned(), "fails again and again, and is left alone");
        let groups = (
            "groups".to_owned(),
            "missed a write and was not rebuilt since",
        );
        assert_eq!(found(&text), [due, groups].into());
        assert_eq!(found(""), BTreeMap::new());
    }
}
