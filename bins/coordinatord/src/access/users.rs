//! The users beside the admin, from the configuration and from a file of their own. When the file is read again is not known here.

use std::path::{Path, PathBuf};

use coordinator_server::{DuplicateUser, User, Users};
use serde::Deserialize;

use super::AccessError;
use crate::config::{Config, UserEntry};

/// The users beside the admin: those of the configuration and those of a file.
#[derive(Debug)]
pub(crate) struct UsersSource {
    users: Users,
    entries: Vec<UserEntry>,
    pub(crate) file: Option<PathBuf>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct UsersFile {
    #[serde(default)]
    users: Vec<UserEntry>,
}

impl UsersSource {
    /// Where the configuration has the users of `users`. Nothing is read yet.
    pub(super) fn new(config: &Config, users: Users) -> Self {
        Self {
            users,
            entries: config.users.clone(),
            file: config.users_file.as_ref().map(PathBuf::from),
        }
    }

    /// Reads the file and replaces all users but the admin; how many there are. Nothing changes if there is a mistake.
    pub(crate) fn read(&self) -> Result<usize, AccessError> {
        let mut users = checked(&self.entries, "")?;
        let mut in_file = String::new();
        if let Some(path) = &self.file {
            in_file = format!("{}: ", path.display());
            users.extend(checked(&entries_of(path)?, &in_file)?);
        }
        let count = users.len();
        let of_configuration = self.entries.len();
        self.users.replace(users).map_err(|twice| {
            let DuplicateUser { name, position } = twice;
            let (place, position) = match position.checked_sub(of_configuration) {
                None => (String::new(), position),
                Some(position) => (in_file, position),
            };
            AccessError::Twice {
                place,
                position,
                name,
            }
        })?;
        Ok(count)
    }
}

fn checked(entries: &[UserEntry], place: &str) -> Result<Vec<User>, AccessError> {
    let numbered = entries.iter().enumerate();
    let users = numbered.map(|(position, entry)| {
        User::new(&entry.name, &entry.password_hash, &entry.roles).map_err(|source| {
            AccessError::User {
                place: place.to_owned(),
                position,
                source,
            }
        })
    });
    users.collect()
}

fn entries_of(path: &Path) -> Result<Vec<UserEntry>, AccessError> {
    let text = std::fs::read_to_string(path).map_err(|source| AccessError::Unreadable {
        setting: "users-file",
        path: path.display().to_string(),
        source,
    })?;
    let file: Result<UsersFile, _> = toml::from_str(&text);
    file.map(|file| file.users).map_err(|error| {
        // The line itself stays out of it: there may be a hash in it.
        let before = error.span().and_then(|span| text.get(..span.start));
        let line = before.map_or(1, |before| before.matches('\n').count() + 1);
        AccessError::UsersFile {
            path: path.display().to_string(),
            reason: format!("line {line}: {}", error.message()),
        }
    })
}
