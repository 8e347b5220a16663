//! Contexts: tokens are kept for their owner alone, sent to their coordinators alone, and never printed.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use crate::support::{Coordinator, Ctl, Fake, Session};

fn file(ctl: &Ctl) -> PathBuf {
    ctl.home.path().join("coordctl/contexts.toml")
}

fn kept_token(ctl: &Ctl) -> String {
    let text = fs::read_to_string(file(ctl)).unwrap();
    let line = text.lines().find(|line| line.starts_with("token"));
    line.unwrap().split('"').nth(1).unwrap().to_owned()
}

#[tokio::test]
async fn a_login_is_kept_and_used_until_it_is_forgotten() {
    let coordinator = Coordinator::in_memory().await;
    let ctl = Ctl::bare(&coordinator.url);
    let url = &coordinator.url;
    let mut session = Session::default();
    session.run(&ctl, "context list").await;
    session.run(&ctl, "context show").await;
    let login = format!("login --server {url} --user admin --password-stdin");
    let done = ctl.fed(&login, "admin\n").await;
    session.note(&ctl, &login, &done);
    let token = kept_token(&ctl);
    assert!(token.len() > 20);
    let mut printed = String::new();
    for line in [
        "stream create orders --shards 2",
        "group list",
        "context list",
        "context list -o json",
        "context show",
        "context show -o json",
        "context use other",
        "context use default",
        "group list --context default",
        "context delete default",
        "context list",
    ] {
        let done = session.run(&ctl, line).await;
        printed.push_str(&done.out);
        printed.push_str(&done.err);
    }
    assert!(!printed.contains(&token), "{printed}");
    assert!(!fs::read_to_string(file(&ctl)).unwrap().contains(&token));
    session.compare("contexts");
}

#[tokio::test]
async fn a_file_with_tokens_that_others_can_read_is_refused_with_what_to_do() {
    let coordinator = Coordinator::in_memory().await;
    let ctl = Ctl::bare(&coordinator.url).with("COORDCTL_PASSWORD", "admin");
    let login = format!("login --server {} --user admin", coordinator.url);
    ctl.run(&login).await.printed();
    let mode = || fs::metadata(file(&ctl)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(), 0o600);
    fs::set_permissions(file(&ctl), Permissions::from_mode(0o644)).unwrap();
    let said = ctl.run("group list").await.failed(2);
    assert_eq!(
        said,
        "coordctl: FOLDER/coordctl/contexts.toml holds tokens, and others can read or change it (its mode is 0644)\n  chmod 600 FOLDER/coordctl/contexts.toml; if somebody may have read it, log in again: coordctl login\n"
    );
    fs::set_permissions(file(&ctl), Permissions::from_mode(0o600)).unwrap();
    ctl.run("group list").await.printed();
}

