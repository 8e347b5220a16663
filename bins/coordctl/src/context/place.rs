//! Where the contexts file is.

use std::env;
use std::path::{Path, PathBuf};

use super::ContextError;

/// Where the contexts file is, whether it exists or not.
pub(crate) fn place(asked: Option<&Path>) -> Result<PathBuf, ContextError> {
    if let Some(path) = asked {
        return Ok(path.to_owned());
    }
    // What is not absolute is to be ignored, by the rules for base directories.
    let folder = |name: &str| {
        env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let config = folder("XDG_CONFIG_HOME").or_else(|| folder("HOME").map(|it| it.join(".config")));
    config
        .map(|config| config.join("coordctl").join("contexts.toml"))
        .ok_or(ContextError::NoPlace)
}
