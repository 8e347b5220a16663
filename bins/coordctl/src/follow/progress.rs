//! Shows how a change stands on standard error: a bar on a terminal, else a line whenever something changed.

use std::io::{self, IsTerminal};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::stand::Stand;
use crate::output::Output;
use crate::show::text::wire;

/// How many shards are named below the bar.
const NAMED: usize = 5;

/// A bar, or lines.
pub(super) enum Progress {
    Bar(ProgressBar),
    Lines { stream: String, last: String },
}

impl Progress {
    pub(super) fn start(output: Output, stream: &str) -> Self {
        if !io::stderr().is_terminal() || output.is_json() {
            return Self::Lines {
                stream: stream.to_owned(),
                last: String::new(),
            };
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        bar.set_style(style());
        bar.enable_steady_tick(Duration::from_millis(250));
        Self::Bar(bar)
    }

    pub(super) fn show(&mut self, stand: &Stand) {
        match self {
            Self::Bar(bar) => {
                bar.set_length(stand.all);
                bar.set_position(stand.done);
                bar.set_prefix(wire(stand.state));
                bar.set_message(below(&stand.waits));
            }
            Self::Lines { stream, last } => {
                let line = stand.line();
                if *last != line {
                    eprintln!("{stream}: {line}");
                    *last = line;
                }
            }
        }
    }

    /// Nothing more is waited for: the bar makes room for the answer.
    pub(super) fn end(&self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.end();
    }
}

fn style() -> ProgressStyle {
    ProgressStyle::with_template("{prefix:>12} [{bar:24}] {pos}/{len} shards, {elapsed}{msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ")
}

fn below(waits: &[String]) -> String {
    let mut lines: String = waits
        .iter()
        .take(NAMED)
        .map(|line| format!("\n  {line}"))
        .collect();
    if waits.len() > NAMED {
        lines.push_str(&format!("\n  and {} more", waits.len() - NAMED));
    }
    lines
}
