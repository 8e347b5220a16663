//! Answers of a coordinator against its OpenAPI document: whatever a test is about, nothing may be answered in it that is not described. Only for tests, and it
//! neither asks nor listens: who does shows it what was answered.
//!
//! ```
//! use bytes::Bytes;
//! use http::{HeaderMap, Method, StatusCode};
//! use openapi_check::Conformity;
//!
//! let mut conformity = Conformity::new();
//! let judge = conformity.judge();
//! judge.see(&Method::GET, "/coord/v1/streams", StatusCode::IM_A_TEAPOT, &HeaderMap::new(), Some(Bytes::new()));
//! let verdict = conformity.end();
//! assert_eq!((verdict.answers, verdict.faults.len()), (1, 1));
//! // Without `end`, dropping `conformity` fails the test.
//! ```

mod answer;
mod conformity;
mod contract;

pub use answer::Answer;
pub use conformity::{Conformity, Judge, Verdict};
pub use contract::Contract;

/// The document of the coordinator, as it is served.
pub const DOCUMENT: &str = include_str!("../../coordinator-server/tests/snapshots/openapi.json");
