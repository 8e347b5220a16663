//! The crate against real servers, one file per kind of promise.
#![allow(clippy::unwrap_used)]

mod answers;
mod cluster;
mod consumers;
mod counting;
mod dead_letters;
mod done_with;
mod drain;
mod evidence;
mod fencing;
mod guard;
mod inspection;
mod leftovers;
mod life;
mod limits;
mod permissions;
mod publication;
mod random;
mod recovery;
mod redelivery;
mod retention;
mod sentinel;
mod servers;
mod storm;
mod support;
mod windows;
