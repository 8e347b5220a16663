//! The worker of a playlist: asks for the first 64 tickets and matches them in PostgreSQL. The index only proposes.

use std::collections::BTreeSet;
use std::error::Error;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use projection::{EntryId, Limit, Namespace, Projection, ServedBy, Version};

use crate::tickets::{Claimed, Ticket, Tickets, version};

/// What came of a round.
#[derive(Debug)]
pub(crate) struct Round {
    /// What was asked for, as it was answered.
    pub(crate) proposed: Vec<Ticket>,
    /// What was matched.
    pub(crate) claimed: Vec<Claimed>,
    pub(crate) served_by: ServedBy,
    /// How long matching stood still: all of the round but what PostgreSQL took to match.
    pub(crate) stood_still: Duration,
}

pub(crate) struct Worker {
    playlist: Namespace,
    tickets: Tickets,
    projection: Projection<Ticket>,
    /// What the index is yet to be told of: tickets that are closed.
    gone: Vec<(EntryId, Version)>,
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
            gone: Vec::new(),
            name: name.to_owned(),
            rounds: 0,
        }
    }

    /// Matches what is among the first 64. What came of the round before is told to the index beside the question, so that an index that hangs costs its time
    /// only once.
    pub(crate) async fn round(&mut self) -> Result<Round, Box<dyn Error + Send + Sync>> {
        let begun = Instant::now();
        let gone = std::mem::take(&mut self.gone);
        let question = self.projection.snapshot(&self.playlist, Limit::new(64)?);
        let ((), first) = tokio::join!(self.tell(gone), question);
        let (first, stood_still) = (first?, begun.elapsed());
        self.rounds += 1;
        let round = format!("{}-{}", self.name, self.rounds);
        let ids: Vec<String> = first.items.iter().map(|ticket| ticket.id.clone()).collect();
        let playlist = self.playlist.as_str();
        let claimed = self.tickets.claim(playlist, &ids, &round).await?;
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
        for (id, number) in gone {
            self.gone.push((EntryId::new(id)?, version(number)));
        }
        Ok(Round {
            proposed: first.items,
            claimed,
            served_by: first.served_by,
            stood_still,
        })
    }

    /// Tells the index what came of the last round, if no other is to follow.
    pub(crate) async fn settle(&mut self) {
        let gone = std::mem::take(&mut self.gone);
        self.tell(gone).await;
    }

    /// All at once. What does not reach the index is made up for by a rebuild.
    async fn tell(&self, gone: Vec<(EntryId, Version)>) {
        let removals = gone
            .iter()
            .map(|(id, version)| self.projection.remove(&self.playlist, id, *version));
        join_all(removals).await;
    }
}
