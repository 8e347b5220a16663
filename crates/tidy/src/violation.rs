//! What a check found, and how it is shown. It does not judge severity: every violation fails the test.

use std::fmt;

/// One place that breaks one check.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    /// Path relative to the root of the repository.
    pub path: String,
    /// Line from 1, where there is one.
    pub line: Option<usize>,
    /// What is wrong and, where it is not obvious, how it is mended.
    pub what: String,
}

impl Violation {
    /// A violation of a whole file.
    pub fn of_file(path: impl Into<String>, what: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            line: None,
            what: what.into(),
        }
    }

    /// A violation at a line, counted from 1.
    pub fn at(path: impl Into<String>, line: usize, what: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            line: Some(line),
            what: what.into(),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(formatter, "{}:{line}: {}", self.path, self.what),
            None => write!(formatter, "{}: {}", self.path, self.what),
        }
    }
}

/// All of them, one a line, for a failing test's message.
#[must_use]
pub fn report(violations: &[Violation]) -> String {
    violations
        .iter()
        .map(|violation| format!("\n  {violation}"))
        .collect()
}
