//! Tickets in PostgreSQL: the source of truth. A ticket is matched here and nowhere else. It knows nothing of the index.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use projection::{
    EntryId, Namespace, Order, Position, Projected, Range, Source, SourceError, Stored, Unreadable,
    Version,
};
use tokio_postgres::{Client, Error, NoTls, Row};

/// Ids sort by their bytes, as the index sorts them. The index of the table is what the two queries below walk along.
const TABLE: &str = r#"
    CREATE TABLE IF NOT EXISTS tickets (
        id text COLLATE "C" PRIMARY KEY,
        playlist text NOT NULL,
        queued_at bigint NOT NULL,
        player text NOT NULL,
        match_id text,
        version bigint NOT NULL DEFAULT 1
    );
    CREATE INDEX IF NOT EXISTS tickets_open ON tickets (playlist, queued_at, id) WHERE match_id IS NULL;
"#;

const ENQUEUE: &str =
    "INSERT INTO tickets (id, playlist, queued_at, player) VALUES ($1, $2, $3, $4)";

const PAGE: &str = "
    SELECT id, playlist, queued_at, player, version FROM tickets
    WHERE playlist = $1 AND match_id IS NULL AND (queued_at, id) > ($2, $3) AND queued_at <= $4
    ORDER BY queued_at, id LIMIT $5";

/// Pairs up those of the tickets that are still open, in one statement. Tickets that another worker has in its hands are left out.
const CLAIM: &str = "
    WITH open AS (
        SELECT id, queued_at FROM tickets
        WHERE id = ANY($1) AND playlist = $2 AND match_id IS NULL FOR UPDATE SKIP LOCKED
    ), placed AS (
        SELECT id, row_number() OVER (ORDER BY queued_at, id) AS place, count(*) OVER () AS total FROM open
    )
    UPDATE tickets SET match_id = $3::text || '-' || ((place - 1) / 2), version = version + 1
    FROM placed WHERE tickets.id = placed.id AND place <= total - total % 2
    RETURNING tickets.id, tickets.match_id, tickets.version";

const CLOSED: &str = "SELECT id, version FROM tickets WHERE id = ANY($1) AND match_id IS NOT NULL";

/// A player who waits for a match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ticket {
    pub(crate) id: String,
    pub(crate) playlist: String,
    /// Milliseconds since whatever the playlists count from.
    pub(crate) queued_at: i64,
    pub(crate) player: String,
    pub(crate) version: i64,
}

/// A ticket that this worker, and no other, has matched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Claimed {
    pub(crate) id: String,
    pub(crate) match_id: String,
    pub(crate) version: i64,
}

impl Projected for Ticket {
    fn namespace(&self) -> Namespace {
        Namespace::new(&*self.playlist)
            .expect("playlists are named when they are made, in few letters")
    }

    fn id(&self) -> EntryId {
        EntryId::new(&*self.id).expect("the ids of tickets are not empty and short")
    }

    fn order(&self) -> Order {
        Order::new(self.queued_at).expect("milliseconds fit for 285,000 years")
    }

    fn version(&self) -> Version {
        version(self.version)
    }

    fn payload(&self) -> Vec<u8> {
        self.player.clone().into_bytes()
    }

    fn restore(stored: Stored<'_>) -> Result<Self, Unreadable> {
        let player = String::from_utf8(stored.payload.to_vec());
        Ok(Self {
            id: stored.id.to_string(),
            playlist: stored.namespace.to_string(),
            queued_at: stored.order.get(),
            player: player.map_err(|error| Unreadable(error.to_string()))?,
            version: i64::try_from(stored.version.get())
                .map_err(|error| Unreadable(error.to_string()))?,
        })
    }
}

/// The version of a row, which begins at 1 and only rises.
pub(crate) fn version(number: i64) -> Version {
    Version::new(number.unsigned_abs()).expect("no row is changed 2^53 times")
}

impl Ticket {
    fn of(row: &Row) -> Self {
        Self {
            id: row.get(0),
            playlist: row.get(1),
            queued_at: row.get(2),
            player: row.get(3),
            version: row.get(4),
        }
    }
}

/// The table, over one connection.
#[derive(Clone)]
pub(crate) struct Tickets(Arc<Client>);

impl Tickets {
    /// Connects, and makes the table if it is not there.
    pub(crate) async fn connect(address: &str) -> Result<Self, Error> {
        let (client, connection) = tokio_postgres::connect(address, NoTls).await?;
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                eprintln!("the connection to PostgreSQL ended: {error}");
            }
        });
        client.batch_execute(TABLE).await?;
        Ok(Self(Arc::new(client)))
    }

    /// A player begins to wait.
    pub(crate) async fn enqueue(
        &self,
        playlist: &str,
        id: &str,
        queued_at: i64,
    ) -> Result<Ticket, Error> {
        let player = format!("player of {id}");
        self.0
            .execute(ENQUEUE, &[&id, &playlist, &queued_at, &player])
            .await?;
        Ok(Ticket {
            id: id.to_owned(),
            playlist: playlist.to_owned(),
            queued_at,
            player,
            version: 1,
        })
    }

    /// Matches two and two of these tickets, as far as they are still open. `round` names the matches and is used once.
    pub(crate) async fn claim(
        &self,
        playlist: &str,
        ids: &[String],
        round: &str,
    ) -> Result<Vec<Claimed>, Error> {
        let rows = self.0.query(CLAIM, &[&ids, &playlist, &round]).await?;
        let claimed = rows.iter().map(|row| Claimed {
            id: row.get(0),
            match_id: row.get(1),
            version: row.get(2),
        });
        Ok(claimed.collect())
    }

    /// The open tickets of a playlist behind a place, the longest waiting first.
    async fn open(
        &self,
        playlist: &Namespace,
        after: Option<&Position>,
        upper: Option<Order>,
        limit: usize,
    ) -> Result<Vec<Ticket>, SourceError> {
        let order = after.map_or(i64::MIN, |after| after.order.get());
        let id = after.map_or("", |after| after.id.as_str());
        let upper = upper.map_or(i64::MAX, Order::get);
        let limit = i64::try_from(limit)?;
        let rows = self
            .0
            .query(PAGE, &[&playlist.as_str(), &order, &id, &upper, &limit])
            .await?;
        Ok(rows.iter().map(Ticket::of).collect())
    }

    /// Which of these tickets are matched already, with their versions.
    pub(crate) async fn closed(&self, ids: &BTreeSet<&str>) -> Result<Vec<(String, i64)>, Error> {
        let ids: Vec<&str> = ids.iter().copied().collect();
        let rows = self.0.query(CLOSED, &[&ids]).await?;
        Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
    }
}

#[async_trait]
impl Source<Ticket> for Tickets {
    async fn head(&self, namespace: &Namespace, range: &Range) -> Result<Vec<Ticket>, SourceError> {
        let (after, limit) = (range.after.as_ref(), range.limit.get());
        self.open(namespace, after, range.upper, limit).await
    }

    async fn page(
        &self,
        namespace: &Namespace,
        after: Option<&Position>,
        count: usize,
    ) -> Result<Vec<Ticket>, SourceError> {
        self.open(namespace, after, None, count).await
    }
}
