//! The encrypted listener, with real handshakes.
#![allow(clippy::unwrap_used)]

mod support;

use std::time::Duration;

use coordinator_client::{ClientBuilder, ClientError, CoordinatorClient, Credentials};
use coordinator_server::{ClientAuth, Tls, TlsError, TlsFiles};
use support::certificates::{Authority, Identity};
use support::{Server, config, heartbeat, memory};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

struct Encrypted {
    server: Server,
    tls: Tls,
}

impl Encrypted {
    async fn start(files: &TlsFiles) -> Self {
        let mut config = config();
        let tls = Tls::new(files).unwrap();
        config.tls = Some(tls.clone());
        config.limits.handshake_timeout = Duration::from_millis(300);
        Self {
            server: Server::with(memory(), config).await,
            tls,
        }
    }

    fn builder(&self) -> ClientBuilder {
        CoordinatorClient::builder([format!("https://{}", self.server.address)])
            .credentials(Credentials::basic("admin", "admin"))
    }

    /// A client that trusts `authority` and shows `identity`.
    fn client(&self, authority: &Authority, identity: Option<&Identity>) -> CoordinatorClient {
        let builder = self.builder().root_certificates_pem(authority.pem());
        let builder = match identity {
            Some(identity) => {
                builder.client_identity_pem(identity.certificate.as_str(), identity.key.as_str())
            }
            None => builder,
        };
        builder.build().unwrap()
    }
}

async fn is_let_in(client: &CoordinatorClient) -> bool {
    match client.groups().await {
        Ok(_) => true,
        Err(ClientError::Transport { .. }) => false,
        Err(error) => panic!("neither let in nor refused by TLS: {error}"),
    }
}

#[tokio::test]
async fn a_client_that_trusts_the_authority_works_as_without_tls() {
    let authority = Authority::new("ours");
    let encrypted = Encrypted::start(&authority.server().files()).await;
    let client = encrypted.client(&authority, None);
    let request = protocol::CreateStreamRequest {
        initial_shard_count: Some(2),
        requested_by: "test".to_owned(),
        reason: None,
    };
    client.create_stream("orders", &request).await.unwrap();
    let beat = heartbeat("m", 0, 0);
    let answer = client.heartbeat("orders", "orders", &beat);
    assert_eq!(answer.await.unwrap().assignment.assigned_shards.len(), 2);
}

#[tokio::test]
async fn an_extra_authority_is_trusted_beside_others() {
    let (ours, others) = (Authority::new("ours"), Authority::new("others"));
    let encrypted = Encrypted::start(&ours.server().files()).await;
    let roots = encrypted.builder().root_certificates_pem(others.pem());
    assert!(!is_let_in(&roots.clone().build().unwrap()).await);
    let both = roots.extra_root_certificates_pem(ours.pem());
    assert!(is_let_in(&both.build().unwrap()).await);
    let beside_the_systems = encrypted.builder().extra_root_certificates_pem(ours.pem());
    assert!(is_let_in(&beside_the_systems.build().unwrap()).await);
}

#[tokio::test]
async fn a_plain_client_and_one_that_trusts_others_get_nothing() {
    let (ours, others) = (Authority::new("ours"), Authority::new("others"));
    let encrypted = Encrypted::start(&ours.server().files()).await;
    assert!(!is_let_in(&encrypted.server.client).await, "plain HTTP");
    assert!(!is_let_in(&encrypted.client(&others, None)).await);
    let mut plain = TcpStream::connect(encrypted.server.address).await.unwrap();
    let probe = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
    plain.write_all(probe).await.unwrap();
    let mut answer = Vec::new();
    let reading = plain.read_to_end(&mut answer);
    let read = tokio::time::timeout(Duration::from_secs(5), reading).await;
    let _broken_off = read.expect("the connection ends");
    assert!(!String::from_utf8_lossy(&answer).contains("HTTP/1.1"));
    assert!(is_let_in(&encrypted.client(&ours, None)).await);
}

#[tokio::test]
async fn certificates_are_replaced_for_connections_to_come_and_bad_ones_change_nothing() {
    let (first, second) = (Authority::new("first"), Authority::new("second"));
    let identity = first.server();
    let encrypted = Encrypted::start(&identity.files()).await;
    let (of_first, of_second) = (
        encrypted.client(&first, None),
        encrypted.client(&second, None),
    );
    assert!(is_let_in(&of_first).await);
    let other_key = TlsFiles {
        key: second.server().key.into_bytes(),
        ..identity.files()
    };
    let refused = encrypted.tls.replace(&other_key);
    assert!(matches!(refused, Err(TlsError::Pair { .. })), "{refused:?}");
    assert!(is_let_in(&encrypted.client(&first, None)).await);
    assert!(!is_let_in(&of_second).await);
    encrypted.tls.replace(&second.server().files()).unwrap();
    assert!(is_let_in(&of_second).await);
    assert!(!is_let_in(&encrypted.client(&first, None)).await);
    assert!(is_let_in(&of_first).await, "a connection goes on");
}

