//! Users, roles, tokens and limits as a client sees them, on a coordinator that listens.
#![allow(clippy::unwrap_used)]

mod support;

use coordinator_server::{
    ChangeRate, Password, PasswordHash, ServerConfig, TokenSecret, User, Users,
};
use protocol::LoginRequest;
use reqwest::{RequestBuilder, Response};
use serde_json::{Value, json};
use support::{Server, config, heartbeat, http, memory, refusal};

const GROUPS: &str = "/coord/v1/monitoring/groups";
const STREAM: &str = "/coord/v1/streams/orders";
const CREATE: &str = r#"{"initialShardCount": 1, "requestedBy": "test"}"#;

fn user(name: &str, password: &str, roles: &[&str]) -> User {
    let roles: Vec<_> = roles.iter().map(|role| (*role).to_owned()).collect();
    User::new(name, &PasswordHash::of(password).to_phc(), &roles).unwrap()
}

fn with_users(users: Vec<User>) -> ServerConfig {
    let config = config();
    config.users.replace(users).unwrap();
    config
}

async fn status(request: RequestBuilder) -> u16 {
    request.send().await.unwrap().status().as_u16()
}

async fn token(server: &Server, name: &str, password: &str) -> String {
    let login = LoginRequest {
        username: name.to_owned(),
        password: password.to_owned(),
    };
    server.client.login(&login).await.unwrap().access_token
}

async fn json(response: Response) -> Value {
    serde_json::from_str(&response.text().await.unwrap()).unwrap()
}

#[tokio::test]
async fn users_with_hashed_passwords_may_what_their_roles_allow() {
    let users = vec![
        user("ann", "apple", &["MONITOR"]),
        user("bob", "beet", &["WRITE", "MEMBER"]),
    ];
    let server = Server::with(memory(), with_users(users)).await;
    let as_ann = |request: RequestBuilder| request.basic_auth("ann", Some("apple"));
    let as_bob = |request: RequestBuilder| request.basic_auth("bob", Some("beet"));
    assert_eq!(
        status(as_ann(server.request("POST", STREAM)).body(CREATE)).await,
        403
    );
    assert_eq!(
        status(as_bob(server.request("POST", STREAM)).body(CREATE)).await,
        201
    );
    assert_eq!(status(as_ann(server.request("GET", GROUPS))).await, 200);
    let session = as_bob(server.request("GET", "/coord/v1/monitoring/session"));
    let session = json(session.send().await.unwrap()).await;
    assert_eq!(
        session,
        json!({"authenticated": true, "username": "bob", "roles": ["WRITE", "MEMBER"]})
    );
    for (name, password) in [
        ("ann", "beet"),
        ("ann", "apple "),
        ("carl", "apple"),
        ("", ""),
    ] {
        let wrong = server
            .request("GET", GROUPS)
            .basic_auth(name, Some(password));
        let (status, code, message) = refusal(wrong.send().await.unwrap()).await;
        assert_eq!((status, code.as_str()), (401, "UNAUTHORIZED"));
        assert_eq!(message, "the user name or the password is wrong");
    }
}

#[tokio::test]
async fn the_admin_can_have_a_hash_too() {
    let mut config = config();
    let hash = Password::Hashed(PasswordHash::of("apple"));
    config.users = Users::new(User::admin("root", hash).unwrap());
    let server = Server::with(memory(), config).await;
    let create = server.request("POST", STREAM).body(CREATE);
    assert_eq!(status(create.basic_auth("root", Some("apple"))).await, 201);
    let old = server.request("GET", GROUPS);
    assert_eq!(status(old.basic_auth("admin", Some("admin"))).await, 401);
}

#[tokio::test]
async fn a_token_ends_when_its_user_is_gone_or_has_another_password_or_other_roles() {
    let config = with_users(vec![user("ann", "apple", &["READ"])]);
    let users = config.users.clone();
    let server = Server::with(memory(), config).await;
    let hash = PasswordHash::of("apple").to_phc();
    let ann = |roles: &[&str]| {
        let roles: Vec<_> = roles.iter().map(|role| (*role).to_owned()).collect();
        User::new("ann", &hash, &roles).unwrap()
    };
    for (before, after) in [
        (ann(&["READ"]), None),
        (ann(&["READ"]), Some(user("ann", "pear", &["READ"]))),
        (ann(&["READ"]), Some(ann(&["WRITE"]))),
    ] {
        users.replace(vec![before.clone()]).unwrap();
        let token = token(&server, "ann", "apple").await;
        let asking = || status(server.request("GET", GROUPS).bearer_auth(&token));
        assert_eq!(asking().await, 200);
        users.replace(Vec::from_iter(after)).unwrap();
        assert_eq!(asking().await, 401);
        users.replace(vec![before]).unwrap();
        assert_eq!(asking().await, 200, "the same record again");
    }
}

#[tokio::test]
async fn coordinators_with_one_secret_take_each_others_tokens() {
    let secret = |text: &str| Some(TokenSecret::new(text.repeat(32)).unwrap());
    let started = async |secret| {
        let mut config = config();
        config.token_secret = secret;
        Server::with(memory(), config).await
    };
    let (one, two) = (started(secret("a")).await, started(secret("a")).await);
    let (other, own) = (started(secret("b")).await, started(None).await);
    let token = token(&one, "admin", "admin").await;
    for (server, expected) in [(&one, 200), (&two, 200), (&other, 401), (&own, 401)] {
        let asking = server.request("GET", GROUPS).bearer_auth(&token);
        assert_eq!(status(asking).await, expected);
    }
}

