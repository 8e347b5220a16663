//! Why contexts cannot be used.

use std::io;
use std::path::PathBuf;

/// Why contexts cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ContextError {
    /// Others may read tokens.
    #[error("{} holds tokens, and others can read or change it (its mode is {mode:04o})", path.display())]
    Readable {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// It cannot be read.
    #[error("could not read {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// It cannot be written.
    #[error("could not write {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// It is not what it should be. The text is not repeated: it may hold tokens.
    #[error("{} is not a contexts file: {reason}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// Where it departs from one.
        reason: String,
    },
    /// There is no context of this name.
    #[error("there is no context `{name}`")]
    Unknown {
        /// The name.
        name: String,
    },
    /// No context is the current one, and none was named.
    #[error("no context is the current one")]
    NotCurrent,
    /// Neither a place was named nor is there a home.
    #[error("neither XDG_CONFIG_HOME nor HOME says where the contexts file is")]
    NoPlace,
}