#[tokio::test]
async fn a_client_must_show_a_valid_certificate_where_that_is_required() {
    let (ours, members) = (Authority::new("ours"), Authority::new("members"));
    let server = ours.server();
    let files = server.files_for_clients_of(&members, ClientAuth::Required);
    let encrypted = Encrypted::start(&files).await;
    for (identity, expected) in [
        (Some(members.client()), true),
        (None, false),
        (Some(ours.client()), false),
        (Some(members.expired_client()), false),
        (Some(members.server()), false),
    ] {
        let client = encrypted.client(&ours, identity.as_ref());
        assert_eq!(is_let_in(&client).await, expected);
    }
}

#[tokio::test]
async fn a_client_may_do_without_a_certificate_where_it_is_optional_but_not_show_a_bad_one() {
    let (ours, members) = (Authority::new("ours"), Authority::new("members"));
    let server = ours.server();
    let files = server.files_for_clients_of(&members, ClientAuth::Optional);
    let encrypted = Encrypted::start(&files).await;
    for (identity, expected) in [
        (Some(members.client()), true),
        (None, true),
        (Some(ours.client()), false),
        (Some(members.expired_client()), false),
    ] {
        let client = encrypted.client(&ours, identity.as_ref());
        assert_eq!(is_let_in(&client).await, expected);
    }
}

#[tokio::test]
async fn a_handshake_that_does_not_come_ends_the_connection_and_frees_its_place() {
    let authority = Authority::new("ours");
    let mut config = config();
    config.tls = Some(Tls::new(&authority.server().files()).unwrap());
    config.limits.handshake_timeout = Duration::from_millis(200);
    config.limits.connections = 1;
    let server = Server::with(memory(), config).await;
    let mut silent = TcpStream::connect(server.address).await.unwrap();
    let client = CoordinatorClient::builder([format!("https://{}", server.address)])
        .credentials(Credentials::basic("admin", "admin"))
        .root_certificates_pem(authority.pem())
        .build()
        .unwrap();
    client.groups().await.unwrap();
    let mut byte = [0];
    let reading = tokio::time::timeout(Duration::from_secs(5), silent.read(&mut byte));
    assert!(matches!(
        reading.await.expect("it was ended"),
        Ok(0) | Err(_)
    ));
}

#[tokio::test]
async fn a_server_ends_well_with_encrypted_connections_open() {
    let authority = Authority::new("ours");
    let mut encrypted = Encrypted::start(&authority.server().files()).await;
    let client = encrypted.client(&authority, None);
    client.groups().await.unwrap();
    let _shaking = TcpStream::connect(encrypted.server.address).await.unwrap();
    encrypted.server.terminate();
    let ended = tokio::time::timeout(Duration::from_secs(5), encrypted.server.ended());
    ended.await.expect("it ends");
}

#[test]
fn files_that_cannot_be_used_are_named_and_never_shown() {
    let (ours, members) = (Authority::new("ours"), Authority::new("members"));
    let identity = ours.server();
    let good = identity.files_for_clients_of(&members, ClientAuth::Required);
    assert!(Tls::new(&good).is_ok());
    assert!(!format!("{good:?}").contains("KEY"));
    let nothing = || b"nothing".to_vec();
    let authorities = |pem: Vec<u8>| TlsFiles {
        client_authorities: Some((pem, ClientAuth::Optional)),
        ..good.clone()
    };
    let garbage = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".to_vec();
    for (files, says) in [
        (
            TlsFiles {
                certificate: nothing(),
                ..good.clone()
            },
            "tls-cert: there is no certificate in PEM",
        ),
        (
            TlsFiles {
                key: nothing(),
                ..good.clone()
            },
            "tls-key: there is no private key in PEM",
        ),
        (
            TlsFiles {
                key: members.client().key.into_bytes(),
                ..good.clone()
            },
            "tls-cert, tls-key: can't be used",
        ),
        (
            TlsFiles {
                certificate: garbage.clone(),
                ..good.clone()
            },
            "tls-cert, tls-key: can't be used",
        ),
        (
            authorities(nothing()),
            "tls-client-ca: there is no certificate in PEM",
        ),
        (authorities(garbage), "tls-client-ca: can't be used"),
    ] {
        let error = Tls::new(&files).unwrap_err().to_string();
        assert!(error.contains(says), "{error:?} should say {says:?}");
    }
}
