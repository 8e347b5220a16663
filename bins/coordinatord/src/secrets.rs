//! The configuration as it may be shown: passwords are not.

use crate::config::Config;

const HIDDEN: &str = "***";

/// The configuration as TOML, secrets hidden.
pub(crate) fn shown(config: &Config) -> String {
    let mut config = config.clone();
    let hidden = || Some(HIDDEN.to_owned());
    if config.admin_password_hash.is_some() {
        config.admin_password_hash = hidden();
    }
    if config.admin_password.is_some() || config.admin_password_hash.is_none() {
        config.admin_password = hidden();
    }
    if config.token_secret.is_some() {
        config.token_secret = hidden();
    }
    for user in &mut config.users {
        HIDDEN.clone_into(&mut user.password_hash);
    }
    for url in config
        .store
        .iter_mut()
        .chain(config.streams.iter_mut().flatten())
    {
        *url = without_password(url);
    }
    toml::to_string_pretty(&config).expect("the configuration is made of texts, numbers and lists")
}

/// A URL without the password in it.
pub(crate) fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    match authority.rsplit_once('@') {
        Some((userinfo, host)) => {
            let user = userinfo.split_once(':').map_or("", |(user, _)| user);
            let after = &rest[authority.len()..];
            format!("{scheme}://{user}:{HIDDEN}@{host}{after}")
        }
        None => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::UserEntry;

    #[test]
    fn passwords_are_not_shown() {
        for (url, shown) in [
            ("memory", "memory"),
            ("redis://localhost:6379/1", "redis://localhost:6379/1"),
            ("redis://:secret@localhost", "redis://:***@localhost"),
            (
                "rediss://user:se@cret@host:1/0?x=y@z",
                "rediss://user:***@host:1/0?x=y@z",
            ),
            ("redis://secret@host", "redis://:***@host"),
        ] {
            assert_eq!(without_password(url), shown);
        }
        let secret = || Some("hunter2".to_owned());
        let config = Config {
            admin_password: secret(),
            admin_password_hash: secret(),
            token_secret: secret(),
            store: vec!["redis://u:hunter2@a".to_owned()],
            streams: Some(vec!["redis://u:hunter2@b".to_owned()]),
            users: vec![UserEntry {
                name: "ann".to_owned(),
                password_hash: "hunter2".to_owned(),
                roles: vec!["READ".to_owned()],
            }],
            ..Config::default()
        };
        let shown = shown(&config);
        assert!(!shown.contains("hunter2"), "{shown}");
        assert!(shown.contains("[[users]]\nname = \"ann\""), "{shown}");
    }
}
