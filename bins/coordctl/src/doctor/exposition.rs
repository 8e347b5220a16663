//! Lines of a Prometheus text. What the numbers mean is not known here.

use std::collections::BTreeMap;

/// A whole number with its labels.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Sample {
    pub(super) labels: BTreeMap<String, String>,
    pub(super) value: u64,
}

impl Sample {
    /// The sample of a line, if it is one of the family and a whole number.
    pub(super) fn read(family: &str, line: &str) -> Option<Self> {
        let rest = line.strip_prefix(family)?;
        let (labels, rest) = match rest.strip_prefix('{') {
            Some(inside) => labels(inside)?,
            None => (BTreeMap::new(), rest),
        };
        let value = rest.strip_prefix(' ')?.split(' ').next()?;
        Some(Self {
            labels,
            value: value.parse().ok()?,
        })
    }
}

/// The labels up to the closing brace, and what comes after it.
fn labels(text: &str) -> Option<(BTreeMap<String, String>, &str)> {
    let mut labels = BTreeMap::new();
    let mut rest = text;
    loop {
        if let Some(rest) = rest.strip_prefix('}') {
            return Some((labels, rest));
        }
        let (name, after) = rest.split_once("=\"")?;
        let (value, after) = quoted(after)?;
        labels.insert(name.to_owned(), value);
        rest = after.strip_prefix(',').unwrap_or(after);
    }
}

/// The text up to the closing quotation mark, and what comes after it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => match letters.next()?.1 {
                'n' => value.push('\n'),
                other => value.push(other),
            },
            other => value.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn names_may_have_what_separates_labels() {
        let line = r#"x_total{a="b,\"c\\}\n",d=""} 12"#;
        let sample = Sample::read("x_total", line).unwrap();
        let labels = [("a", "b,\"c\\}\n"), ("d", "")];
        let labels = labels.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!((sample.labels, sample.value), (labels.into(), 12));
        assert_eq!(Sample::read("x_total", "x_total 3").unwrap().value, 3);
    }

    #[test]
    fn what_is_no_such_line_is_none() {
        for line in [
            "# TYPE x_total counter",
            "x_total_more{a=\"b\"} 1",
            "x_total{a=\"b",
            "x_total{a=\"b\"} 0.5",
            "y_total 1",
            "",
        ] {
            assert_eq!(Sample::read("x_total", line), None, "{line}");
        }
    }
}
