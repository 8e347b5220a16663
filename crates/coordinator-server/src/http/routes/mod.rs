//! The routes, by what they are about.

pub(super) mod admin;
pub(super) mod audit;
pub(super) mod auth;
pub(super) mod events;
pub(super) mod grafana;
pub(super) mod groups;
pub(super) mod listing;
pub(super) mod members;
pub(super) mod migrations;
pub(super) mod monitoring;
pub(super) mod probes;
pub(super) mod shards;
pub(super) mod streams;
