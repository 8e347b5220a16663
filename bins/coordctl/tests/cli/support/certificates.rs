//! An authority of a test's own, and certificates of it.

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair,
};

/// An authority.
pub(crate) struct Authority(CertifiedIssuer<'static, KeyPair>);

/// A certificate and its key, in PEM.
pub(crate) struct Identity {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

impl Authority {
    pub(crate) fn new(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    pub(crate) fn pem(&self) -> String {
        self.0.pem()
    }

    /// Of a server on the loopback.
    pub(crate) fn server(&self) -> Identity {
        self.identity("127.0.0.1", ExtendedKeyUsagePurpose::ServerAuth)
    }

    /// Of somebody who asks.
    pub(crate) fn client(&self) -> Identity {
        self.identity("operator", ExtendedKeyUsagePurpose::ClientAuth)
    }

    fn identity(&self, name: &str, usage: ExtendedKeyUsagePurpose) -> Identity {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.extended_key_usages = vec![usage];
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        Identity {
            certificate: certificate.pem(),
            key: key.serialize_pem(),
        }
    }
}
