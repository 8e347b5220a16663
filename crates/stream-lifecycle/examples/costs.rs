//! What exact operations cost, as ratios to the plain commands on the same server and connection. It starts a server of its own, takes
//! half a minute, needs no arguments, and prints Markdown.
//!
//! ```sh
//! cargo run --release -p stream-lifecycle --example costs
//! ```

use std::error::Error;
use std::time::{Duration, Instant};

use redis::aio::MultiplexedConnection;
use stream_lifecycle::{
    Base, ConsumerName, Creation, Fields, GroupName, Handle, Incarnation, MemberEpoch, OnceKey,
    Reading, Registration, Retention, ShardAdmin, ShardConsumer, ShardInspect, ShardProducer,
    ShardRef, StreamId, Token, Trim,
};
use testkit::RedisServer;

type Outcome<T> = Result<T, Box<dyn Error>>;
type Link = MultiplexedConnection;

/// How long each side is measured in one round.
const SLICE: Duration = Duration::from_millis(120);
const ROUNDS: usize = 7;

/// A stream with plain commands and one with this crate, both on the same connection.
struct Bench {
    link: Link,
    handle: Handle<Link>,
    who: Registration,
    next: u64,
}

#[derive(Clone, Copy)]
enum Work {
    Xadd,
    Publish,
    AddOnce,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome<()> {
    let server = RedisServer::builder().start()?;
    let link = server.connection().await?;
    let mut bench = Bench::new(link).await?;
    println!("| operation | pipelined | plain per s | exact per s | ratio |");
    println!("|---|---|---|---|---|");
    for depth in [1, 16, 64] {
        for (name, work) in [
            ("publish / XADD", Work::Publish),
            ("add_once / XADD", Work::AddOnce),
        ] {
            let (mut plain, mut exact) = (Vec::new(), Vec::new());
            for _ in 0..ROUNDS {
                plain.push(bench.rate(Work::Xadd, depth).await?);
                exact.push(bench.rate(work, depth).await?);
            }
            line(name, depth, plain, exact);
        }
    }
    for depth in [1, 16, 64] {
        let (mut plain, mut exact) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            plain.push(bench.ack_rate(depth, true).await?);
            exact.push(bench.ack_rate(depth, false).await?);
        }
        line("ack_each / XACK", depth, plain, exact);
    }
    let (mut plain, mut exact) = (Vec::new(), Vec::new());
    bench.fill(1_000).await?;
    for _ in 0..ROUNDS {
        plain.push(bench.snapshot_rate(true).await?);
        exact.push(bench.snapshot_rate(false).await?);
    }
    line("snapshot of 1,000 / XRANGE", 1, plain, exact);
    bench.handle.destroy().await?;
    Ok(())
}

fn line(name: &str, depth: usize, plain: Vec<f64>, exact: Vec<f64>) {
    let (plain, exact) = (median(plain), median(exact));
    println!(
        "| {name} | {depth} | {plain:.0} | {exact:.0} | {:.2} |",
        exact / plain
    );
}

fn median(mut rates: Vec<f64>) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}

fn rate(count: u64, since: Instant) -> f64 {
    #[expect(
        clippy::cast_precision_loss,
        reason = "counts of some seconds are small"
    )]
    let count = count as f64;
    count / since.elapsed().as_secs_f64()
}

impl Bench {
    async fn new(link: Link) -> Outcome<Self> {
        let group = GroupName::new("g")?;
        // Both streams keep a few thousand entries.
        let kept = Retention::forever().trim(Trim::Approximate(5_000))?;
        let creation = Creation::new(Incarnation::random())
            .groups([group.clone()])
            .retention(kept);
        let handle = ShardRef::new(link.clone(), Base::new("exact:0")?)
            .create(&creation)
            .await?;
        let (token, epoch) = (Token::new(1)?, MemberEpoch::new(1)?);
        let who = Registration::new(group, ConsumerName::new("c")?, token, epoch);
        handle.register(&who).await?;
        let mut create = redis::cmd("XGROUP");
        create.arg(&["CREATE", "plain:0", "g", "0", "MKSTREAM"]);
        create.exec_async(&mut link.clone()).await?;
        Ok(Self {
            link,
            handle,
            who,
            next: 0,
        })
    }

    fn content(&mut self) -> Outcome<Fields> {
        self.next += 1;
        Ok(Fields::new([
            ("key", self.next.to_string()),
            ("payload", "x".repeat(100)),
        ])?)
    }

