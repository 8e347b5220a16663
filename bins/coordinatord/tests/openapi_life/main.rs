//! The whole life of a stream by a client that knows the OpenAPI document and nothing else: made, joined, scaled out and in, drained, deleted.
#![allow(clippy::unwrap_used)]

mod api;
mod life;
mod member;

#[path = "../support/mod.rs"]
mod support;
