//! Where a watch is shown: drawn in place on a terminal, or as lines that are never taken back.

use console::Term;
use protocol::{Group, GroupChanged};

use super::line;
use crate::failure::Failure;
use crate::output::Output;
use crate::show::text::printable;
use crate::show::time::Moment;

/// A place that is drawn anew, or a list of lines.
pub(super) enum Screen {
    Place { term: Term, drawn: usize },
    Lines { output: Output, said: String },
}

impl Screen {
    pub(super) fn new(output: Output) -> Self {
        if output.terminal && !output.is_json() {
            Self::Place {
                term: Term::buffered_stdout(),
                drawn: 0,
            }
        } else {
            Self::Lines {
                output,
                said: String::new(),
            }
        }
    }

    /// Whether it is drawn in place: ages grow, so that it is drawn also when nothing changed.
    pub(super) const fn is_place(&self) -> bool {
        matches!(self, Self::Place { .. })
    }

    /// Draws a view in the place of the last one; nothing where lines are written.
    pub(super) fn draw(&mut self, view: &str) -> Result<(), Failure> {
        let Self::Place { term, drawn } = self else {
            return Ok(());
        };
        let (height, width) = term.size();
        // What would wrap or scroll could not be taken back.
        let room = usize::from(height).saturating_sub(1).max(1);
        let lines: Vec<&str> = view.lines().take(room).collect();
        let draw = || {
            if *drawn > 0 {
                term.move_cursor_up(*drawn)?;
            }
            term.clear_to_end_of_screen()?;
            for line in &lines {
                term.write_line(&console::truncate_str(line, usize::from(width), "…"))?;
            }
            term.flush()
        };
        draw().map_err(Failure::Output)?;
        *drawn = lines.len();
        Ok(())
    }

    /// A group that is new or changed; nothing where views are drawn.
    pub(super) fn changed(&mut self, group: &Group) -> Result<(), Failure> {
        match self {
            Self::Place { .. } => Ok(()),
            Self::Lines { output, said } => {
                said.clear();
                if output.is_json() {
                    output.json(group)
                } else {
                    output.text(&line::of(group, Moment::now()))
                }
            }
        }
    }

    /// A group that is gone.
    pub(super) fn gone(&mut self, group: &Group) -> Result<(), Failure> {
        let name = format!("{}/{}", group.stream_prefix, group.consumer_group);
        match self {
            Self::Place { .. } => Ok(()),
            Self::Lines { output, .. } if output.is_json() => output.json(&GroupChanged {
                stream_prefix: group.stream_prefix.clone(),
                consumer_group: group.consumer_group.clone(),
                metadata_version: group.metadata_version,
                state: None,
            }),
            Self::Lines { output, .. } => {
                output.text(&format!("{}  {name}  gone", Moment::now().iso()))
            }
        }
    }

    /// What is wrong, said once until something else is said.
    pub(super) fn trouble(&mut self, what: &str, view: &str) -> Result<(), Failure> {
        let what = printable(what);
        if let Self::Lines { said, .. } = self {
            if *said != what {
                eprintln!("coordctl: {what}");
                *said = what;
            }
            return Ok(());
        }
        self.draw(&format!("{view}\n\n{what}"))
    }
}