    async fn rate(&mut self, work: Work, depth: usize) -> Outcome<f64> {
        let (start, mut count) = (Instant::now(), 0);
        while start.elapsed() < SLICE {
            count += depth as u64;
            match work {
                Work::Xadd => self.xadd(depth).await?,
                Work::Publish if depth == 1 => {
                    let content = self.content()?;
                    self.handle.publish(&content).await?;
                }
                Work::Publish => {
                    let contents: Outcome<Vec<Fields>> =
                        (0..depth).map(|_| self.content()).collect();
                    for outcome in self.handle.publish_all(&contents?).await {
                        outcome?;
                    }
                }
                Work::AddOnce if depth == 1 => {
                    let content = self.content()?;
                    let key = OnceKey::new(format!("request-{}", self.next))?;
                    self.handle.add_once(&key, &content).await?;
                }
                Work::AddOnce => {
                    let mut entries = Vec::with_capacity(depth);
                    for _ in 0..depth {
                        let content = self.content()?;
                        entries.push((OnceKey::new(format!("request-{}", self.next))?, content));
                    }
                    for outcome in self.handle.add_all_once(&entries).await {
                        outcome?;
                    }
                }
            }
        }
        Ok(rate(count, start))
    }

    async fn xadd(&mut self, depth: usize) -> Outcome<()> {
        let mut pipeline = redis::pipe();
        for _ in 0..depth {
            let content = self.content()?;
            let command = pipeline.cmd("XADD");
            command.arg(&["plain:0", "NOMKSTREAM", "MAXLEN", "~", "5000", "*"]);
            for (name, value) in content.iter() {
                command.arg(name).arg(value);
            }
        }
        let _: Vec<String> = pipeline.query_async(&mut self.link).await?;
        Ok(())
    }

    /// How fast a thousand delivered entries are acknowledged.
    async fn ack_rate(&mut self, depth: usize, is_plain: bool) -> Outcome<f64> {
        let ids = self.deliver(is_plain).await?;
        let (start, count) = (Instant::now(), ids.len() as u64);
        for ids in ids.chunks(depth) {
            if is_plain {
                let mut pipeline = redis::pipe();
                for id in ids {
                    pipeline
                        .cmd("XACK")
                        .arg("plain:0")
                        .arg("g")
                        .arg(id.to_string());
                }
                let _: Vec<u64> = pipeline.query_async(&mut self.link).await?;
            } else {
                for outcome in self.handle.ack_each(&self.who, ids).await {
                    outcome?;
                }
            }
        }
        Ok(rate(count, start))
    }

    /// Delivers a thousand new entries; answers their ids.
    async fn deliver(&mut self, is_plain: bool) -> Outcome<Vec<StreamId>> {
        self.drop_delivered(is_plain).await?;
        if !is_plain {
            self.fill(1_000).await?;
            let (group, consumer) = (&self.who.group, &self.who.consumer);
            let batch = self
                .handle
                .read(group, consumer, &Reading::new(1_000))
                .await?;
            return Ok(batch
                .records
                .iter()
                .map(|record| record.entry().id)
                .collect());
        }
        self.xadd(1_000).await?;
        let mut read = redis::cmd("XREADGROUP");
        read.arg(&[
            "GROUP", "g", "c", "COUNT", "1000", "STREAMS", "plain:0", ">",
        ]);
        let reply: redis::streams::StreamReadReply = read.query_async(&mut self.link).await?;
        let ids: Result<Vec<StreamId>, _> = reply
            .keys
            .iter()
            .flat_map(|key| &key.ids)
            .map(|entry| entry.id.parse())
            .collect();
        Ok(ids?)
    }

    /// Empties a stream and moves its group to the end.
    async fn drop_delivered(&mut self, is_plain: bool) -> Outcome<()> {
        let key = if is_plain { "plain:0" } else { "exact:0" };
        let mut pipeline = redis::pipe();
        pipeline.cmd("XTRIM").arg(&[key, "MAXLEN", "0"]).ignore();
        pipeline
            .cmd("XGROUP")
            .arg(&["SETID", key, "g", "$"])
            .ignore();
        pipeline.exec_async(&mut self.link).await?;
        Ok(())
    }

    async fn fill(&mut self, count: usize) -> Outcome<()> {
        self.drop_delivered(false).await?;
        let contents: Outcome<Vec<Fields>> = (0..count).map(|_| self.content()).collect();
        for outcome in self.handle.publish_all(&contents?).await {
            outcome?;
        }
        Ok(())
    }

    async fn snapshot_rate(&mut self, is_plain: bool) -> Outcome<f64> {
        let (start, mut count) = (Instant::now(), 0);
        while start.elapsed() < SLICE {
            count += 1;
            if is_plain {
                let mut range = redis::cmd("XRANGE");
                range.arg(&["exact:0", "-", "+"]);
                let reply: redis::streams::StreamRangeReply =
                    range.query_async(&mut self.link).await?;
                assert_eq!(reply.ids.len(), 1_000);
            } else {
                assert_eq!(self.handle.snapshot(1_000).await?.len(), 1_000);
            }
        }
        Ok(rate(count, start))
    }
}
