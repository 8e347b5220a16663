//! The calls of the API, one file per audience.

mod admin;
mod audit;
mod member;
mod monitoring;
mod probes;
mod producer;
mod resharding;
mod snapshot;
