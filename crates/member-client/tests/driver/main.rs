//! The driver against a real Redis and a coordinator that does as the test says.
#![allow(clippy::unwrap_used)]

mod cluster;
mod coordinator;
mod faults;
mod handing_over;
mod life;
mod lives;
mod membership;
mod outcomes;
mod permissions;
mod poison;
mod reading;
mod recovery;
mod scene;
mod settings;
mod trimming;
mod unordered;
