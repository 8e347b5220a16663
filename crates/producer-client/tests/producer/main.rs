//! The producer against a real redis-server and a small coordinator of the tests' own: routing, staleness, faults, order.

mod ambiguous;
mod batches;
mod cluster;
mod cluster_exact;
mod coordinator;
mod exact;
mod exact_faults;
mod generations;
mod leases;
mod lives;
mod once;
mod permissions;
mod publishing;
mod refusals;
mod retirement;
mod settings;
mod stale_routes;
mod world;
