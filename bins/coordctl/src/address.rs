//! What can be told from a coordinator's URL: whether it leads off this machine, and whether what is sent there can be read on the way.

use std::net::IpAddr;

/// Whether nothing is encrypted on the way there.
pub(crate) fn is_plain(url: &str) -> bool {
    url.split_once("://")
        .is_some_and(|(scheme, _)| scheme.eq_ignore_ascii_case("http"))
}

/// Whether whoever can name this URL may be somebody on another machine.
pub(crate) fn is_beyond_loopback(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    let host = match authority.strip_prefix('[') {
        Some(inside) => inside.split(']').next().unwrap_or_default(),
        None => authority
            .rsplit_once(':')
            .map_or(authority, |(host, _)| host),
    };
    match host.parse::<IpAddr>() {
        Ok(address) => !address.to_canonical().is_loopback(),
        Err(_) => !host.eq_ignore_ascii_case("localhost"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_this_machine_are_told_from_others() {
        for url in [
            "http://127.0.0.1:8080",
            "https://localhost/x",
            "http://[::1]:80",
            "http://[::ffff:127.0.0.1]:1",
        ] {
            assert!(!is_beyond_loopback(url), "{url}");
        }
        for url in [
            "http://10.0.0.1:8080",
            "https://coord.example",
            "http://0.0.0.0:1",
            "http://[::]:80/",
        ] {
            assert!(is_beyond_loopback(url), "{url}");
        }
    }

    #[test]
    fn only_what_is_encrypted_is_not_plain() {
        assert!(is_plain("http://a:1") && is_plain("HTTP://a"));
        assert!(!is_plain("https://a:1"));
    }
}
