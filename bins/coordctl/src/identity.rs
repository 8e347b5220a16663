//! Files with certificates: whom to trust, and what to show to coordinators that ask for a certificate. Which are meant is `connect`'s business.

use std::fs;
use std::path::{Path, PathBuf};

use crate::context::Context;
use crate::failure::Failure;

/// What to do where one of the two files is missing or cannot be read.
pub(crate) const BOTH: &str = "--client-cert and --client-key, COORDCTL_CLIENT_CERT and COORDCTL_CLIENT_KEY, or client-cert and client-key of the context must name a certificate and its key in PEM";

/// What to do where no authorities can be read.
pub(crate) const AUTHORITIES: &str =
    "--ca-cert, COORDCTL_CA_CERT or the context must name a file with certificates in PEM";

/// A certificate to show, and its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IdentityFiles {
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

impl IdentityFiles {
    /// What is in both.
    pub(crate) fn read(&self) -> Result<(Vec<u8>, Vec<u8>), Failure> {
        let certificate = read("the certificate to show", &self.certificate, BOTH)?;
        Ok((certificate, read("its key", &self.key, BOTH)?))
    }
}

/// The files that were said by flags or the environment, if any were.
pub(crate) fn said(
    certificate: Option<&Path>,
    key: Option<&Path>,
) -> Result<Option<IdentityFiles>, Failure> {
    pair(
        certificate,
        key,
        "--client-cert is given without --client-key",
        "--client-key is given without --client-cert",
    )
}

/// The files of a context, if it has any.
pub(crate) fn of_context(name: &str, context: &Context) -> Result<Option<IdentityFiles>, Failure> {
    pair(
        context.client_cert.as_deref(),
        context.client_key.as_deref(),
        &format!("the context `{name}` has client-cert and no client-key"),
        &format!("the context `{name}` has client-key and no client-cert"),
    )
}

fn pair(
    certificate: Option<&Path>,
    key: Option<&Path>,
    no_key: &str,
    no_certificate: &str,
) -> Result<Option<IdentityFiles>, Failure> {
    match (certificate, key) {
        (Some(certificate), Some(key)) => Ok(Some(IdentityFiles {
            certificate: certificate.to_owned(),
            key: key.to_owned(),
        })),
        (None, None) => Ok(None),
        (Some(_), None) => Err(Failure::usage(no_key, BOTH)),
        (None, Some(_)) => Err(Failure::usage(no_certificate, BOTH)),
    }
}

/// The certificates of the authorities to trust.
pub(crate) fn authorities(path: &Path) -> Result<Vec<u8>, Failure> {
    read("the certificates", path, AUTHORITIES)
}

fn read(what: &str, path: &Path, advice: &str) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|error| {
        let path = path.display();
        Failure::usage(format!("could not read {what} in {path}: {error}"), advice)
    })
}
