//! Contexts, without their tokens.

use std::path::PathBuf;

use protocol::IsoTimestamp;
use serde::Serialize;

use super::Look;
use super::grid::Column::Words;
use super::grid::{Grid, pairs};
use crate::context::{Context, Contexts};

/// A context as it may be shown.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Shown {
    name: String,
    current: bool,
    servers: Vec<String>,
    user: Option<String>,
    has_token: bool,
    expires_at: Option<IsoTimestamp>,
    ca_cert: Option<String>,
    client_cert: Option<String>,
    client_key: Option<String>,
}

impl Shown {
    pub(crate) fn new(name: &str, context: &Context, contexts: &Contexts) -> Self {
        let file = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
        Self {
            name: name.to_owned(),
            current: contexts.current.as_deref() == Some(name),
            servers: context.servers.clone(),
            user: context.user.clone(),
            has_token: context.token.is_some(),
            expires_at: context.expires_at,
            ca_cert: file(&context.ca_cert),
            client_cert: file(&context.client_cert),
            client_key: file(&context.client_key),
        }
    }

    /// All of them.
    pub(crate) fn all(contexts: &Contexts) -> Vec<Self> {
        let known = contexts.contexts.iter();
        known
            .map(|(name, context)| Self::new(name, context, contexts))
            .collect()
    }
}

/// One context.
pub(crate) fn one(of: &Shown, look: &Look) -> String {
    let known = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
    pairs([
        ("Context", of.name.clone()),
        ("Current", if of.current { "yes" } else { "no" }.to_owned()),
        ("Servers", of.servers.join(",")),
        ("User", known(&of.user)),
        ("Token", token(of, look)),
        ("Authorities", known(&of.ca_cert)),
        ("Certificate", known(&of.client_cert)),
        ("Its key", known(&of.client_key)),
    ])
}

/// Contexts, a row each.
pub(crate) fn list(of: &[Shown], look: &Look) -> String {
    if of.is_empty() {
        return "there is no context: coordctl login makes one".to_owned();
    }
    let columns = vec![
        Words(""),
        Words("CONTEXT"),
        Words("SERVERS"),
        Words("USER"),
        Words("TOKEN"),
    ];
    let mut grid = Grid::new(columns, look.colours);
    for context in of {
        let mark = if context.current { "*" } else { " " };
        grid.row([
            mark.to_owned(),
            context.name.clone(),
            context.servers.join(","),
            context.user.clone().unwrap_or_else(|| "-".to_owned()),
            token(context, look),
        ]);
    }
    grid.finish()
}

fn token(context: &Shown, look: &Look) -> String {
    match context.expires_at {
        _ if !context.has_token => "none".to_owned(),
        Some(end) if look.now.is_after(end) => format!("ended {}", look.time(end)),
        Some(end) => format!("ends {}", look.time(end)),
        None => "kept".to_owned(),
    }
}
