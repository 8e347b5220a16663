//! Users, certificates and secrets of a coordinator that runs: read at the start, read again, and never told.
#![allow(clippy::unwrap_used)]

mod support;

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use coordinator_client::{CoordinatorClient, Credentials};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use openapi_check::Conformity;
use protocol::LoginRequest;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use support::watched::watched;
use tempfile::TempDir;
use testkit::wait_until_async;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

const PATIENCE: Duration = Duration::from_secs(20);
/// Of `password`.
const HASH: &str =
    "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4";

/// A coordinator whose log goes to a file.
struct Running {
    url: String,
    log: PathBuf,
    child: Child,
    conformity: Conformity,
}

impl Running {
    async fn start(folder: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let log = folder.join("log");
        let file = std::fs::File::create(&log).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_coordinatord"))
            .args(["--listen", "127.0.0.1:0"])
            .args(arguments)
            .envs(variables.iter().copied())
            .stdout(Stdio::piped())
            .stderr(file)
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let line = tokio::time::timeout(PATIENCE, lines.next_line()).await;
        let line = line.unwrap().unwrap().expect("it says where it listens");
        let url = line.split_whitespace().last().unwrap().to_owned();
        Self {
            url,
            log,
            child,
            conformity: Conformity::new(),
        }
    }

    fn client(&self, name: &str, password: &str, authority: Option<&str>) -> CoordinatorClient {
        let builder = watched([&self.url], self.conformity.judge());
        let builder = match authority {
            Some(pem) => builder.root_certificates_pem(pem),
            None => builder,
        };
        let credentials = Credentials::basic(name, password);
        builder.credentials(credentials).build().unwrap()
    }

    async fn lets_in(&self, name: &str) -> bool {
        self.client(name, "password", None).groups().await.is_ok()
    }

    /// Tells it to read files again and waits for the outcome in the log.
    async fn reload(&self, says: &str) {
        let seen = self.said(says);
        let pid = i32::try_from(self.child.id().unwrap()).unwrap();
        kill(Pid::from_raw(pid), Signal::SIGHUP).unwrap();
        let told = async || self.said(says) > seen;
        let waiting = wait_until_async(PATIENCE, told).await;
        waiting.unwrap_or_else(|_| panic!("no {says:?} in {}", self.text()));
    }

    fn text(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap()
    }

    fn said(&self, text: &str) -> usize {
        self.text().matches(text).count()
    }
}

fn user(name: &str) -> String {
    format!("[[users]]\nname = \"{name}\"\npassword-hash = \"{HASH}\"\nroles = [\"READ\"]\n")
}

#[tokio::test]
async fn users_are_read_again_on_sighup_and_a_bad_file_changes_nothing() {
    let folder = TempDir::new().unwrap();
    let (file, config) = (
        folder.path().join("users.toml"),
        folder.path().join("c.toml"),
    );
    std::fs::write(&config, user("ann")).unwrap();
    std::fs::write(&file, user("bob")).unwrap();
    let (config, users) = (config.to_str().unwrap(), file.to_str().unwrap());
    let arguments = ["--config", config, "--users-file", users];
    let running = Running::start(folder.path(), &arguments, &[]).await;
    assert!(running.lets_in("ann").await && running.lets_in("bob").await);
    assert!(!running.lets_in("carl").await);

    std::fs::write(&file, user("carl")).unwrap();
    running.reload("users were read again").await;
    assert!(running.lets_in("ann").await && running.lets_in("carl").await);
    assert!(!running.lets_in("bob").await);

    for (text, says) in [
        (
            user("dora").replace("READ", "ROOT"),
            "users[0].roles `ROOT` is no role",
        ),
        (user("ann"), "users[0].name: the user ann is there twice"),
        (
            user("dora") + "passwort = \"\"",
            "line 5: unknown field `passwort`",
        ),
        (user("dora").replace('=', "~"), "line 2: "),
    ] {
        std::fs::write(&file, text).unwrap();
        running.reload("users were not read again").await;
        assert_eq!(running.said(says), 1, "{says}: {}", running.text());
        assert!(running.lets_in("carl").await && !running.lets_in("dora").await);
    }
    std::fs::remove_file(&file).unwrap();
    running.reload("can't be read").await;
    assert!(running.lets_in("carl").await);
    assert_eq!(running.said("$argon2id"), 0, "{}", running.text());
}

