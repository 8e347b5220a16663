//! The crate against real servers, one file per kind of promise.
#![allow(clippy::unwrap_used)]

mod consumers;
mod guard;

mod life;
mod publication;
mod retention;
mod support;