#[tokio::test]
async fn a_token_is_sent_to_the_coordinators_of_its_context_and_to_no_other() {
    let coordinator = Coordinator::in_memory().await;
    let ctl = Ctl::bare(&coordinator.url).with("COORDCTL_PASSWORD", "admin");
    ctl.run(&format!("login --server {} --user admin", coordinator.url))
        .await
        .printed();
    ctl.run(&format!("group list --server {}/", coordinator.url))
        .await
        .printed();
    let fake = Fake::answering(200, r#"{"groups":[]}"#).await;
    ctl.run(&format!("group list --server {}", fake.url))
        .await
        .printed();
    let both = format!("{},{}", coordinator.url, fake.url);
    let said = ctl.run(&format!("group list --server {both}")).await;
    let said = said.failed(5);
    let fake_url = &fake.url;
    assert!(
        said.contains(&format!(
            "the token of context `default` is for URL and was not sent to URL,{fake_url}: log in there (coordctl login --server URL,{fake_url} --user NAME --context NAME), or give --user"
        )),
        "{said}"
    );
    assert!(fake.authorizations().iter().all(Option::is_none));
}

#[tokio::test]
async fn a_context_of_another_coordinator_is_replaced_only_by_its_name() {
    let coordinator = Coordinator::in_memory().await;
    let ctl = Ctl::bare(&coordinator.url).with("COORDCTL_PASSWORD", "admin");
    let login = format!("login --server {} --user admin", coordinator.url);
    ctl.run(&login).await.printed();
    let other = Coordinator::in_memory().await;
    let elsewhere = format!("login --server {} --user admin", other.url);
    let said = ctl.run(&elsewhere).await.failed(2);
    assert_eq!(
        said,
        "coordctl: the current context `default` is for URL\n  name the context to keep the token in: --context NAME\n"
    );
    ctl.run(&format!("{elsewhere} --context other"))
        .await
        .printed();
    // Its address and its user are known by now.
    ctl.run("login").await.printed();
    ctl.run("stream create letters --shards 1").await.printed();
    assert_eq!(other.seen().await.groups.len(), 1);
    assert_eq!(coordinator.seen().await.groups.len(), 0);
}

#[tokio::test]
async fn a_token_that_ended_or_is_not_taken_any_more_is_named_by_its_context() {
    let fake = Fake::answering(
        401,
        r#"{"status":"UNAUTHORIZED","errorCode":"UNAUTHORIZED","message":"no"}"#,
    )
    .await;
    let ctl = Ctl::bare(&fake.url);
    fs::create_dir_all(file(&ctl).parent().unwrap()).unwrap();
    for (end, advice) in [
        (
            "2020-01-01T00:00:00.000Z",
            "the token of context `a` ended N d ago: coordctl login --context a",
        ),
        (
            "2120-01-01T00:00:00.000Z",
            "the token of context `a` is not taken any more: coordctl login --context a",
        ),
    ] {
        let text = format!(
            "current = 'a'\n[contexts.a]\nservers = ['{}']\ntoken = 'secret'\nexpires-at = '{end}'\n",
            fake.url
        );
        fs::write(file(&ctl), text).unwrap();
        fs::set_permissions(file(&ctl), Permissions::from_mode(0o600)).unwrap();
        let said = ctl.run("group list").await.failed(5);
        assert_eq!(said, format!("coordctl: UNAUTHORIZED: no\n  {advice}\n"));
    }
    let who = fake.authorizations();
    assert_eq!(
        who,
        [
            Some("Bearer secret".to_owned()),
            Some("Bearer secret".to_owned())
        ]
    );
}

/// A password that others on the way can read is told of; to this machine nobody is on the way.
#[tokio::test]
async fn a_login_in_clear_beyond_loopback_is_warned_of() {
    let coordinator = Coordinator::in_memory().await;
    let port = coordinator.url.rsplit(':').next().unwrap();
    // Leads to this machine, and is not a name of its loopback.
    let outside = format!("http://0.0.0.0:{port}");
    let ctl = Ctl::bare(&outside).with("COORDCTL_PASSWORD", "admin");
    let login = |url: &str| format!("login --server {url} --user admin --context {}", url.len());
    let done = ctl.run(&login(&outside)).await;
    assert_eq!(
        (done.code, done.err.as_str()),
        (
            0,
            "coordctl: warning: the password goes to URL in clear, and so will the token: whoever is on the way can read them; use https://\n"
        )
    );
    let done = ctl.run(&format!("{} -o json", login(&outside))).await;
    let warned: serde_json::Value = serde_json::from_str(&done.err).unwrap();
    assert!(warned["warning"].as_str().unwrap().contains("in clear"));
    ctl.run(&login(&coordinator.url)).await.printed();
}

#[tokio::test]
async fn a_wrong_password_keeps_nothing() {
    let coordinator = Coordinator::in_memory().await;
    let ctl = Ctl::bare(&coordinator.url).with("COORDCTL_PASSWORD", "wrong");
    let said = ctl
        .run(&format!("login --server {} --user admin", coordinator.url))
        .await
        .failed(5);
    assert!(
        said.ends_with("\n  check the user's name and the password\n"),
        "{said}"
    );
    assert!(!file(&ctl).exists());
}

/// Who is to mend an address has to know where it stands.
#[tokio::test]
async fn an_address_that_can_not_be_used_is_told_with_where_it_is_from() {
    let ctl = Ctl::bare("http://127.0.0.1:1");
    fs::create_dir_all(file(&ctl).parent().unwrap()).unwrap();
    let text = "current = \"prod\"\n\n[contexts.prod]\nservers = [\"coord.example\"]\n";
    fs::write(file(&ctl), text).unwrap();
    fs::set_permissions(file(&ctl), Permissions::from_mode(0o600)).unwrap();
    let told = |origin: &str| {
        format!(
            "coordctl: {origin}: an address begins with http:// or https://\n  is it http://coord.example, or https://coord.example?\n"
        )
    };
    let said = ctl.run("group list").await.failed(2);
    assert_eq!(said, told("the context prod"));
    let said = ctl.run("group list --server coord.example").await.failed(2);
    assert_eq!(said, told("--server"));
    let ctl = ctl.with("COORDCTL_SERVER", "coord.example");
    let said = ctl.run("group list").await.failed(2);
    assert_eq!(said, told("COORDCTL_SERVER"));
}
