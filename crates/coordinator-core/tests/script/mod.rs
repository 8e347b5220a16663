//! Scripts: commands to a group and what comes of them, written so that a reviewer can follow a decision by reading. Reads a script, runs it, and
//! compares or rewrites what it expects. The language is described in the pages on testing.
#![allow(unreachable_pub)]

mod client;
mod diff;
mod evidence;
mod heartbeats;
mod play;
mod settings;
mod shards;
mod stage;
mod text;
mod view;
mod words;

use stage::Stage;

/// The longest script that a reader is asked to follow.
const MOST_LINES: usize = 150;
const DASHES: &str = "----";

/// What is wrong with a script, and where.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct ScriptError {
    line: usize,
    what: String,
}

impl ScriptError {
    fn new(line: usize, what: impl Into<String>) -> Self {
        Self {
            line,
            what: what.into(),
        }
    }
}

/// Commands and the view that they lead to.
struct Block {
    /// Comments and empty lines before it.
    before: Vec<String>,
    /// The commands with their line numbers.
    commands: Vec<(usize, String)>,
    expected: Vec<String>,
}

/// A script.
pub struct Script {
    blocks: Vec<Block>,
    /// Comments after the last command.
    after: Vec<String>,
}

impl Script {
    /// # Errors
    /// If a command has no line of dashes after it, or the header names no rule or case.
    pub fn read(text: &str) -> Result<Self, ScriptError> {
        check_form(text)?;
        let mut lines = (1..).zip(text.lines()).peekable();
        let (mut blocks, mut before, mut commands) = (Vec::new(), Vec::new(), Vec::new());
        while let Some((number, line)) = lines.next() {
            if line.is_empty() || line.starts_with('#') {
                if let Some((number, command)) = commands.first() {
                    let what = format!("no `{DASHES}` follows `{command}`");
                    return Err(ScriptError::new(*number, what));
                }
                before.push(line.to_owned());
            } else if line == DASHES {
                if commands.is_empty() {
                    return Err(ScriptError::new(number, "there is no command above"));
                }
                let mut expected = Vec::new();
                while let Some((_, line)) = lines.next_if(|(_, line)| !line.is_empty()) {
                    expected.push(line.to_owned());
                }
                blocks.push(Block {
                    before: std::mem::take(&mut before),
                    commands: std::mem::take(&mut commands),
                    expected,
                });
            } else {
                commands.push((number, line.to_owned()));
            }
        }
        if let Some((number, command)) = commands.first() {
            let what = format!("no `{DASHES}` follows `{command}`");
            return Err(ScriptError::new(*number, what));
        }
        Ok(Self {
            blocks,
            after: before,
        })
    }

    /// Runs it and compares.
    ///
    /// # Errors
    /// At the first command that can't be understood, breaks an invariant, or leads to something else.
    pub fn check(&self) -> Result<(), ScriptError> {
        self.run(|block, found| {
            let line = block.commands.last().map_or(0, |(number, _)| *number);
            if block.expected == found {
                return Ok(());
            }
            let difference = diff::diff(&block.expected, found);
            let what = format!("something else comes of it:\n{difference}");
            Err(ScriptError::new(line, what))
        })
    }

    /// Runs it and gives its text back with what comes of it.
    ///
    /// # Errors
    /// At the first command that can't be understood or breaks an invariant.
    pub fn rewrite(&self) -> Result<String, ScriptError> {
        let mut lines: Vec<String> = Vec::new();
        self.run(|block, found| {
            lines.extend(block.before.iter().cloned());
            lines.extend(block.commands.iter().map(|(_, text)| text.clone()));
            lines.push(DASHES.to_owned());
            lines.extend_from_slice(found);
            Ok(())
        })?;
        lines.extend(self.after.iter().cloned());
        Ok(lines.join("\n") + "\n")
    }

    fn run(
        &self,
        mut each: impl FnMut(&Block, &[String]) -> Result<(), ScriptError>,
    ) -> Result<(), ScriptError> {
        let mut stage = Stage::default();
        for block in &self.blocks {
            let mut found = Vec::new();
            for (number, command) in &block.commands {
                found.extend(stage.run(*number, command)?);
            }
            found.extend(stage.changes());
            each(block, &found)?;
        }
        Ok(())
    }
}

/// The header says which rules or cases the script is about; nobody is asked to read a long one.
fn check_form(text: &str) -> Result<(), ScriptError> {
    let count = text.lines().count();
    if count >= MOST_LINES {
        let what = format!("a script has under {MOST_LINES} lines, this one has {count}");
        return Err(ScriptError::new(count, what));
    }
    let header = text.lines().take_while(|line| line.starts_with('#'));
    let mut words = header.flat_map(|line| line.split(|it: char| !it.is_ascii_alphanumeric()));
    let is_id = |word: &str| {
        let mut letters = word.chars();
        letters.next().is_some_and(|it| it.is_ascii_uppercase())
            && letters.next().is_some_and(|it| it.is_ascii_digit())
    };
    if words.any(is_id) {
        Ok(())
    } else {
        Err(ScriptError::new(1, "the header names no rule or case"))
    }
}
