//! The whole life of a stream by a client that knows the OpenAPI document and nothing else: made, joined, scaled out and in, drained, deleted.
#![allow(clippy::unwrap_used)]

mod api;
mod life;
mod member;

#[path = "../../../../crates/coordinator-server/tests/support/contract.rs"]
mod contract;
#[path = "../support/mod.rs"]
mod support;
