//! What the listener is encrypted with, from the files that the configuration names. When they are read again is not known here.

use std::path::{Path, PathBuf};

use coordinator_server::{ClientAuth, Tls, TlsFiles};

use super::AccessError;
use crate::config::{ClientCertificate, Config};

/// Where certificates and keys are.
#[derive(Debug)]
struct TlsPaths {
    certificate: PathBuf,
    key: PathBuf,
    clients: Option<(PathBuf, ClientAuth)>,
}

impl TlsPaths {
    fn of(config: &Config) -> Result<Option<Self>, AccessError> {
        let needs = |setting, needs| Err(AccessError::Needs { setting, needs });
        if config.tls_client_auth.is_some() && config.tls_client_ca.is_none() {
            return needs("tls-client-auth", "tls-client-ca");
        }
        match (&config.tls_cert, &config.tls_key) {
            (None, None) if config.tls_client_ca.is_some() => {
                needs("tls-client-ca", "tls-cert and tls-key")
            }
            (None, None) => Ok(None),
            (Some(_), None) => needs("tls-cert", "tls-key"),
            (None, Some(_)) => needs("tls-key", "tls-cert"),
            (Some(certificate), Some(key)) => {
                let demand = match config.tls_client_auth {
                    None | Some(ClientCertificate::Required) => ClientAuth::Required,
                    Some(ClientCertificate::Optional) => ClientAuth::Optional,
                };
                let clients = config.tls_client_ca.as_ref();
                Ok(Some(Self {
                    certificate: certificate.into(),
                    key: key.into(),
                    clients: clients.map(|path| (path.into(), demand)),
                }))
            }
        }
    }

    fn read(&self) -> Result<TlsFiles, AccessError> {
        let client_authorities = match &self.clients {
            Some((path, demand)) => Some((read("tls-client-ca", path)?, *demand)),
            None => None,
        };
        Ok(TlsFiles {
            certificate: read("tls-cert", &self.certificate)?,
            key: read("tls-key", &self.key)?,
            client_authorities,
        })
    }
}

fn read(setting: &'static str, path: &Path) -> Result<Vec<u8>, AccessError> {
    std::fs::read(path).map_err(|source| AccessError::Unreadable {
        setting,
        path: path.display().to_string(),
        source,
    })
}

/// What the listener is encrypted with, and the files it comes from.
#[derive(Debug)]
pub(crate) struct TlsSource {
    tls: Tls,
    paths: TlsPaths,
    /// What was found the last time, whether it could be used or not.
    found: TlsFiles,
}

impl TlsSource {
    /// What the configuration names, read for the first time; nothing if it names nothing.
    pub(super) fn of(config: &Config) -> Result<Option<Self>, AccessError> {
        let Some(paths) = TlsPaths::of(config)? else {
            return Ok(None);
        };
        let found = paths.read()?;
        let tls = Tls::new(&found)?;
        Ok(Some(Self { tls, paths, found }))
    }

    pub(super) fn tls(&self) -> Tls {
        self.tls.clone()
    }

    /// Reads the files and takes over what is in them, if something has changed since the last time or `always`; whether it did.
    /// What was before stays if there is a mistake.
    pub(crate) fn read(&mut self, always: bool) -> Result<bool, AccessError> {
        let found = self.paths.read()?;
        if found == self.found && !always {
            return Ok(false);
        }
        self.found = found;
        self.tls.replace(&self.found)?;
        Ok(true)
    }
}
