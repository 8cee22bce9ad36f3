//! Certificates, made on the spot: good ones, and those that prove nothing.

use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio_rustls::TlsAcceptor;

use super::{Tls, Trouble};

const MADE: &str = "rcgen makes what it is asked for";
const USABLE: &str = "rustls takes what rcgen made";

/// Somebody who signs certificates.
pub(super) struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    /// An authority of this name, with a key of its own.
    pub fn new(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, key()).expect(MADE))
    }

    /// Its certificate, as a file has it.
    pub fn pem(&self) -> String {
        self.0.pem()
    }
}

fn key() -> KeyPair {
    KeyPair::generate().expect(MADE)
}

/// What shakes hands for a host with this trouble.
pub(super) fn acceptor(trouble: Trouble, authority: &Authority) -> TlsAcceptor {
    let (chain, key) = certificate(trouble, authority);
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ServerConfig::builder_with_provider(provider.clone());
    let builder = builder.with_safe_default_protocol_versions().expect(USABLE);
    let builder = match trouble {
        Trouble::Tls(Tls::WantsCertificate) => {
            builder.with_client_cert_verifier(wants_certificates(authority, provider))
        }
        _ => builder.with_no_client_auth(),
    };
    let mut config = builder.with_single_cert(chain, key).expect(USABLE);
    config.alpn_protocols = match trouble {
        Trouble::Tls(_) => vec![b"http/1.1".to_vec()],
        Trouble::Http2(_) => vec![b"h2".to_vec()],
    };
    TlsAcceptor::from(Arc::new(config))
}

fn wants_certificates(
    authority: &Authority,
    provider: Arc<rustls::crypto::CryptoProvider>,
) -> Arc<dyn ClientCertVerifier> {
    let mut roots = RootCertStore::empty();
    roots.add(authority.0.der().clone()).expect(USABLE);
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
    verifier.build().expect(USABLE)
}

fn certificate(
    trouble: Trouble,
    authority: &Authority,
) -> (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>) {
    let name = match trouble {
        Trouble::Tls(Tls::WrongName) => "somebody.else.test".to_owned(),
        _ => trouble.host(),
    };
    let mut params = CertificateParams::new([name]).expect(MADE);
    match trouble {
        Trouble::Tls(Tls::Expired) => params.not_after = date_time_ymd(1999, 12, 31),
        Trouble::Tls(Tls::NotYetValid) => params.not_before = date_time_ymd(3999, 1, 1),
        _ => {}
    }
    let key = key();
    let made = match trouble {
        Trouble::Tls(Tls::SelfSigned) => params.self_signed(&key),
        Trouble::Tls(Tls::UnknownAuthority) => params.signed_by(&key, &Authority::new("Nobody").0),
        _ => params.signed_by(&key, &authority.0),
    };
    let der = PrivateKeyDer::try_from(key.serialize_der()).expect(USABLE);
    (vec![made.expect(MADE).der().clone()], der)
}
