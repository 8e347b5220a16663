//! Contexts: coordinators and tokens that are kept under a name. What is done with them is `connect`'s business.

mod error;
mod file;
mod place;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use protocol::IsoTimestamp;
use serde::{Deserialize, Serialize};

pub(crate) use error::ContextError;
pub(crate) use file::{load, save};
pub(crate) use place::place;

/// The name of the context that a first log-in makes.
pub(crate) const DEFAULT_CONTEXT: &str = "default";

/// All contexts, as the file has them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Contexts {
    /// The one that is used unless another is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) current: Option<String>,
    /// Each by its name.
    #[serde(default)]
    pub(crate) contexts: BTreeMap<String, Context>,
}

/// Coordinators of one store, and who to be there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Context {
    /// Their base URLs.
    pub(crate) servers: Vec<String>,
    /// Who logged in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) user: Option<String>,
    /// What the log-in gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) token: Option<Token>,
    /// When that ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) expires_at: Option<IsoTimestamp>,
    /// Certificates of the authorities to trust instead of the system's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ca_cert: Option<PathBuf>,
    /// The certificate to show to coordinators that ask for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) client_cert: Option<PathBuf>,
    /// The file with its key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) client_key: Option<PathBuf>,
}

/// A token. Never shown.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Token(String);

impl Token {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The token itself, to be sent.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

impl Contexts {
    /// The context of this name.
    pub(crate) fn named(&self, name: &str) -> Result<&Context, ContextError> {
        self.contexts
            .get(name)
            .ok_or_else(|| ContextError::Unknown {
                name: name.to_owned(),
            })
    }

    /// The context that is asked for, or the current one, with its name; nothing where there is neither.
    pub(crate) fn chosen(
        &self,
        asked: Option<&str>,
    ) -> Result<Option<(&str, &Context)>, ContextError> {
        match asked.or(self.current.as_deref()) {
            Some(name) => {
                let context = self.named(name)?;
                let found = self.contexts.get_key_value(name);
                Ok(found.map(|(name, _)| (name.as_str(), context)))
            }
            None => Ok(None),
        }
    }

    /// Whether there is anything in them that others must not read.
    fn has_secrets(&self) -> bool {
        self.contexts.values().any(|known| known.token.is_some())
    }
}
