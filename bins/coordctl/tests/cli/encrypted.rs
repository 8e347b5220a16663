//! A coordinator that lets in only who shows a certificate, with real handshakes.

use std::fs;
use std::path::PathBuf;

use crate::support::{Authority, Coordinator, Ctl};

/// Such a coordinator, and a program with files of all certificates in its home.
struct World {
    coordinator: Coordinator,
    ctl: Ctl,
}

impl World {
    async fn new() -> Self {
        let (ours, clients) = (Authority::new("ours"), Authority::new("clients"));
        let coordinator = Coordinator::encrypted(&ours, &clients).await;
        let ctl = Ctl::bare(&coordinator.url).with("COORDCTL_PASSWORD", "admin");
        let world = Self { coordinator, ctl };
        let shown = clients.client();
        for (name, text) in [
            ("ca.pem", ours.pem()),
            ("client.pem", shown.certificate),
            ("client.key", shown.key),
        ] {
            fs::write(world.file(name), text).unwrap();
        }
        world
    }

    fn file(&self, name: &str) -> PathBuf {
        self.ctl.home.path().join(name)
    }

    fn flag(&self, name: &str, file: &str) -> String {
        format!("--{name} {}", self.file(file).display())
    }

    /// Whom to ask, and all three files.
    fn flags(&self) -> String {
        [
            format!("--server {}", self.coordinator.url),
            self.flag("ca-cert", "ca.pem"),
            self.flag("client-cert", "client.pem"),
            self.flag("client-key", "client.key"),
        ]
        .join(" ")
    }
}

#[tokio::test]
async fn who_shows_its_certificate_is_let_in_by_flags_environment_and_context() {
    let world = World::new().await;
    let (ctl, flags) = (&world.ctl, world.flags());
    let as_admin = format!("{flags} --user admin");
    ctl.run(&format!("stream create orders --shards 2 {as_admin}"))
        .await
        .printed();
    let found = ctl.run(&format!("doctor {as_admin}")).await;
    assert_eq!(found.code, 0, "{found:?}");
    ctl.run(&format!("login {as_admin} --context prod"))
        .await
        .printed();
    // Whatever folder that is said in.
    ctl.run("group show orders").await.printed();
    let shown = ctl.run("context show").await.printed();
    assert!(shown.contains("FOLDER/client.pem"), "{shown}");
    assert!(shown.contains("FOLDER/client.key"), "{shown}");

    // One file may hold both.
    let both =
        ["client.key", "client.pem"].map(|name| fs::read_to_string(world.file(name)).unwrap());
    fs::write(world.file("both.pem"), both.concat()).unwrap();
    let both = format!(
        "group list --user admin --server {} {} {} {}",
        world.coordinator.url,
        world.flag("ca-cert", "ca.pem"),
        world.flag("client-cert", "both.pem"),
        world.flag("client-key", "both.pem")
    );
    ctl.run(&both).await.printed();

    let file = |name| world.file(name).to_str().unwrap().to_owned();
    let by_environment = Ctl::at(&world.coordinator.url)
        .with("COORDCTL_USER", "admin")
        .with("COORDCTL_PASSWORD", "admin")
        .with("COORDCTL_CA_CERT", &file("ca.pem"))
        .with("COORDCTL_CLIENT_CERT", &file("client.pem"))
        .with("COORDCTL_CLIENT_KEY", &file("client.key"));
    by_environment.run("group show orders").await.printed();
}

#[tokio::test]
async fn who_shows_none_is_told_what_to_give() {
    let world = World::new().await;
    let line = format!(
        "group list --server {} {}",
        world.coordinator.url,
        world.flag("ca-cert", "ca.pem")
    );
    let said = world.ctl.run(&line).await.failed(6);
    assert!(
        said.contains("--client-cert FILE --client-key FILE"),
        "{said}"
    );
    let trusting_nobody = format!("group list --server {}", world.coordinator.url);
    let said = world.ctl.run(&trusting_nobody).await.failed(6);
    assert!(said.contains("--ca-cert FILE"), "{said}");
}

/// Whoever speaks the wrong one of two is told of the other.
#[tokio::test]
async fn http_where_tls_is_spoken_and_the_reverse_are_told() {
    let world = World::new().await;
    let plain = world.coordinator.url.replace("https", "http");
    let said = Ctl::at(&plain).run("health").await.failed(6);
    assert!(
        said.contains("\n  nobody speaks plain HTTP there: is it --server https://…"),
        "{said}"
    );
    let open = Coordinator::in_memory().await;
    let encrypted = open.url.replace("http", "https");
    let said = Ctl::at(&encrypted).run("health").await.failed(6);
    assert!(
        said.contains("\n  nobody speaks TLS there: is it --server http://…"),
        "{said}"
    );
}

/// What was kept at the log-in is for the same coordinators, whoever one is there.
#[tokio::test]
async fn the_certificates_of_a_context_are_used_also_with_a_user_of_its_own() {
    let world = World::new().await;
    let login = format!("login {} --user admin", world.flags());
    world.ctl.run(&login).await.printed();
    let list = format!("group list --server {} --user admin", world.coordinator.url);
    world.ctl.run(&list).await.printed();
    world.ctl.run("group list --user admin").await.printed();
    // Another one is not asked by them, nor is it kept from being asked.
    fs::remove_file(world.file("ca.pem")).unwrap();
    let elsewhere = Coordinator::in_memory().await;
    let line = format!("group list --server {} --user admin", elsewhere.url);
    world.ctl.run(&line).await.printed();
}

#[tokio::test]
async fn half_of_a_pair_and_files_that_are_not_one_are_named() {
    let world = World::new().await;
    fs::write(world.file("empty.pem"), "").unwrap();
    fs::write(
        world.file("other.key"),
        Authority::new("other").client().key,
    )
    .unwrap();
    let half = world.flag("client-cert", "client.pem");
    let other = world.flag("client-key", "client.key");
    for (flags, expected) in [
        (half.clone(), "--client-cert is given without --client-key"),
        (other.clone(), "--client-key is given without --client-cert"),
        (
            format!("{half} {}", world.flag("client-key", "none.key")),
            "could not read its key in FOLDER/none.key: No such file",
        ),
        (
            format!("{other} {}", world.flag("client-cert", "none.pem")),
            "could not read the certificate to show in FOLDER/none.pem: No such file",
        ),
        (
            format!("{half} {}", world.flag("client-key", "other.key")),
            "--client-cert and --client-key: TLS cannot be set up: keys may not be consistent: KeyMismatch\n  the key is not that of the certificate: name two that were made together",
        ),
        (
            format!("{other} {}", world.flag("client-cert", "empty.pem")),
            "--client-cert and --client-key: no certificate and its key in PEM",
        ),
    ] {
        let line = format!("group list --server {} {flags}", world.coordinator.url);
        let said = world.ctl.run(&line).await.failed(2);
        assert!(said.starts_with(&format!("coordctl: {expected}")), "{said}");
    }
}

/// Like its token, a context's certificate is for its coordinators.
#[tokio::test]
async fn the_certificate_of_a_context_is_not_shown_to_others() {
    let world = World::new().await;
    let login = format!("login {} --user admin", world.flags());
    world.ctl.run(&login).await.printed();
    fs::remove_file(world.file("client.key")).unwrap();
    let said = world.ctl.run("group list").await.failed(2);
    assert!(said.contains("could not read its key"), "{said}");
    let elsewhere = Coordinator::in_memory().await;
    let line = format!("group list --server {}", elsewhere.url);
    // It is not even read.
    world.ctl.run(&line).await.failed(5);
}
