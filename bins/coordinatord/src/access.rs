//! Who may come in, and over what: users, the secret of tokens and certificates, as the configuration and the files it names have
//! them. When files are read again is not known here.

use std::path::{Path, PathBuf};

use coordinator_server::{
    BadPasswordHash, ChangeRate, ClientAuth, DEFAULT_ADMIN_PASSWORD, DuplicateUser, Password,
    PasswordHash, ServerConfig, ShortSecret, Tls, TlsError, TlsFiles, TokenSecret, User, UserError,
    Users,
};
use serde::Deserialize;

use crate::config::{ClientCertificate, Config, UserEntry};
use crate::reload::Reload;

/// A setting about access that can't work.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AccessError {
    #[error("admin-password and admin-password-hash exclude each other: leave one out")]
    TwoPasswords,
    #[error("admin-password-hash {0}")]
    AdminHash(#[source] BadPasswordHash),
    #[error("admin-username {0}")]
    AdminName(#[source] UserError),
    #[error("{place}users[{position}].{} {source}", source.field())]
    User {
        place: String,
        position: usize,
        source: UserError,
    },
    #[error("{place}users[{position}].name: the user {name} is there twice")]
    Twice {
        place: String,
        position: usize,
        name: String,
    },
    #[error("users-file: {path}: {reason}")]
    UsersFile { path: String, reason: String },
    #[error("token-secret {0}")]
    TokenSecret(#[from] ShortSecret),
    #[error("{setting} needs {needs}")]
    Needs {
        setting: &'static str,
        needs: &'static str,
    },
    #[error("{setting}: {path} can't be read: {source}")]
    Unreadable {
        setting: &'static str,
        path: String,
        source: std::io::Error,
    },
    #[error(transparent)]
    Tls(#[from] TlsError),
    #[error("admin-rate-burst must be above 0; admin-rate-limit 0 switches the limit off")]
    NoBurst,
}

/// Gives a server what the configuration says about access.
pub(crate) fn give(config: &Config, server: &mut ServerConfig) -> Result<Reload, AccessError> {
    server.users = Users::new(admin(config)?);
    let users = UsersSource {
        users: server.users.clone(),
        entries: config.users.clone(),
        file: config.users_file.as_ref().map(PathBuf::from),
    };
    users.read()?;
    if let Some(secret) = &config.token_secret {
        server.token_secret = Some(TokenSecret::new(secret.as_str())?);
    }
    if config.admin_rate_burst == 0 {
        return Err(AccessError::NoBurst);
    }
    server.change_rate = (config.admin_rate_limit > 0).then_some(ChangeRate {
        per_minute: config.admin_rate_limit,
        burst: config.admin_rate_burst,
    });
    let paths = TlsPaths::of(config)?;
    let tls = match paths {
        None => None,
        Some(paths) => Some(TlsSource::new(paths)?),
    };
    server.tls = tls.as_ref().map(|source| source.tls.clone());
    Ok(Reload::new(users, tls))
}

fn admin(config: &Config) -> Result<User, AccessError> {
    let password = match (&config.admin_password, &config.admin_password_hash) {
        (Some(_), Some(_)) => return Err(AccessError::TwoPasswords),
        (None, Some(hash)) => {
            Password::Hashed(PasswordHash::parse(hash).map_err(AccessError::AdminHash)?)
        }
        (Some(password), None) => Password::Plain(password.clone()),
        (None, None) => Password::Plain(DEFAULT_ADMIN_PASSWORD.to_owned()),
    };
    User::admin(&config.admin_username, password).map_err(AccessError::AdminName)
}

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

/// Where certificates and keys are.
#[derive(Debug)]
struct TlsPaths {
    certificate: PathBuf,
    key: PathBuf,
    clients: Option<(PathBuf, ClientAuth)>,
}

impl TlsPaths {
    fn of(config: &Config) -> Result<Option<Self>, AccessError> {
        let needs = |setting, needs| Err(AccessError::Needs { setting, needs });
        if config.tls_client_auth.is_some() && config.tls_client_ca.is_none() {
            return needs("tls-client-auth", "tls-client-ca");
        }
        match (&config.tls_cert, &config.tls_key) {
            (None, None) if config.tls_client_ca.is_some() => {
                needs("tls-client-ca", "tls-cert and tls-key")
            }
            (None, None) => Ok(None),
            (Some(_), None) => needs("tls-cert", "tls-key"),
            (None, Some(_)) => needs("tls-key", "tls-cert"),
            (Some(certificate), Some(key)) => {
                let demand = match config.tls_client_auth {
                    None | Some(ClientCertificate::Required) => ClientAuth::Required,
                    Some(ClientCertificate::Optional) => ClientAuth::Optional,
                };
                let clients = config.tls_client_ca.as_ref();
                Ok(Some(Self {
                    certificate: certificate.into(),
                    key: key.into(),
                    clients: clients.map(|path| (path.into(), demand)),
                }))
            }
        }
    }

    fn read(&self) -> Result<TlsFiles, AccessError> {
        let client_authorities = match &self.clients {
            Some((path, demand)) => Some((read("tls-client-ca", path)?, *demand)),
            None => None,
        };
        Ok(TlsFiles {
            certificate: read("tls-cert", &self.certificate)?,
            key: read("tls-key", &self.key)?,
            client_authorities,
        })
    }
}

fn read(setting: &'static str, path: &Path) -> Result<Vec<u8>, AccessError> {
    std::fs::read(path).map_err(|source| AccessError::Unreadable {
        setting,
        path: path.display().to_string(),
        source,
    })
}

/// What the listener is encrypted with, and the files it comes from.
#[derive(Debug)]
pub(crate) struct TlsSource {
    tls: Tls,
    paths: TlsPaths,
    /// What was found the last time, whether it could be used or not.
    found: TlsFiles,
}

impl TlsSource {
    fn new(paths: TlsPaths) -> Result<Self, AccessError> {
        let found = paths.read()?;
        Ok(Self {
            tls: Tls::new(&found)?,
            paths,
            found,
        })
    }

    /// Reads the files and takes over what is in them, if something has changed since the last time or `always`; whether it did.
    /// What was before stays if there is a mistake.
    pub(crate) fn read(&mut self, always: bool) -> Result<bool, AccessError> {
        let found = self.paths.read()?;
        if found == self.found && !always {
            return Ok(false);
        }
        self.found = found;
        self.tls.replace(&self.found)?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: &str =
        "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4";

    fn entry(name: &str, roles: &[&str]) -> UserEntry {
        UserEntry {
            name: name.to_owned(),
            password_hash: HASH.to_owned(),
            roles: roles.iter().map(|role| (*role).to_owned()).collect(),
        }
    }

    fn given(change: impl FnOnce(&mut Config)) -> Result<ServerConfig, String> {
        let mut config = Config::default();
        change(&mut config);
        let mut server = ServerConfig::new("test");
        match give(&config, &mut server) {
            Ok(_) => Ok(server),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn h21_what_cannot_work_is_refused_with_the_field() {
        let some = |text: &str| Some(text.to_owned());
        let users = |users: &[UserEntry]| {
            let users = users.to_vec();
            given(|c| c.users = users)
        };
        let (ann, bob) = (entry("ann", &["READ"]), entry("bob", &["WRITE"]));
        for (outcome, says) in [
            (
                users(&[ann.clone(), bob.clone(), entry("carl", &["ROOT"])]),
                "users[2].roles `ROOT` is no role",
            ),
            (
                users(&[ann.clone(), entry("carl", &[])]),
                "users[1].roles must name at least one",
            ),
            (
                users(&[entry("a:b", &["READ"])]),
                "users[0].name must be 1 to",
            ),
            (
                users(&[ann.clone(), bob, ann]),
                "users[2].name: the user ann is there twice",
            ),
            (
                users(&[entry("admin", &["READ"])]),
                "users[0].name: the user admin is there twice",
            ),
            (
                given(|c| c.admin_password_hash = some("hunter2")),
                "admin-password-hash is no hash",
            ),
            (
                given(|c| c.admin_username = "a:b".to_owned()),
                "admin-username must be",
            ),
            (
                given(|c| c.token_secret = some("hunter2")),
                "token-secret must be at least 32",
            ),
            (
                given(|c| c.admin_rate_burst = 0),
                "admin-rate-burst must be above 0",
            ),
            (
                given(|c| c.tls_key = some("k.pem")),
                "tls-key needs tls-cert",
            ),
        ] {
            let refusal = outcome.expect_err(says);
            assert!(refusal.starts_with(says), "{refusal:?} should say {says:?}");
            assert!(!refusal.contains("hunter2") && !refusal.contains("argon2id$v=19$m=256"));
        }
    }

    #[test]
    fn settings_of_access_reach_the_server() {
        let library = ServerConfig::new("as the library has it");
        let server = given(|_| {}).expect("the defaults can work");
        assert_eq!(server.change_rate, library.change_rate);
        assert!(server.token_secret.is_none() && server.tls.is_none());
        let server = given(|c| {
            c.admin_username = "root".to_owned();
            c.admin_password_hash = Some(HASH.to_owned());
            c.users = vec![entry("ann", &["MONITOR"])];
            c.token_secret = Some("x".repeat(32));
            c.admin_rate_limit = 0;
        });
        let server = server.expect("this can work");
        assert_eq!(format!("{:?}", server.users), r#"Users(["ann", "root"])"#);
        assert!(server.token_secret.is_some());
        assert_eq!(server.change_rate, None);
        let beyond = "0.0.0.0:80".parse().expect("an address");
        server
            .check_address(beyond)
            .expect("neither default password nor a missing secret");
    }
}
