//! A certificate authority of a test's own.

use coordinator_server::{ClientAuth, TlsFiles};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair,
};

/// An authority.
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

/// A certificate and its key, in PEM.
#[derive(Clone)]
pub struct Identity {
    pub certificate: String,
    pub key: String,
}

impl Authority {
    pub fn new(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    pub fn pem(&self) -> String {
        self.0.pem()
    }

    /// A certificate for a server on the loopback.
    pub fn server(&self) -> Identity {
        self.identity(
            &["127.0.0.1", "localhost"],
            ExtendedKeyUsagePurpose::ServerAuth,
            false,
        )
    }

    /// A certificate for a client.
    pub fn client(&self) -> Identity {
        self.identity(&["member"], ExtendedKeyUsagePurpose::ClientAuth, false)
    }

    /// A certificate for a client whose time was over long ago.
    pub fn expired_client(&self) -> Identity {
        self.identity(&["member"], ExtendedKeyUsagePurpose::ClientAuth, true)
    }

    fn identity(&self, names: &[&str], usage: ExtendedKeyUsagePurpose, expired: bool) -> Identity {
        let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.extended_key_usages = vec![usage];
        if expired {
            params.not_after = rcgen::date_time_ymd(2001, 1, 1);
            params.not_before = rcgen::date_time_ymd(2000, 1, 1);
        }
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        Identity {
            certificate: certificate.pem(),
            key: key.serialize_pem(),
        }
    }
}

impl Identity {
    /// The files of a server with this certificate.
    pub fn files(&self) -> TlsFiles {
        TlsFiles {
            certificate: self.certificate.clone().into_bytes(),
            key: self.key.clone().into_bytes(),
            client_authorities: None,
        }
    }

    /// The same, with clients that show certificates of `authority`.
    pub fn files_for_clients_of(&self, authority: &Authority, demand: ClientAuth) -> TlsFiles {
        TlsFiles {
            client_authorities: Some((authority.pem().into_bytes(), demand)),
            ..self.files()
        }
    }
}
