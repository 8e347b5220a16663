//! The command line as it is used: the built program against coordinators in this process, on a Redis where one is needed.
#![allow(clippy::unwrap_used)]

mod contexts;
mod doctor;
mod exact;
mod help;
mod life;
mod local;
mod refusals;
mod snapshots;
mod support;
mod terminal;
mod waiting;
mod watching;
