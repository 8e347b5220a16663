//! The coordinator's engine and HTTP face, as a library. Knows nothing of command lines and configuration files.
//!
//! [`serve`] runs a coordinator on a listener until it is told to end.

mod audit;
mod auth;
mod config;
mod convert;
mod engine;
mod http;
mod metrics;
mod serve;

pub use auth::{
    BadPasswordHash, DuplicateUser, MIN_TOKEN_SECRET_BYTES, Password, PasswordHash, ShortSecret,
    TokenSecret, User, UserError, Users,
};
pub use config::{
    ChangeRate, ConfigError, DEFAULT_ADMIN_PASSWORD, DEFAULT_ADMIN_USERNAME, Limits,
    MAX_STREAM_SHARDS, ServerConfig,
};
pub use engine::{Deps, Indexes};
#[cfg(feature = "testing")]
pub use http::{Exchange, Witness};
pub use serve::{ClientAuth, ServeError, Tls, TlsError, TlsFiles, serve};
