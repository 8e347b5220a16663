//! Who may come in, and over what: users, the secret of tokens and certificates, as the configuration and the files it names have
//! them. When files are read again is not known here.

mod tls;
mod users;

use coordinator_server::{
    BadPasswordHash, ChangeRate, DEFAULT_ADMIN_PASSWORD, Password, PasswordHash, ServerConfig,
    ShortSecret, TlsError, TokenSecret, User, UserError, Users,
};

use crate::config::Config;
use crate::reload::Reload;
pub(crate) use tls::TlsSource;
pub(crate) use users::UsersSource;

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
    let users = UsersSource::new(config, server.users.clone());
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
    let tls = TlsSource::of(config)?;
    server.tls = tls.as_ref().map(TlsSource::tls);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::UserEntry;

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
