//! Shows a group, or all, and keeps showing what changes, until Ctrl-C.

mod all;
mod line;
mod one;
mod screen;

use super::Session;
use crate::cli::WatchArgs;
use crate::failure::{Failure, with_sources};
use coordinator_client::ClientError;

pub(super) async fn run(session: &Session, args: &WatchArgs) -> Result<(), Failure> {
    let watching = async {
        match &args.stream {
            Some(stream) => {
                let group = args.group.as_deref().unwrap_or(stream);
                one::watch(session, stream, group, args.interval.0).await
            }
            None => all::watch(session, args.interval.0).await,
        }
    };
    tokio::select! {
        ended = watching => ended,
        interrupted = tokio::signal::ctrl_c() => interrupted
            .map_err(|source| Failure::Io {
                what: "could not listen for Ctrl-C".to_owned(),
                source,
            })
            .and_then(|()| after_the_key(session)),
    }
}

/// A terminal shows the key that ended the watch: what comes next begins below it.
fn after_the_key(session: &Session) -> Result<(), Failure> {
    if session.output.terminal {
        session.output.text("")?;
    }
    Ok(())
}

/// What is said while nobody answers.
fn silence(error: &ClientError) -> String {
    match error {
        ClientError::Api { code, message, .. } => {
            format!("no answer, asking again: {code}: {message}")
        }
        other => format!("no answer, asking again: {}", with_sources(other)),
    }
}
