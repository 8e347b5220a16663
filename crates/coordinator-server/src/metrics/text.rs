//! Prometheus' text form. What the numbers mean is not known here.

use std::fmt::{Display, Write};

/// What every name begins with.
const PREFIX: &str = "redis_stream_coord_";

/// About how much text is made at once: it stays where the processor has it at hand.
const PART: usize = 64 * 1024;

/// How a number behaves.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    /// It goes up and down.
    Gauge,
    /// It only rises.
    Counter,
}

/// A family of series: one name, one meaning.
pub(super) struct Family<T> {
    /// Its name, without what all names begin with.
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) help: &'static str,
    /// Writes the series of one group.
    pub(super) write: fn(&T, &mut Series<'_>),
}

/// Takes the series of one family.
pub(super) struct Series<'a> {
    name: &'static str,
    text: &'a mut String,
}

impl Series<'_> {
    /// One series: labels as [`labels`] writes them, and a number.
    pub(super) fn put(&mut self, labels: &str, number: impl Display) {
        self.text.push_str(PREFIX);
        self.text.push_str(self.name);
        self.text.push('{');
        self.text.push_str(labels);
        // Writing to a text does not fail.
        let _ = writeln!(self.text, "}} {number}");
    }

    /// The same with one more label.
    pub(super) fn put_with(&mut self, labels: &str, more: (&str, &str), number: impl Display) {
        self.put(&with(labels, more), number);
    }

    /// The same, unless the number is not known.
    pub(super) fn put_known(&mut self, labels: &str, number: Option<impl Display>) {
        if let Some(number) = number {
            self.put(labels, number);
        }
    }
}

/// The series of some of those that a family is about; empty where there are none.
pub(super) fn body<T>(family: &Family<T>, some: &[T]) -> String {
    let mut text = String::with_capacity(PART);
    let mut series = Series {
        name: family.name,
        text: &mut text,
    };
    for one in some {
        (family.write)(one, &mut series);
    }
    text
}

/// What stands before the first series of a family.
pub(super) fn head<T>(family: &Family<T>) -> String {
    let kind = match family.kind {
        Kind::Gauge => "gauge",
        Kind::Counter => "counter",
    };
    let (name, help) = (family.name, family.help);
    format!("# HELP {PREFIX}{name} {help}\n# TYPE {PREFIX}{name} {kind}\n")
}

/// Labels, their values escaped.
pub(super) fn labels(pairs: &[(&str, &str)]) -> String {
    pairs
        .iter()
        .fold(String::new(), |labels, pair| with(&labels, *pair))
}

/// Labels and one more.
pub(super) fn with(labels: &str, (name, value): (&str, &str)) -> String {
    let mut text = String::with_capacity(labels.len() + name.len() + value.len() + 4);
    text.push_str(labels);
    if !labels.is_empty() {
        text.push(',');
    }
    text.push_str(name);
    text.push_str("=\"");
    for char in value.chars() {
        match char {
            '\\' => text.push_str("\\\\"),
            '"' => text.push_str("\\\""),
            '\n' => text.push_str("\\n"),
            other => text.push(other),
        }
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAMILY: Family<&str> = Family {
        name: "shard_lag",
        kind: Kind::Gauge,
        help: "Not delivered yet.",
        write: |value, series| {
            let number = (*value != "unknown").then_some(7);
            series.put_known(&labels(&[("a", value), ("b", "1")]), number);
        },
    };

    #[test]
    fn label_values_are_escaped_and_head_lines_come_once() {
        let values = [
            "plain",
            "qu\"ote",
            "back\\slash",
            "two\nlines",
            "unknown",
            "grüße",
        ];
        let text = head(&FAMILY) + &body(&FAMILY, &values);
        let expected = r#"# HELP redis_stream_coord_shard_lag Not delivered yet.
# TYPE redis_stream_coord_shard_lag gauge
redis_stream_coord_shard_lag{a="plain",b="1"} 7
redis_stream_coord_shard_lag{a="qu\"ote",b="1"} 7
redis_stream_coord_shard_lag{a="back\\slash",b="1"} 7
redis_stream_coord_shard_lag{a="two\nlines",b="1"} 7
redis_stream_coord_shard_lag{a="grüße",b="1"} 7
"#;
        assert_eq!(text, expected);
        assert_eq!(body(&FAMILY, &["unknown"]), "");
    }
}