#[tokio::test]
async fn two_authorization_headers_are_refused() {
    let server = Server::start().await;
    let twice = server.request("GET", GROUPS);
    let twice = twice.basic_auth("admin", Some("admin")).bearer_auth("x");
    let twice = twice.build().unwrap();
    assert_eq!(twice.headers().get_all("authorization").iter().count(), 2);
    let response = http().execute(twice).await.unwrap();
    assert_eq!(refusal(response).await.0, 401);
}

#[tokio::test]
async fn a_head_request_needs_what_a_get_needs() {
    let server = Server::start().await;
    assert_eq!(status(server.request("HEAD", GROUPS)).await, 401);
    let known = server.request("HEAD", GROUPS);
    assert_eq!(status(known.basic_auth("admin", Some("admin"))).await, 200);
}

#[tokio::test]
async fn changes_that_come_too_often_are_refused_with_a_time_to_wait() {
    let mut config = with_users(vec![user("ann", "apple", &["WRITE"])]);
    config.change_rate = Some(ChangeRate {
        per_minute: 2,
        burst: 2,
    });
    let server = Server::with(memory(), config).await;
    let create = |stream: &str, name: &'static str, password: &'static str| {
        let path = format!("/coord/v1/streams/{stream}");
        let request = server.request("POST", &path).body(CREATE);
        request.basic_auth(name, Some(password)).send()
    };
    let as_admin = |stream: &'static str| create(stream, "admin", "admin");
    assert_eq!(as_admin("orders").await.unwrap().status(), 201);
    assert_eq!(as_admin("orders").await.unwrap().status(), 409);
    let third = as_admin("orders").await.unwrap();
    let wait: u64 = third.headers()["retry-after"]
        .to_str()
        .unwrap()
        .parse()
        .unwrap();
    assert!((25..=30).contains(&wait), "{wait}");
    let (status, code, message) = refusal(third).await;
    assert_eq!((status, code.as_str()), (429, "RATE_LIMIT_EXCEEDED"));
    assert_eq!(message, "admin changes stream orders too often");
    // The group that is named like the stream is the same, and so is what is asked at any group for all of them.
    for path in [
        "/scale",
        "/groups/orders",
        "/groups/orders/scale",
        "/groups/billing/scale",
        "/groups/other/scale",
        "/groups/billing/migrations/reshard-1/rollback",
    ] {
        let change = server.request("POST", &format!("/coord/v1/streams/orders{path}"));
        let change = change.basic_auth("admin", Some("admin")).body("{}");
        assert_eq!(refusal(change.send().await.unwrap()).await.0, 429, "{path}");
    }
    // A restore is counted as a change of everything.
    for status in [400, 400, 429] {
        let path = "/coord/v1/admin/snapshot/restore";
        let restore = server.request("POST", path).body("no snapshot");
        let answer = restore.basic_auth("admin", Some("admin")).send().await;
        assert_eq!(refusal(answer.unwrap()).await.0, status);
    }
    // Others, other groups, reads and heartbeats are not concerned.
    assert_eq!(as_admin("bills").await.unwrap().status(), 201);
    assert_eq!(
        create("orders", "ann", "apple").await.unwrap().status(),
        409
    );
    for _ in 0..5 {
        server.client.groups().await.unwrap();
        server.beat("orders", &heartbeat("m", 0, 0)).await;
    }
}

#[tokio::test]
async fn who_may_not_change_a_group_uses_up_nobodys_allowance() {
    let mut config = with_users(vec![user("ann", "apple", &["READ"])]);
    config.change_rate = Some(ChangeRate {
        per_minute: 1,
        burst: 1,
    });
    let server = Server::with(memory(), config).await;
    for _ in 0..3 {
        let request = server.request("POST", STREAM).body(CREATE);
        assert_eq!(status(request.basic_auth("ann", Some("apple"))).await, 403);
    }
    server.create("orders", 1).await;
}

/// A flood of log-ins is refused beyond what may wait, and heartbeats are answered meanwhile.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_of_log_ins_does_not_hold_up_heartbeats() {
    let server = Server::with(memory(), with_users(vec![user("ann", "apple", &["READ"])])).await;
    server.create("orders", 1).await;
    let client = http();
    let mut flood = tokio::task::JoinSet::new();
    for number in 0..400 {
        let login = client.post(server.url("/coord/v1/auth/login"));
        let body = json!({"username": format!("nobody-{number}"), "password": "x"});
        flood.spawn(login.body(body.to_string()).send());
    }
    let first = flood.join_next().await.unwrap().unwrap().unwrap();
    let mut answers = vec![first];
    for _ in 0..10 {
        server.beat("orders", &heartbeat("m", 0, 0)).await;
    }
    assert!(
        !flood.is_empty(),
        "the flood was over before the heartbeats"
    );
    while let Some(answer) = flood.join_next().await {
        answers.push(answer.unwrap().unwrap());
    }
    let (busy, wrong): (Vec<_>, Vec<_>) = answers
        .into_iter()
        .partition(|answer| answer.status() == 429);
    assert!(!busy.is_empty() && !wrong.is_empty());
    assert!(wrong.iter().all(|answer| answer.status() == 401));
    for answer in busy {
        assert_eq!(answer.headers()["retry-after"], "1");
        assert_eq!(refusal(answer).await.1, "RATE_LIMIT_EXCEEDED");
    }
}

#[test]
fn no_secret_is_shown_by_a_configuration() {
    let mut config = with_users(vec![user("ann", "hunter2", &["READ"])]);
    config.token_secret = Some(TokenSecret::new("hunter2-".repeat(4)).unwrap());
    let admin = User::admin("root", Password::Plain("hunter2".to_owned())).unwrap();
    for users in [config.users.clone(), Users::new(admin)] {
        config.users = users;
        let shown = format!("{config:?}");
        assert!(
            !shown.contains("hunter2") && !shown.contains("argon2"),
            "{shown}"
        );
    }
}
