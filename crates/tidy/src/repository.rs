//! The files of the repository, read once. It leaves out what is not ours to check: the build folder, the history and binary
//! files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

const SKIPPED_AT_ROOT: [&str; 2] = ["target", ".git"];

/// A file or folder could not be read.
#[derive(Debug, thiserror::Error)]
#[error("{} could not be read", .path.display())]
pub struct ReadError {
    path: PathBuf,
    #[source]
    source: io::Error,
}

impl ReadError {
    pub(crate) fn new(path: &Path, source: io::Error) -> Self {
        Self {
            path: path.to_owned(),
            source,
        }
    }
}

/// A text file with its path relative to the root, with `/` between the parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextFile {
    /// Relative path.
    pub path: String,
    /// The whole content.
    pub text: String,
}

impl TextFile {
    /// A file, real or planted.
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            text: text.into(),
        }
    }

    /// Whether it is Rust source.
    #[must_use]
    pub fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// Its lines, counted from 1.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..).zip(self.text.lines())
    }
}

/// The root and every text file below it, in order of their paths.
#[derive(Debug)]
pub struct Repository {
    root: PathBuf,
    files: Vec<TextFile>,
}

impl Repository {
    /// Reads the repository this crate belongs to.
    ///
    /// # Errors
    ///
    /// [`ReadError`] for the first file or folder that cannot be read.
    pub fn open() -> Result<Self, ReadError> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let root = root
            .canonicalize()
            .map_err(|source| ReadError::new(&root, source))?;
        let mut files = Vec::new();
        collect(&root, "", &mut files)?;
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(Self { root, files })
    }

    /// The folder that holds everything.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Every text file.
    #[must_use]
    pub fn files(&self) -> &[TextFile] {
        &self.files
    }

    /// The text of one file, if it exists.
    #[must_use]
    pub fn text(&self, path: &str) -> Option<&str> {
        self.files
            .iter()
            .find(|file| file.path == path)
            .map(|file| file.text.as_str())
    }

    /// The names directly below the root, folders included.
    ///
    /// # Errors
    ///
    /// [`ReadError`] if the root cannot be listed.
    pub fn root_entries(&self) -> Result<Vec<String>, ReadError> {
        Ok(entries(&self.root)?
            .into_iter()
            .map(|(name, _)| name)
            .collect())
    }
}

fn collect(folder: &Path, prefix: &str, files: &mut Vec<TextFile>) -> Result<(), ReadError> {
    for (name, path) in entries(folder)? {
        if prefix.is_empty() && SKIPPED_AT_ROOT.contains(&name.as_str()) {
            continue;
        }
        if path.is_dir() {
            collect(&path, &format!("{prefix}{name}/"), files)?;
        } else {
            match fs::read(&path).map(String::from_utf8) {
                Ok(Ok(text)) => files.push(TextFile::new(format!("{prefix}{name}"), text)),
                Ok(Err(_)) => {}
                // Editors and other tools come and go while the checks run.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(ReadError::new(&path, error)),
            }
        }
    }
    Ok(())
}

fn entries(folder: &Path) -> Result<Vec<(String, PathBuf)>, ReadError> {
    let wrap = |source| ReadError::new(folder, source);
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(wrap)? {
        let path = entry.map_err(wrap)?.path();
        if let Some(name) = path.file_name() {
            found.push((name.to_string_lossy().into_owned(), path));
        }
    }
    found.sort();
    Ok(found)
}
