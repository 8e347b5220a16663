//! The command line as it is used: the built program against coordinators in this process, on a Redis where one is needed.
#![allow(clippy::unwrap_used)]

mod asker;
mod conformity;
mod contexts;
mod deleting;
mod doctor;
mod encrypted;
mod exact;
mod help;
mod late;
mod life;
mod local;
mod plans;
mod readme;
mod refusals;
mod snapshots;
mod support;
mod terminal;
mod waiting;
mod watching;
