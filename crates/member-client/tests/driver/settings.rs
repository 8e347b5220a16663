//! Settings that can't work are refused by the name of their method, before anything is started.

use std::time::Duration;

use coordinator_client::CoordinatorClient;
use member_client::{MemberClient, MemberClientBuilder};

use crate::scene::Log;

fn complete() -> MemberClientBuilder<Log> {
    MemberClient::builder(Log::new())
        .coordinator(
            CoordinatorClient::builder(["http://127.0.0.1:1"])
                .build()
                .unwrap(),
        )
        .redis_urls(["redis://127.0.0.1:1/"])
        .stream_prefix("orders")
}

#[test]
fn the_first_setting_that_cannot_work_is_named() {
    type Change = fn(MemberClientBuilder<Log>) -> MemberClientBuilder<Log>;
    let none: [&str; 0] = [];
    assert!(complete().build().is_ok());
    assert_eq!(
        MemberClient::builder(Log::new())
            .build()
            .err()
            .unwrap()
            .setting(),
        "coordinator"
    );
    assert_eq!(
        complete().redis_urls(none).build().err().unwrap().setting(),
        "redis_urls"
    );
    let table: [(&str, Change); 17] = [
        ("redis_urls", |builder| {
            builder.redis_urls(["http://127.0.0.1/"])
        }),
        ("stream_prefix", |builder| builder.stream_prefix("")),
        ("stream_prefix", |builder| builder.stream_prefix("a{b}")),
        ("consumer_group", |builder| builder.consumer_group(" g")),
        ("member_base", |builder| builder.member_base("a\n")),
        ("concurrency", |builder| builder.concurrency(0)),
        ("heartbeat_interval", |builder| {
            builder.heartbeat_interval(Duration::ZERO)
        }),
        ("member_lease_ttl", |builder| {
            builder.member_lease_ttl(Duration::from_secs(4))
        }),
        ("lease_margin_percent", |builder| {
            builder.lease_margin_percent(0)
        }),
        ("request_timeout", |builder| {
            builder.request_timeout(Duration::ZERO)
        }),
        ("read_count", |builder| builder.read_count(0)),
        ("max_attempts", |builder| builder.max_attempts(0)),
        ("unordered_in_flight", |builder| {
            builder.unordered_in_flight(0)
        }),
        ("block", |builder| builder.block(Duration::ZERO)),
        ("block", |builder| builder.block(Duration::from_secs(8))),
        ("handler_backoff", |builder| {
            builder.handler_backoff(Duration::ZERO, Duration::ZERO)
        }),
        ("handler_backoff", |builder| {
            builder.handler_backoff(Duration::from_secs(2), Duration::from_secs(1))
        }),
    ];
    for (setting, change) in table {
        let error = change(complete()).build().err().expect(setting);
        assert_eq!(error.setting(), setting, "{error}");
        assert!(error.to_string().starts_with(setting), "{error}");
    }
}
