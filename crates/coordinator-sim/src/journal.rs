//! What happened in a run, in words, one JSON object a line. Kept only when asked for.

use serde::Serialize;

/// The lines of one run.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    lines: Option<Vec<String>>,
}

#[derive(Serialize)]
struct Line<'a> {
    step: usize,
    at_ms: u64,
    event: &'a str,
    text: String,
}

impl Journal {
    pub(crate) fn new(keeps: bool) -> Self {
        Self {
            lines: keeps.then(Vec::new),
        }
    }

    /// Notes something; the words are made only if they are kept.
    pub(crate) fn note(
        &mut self,
        step: usize,
        at_ms: u64,
        event: &str,
        text: impl FnOnce() -> String,
    ) {
        if let Some(lines) = &mut self.lines {
            let line = Line {
                step,
                at_ms,
                event,
                text: text(),
            };
            lines.push(
                serde_json::to_string(&line).expect("texts and numbers can be written as JSON"),
            );
        }
    }

    pub(crate) fn into_lines(self) -> Vec<String> {
        self.lines.unwrap_or_default()
    }
}
