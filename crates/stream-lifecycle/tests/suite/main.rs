//! The crate against real servers, one file per kind of promise.
#![allow(clippy::unwrap_used)]

mod cluster;
mod consumers;
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
mod retention;
mod sentinel;
mod servers;
mod storm;
mod support;
mod windows;
