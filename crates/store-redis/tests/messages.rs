//! Pages of entries on a real Redis: in order, to the end, and never more bytes than were asked for, however large entries are.
#![allow(clippy::unwrap_used)]

mod support;

use std::time::Duration;

use coordinator_core::names::StreamPrefix;
use coordinator_core::numbers::ShardIndex;
use redis::AsyncConnectionConfig;
use redis::aio::MultiplexedConnection;
use store::{MessagePage, MessageRange, PAGE_BYTES, PlaneError, ShardPlane, VALUE_BYTES};
use store_redis::{RedisConfig, RedisPlane};
use support::{ask, server};

const PATIENCE: Duration = Duration::from_secs(20);

fn range(limit: u32, is_backward: bool) -> MessageRange {
    MessageRange {
        shard: ShardIndex::new(3),
        is_backward,
        after: None,
        limit,
        max_bytes: PAGE_BYTES,
        with_fields: true,
    }
}

async fn page(plane: &RedisPlane, range: &MessageRange) -> Result<MessagePage, PlaneError> {
    let orders = StreamPrefix::parse("orders").unwrap();
    plane.messages(&orders, range).await
}

async fn add(connection: &mut MultiplexedConnection, fields: &[(&str, &[u8])]) {
    let mut command = redis::cmd("XADD");
    command.arg("orders:3").arg("*");
    for (name, value) in fields {
        command.arg(*name).arg(*value);
    }
    let _: String = command.query_async(connection).await.unwrap();
}

async fn sent_so_far(connection: &mut MultiplexedConnection) -> usize {
    let text: String = ask(connection, &["INFO", "stats"]).await;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("total_net_output_bytes:"));
    line.unwrap().parse().unwrap()
}

#[tokio::test]
async fn pages_go_to_the_end_in_either_direction() {
    let server = server();
    let mut connection = server.connection().await.unwrap();
    let plane = RedisPlane::connect(RedisConfig::new([server.url()]))
        .await
        .unwrap();
    assert_eq!(page(&plane, &range(5, false)).await.unwrap().messages, []);
    for number in 0..700 {
        add(&mut connection, &[("n", number.to_string().as_bytes())]).await;
    }
    for is_backward in [false, true] {
        let mut range = range(300, is_backward);
        let mut seen = Vec::new();
        loop {
            let page = page(&plane, &range).await.unwrap();
            for message in &page.messages {
                let value = message.fields[0].value.clone().unwrap();
                seen.push(String::from_utf8(value).unwrap().parse::<u32>().unwrap());
            }
            range.after = page.messages.last().map(|message| message.id);
            if !page.has_more {
                break;
            }
            assert_eq!(page.messages.len(), 300);
        }
        if is_backward {
            seen.reverse();
        }
        assert_eq!(seen, (0..700).collect::<Vec<_>>());
    }
}

/// One entry is larger than a page, and small ones before it promise nothing of its size.
#[tokio::test]
async fn no_more_is_sent_than_was_asked_for_however_large_entries_are() {
    let server = server();
    let patient = AsyncConnectionConfig::new().set_response_timeout(Some(PATIENCE));
    let client = redis::Client::open(server.url()).unwrap();
    let connecting = client.get_multiplexed_async_connection_with_config(&patient);
    let mut connection = connecting.await.unwrap();
    let plane = RedisPlane::connect(RedisConfig::new([server.url()]))
        .await
        .unwrap();
    for _ in 0..20 {
        add(&mut connection, &[("n", b"small")]).await;
    }
    let large = vec![b'x'; 2 << 20];
    let fitting = vec![b'y'; VALUE_BYTES];
    for _ in 0..8 {
        let mut fields: Vec<(&str, &[u8])> = vec![("large", &large); 4];
        fields.extend(std::iter::repeat_n(("fitting", fitting.as_slice()), 32));
        add(&mut connection, &fields).await;
    }
    for is_backward in [false, true] {
        let before = sent_so_far(&mut connection).await;
        let page = page(&plane, &range(100, is_backward)).await.unwrap();
        let sent = sent_so_far(&mut connection).await - before;
        assert!(sent < PAGE_BYTES + (64 << 10), "{sent} bytes");
        let small = if is_backward { 0 } else { 20 };
        assert_eq!((page.messages.len(), page.has_more), (small + 1, true));
        let fields = &page.messages[small].fields;
        let lengths = fields.iter().map(|field| field.value_bytes);
        let expected = [[2 << 20; 4].as_slice(), &[VALUE_BYTES as u64; 32]].concat();
        assert_eq!(lengths.collect::<Vec<_>>(), expected);
        let given = fields.iter().filter(|field| field.value.is_some()).count();
        assert_eq!(given, 15, "as many as the page has room for");
    }
}

/// Case C11, and a key of somebody else's.
#[tokio::test]
async fn what_can_not_be_read_says_why_c11() {
    let server = server();
    let mut connection = server.connection().await.unwrap();
    let words = [
        "ACL", "SETUSER", "u", "on", ">p", "~*", "&*", "+@all", "-xrange",
    ];
    let _: String = ask(&mut connection, &words).await;
    let url = format!("redis://u:p@{}/", server.address());
    let plane = RedisPlane::connect(RedisConfig::new([url])).await.unwrap();
    let reason = |page: Result<MessagePage, PlaneError>| match page {
        Err(PlaneError::Failed {
            reason,
            retryable: false,
            ..
        }) => reason,
        other => panic!("{other:?}"),
    };
    let denied = reason(page(&plane, &range(5, false)).await);
    assert!(denied.contains("XRANGE on orders:3"), "{denied}");
    assert!(denied.contains("ACL SETUSER"), "{denied}");
    let _: u64 = ask(&mut connection, &["LPUSH", "orders:3", "x"]).await;
    let other = reason(page(&plane, &range(5, true)).await);
    assert!(other.contains("WRONGTYPE"), "{other}");
}
