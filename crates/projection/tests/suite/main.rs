//! The contract of projections, on the index in memory and on a real Redis. What the entries mean is the examples' business.
#![allow(clippy::unwrap_used)]

mod cluster;
mod contract;
mod convergence;
mod faults;
mod interleavings;
mod parts_fail;
mod redis_keys;
mod source;
mod world;
