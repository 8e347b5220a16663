//! The crate against real servers, one file per kind of promise.
#![allow(clippy::unwrap_used)]

mod guard;
mod life;
mod support;
