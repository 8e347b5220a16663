//! What connections are encrypted with: certificate, key, and whose certificates clients must show. Replaced while the server runs;
//! files are not read here.

use std::fmt;
use std::sync::Arc;

use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio::sync::watch;
use tokio_rustls::TlsAcceptor;

/// Whether clients must show a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClientAuth {
    /// Without a valid one there is no connection.
    Required,
    /// Who shows one must show a valid one.
    Optional,
}

/// The contents of the files that TLS is made of, in PEM. The key is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The server's certificate, and those between it and its authority.
    pub certificate: Vec<u8>,
    /// The certificate's key.
    pub key: Vec<u8>,
    /// The authorities of clients' certificates; without them clients show none.
    pub client_authorities: Option<(Vec<u8>, ClientAuth)>,
}

impl fmt::Debug for TlsFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsFiles")
            .field("certificate", &self.certificate.len())
            .field(
                "client_auth",
                &self.client_authorities.as_ref().map(|it| it.1),
            )
            .finish_non_exhaustive()
    }
}

/// Files that TLS can't be made of.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TlsError {
    /// There is no certificate in PEM.
    #[error("{setting}: there is no certificate in PEM")]
    NoCertificate {
        /// The setting that names the file.
        setting: &'static str,
    },
    /// There is no key in PEM. What is there is not repeated.
    #[error("tls-key: there is no private key in PEM, or it is encrypted")]
    NoKey,
    /// Certificate and key can't be used, together or at all.
    #[error("tls-cert, tls-key: can't be used: {reason}")]
    Pair {
        /// What is wrong with them.
        reason: String,
    },
    /// An authority can't be used.
    #[error("tls-client-ca: can't be used: {reason}")]
    Authority {
        /// What is wrong with it.
        reason: String,
    },
}

/// What connections are encrypted with. Clones are the same.
#[derive(Clone)]
pub struct Tls(watch::Sender<Arc<ServerConfig>>);

impl Tls {
    /// TLS 1.2 and 1.3 from what is in files.
    ///
    /// # Errors
    /// [`TlsError`] names the file that can't be used.
    pub fn new(files: &TlsFiles) -> Result<Self, TlsError> {
        Ok(Self(watch::Sender::new(Arc::new(server_config(files)?))))
    }

    /// Replaces everything for connections to come.
    ///
    /// # Errors
    /// [`TlsError`] names the file that can't be used; everything is as it was then.
    pub fn replace(&self, files: &TlsFiles) -> Result<(), TlsError> {
        self.0.send_replace(Arc::new(server_config(files)?));
        Ok(())
    }

    pub(super) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(Arc::clone(&self.0.borrow()))
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tls(…)")
    }
}

fn server_config(files: &TlsFiles) -> Result<ServerConfig, TlsError> {
    let chain = certificates("tls-cert", &files.certificate)?;
    let key = PrivateKeyDer::from_pem_slice(&files.key).map_err(|_| TlsError::NoKey)?;
    let unusable = |error: rustls::Error| TlsError::Pair {
        reason: error.to_string(),
    };
    let builder = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(unusable)?;
    let builder = match &files.client_authorities {
        None => builder.with_no_client_auth(),
        Some((authorities, demand)) => {
            builder.with_client_cert_verifier(verifier(authorities, *demand)?)
        }
    };
    let mut config = builder.with_single_cert(chain, key).map_err(unusable)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

fn verifier(
    authorities: &[u8],
    demand: ClientAuth,
) -> Result<Arc<dyn rustls::server::danger::ClientCertVerifier>, TlsError> {
    let unusable = |reason: String| TlsError::Authority { reason };
    let mut roots = RootCertStore::empty();
    for authority in certificates("tls-client-ca", authorities)? {
        roots
            .add(authority)
            .map_err(|error| unusable(error.to_string()))?;
    }
    let provider = Arc::new(default_provider());
    let builder = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
    let builder = match demand {
        ClientAuth::Required => builder,
        ClientAuth::Optional => builder.allow_unauthenticated(),
    };
    builder.build().map_err(|error| unusable(error.to_string()))
}

fn certificates(
    setting: &'static str,
    pem: &[u8],
) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        _ => Err(TlsError::NoCertificate { setting }),
    }
}
