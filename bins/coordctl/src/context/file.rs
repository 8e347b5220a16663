//! Reads and writes the contexts file. With tokens in it, it is for its owner alone.

use std::fs::{DirBuilder, File};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;

use super::{ContextError, Contexts};

/// Permissions that are none of others' business.
const OTHERS: u32 = 0o077;

/// What the file holds; nothing where there is no file.
pub(crate) fn load(path: &Path) -> Result<Contexts, ContextError> {
    let failed = |source| ContextError::Read {
        path: path.to_owned(),
        source,
    };
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Contexts::default()),
        Err(error) => return Err(failed(error)),
    };
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(failed)?;
    let contexts: Contexts = toml::from_str(&text).map_err(|error| ContextError::Format {
        path: path.to_owned(),
        reason: place_of(&text, &error),
    })?;
    // Of the file that was read, not of one that took its name meanwhile.
    let mode = file.metadata().map_err(failed)?.permissions().mode() & 0o777;
    if contexts.has_secrets() && mode & OTHERS != 0 {
        return Err(ContextError::Readable {
            path: path.to_owned(),
            mode,
        });
    }
    Ok(contexts)
}

/// Where the text goes wrong, without the text.
fn place_of(text: &str, error: &toml::de::Error) -> String {
    let line = error
        .span()
        .map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
    match line {
        Some(line) => format!("line {line}: {}", error.message()),
        None => error.message().to_owned(),
    }
}

/// Replaces the file by one that only its owner can read. Whoever reads meanwhile sees the old one or the new one.
pub(crate) fn save(path: &Path, contexts: &Contexts) -> Result<(), ContextError> {
    write(path, contexts).map_err(|source| ContextError::Write {
        path: path.to_owned(),
        source,
    })
}

fn write(path: &Path, contexts: &Contexts) -> io::Result<()> {
    let text = toml::to_string(contexts).map_err(io::Error::other)?;
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)?;
    crate::file::replace(path, text.as_bytes())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs::{self, Permissions};

    use super::*;
    use crate::context::{Context, Token};

    fn one() -> Contexts {
        let context = Context {
            servers: vec!["http://127.0.0.1:1".to_owned()],
            token: Some(Token::new("secret")),
            ..Context::default()
        };
        Contexts {
            current: Some("a".to_owned()),
            contexts: [("a".to_owned(), context)].into(),
        }
    }

    #[test]
    fn what_is_saved_is_read_again_and_is_its_owners_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/contexts.toml");
        save(&path, &one()).unwrap();
        assert_eq!(load(&path).unwrap(), one());
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o600
        );
        let parent = path.parent().unwrap();
        assert_eq!(
            fs::metadata(parent).unwrap().permissions().mode() & 0o777,
            0o700
        );
    }

    #[test]
    fn a_file_with_tokens_that_others_can_read_is_refused_until_it_is_saved_anew() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("contexts.toml");
        save(&path, &one()).unwrap();
        for mode in [0o640, 0o604, 0o620] {
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            assert!(
                matches!(load(&path), Err(ContextError::Readable { .. })),
                "{mode:o}"
            );
        }
        save(&path, &Contexts::default()).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        assert_eq!(load(&path).unwrap(), Contexts::default());
    }

    #[test]
    fn a_file_that_cannot_be_understood_is_not_repeated() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("contexts.toml");
        fs::write(&path, "[contexts.a]\nservers = []\ntoken = 'secret\n").unwrap();
        let error = load(&path).unwrap_err().to_string();
        assert!(error.contains("line 3"), "{error}");
        assert!(!error.contains("secret"), "{error}");
        assert!(!format!("{:?}", one()).contains("secret"));
    }
}
