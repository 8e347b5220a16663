//! Standard output: where it goes, and in which format. What stands in it is made by `show`.

use std::io::{self, IsTerminal, Write};

use serde::Serialize;

use crate::cli::Format;
use crate::failure::Failure;

/// Standard output.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output {
    pub(crate) format: Format,
    /// Whether somebody is likely to be looking at it.
    pub(crate) terminal: bool,
    pub(crate) colours: bool,
}

impl Output {
    pub(crate) fn new(format: Format) -> Self {
        let terminal = io::stdout().is_terminal();
        let asked_not_to = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self {
            format,
            terminal,
            colours: terminal && !asked_not_to && !dumb,
        }
    }

    pub(crate) fn is_json(self) -> bool {
        self.format == Format::Json
    }

    pub(crate) fn is_wide(self) -> bool {
        self.format == Format::Wide
    }

    /// An answer: for programs as it is, for people as `text` makes it.
    pub(crate) fn answer<T: Serialize>(
        self,
        answer: &T,
        text: impl FnOnce() -> String,
    ) -> Result<(), Failure> {
        if self.is_json() {
            self.json(answer)
        } else {
            self.text(&text())
        }
    }

    /// A value for programs; with line breaks only where a person looks at it.
    pub(crate) fn json<T: Serialize>(self, value: &T) -> Result<(), Failure> {
        let text = if self.terminal {
            serde_json::to_string_pretty(value)
        } else {
            serde_json::to_string(value)
        };
        self.text(&text.map_err(|error| Failure::Output(error.into()))?)
    }

    /// Text, its last line ended.
    pub(crate) fn text(self, text: &str) -> Result<(), Failure> {
        let mut out = io::stdout().lock();
        let text = text.trim_end_matches('\n');
        writeln!(out, "{text}")
            .and_then(|()| out.flush())
            .map_err(Failure::Output)
    }
}
