//! The rules of a coordinator for sharded Redis Streams: no I/O, no clock, no randomness.
#![no_std]

extern crate alloc;

pub mod numbers;
pub mod routing;
pub mod time;
