//! The configuration as it may be shown: passwords are not.

use crate::config::Config;

const HIDDEN: &str = "***";

/// The configuration as TOML, secrets hidden.
pub(crate) fn shown(config: &Config) -> String {
    let mut config = config.clone();
    HIDDEN.clone_into(&mut config.admin_password);
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
        let config = Config {
            admin_password: "hunter2".to_owned(),
            store: vec!["redis://u:hunter2@a".to_owned()],
            streams: Some(vec!["redis://u:hunter2@b".to_owned()]),
            ..Config::default()
        };
        assert!(!shown(&config).contains("hunter2"));
    }
}
