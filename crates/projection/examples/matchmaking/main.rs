//! Matchmaking: tickets in PostgreSQL, an index of them in Redis, a worker per playlist. It fills two playlists and matches until nobody
//! is left. Both servers are given, and stay as they are but for the table `tickets` and the projection `matchmaking`:
//!
//! ```console
//! $ cargo run -p projection --example matchmaking -- "host=127.0.0.1 user=postgres" redis://127.0.0.1/
//! ```

mod tickets;
mod worker;

use std::error::Error;
use std::time::{SystemTime, UNIX_EPOCH};

use projection::redis::aio::{ConnectionManager, ConnectionManagerConfig};
use projection::{Namespace, Projection, ProjectionName, RedisIndex, Settings, redis};

use tickets::Tickets;
use worker::Worker;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(postgres), Some(redis)) = (arguments.next(), arguments.next()) else {
        return Err("give the addresses of PostgreSQL and of Redis".into());
    };
    let tickets = Tickets::connect(&postgres).await?;
    let client = redis::Client::open(redis)?;
    let link = ConnectionManager::new_lazy_with_config(client, ConnectionManagerConfig::new())?;
    let index = RedisIndex::new(ProjectionName::new("matchmaking")?, link);
    let projection = Projection::new(tickets.clone(), index, Settings::default());

    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_millis();
    let now = i64::try_from(now)?;
    for playlist in ["casual", "ranked"] {
        for number in 0..100 {
            let id = format!("{playlist}-{now}-{number}");
            let ticket = tickets.enqueue(playlist, &id, now + number).await?;
            if let Err(error) = projection.upsert(&ticket).await {
                eprintln!("{error}");
            }
        }
    }
    for playlist in ["casual", "ranked"] {
        let namespace = Namespace::new(playlist)?;
        let name = format!("{playlist}-{now}");
        let mut worker = Worker::new(&name, namespace, tickets.clone(), projection.clone());
        loop {
            let round = worker.round().await?;
            // One that is left finds nobody to play with.
            if round.proposed.len() < 2 {
                break;
            }
            println!(
                "{playlist}: {} of {} proposed tickets matched, told by {:?} in {:?}",
                round.claimed.len(),
                round.proposed.len(),
                round.served_by,
                round.stood_still
            );
        }
        worker.settle().await;
    }
    println!("{:#?}", projection.metrics());
    Ok(())
}
