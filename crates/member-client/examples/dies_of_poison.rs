//! A consumer whose process dies of one kind of record: what happens to it then can be watched by starting it again and again.
//!
//! `dies_of_poison <coordinator> <redis> <stream prefix> <consumer group> <member base> dead-letter|halt`

use coordinator_client::CoordinatorClient;
use member_client::{Exhausted, Handler, HandlerError, MemberClient, Record};

struct Fragile;

impl Handler for Fragile {
    async fn handle(&self, record: Record) -> Result<(), HandlerError> {
        if record.field("body") == Some(b"poison") {
            // No clean-up, as when the process is killed.
            std::process::abort();
        }
        println!("{} {}", record.stream_key(), record.id());
        Ok(())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [coordinator, redis, prefix, group, base, exhausted] = &words[..] else {
        return Err("usage: dies_of_poison <coordinator> <redis> <stream prefix> <consumer group> <member base> dead-letter|halt".into());
    };
    let exhausted = match exhausted.as_str() {
        "halt" => Exhausted::Halt,
        _ => Exhausted::DeadLetter,
    };
    let running = MemberClient::builder(Fragile)
        .coordinator(CoordinatorClient::builder([coordinator]).build()?)
        .redis_urls([redis])
        .stream_prefix(prefix)
        .consumer_group(group)
        .member_base(base)
        .when_exhausted(exhausted)
        .build()?
        .start();
    for member in running.join().await {
        println!("{}: {}", member.member_id, member.reason);
    }
    Ok(())
}
