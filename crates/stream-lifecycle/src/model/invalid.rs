//! What is wrong with an input that is refused before anything is sent.

/// An input that can't work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}: {problem}")]
pub struct InvalidInput {
    /// Which input.
    pub what: &'static str,
    /// What is wrong with it.
    pub problem: String,
}

impl InvalidInput {
    pub(crate) fn new(what: &'static str, problem: impl Into<String>) -> Self {
        Self {
            what,
            problem: problem.into(),
        }
    }
}

/// Refuses an input unless a condition holds.
pub(crate) fn check(
    holds: bool,
    what: &'static str,
    problem: impl FnOnce() -> String,
) -> Result<(), InvalidInput> {
    if holds {
        return Ok(());
    }
    Err(InvalidInput::new(what, problem()))
}
