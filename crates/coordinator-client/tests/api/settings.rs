//! Settings that cannot work are refused by name, and secrets stay hidden.

use std::time::Duration;

use coordinator_client::{ClientBuilder, CoordinatorClient, Credentials};

fn valid() -> ClientBuilder {
    CoordinatorClient::builder(["http://127.0.0.1:8080"])
}

#[test]
fn the_wrong_setting_is_named() {
    let urls = |urls: &[&str]| CoordinatorClient::builder(urls.iter().copied());
    let cases = [
        (urls(&[]), "base_urls: at least one is needed"),
        (
            urls(&["http://a", "nonsense"]),
            "base_urls: not a URL: relative URL without a base",
        ),
        (
            urls(&["ftp://a"]),
            "base_urls: must begin with http:// or https://",
        ),
        (
            urls(&["http://admin:secret@a"]),
            "base_urls: must not hold a user or a password: use credentials",
        ),
        (
            urls(&["http://a/?x=1"]),
            "base_urls: must not have a query or a fragment",
        ),
        (
            valid().connect_timeout(Duration::ZERO),
            "connect_timeout: must be longer than 0",
        ),
        (
            valid().request_timeout(Duration::ZERO),
            "request_timeout: must be longer than 0",
        ),
        (
            valid().credentials(Credentials::basic("", "p")),
            "credentials: the user name is empty",
        ),
        (
            valid().credentials(Credentials::basic("a:b", "p")),
            "credentials: a user name must not contain a colon",
        ),
        (
            valid().credentials(Credentials::bearer("")),
            "credentials: the token is empty",
        ),
        (
            valid().credentials(Credentials::bearer("a\nb")),
            "credentials: a token must not contain control characters",
        ),
        (
            valid().root_certificates_pem("nothing"),
            "root_certificates_pem: no certificates in PEM",
        ),
        (
            valid().extra_root_certificates_pem("nothing"),
            "extra_root_certificates_pem: no certificates in PEM",
        ),
        (
            valid().client_identity_pem("nothing", "nothing"),
            "client_identity_pem: no certificate and its key in PEM",
        ),
    ];
    for (builder, message) in cases {
        assert_eq!(builder.build().expect_err(message).to_string(), message);
    }
}

#[test]
fn secrets_stay_out_of_debug_output() {
    for credentials in [
        Credentials::basic("admin", "hunter2"),
        Credentials::bearer("hunter2"),
    ] {
        let builder = valid().credentials(credentials);
        let shown = format!(
            "{builder:?} {:?}",
            builder.clone().build().expect("settings that work")
        );
        assert!(!shown.contains("hunter2"), "{shown}");
    }
    let unchecked = CoordinatorClient::builder(["http://admin:hunter2@a"]);
    assert!(!format!("{unchecked:?} {:?}", unchecked.clone().build()).contains("hunter2"));
}

#[test]
fn a_client_for_https_can_be_built() {
    let built = CoordinatorClient::builder(["https://coordinator.example"]).build();
    // Where the host has no certificate authorities, the refusal says so by the setting.
    if let Err(error) = built {
        assert_eq!(error.setting(), "base_urls");
    }
}
