//! The stream of events: all of it anew for whoever knows nothing, the rest of it for whoever lost a connection, an end with the coordinator.
#![allow(clippy::unwrap_used)]

mod support;

use std::time::Duration;

use coordinator_client::Event as Told;
use protocol::{GroupChanged, GroupState};
use reqwest::Response;
use serde_json::Value;
use support::{Server, config, heartbeat};

const PATIENCE: Duration = Duration::from_secs(20);
const PATH: &str = "/coord/v1/monitoring/events";

/// An open stream of events.
struct Listener {
    response: Response,
    text: String,
}

#[derive(Debug)]
struct Event {
    id: Option<String>,
    name: String,
    data: Value,
}

impl Event {
    fn change(&self) -> GroupChanged {
        assert_eq!(self.name, "group");
        serde_json::from_value(self.data.clone()).unwrap()
    }
}

impl Listener {
    async fn open(server: &Server, after: Option<&str>) -> Self {
        let request = server
            .request("GET", PATH)
            .basic_auth("admin", Some("admin"));
        let request = match after {
            Some(id) => request.header("last-event-id", id),
            None => request,
        };
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self {
            response,
            text: String::new(),
        }
    }

    /// The next event; none at the end.
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some((block, rest)) = self.text.split_once("\n\n") {
                let field = |name: &str| {
                    let mut lines = block.lines();
                    let line = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
                    line.map(str::to_owned)
                };
                let event = field("event").map(|name| Event {
                    id: field("id"),
                    name,
                    data: serde_json::from_str(&field("data").unwrap()).unwrap(),
                });
                self.text = rest.to_owned();
                match event {
                    Some(event) => return Some(event),
                    // A comment.
                    None => continue,
                }
            }
            let chunk = tokio::time::timeout(PATIENCE, self.response.chunk())
                .await
                .unwrap();
            let chunk = chunk.unwrap()?;
            self.text.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }

    async fn expect(&mut self) -> Event {
        self.next().await.expect("one more event")
    }

    /// The next change of a group to a state.
    async fn becomes(&mut self, group: &str, state: Option<GroupState>) -> Event {
        loop {
            let event = self.expect().await;
            let change = event.change();
            if change.consumer_group == group && change.state == state {
                return event;
            }
        }
    }
}

#[tokio::test]
async fn whoever_knows_nothing_is_told_all_and_then_what_changes() {
    let server = Server::start().await;
    server.create("orders", 2).await;
    let mut listener = Listener::open(&server, None).await;
    let reset = listener.expect().await;
    assert_eq!(
        (reset.name.as_str(), &reset.data["groups"]),
        ("reset", &Value::from(1))
    );
    let there = listener.expect().await.change();
    assert_eq!(
        (there.stream_prefix.as_str(), there.state),
        ("orders", Some(GroupState::Empty))
    );
    server.beat("orders", &heartbeat("m", 0, 0)).await;
    let event = listener
        .becomes("orders", Some(GroupState::Reconciling))
        .await;
    assert!(event.change().metadata_version > there.metadata_version);
    server.create("payments", 1).await;
    listener.becomes("payments", Some(GroupState::Empty)).await;
    let delete = protocol::DeleteGroupRequest {
        requested_by: "test".to_owned(),
        reason: "over".to_owned(),
        force: true,
    };
    server
        .client
        .delete_group("payments", "payments", &delete)
        .await
        .unwrap();
    listener.becomes("payments", None).await;
}

#[tokio::test]
async fn whoever_lost_the_connection_goes_on_where_it_was() {
    let server = Server::start().await;
    server.create("a", 1).await;
    let mut listener = Listener::open(&server, None).await;
    assert_eq!(listener.expect().await.name, "reset");
    let known = listener.becomes("a", Some(GroupState::Empty)).await.id;
    let known = known.unwrap();
    drop(listener);
    server.create("b", 1).await;
    server.create("c", 1).await;
    let mut again = Listener::open(&server, Some(&known)).await;
    let next = again.expect().await;
    assert_eq!(next.change().stream_prefix, "b", "no reset, nothing twice");
    let (epoch, number) = known.rsplit_once('-').unwrap();
    let number: u64 = number.parse().unwrap();
    assert_eq!(next.id, Some(format!("{epoch}-{}", number + 1)));
    again.becomes("c", Some(GroupState::Empty)).await;
    // Another process' id, one that was never given, and nonsense: all is told anew.
    for id in [
        format!("other-{number}"),
        format!("{epoch}-99999"),
        "x".to_owned(),
    ] {
        let mut anew = Listener::open(&server, Some(&id)).await;
        let reset = anew.expect().await;
        assert_eq!(
            (reset.name.as_str(), &reset.data["groups"]),
            ("reset", &Value::from(3))
        );
    }
}

