//! What the demo shows while it runs: who owns which shard, how fast it goes, what still waits. Draws over itself on a terminal, writes a line now and
//! then elsewhere.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _};
use std::time::{Duration, Instant};

use coordinator_client::CoordinatorClient;
use redis::AsyncCommands;
use redis::aio::MultiplexedConnection;
use redis::streams::StreamInfoGroupsReply;

use super::{MOST_SHARDS, STREAM};

/// Between two lines where nothing can be drawn over.
const LINE_EVERY: Duration = Duration::from_secs(2);

/// One look at the streams.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) published: u64,
    pub(crate) handled: u64,
}

/// One shard as it is shown.
#[derive(Clone, Debug, Default)]
struct Row {
    owner: Option<String>,
    published: u64,
    read: u64,
    pending: u64,
    is_retired: bool,
}

pub(crate) struct View {
    coordinator: CoordinatorClient,
    redis: MultiplexedConnection,
    started: Instant,
    last: Option<(Instant, Totals)>,
    last_line: Option<Instant>,
    drawn: usize,
    news: String,
}

impl View {
    pub(crate) fn new(coordinator: CoordinatorClient, redis: MultiplexedConnection) -> Self {
        let started = Instant::now();
        Self {
            coordinator,
            redis,
            started,
            last: None,
            last_line: None,
            drawn: 0,
            news: String::new(),
        }
    }

    /// Tells what the demo does next.
    pub(crate) fn say(&mut self, news: &str) {
        let at = self.started.elapsed().as_secs_f32();
        self.news = format!("{at:5.1}s  {news}");
        if std::io::stdout().is_terminal() {
            self.erase();
        }
        println!("{}", self.news);
    }

    /// Looks at the streams and shows them.
    pub(crate) async fn show(&mut self) -> Result<Totals, redis::RedisError> {
        let rows = self.look().await?;
        let totals = Totals {
            published: rows.iter().map(|row| row.published).sum(),
            handled: rows
                .iter()
                .map(|row| row.read.saturating_sub(row.pending))
                .sum(),
        };
        let now = Instant::now();
        let line = self.line(totals, now);
        self.last = Some((now, totals));
        if std::io::stdout().is_terminal() {
            self.erase();
            self.draw(&line, &rows);
        } else if self
            .last_line
            .is_none_or(|last| last.elapsed() >= LINE_EVERY)
        {
            self.last_line = Some(now);
            println!("{line}  {}", owners(&rows));
        }
        Ok(totals)
    }

    async fn look(&mut self) -> Result<Vec<Row>, redis::RedisError> {
        // The coordinator may be away for a moment; the last column then stays empty.
        let owners = match self.coordinator.assignments(STREAM, STREAM).await {
            Ok(assignments) => assignments.current_assignments,
            Err(_) => BTreeMap::new(),
        };
        let mut rows = vec![Row::default(); MOST_SHARDS as usize];
        for (shard, row) in (0..MOST_SHARDS).zip(&mut rows) {
            let key = protocol::stream_key(STREAM, shard);
            let kept = format!("{{{key}}}:retired:1");
            row.is_retired = self.redis.exists(&kept).await?;
            for key in [key, kept] {
                self.add(&key, row).await?;
            }
            let owns = |shards: &Vec<protocol::ShardId>| {
                shards.iter().any(|owned| owned.shard_index == shard)
            };
            row.owner = owners
                .iter()
                .find(|(_, shards)| owns(shards))
                .map(|(member, _)| member.clone());
        }
        Ok(rows)
    }

    /// Adds what is in a stream, if there is one.
    async fn add(&mut self, key: &str, row: &mut Row) -> Result<(), redis::RedisError> {
        if !self.redis.exists(key).await? {
            return Ok(());
        }
        let groups: StreamInfoGroupsReply = match self.redis.xinfo_groups(key).await {
            Ok(groups) => groups,
            // It was taken away in between; the next look finds what is kept of it.
            Err(error) if error.code() == Some("ERR") => return Ok(()),
            Err(error) => return Err(error),
        };
        let length: u64 = self.redis.xlen(key).await?;
        row.published += length;
        if let Some(group) = groups.groups.iter().find(|group| group.name == STREAM) {
            row.pending += group.pending as u64;
            row.read += group.entries_read.unwrap_or_default() as u64;
        }
        Ok(())
    }

    /// How many shards were taken away.
    pub(crate) async fn retired(&mut self) -> Result<u32, redis::RedisError> {
        let rows = self.look().await?;
        let retired = rows.iter().filter(|row| row.is_retired).count();
        Ok(u32::try_from(retired).unwrap_or(u32::MAX))
    }

    fn line(&self, totals: Totals, now: Instant) -> String {
        let rate = |of: fn(Totals) -> u64| match self.last {
            Some((at, last)) => {
                let milliseconds = u64::try_from(now.duration_since(at).as_millis())
                    .unwrap_or(1)
                    .max(1);
                of(totals).saturating_sub(of(last)) * 1_000 / milliseconds
            }
            None => 0,
        };
        format!(
            "{:5.1}s  published {:6} ({:4}/s)  handled {:6} ({:4}/s)  waiting {:4}",
            self.started.elapsed().as_secs_f32(),
            totals.published,
            rate(|totals| totals.published),
            totals.handled,
            rate(|totals| totals.handled),
            totals.published.saturating_sub(totals.handled),
        )
    }

    fn draw(&mut self, line: &str, rows: &[Row]) {
        let mut text = format!("{line}\n");
        for (shard, row) in rows.iter().enumerate() {
            let lag = row.published.saturating_sub(row.read);
            let owner = row.owner.as_deref().unwrap_or("-");
            // Writing to a text can't fail.
            let _ = writeln!(
                text,
                "        {STREAM}:{shard}  {owner:<16} lag {lag:4}  pending {:4}",
                row.pending
            );
        }
        print!("{text}");
        let _ = std::io::stdout().flush();
        self.drawn = rows.len() + 1;
    }

    fn erase(&mut self) {
        if self.drawn > 0 {
            print!("\x1b[{}A\x1b[J", self.drawn);
            self.drawn = 0;
        }
    }
}

/// Who owns which shard, in a line.
fn owners(rows: &[Row]) -> String {
    let mut by_owner: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (shard, row) in rows.iter().enumerate() {
        if row.published == 0 && row.owner.is_none() {
            // A shard that the stream does not have yet.
            continue;
        }
        let nobody = if row.is_retired { "retired" } else { "nobody" };
        by_owner
            .entry(row.owner.as_deref().unwrap_or(nobody))
            .or_default()
            .push(shard.to_string());
    }
    let texts = by_owner
        .iter()
        .map(|(owner, shards)| format!("{owner}:{}", shards.join(",")));
    texts.collect::<Vec<_>>().join(" ")
}
