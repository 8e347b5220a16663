//! The client against real servers on the loopback: what it sends, what it makes of answers, and where it turns next.

mod failover;
mod observing;
mod refusals;
mod requests;
mod resharding;
mod server;
mod settings;
