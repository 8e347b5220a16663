//! What became of the questions to the indexes of due work and of the listing. That a question was answered by the source is no fault; that all are may be one.

use projection::Metrics;

use super::now::ProcessNow;
use super::text::{Family, Kind, Series, labels};

/// Writes the numbers of one index, after the label that says of which.
type Write = fn(&Metrics, &str, &mut Series<'_>);

macro_rules! families {
    ($($name:literal, $kind:ident, $help:literal, $write:expr;)*) => {
        pub(super) const FAMILIES: &[Family<ProcessNow>] = &[$(Family {
            name: $name,
            kind: Kind::$kind,
            help: $help,
            write: |it, series| {
                let write: Write = $write;
                for (index, metrics) in &it.indexes {
                    write(metrics, &labels(&[("index", index)]), series);
                }
            },
        }),*];
    };
}

families! {
    "index_read_total", Counter, "Questions, by who answered.", reads;
    "index_fallback_total", Counter, "Questions that the source answered, by why the index did not.", fallbacks;
    "index_write_failed_total", Counter, "Single writes that may not have reached the index.",
        |it, labels, series| series.put(labels, it.failed_writes);
    "index_repair_total", Counter, "Rebuilds that a question began.",
        |it, labels, series| series.put(labels, it.repairs_begun);
    "index_rebuild_total", Counter, "Rebuilds that ended, by how.", rebuilds;
    "index_age_seconds", Gauge, "How old the rebuild was from which the index last answered, the oldest of all parts.",
        |it, labels, series| series.put(labels, it.age.as_secs_f64());
    "index_in_doubt", Gauge, "Parts of the index that missed a write and are yet to be rebuilt.",
        |it, labels, series| series.put(labels, it.namespaces_in_doubt);
    "index_circuit_open", Gauge, "Parts for which the index was left alone within the last minute because it failed repeatedly.",
        |it, labels, series| series.put(labels, it.circuits_open);
}

fn reads(it: &Metrics, labels: &str, series: &mut Series<'_>) {
    let by_source = it.fallbacks.total();
    let answered = by_source.saturating_sub(it.source_failures);
    for (who, count) in [
        ("index", it.served_by_index),
        ("source", answered),
        ("none", it.source_failures),
    ] {
        series.put_with(labels, ("served_by", who), count);
    }
}

fn fallbacks(it: &Metrics, labels: &str, series: &mut Series<'_>) {
    let why = it.fallbacks;
    for (reason, count) in [
        ("no_index", why.no_index),
        ("empty", why.empty),
        ("unbuilt", why.unbuilt),
        ("damaged", why.damaged),
        ("missed_write", why.missed_write),
        ("timeout", why.timeout),
        ("circuit_open", why.circuit_open),
        ("failed", why.failed),
    ] {
        series.put_with(labels, ("reason", reason), count);
    }
}

fn rebuilds(it: &Metrics, labels: &str, series: &mut Series<'_>) {
    for (outcome, count) in [
        ("built", it.rebuilds),
        ("busy", it.rebuilds_busy),
        ("failed", it.rebuilds_failed),
    ] {
        series.put_with(labels, ("outcome", outcome), count);
    }
}