/// Who is cut off in the midst of the first listing has no id to go on from: it would never hear of the groups that had not been told.
#[tokio::test]
async fn only_the_last_of_the_first_listing_has_an_id() {
    let server = Server::start().await;
    let mut nobody = Listener::open(&server, None).await;
    assert!(nobody.expect().await.id.is_some(), "there is no group");
    for stream in ["a", "b", "c"] {
        server.create(stream, 1).await;
    }
    for told in 0..3 {
        let mut listener = Listener::open(&server, Some("another-7")).await;
        let mut known = "another-7".to_owned();
        for _ in 0..=told {
            known = listener.expect().await.id.unwrap_or(known);
        }
        drop(listener);
        let mut again = Listener::open(&server, Some(&known)).await;
        assert_eq!(again.expect().await.name, "reset", "{told} of 3");
        for stream in ["a", "b", "c"] {
            assert_eq!(again.expect().await.change().stream_prefix, stream);
        }
    }
    let mut whole = Listener::open(&server, None).await;
    let mut ids = Vec::new();
    for _ in 0..4 {
        ids.push(whole.expect().await.id);
    }
    assert!(ids[..3].iter().all(Option::is_none), "{ids:?}");
    let known = ids.pop().flatten().unwrap();
    server.create("d", 1).await;
    let mut again = Listener::open(&server, Some(&known)).await;
    assert_eq!(again.expect().await.change().stream_prefix, "d");
}

/// What another coordinator does is told as well.
#[tokio::test]
async fn changes_by_other_coordinators_are_told_of() {
    let deps = support::memory();
    let one = Server::with(deps.clone(), config()).await;
    let other = Server::with(deps, config()).await;
    let mut listener = Listener::open(&one, None).await;
    assert_eq!(listener.expect().await.name, "reset");
    other.create("orders", 2).await;
    listener.becomes("orders", Some(GroupState::Empty)).await;
    other.beat("orders", &heartbeat("m", 0, 0)).await;
    listener
        .becomes("orders", Some(GroupState::Reconciling))
        .await;
}

#[tokio::test]
async fn the_last_event_is_the_end_and_nobody_holds_it_up() {
    let mut server = Server::start().await;
    server.create("orders", 2).await;
    let mut listener = Listener::open(&server, None).await;
    assert_eq!(listener.expect().await.name, "reset");
    listener.becomes("orders", Some(GroupState::Empty)).await;
    // This one takes nothing at all.
    let _idle = Listener::open(&server, None).await;
    let started = std::time::Instant::now();
    server.terminate();
    assert_eq!(listener.expect().await.name, "end");
    assert!(listener.next().await.is_none());
    server.ended().await;
    assert!(
        started.elapsed() < config().shutdown_timeout,
        "{:?}",
        started.elapsed()
    );
}

/// The typed client reads the same, and goes on where it was.
#[tokio::test]
async fn the_client_listens_and_goes_on() {
    let mut server = Server::start().await;
    server.create("orders", 2).await;
    let mut events = server.client.events(None).await.unwrap();
    assert_eq!(events.next().await.unwrap(), Some(Told::Reset));
    let Some(Told::Group(change)) = events.next().await.unwrap() else {
        panic!("the group is told of");
    };
    assert_eq!(change.state, Some(GroupState::Empty));
    let known = events.last_id().unwrap().to_owned();
    drop(events);
    server.beat("orders", &heartbeat("m", 0, 0)).await;
    let mut events = server.client.events(Some(&known)).await.unwrap();
    let Some(Told::Group(change)) = events.next().await.unwrap() else {
        panic!("nothing is told anew");
    };
    assert_eq!(change.state, Some(GroupState::Reconciling));
    server.terminate();
    let mut told = Vec::new();
    while let Some(event) = events.next().await.unwrap() {
        told.push(event);
    }
    assert_eq!(told.last(), Some(&Told::End));
}

#[tokio::test]
async fn events_are_for_those_who_may_read() {
    let server = Server::start().await;
    let bare = server.request("GET", PATH).send().await.unwrap();
    assert_eq!(bare.status(), 401);
}
