//! The crate against real servers, one file per kind of promise.
#![allow(clippy::unwrap_used)]

mod consumers;
mod drain;
mod guard;
mod inspection;
mod life;
mod publication;
mod random;
mod recovery;
mod retention;
mod support;
