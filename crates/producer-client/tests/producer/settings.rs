//! Settings that cannot work are refused by name, and secrets stay hidden.

use std::time::Duration;

use coordinator_client::CoordinatorClient;
use producer_client::{BuildError, MaxLen, Producer, ProducerBuilder};

fn coordinator() -> CoordinatorClient {
    CoordinatorClient::builder(["http://127.0.0.1:8080"])
        .build()
        .expect("settings that work")
}

fn to(stream_prefix: &str, urls: &[&str]) -> ProducerBuilder {
    Producer::builder(coordinator(), stream_prefix, urls.iter().copied())
}

fn valid() -> ProducerBuilder {
    to("orders", &["redis://127.0.0.1:6379"])
}

fn told(built: Result<Producer, BuildError>) -> String {
    built.expect_err("is refused").to_string()
}

#[tokio::test]
async fn the_wrong_setting_is_named() {
    let second = Duration::from_secs(1);
    let cases = [
        (to("", &["redis://a"]), "stream_prefix: must not be empty"),
        (
            to("a{b", &["redis://a"]),
            "stream_prefix: must not contain { or }",
        ),
        (
            valid().consumer_group(" g"),
            "consumer_group: must not begin or end with white space",
        ),
        (to("orders", &[]), "redis_urls: at least one is needed"),
        (
            to("orders", &["http://a"]),
            "redis_urls: must begin with redis://, rediss:// or unix://",
        ),
        (
            to("orders", &["redis://a:b:c"]),
            "redis_urls: invalid client config",
        ),
        (
            valid().refresh_interval(Duration::ZERO),
            "refresh_interval: must be longer than 0",
        ),
        (
            valid().refresh_interval(second).routing_lease(second),
            "routing_lease: must be longer than the refresh interval: 1s is not longer than 1s",
        ),
        (
            valid().max_len(MaxLen::Approximate(0)),
            "max_len: 0 would delete every record at once",
        ),
        (
            valid().max_len(MaxLen::Exact(0)),
            "max_len: 0 would delete every record at once",
        ),
        (
            valid().connect_timeout(Duration::ZERO),
            "connect_timeout: must be longer than 0",
        ),
        (
            valid().response_timeout(Duration::ZERO),
            "response_timeout: must be longer than 0",
        ),
        (
            valid().max_in_flight(0),
            "max_in_flight: must be between 1 and 65536, is 0",
        ),
        (
            valid().max_in_flight(65_537),
            "max_in_flight: must be between 1 and 65536, is 65537",
        ),
    ];
    for (builder, message) in cases {
        assert_eq!(told(builder.build()), message);
    }
    assert!(valid().build().is_ok());
}

#[test]
fn a_producer_needs_a_runtime() {
    assert_eq!(
        valid().build().expect_err("there is none").setting(),
        "runtime"
    );
}

#[tokio::test]
async fn passwords_stay_out_of_debug_output() {
    let builder = to("orders", &["redis://user:hunter2@127.0.0.1:6379"]);
    let producer = builder.clone().build().expect("settings that work");
    assert!(!format!("{builder:?} {producer:?}").contains("hunter2"));
    let wrong = to("orders", &["redis://user:hunter2@127.0.0.1:nowhere"]);
    assert!(!told(wrong.build()).contains("hunter2"));
}
