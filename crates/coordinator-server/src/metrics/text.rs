//! Prometheus' text form. What the numbers mean is not known here.

use std::fmt::{Display, Write};

use bytes::Bytes;

/// What every name begins with.
const PREFIX: &str = "redis_stream_coord_";

/// How long a part of a page is, about: the next one begins once it is that long.
const PART: usize = 256 * 1024;

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
        if !labels.is_empty() {
            self.text.push('{');
            self.text.push_str(labels);
            self.text.push('}');
        }
        // Writing to a text does not fail.
        let _ = writeln!(self.text, " {number}");
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

/// A text that grows family by family. Parts that are done are not touched again.
pub(super) struct Page {
    parts: Vec<Bytes>,
    text: String,
    /// Where the head of the family begins and ends that has no series yet.
    head: Option<(usize, usize)>,
}

impl Page {
    /// A page that begins with a text.
    pub(super) fn new(text: String) -> Self {
        Self {
            parts: Vec::new(),
            text,
            head: None,
        }
    }

    /// Begins a family. Its head is told only if a series follows.
    pub(super) fn begin<T>(&mut self, family: &Family<T>) {
        self.drop_bare_head();
        let begin = self.text.len();
        self.text.push_str(&head(family));
        self.head = Some((begin, self.text.len()));
    }

    /// Tells the series of all that a family is about.
    pub(super) fn tell<T>(&mut self, family: &Family<T>, all: &[T]) {
        for one in all {
            let mut series = Series {
                name: family.name,
                text: &mut self.text,
            };
            (family.write)(one, &mut series);
            self.head = self.head.filter(|(_, end)| self.text.len() == *end);
            if self.text.len() >= PART && self.head.is_none() {
                self.finish_part();
            }
        }
    }

    /// The text, in parts.
    pub(super) fn end(mut self) -> Vec<Bytes> {
        self.drop_bare_head();
        self.finish_part();
        self.parts
    }

    fn drop_bare_head(&mut self) {
        if let Some((begin, _)) = self.head.take() {
            self.text.truncate(begin);
        }
    }

    fn finish_part(&mut self) {
        if !self.text.is_empty() {
            let next = String::with_capacity(PART + PART / 4);
            let part = std::mem::replace(&mut self.text, next);
            self.parts.push(Bytes::from(part));
        }
    }
}

/// What stands before the first series of a family.
fn head<T>(family: &Family<T>) -> String {
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

    fn page(values: &[&'static str]) -> String {
        let mut page = Page::new("first\n".to_owned());
        page.begin(&FAMILY);
        page.tell(&FAMILY, values);
        page.begin(&FAMILY);
        page.tell(&FAMILY, &["unknown"]);
        String::from_utf8(page.end().concat()).expect("it is text")
    }

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
        let expected = r#"first
# HELP redis_stream_coord_shard_lag Not delivered yet.
# TYPE redis_stream_coord_shard_lag gauge
redis_stream_coord_shard_lag{a="plain",b="1"} 7
redis_stream_coord_shard_lag{a="qu\"ote",b="1"} 7
redis_stream_coord_shard_lag{a="back\\slash",b="1"} 7
redis_stream_coord_shard_lag{a="two\nlines",b="1"} 7
redis_stream_coord_shard_lag{a="grüße",b="1"} 7
"#;
        assert_eq!(page(&values), expected);
        assert_eq!(page(&["unknown"]), "first\n");
    }

    #[test]
    fn a_long_page_comes_in_parts_and_as_one_text() {
        let mut page = Page::new(String::new());
        page.begin(&FAMILY);
        let many = ["plain"; 20_000];
        page.tell(&FAMILY, &many);
        let parts = page.end();
        assert!(parts.len() > 2);
        let text = String::from_utf8(parts.concat()).expect("it is text");
        assert_eq!(text.lines().count(), 2 + many.len());
        assert_eq!(text.lines().filter(|line| line.starts_with('#')).count(), 2);
    }
}
