//! The worker of a playlist: asks for the first 64 tickets and matches them in PostgreSQL. The index only proposes.

use std::collections::BTreeSet;
use std::error::Error;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use projection::{EntryId, Limit, Namespace, Projection, ServedBy};

use crate::tickets::{Claimed, Ticket, Tickets, version};

/// What came of a round.
#[derive(Debug)]
pub(crate) struct Round {
    /// What was asked for, as it was answered.
    pub(crate) proposed: Vec<Ticket>,
    /// What was matched.
    pub(crate) claimed: Vec<Claimed>,
    pub(crate) served_by: ServedBy,
    /// How long the question for the first 64 took.
    pub(crate) asked_for: Duration,
}

pub(crate) struct Worker {
    playlist: Namespace,
    tickets: Tickets,
    projection: Projection<Ticket>,
    /// Makes the names of matches unique: one per worker.
    name: String,
    rounds: u64,
}

impl Worker {
    pub(crate) fn new(
        name: &str,
        playlist: Namespace,
        tickets: Tickets,
        projection: Projection<Ticket>,
    ) -> Self {
        Self {
            playlist,
            tickets,
            projection,
            name: name.to_owned(),
            rounds: 0,
        }
    }

    /// Matches what is among the first 64.
    pub(crate) async fn round(&mut self) -> Result<Round, Box<dyn Error + Send + Sync>> {
        let begun = Instant::now();
        let first = self
            .projection
            .snapshot(&self.playlist, Limit::new(64)?)
            .await?;
        let asked_for = begun.elapsed();
        self.rounds += 1;
        let round = format!("{}-{}", self.name, self.rounds);
        let ids: Vec<String> = first.items.iter().map(|ticket| ticket.id.clone()).collect();
        let claimed = self
            .tickets
            .claim(self.playlist.as_str(), &ids, &round)
            .await?;
        let mut gone: Vec<(String, i64)> = Vec::new();
        gone.extend(
            claimed
                .iter()
                .map(|ticket| (ticket.id.clone(), ticket.version)),
        );
        // What the index proposed in vain is not to be proposed again.
        let mut rest: BTreeSet<&str> = ids.iter().map(String::as_str).collect();
        for ticket in &claimed {
            rest.remove(ticket.id.as_str());
        }
        if !rest.is_empty() {
            gone.extend(self.tickets.closed(&rest).await?);
        }
        self.remove(gone).await?;
        Ok(Round {
            proposed: first.items,
            claimed,
            served_by: first.served_by,
            asked_for,
        })
    }

    /// All at once, so that an index that hangs costs its time only once. What does not reach it is made up for by a rebuild.
    async fn remove(&self, gone: Vec<(String, i64)>) -> Result<(), projection::InvalidInput> {
        let gone = gone
            .into_iter()
            .map(|(id, number)| Ok((EntryId::new(id)?, version(number))));
        let gone: Vec<_> = gone.collect::<Result<_, _>>()?;
        let removals = gone
            .iter()
            .map(|(id, version)| self.projection.remove(&self.playlist, id, *version));
        join_all(removals).await;
        Ok(())
    }
}
