//! The producer against a real redis-server and a small coordinator of the tests' own: routing, staleness, faults, order.

mod ambiguous;
mod batches;
mod cluster;
mod coordinator;
mod leases;
mod permissions;
mod publishing;
mod refusals;
mod settings;
mod stale_routes;
mod world;
