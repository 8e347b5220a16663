//! Whom the client trusts and what it shows of itself, over https. Keys are kept here and nowhere shown.

use reqwest::{Certificate, ClientBuilder, Identity};

use crate::builder::BuildError;

const ROOTS: &str = "root_certificates_pem";
const EXTRA_ROOTS: &str = "extra_root_certificates_pem";
const IDENTITY: &str = "client_identity_pem";

/// Everything in PEM, as it was given.
#[derive(Clone, Default)]
pub(crate) struct TlsSettings {
    /// Authorities instead of the system's.
    pub(crate) roots: Option<Vec<u8>>,
    /// Authorities beside them.
    pub(crate) extra_roots: Option<Vec<u8>>,
    /// A certificate and its key.
    pub(crate) identity: Option<(Vec<u8>, Vec<u8>)>,
}

impl TlsSettings {
    /// The setting that is told when TLS as a whole cannot be set up.
    pub(crate) const fn blamed(&self) -> &'static str {
        if self.identity.is_some() {
            IDENTITY
        } else if self.roots.is_some() {
            ROOTS
        } else if self.extra_roots.is_some() {
            EXTRA_ROOTS
        } else {
            "base_urls"
        }
    }

    /// Gives the settings to a client; `encrypted` says whether it has URLs that need them.
    pub(crate) fn apply(
        &self,
        mut builder: ClientBuilder,
        encrypted: bool,
    ) -> Result<ClientBuilder, BuildError> {
        let extra = match &self.extra_roots {
            Some(pem) => certificates(EXTRA_ROOTS, pem)?,
            None => Vec::new(),
        };
        builder = match &self.roots {
            Some(pem) => {
                let mut roots = certificates(ROOTS, pem)?;
                roots.extend(extra);
                builder.tls_certs_only(roots)
            }
            // Without https no authorities are needed, and hosts without any can still be used.
            None if !encrypted => builder.tls_certs_only(extra),
            None if extra.is_empty() => builder,
            None => builder.tls_certs_merge(extra),
        };
        if let Some((certificate, key)) = &self.identity {
            let pem = [certificate, b"\n".as_slice(), key].concat();
            let identity = Identity::from_pem(&pem).map_err(|error| {
                BuildError::failed(IDENTITY, "no certificate and its key in PEM", error)
            })?;
            builder = builder.identity(identity);
        }
        Ok(builder)
    }
}

fn certificates(setting: &'static str, pem: &[u8]) -> Result<Vec<Certificate>, BuildError> {
    const REASON: &str = "no certificates in PEM";
    let found = Certificate::from_pem_bundle(pem)
        .map_err(|error| BuildError::failed(setting, REASON, error))?;
    if found.is_empty() {
        return Err(BuildError::new(setting, REASON));
    }
    Ok(found)
}