/// An authority and the folder's certificate of it.
fn certify(folder: &Path) -> String {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
    let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    let key = KeyPair::generate().unwrap();
    let certificate = params.signed_by(&key, &authority).unwrap();
    std::fs::write(folder.join("cert.pem"), certificate.pem()).unwrap();
    std::fs::write(folder.join("key.pem"), key.serialize_pem()).unwrap();
    authority.pem()
}

#[tokio::test]
async fn certificates_are_read_again_on_sighup_and_bad_ones_change_nothing() {
    let folder = TempDir::new().unwrap();
    let first = certify(folder.path());
    let (certificate, key) = (
        folder.path().join("cert.pem"),
        folder.path().join("key.pem"),
    );
    let paths = (certificate.to_str().unwrap(), key.to_str().unwrap());
    let arguments = ["--tls-cert", paths.0, "--tls-key", paths.1];
    let running = Running::start(folder.path(), &arguments, &[]).await;
    assert!(running.url.starts_with("https://"), "{}", running.url);
    let is_of = async |authority: &str| {
        let client = running.client("admin", "admin", Some(authority));
        client.groups().await.is_ok()
    };
    assert!(is_of(&first).await);

    std::fs::write(&key, "nothing").unwrap();
    running.reload("certificates were not read again").await;
    assert_eq!(running.said("tls-key: there is no private key in PEM"), 1);
    assert!(is_of(&first).await);

    let second = certify(folder.path());
    running.reload("certificates were read again").await;
    assert!(is_of(&second).await && !is_of(&first).await);
}

#[tokio::test]
async fn no_secret_is_in_the_log_however_much_is_logged() {
    let folder = TempDir::new().unwrap();
    let authority = certify(folder.path());
    let (certificate, key) = (
        folder.path().join("cert.pem"),
        folder.path().join("key.pem"),
    );
    let config = folder.path().join("c.toml");
    std::fs::write(&config, user("ann")).unwrap();
    let paths = [&certificate, &key, &config].map(|path| path.to_str().unwrap());
    let arguments = [
        "--tls-cert",
        paths[0],
        "--tls-key",
        paths[1],
        "--config",
        paths[2],
    ];
    let secret = "secret-of-tokens".repeat(3);
    let variables = [
        ("RUST_LOG", "trace"),
        ("COORDINATORD_TOKEN_SECRET", secret.as_str()),
        ("COORDINATORD_ADMIN_PASSWORD", "hunter2-admin"),
    ];
    let running = Running::start(folder.path(), &arguments, &variables).await;
    let login = LoginRequest {
        username: "admin".to_owned(),
        password: "hunter2-admin".to_owned(),
    };
    let client = running.client("ann", "password", Some(&authority));
    client.groups().await.unwrap();
    let token = client.login(&login).await.unwrap().access_token;
    let bearer = client
        .with_credentials(Credentials::bearer(&token))
        .unwrap();
    bearer.groups().await.unwrap();
    let wrong = Credentials::basic("ann", "hunter2-wrong");
    client
        .with_credentials(wrong)
        .unwrap()
        .groups()
        .await
        .unwrap_err();
    let log = running.text();
    assert!(log.contains("TRACE") && log.contains("listening"), "{log}");
    let private = std::fs::read_to_string(&key).unwrap();
    let private = private.lines().nth(1).unwrap();
    for hidden in [
        &*secret,
        "hunter2",
        "$argon2id",
        &token,
        "YW5uOnBhc3N3b3Jk",
        private,
    ] {
        assert!(!log.contains(hidden), "{hidden} is in the log");
    }
}

#[tokio::test]
async fn beyond_loopback_a_token_secret_is_asked_for() {
    let refused = async |variables: &[(&str, &str)]| {
        let output = Command::new(env!("CARGO_BIN_EXE_coordinatord"))
            .args(["--listen", "0.0.0.0:0", "--check-config"])
            .envs(variables.iter().copied())
            .output();
        let output = output.await.unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    let password = ("COORDINATORD_ADMIN_PASSWORD", "long");
    let (code, said) = refused(&[password]).await;
    assert_eq!(code, Some(2));
    assert!(
        said.contains("set token-secret (COORDINATORD_TOKEN_SECRET)"),
        "{said}"
    );
    let secret = "x".repeat(32);
    let secret = ("COORDINATORD_TOKEN_SECRET", secret.as_str());
    assert_eq!(refused(&[password, secret]).await.0, Some(0));
    let hash = ("COORDINATORD_ADMIN_PASSWORD_HASH", HASH);
    assert_eq!(refused(&[hash, secret]).await.0, Some(0));
    let (code, said) = refused(&[secret]).await;
    assert_eq!(code, Some(2));
    assert!(said.contains("with the default password"), "{said}");
}
