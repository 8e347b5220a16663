//! A run as a file: seed, options and the list of actions. Only reading and writing it.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::action::Action;
use crate::options::Options;

/// A run that can be played again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replay {
    /// The seed of the world: its groups, members, times and clocks.
    pub seed: u64,
    /// What the world is like; how often actions are chosen does not matter here.
    pub options: Options,
    /// What is done, in order.
    pub actions: Vec<Action>,
}

/// Why a file is no run.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// It can't be read or written.
    #[error("{} can't be read or written", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: std::io::Error,
    },
    /// It holds something else.
    #[error("{} is no run of the simulator; give a file that `cargo xtask sim` wrote when a run failed", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong in it.
        #[source]
        source: serde_json::Error,
    },
}

impl Replay {
    /// Reads a run.
    ///
    /// # Errors
    /// [`ReplayError`] if there is no such file or it holds something else.
    pub fn read(path: &Path) -> Result<Self, ReplayError> {
        let text = std::fs::read_to_string(path).map_err(|source| ReplayError::File {
            path: path.to_owned(),
            source,
        })?;
        serde_json::from_str(&text).map_err(|source| ReplayError::Content {
            path: path.to_owned(),
            source,
        })
    }

    /// Writes a run, one action a line.
    ///
    /// # Errors
    /// [`ReplayError::File`] if it can't be written.
    pub fn write(&self, path: &Path) -> Result<(), ReplayError> {
        let json =
            |value: Result<String, serde_json::Error>| value.expect("a run can be written as JSON");
        let actions: Vec<String> = self
            .actions
            .iter()
            .map(|action| json(serde_json::to_string(action)))
            .collect();
        let text = format!(
            "{{\"seed\":{},\n\"options\":{},\n\"actions\":[\n{}\n]}}\n",
            self.seed,
            json(serde_json::to_string(&self.options)),
            actions.join(",\n")
        );
        std::fs::write(path, text).map_err(|source| ReplayError::File {
            path: path.to_owned(),
            source,
        })
    }
}
