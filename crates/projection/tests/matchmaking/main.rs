//! The matchmaking example on a real PostgreSQL and a real Redis: playlists don't starve one another, repairs stay in their playlist, and
//! every ticket is matched once whatever becomes of Redis.
#![allow(clippy::unwrap_used)]

mod play;
mod postgres;
#[path = "../../examples/matchmaking/tickets.rs"]
mod tickets;
#[path = "../../examples/matchmaking/worker.rs"]
mod worker;
