//! TLS for fetching (step 7 of the line): rustls with aws-lc-rs.
//!
//! Trusted are the authorities of Mozilla's list as compiled in, those of the system where they can be
//! read, and those of a file that the user names. Nothing process-wide is installed. `insecure` takes
//! any certificate for any name: a crawl of one's own machines may want that, and the plan has to say so.

use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio_rustls::TlsConnector;

use super::FetchPlan;
use crate::{Error, Result};

/// What is needed to speak TLS as the plan says.
pub(super) struct Tls {
    /// With servers, which may know HTTP/2.
    pub servers: TlsConnector,
    /// With proxies, which get HTTP/1.1.
    pub proxies: TlsConnector,
    /// Whether certificates are looked at.
    pub is_verified: bool,
}

impl Tls {
    pub fn new(plan: &FetchPlan) -> Result<Self> {
        let config = config(plan)?;
        let speaking = |protocols: &[&[u8]]| {
            let mut config = config.clone();
            config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
            TlsConnector::from(Arc::new(config))
        };
        let known: &[&[u8]] = if plan.http2 { &[b"h2", b"http/1.1"] } else { &[b"http/1.1"] };
        Ok(Self {
            servers: speaking(known),
            proxies: speaking(&[b"http/1.1"]),
            is_verified: !plan.insecure,
        })
    }
}

fn config(plan: &FetchPlan) -> Result<ClientConfig> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::Plan(format!("TLS cannot be set up: {error}")))?;
    let config = if plan.insecure {
        config
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AnyCertificate::new(&provider)))
    } else {
        config.with_root_certificates(roots(plan.ca_file.as_deref())?)
    }
    .with_no_client_auth();
    Ok(config)
}

fn roots(ca_file: Option<&Path>) -> Result<RootCertStore> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    // The system's own authorities are a courtesy: a machine without any, or with a broken one, still
    // reaches the public web.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if let Some(path) = ca_file {
        add_file(&mut roots, path)?;
    }
    Ok(roots)
}

fn add_file(roots: &mut RootCertStore, path: &Path) -> Result<()> {
    let pem = std::fs::read(path).map_err(Error::io(path))?;
    let unusable = |why: String| Error::Plan(format!("{}: {why}", path.display()));
    let mut found = 0;
    for certificate in CertificateDer::pem_slice_iter(&pem) {
        let certificate = certificate.map_err(|error| unusable(format!("not PEM: {error}")))?;
        roots.add(certificate).map_err(|error| unusable(error.to_string()))?;
        found += 1;
    }
    if found == 0 { Err(unusable("holds no certificate".to_owned())) } else { Ok(()) }
}

/// Takes any certificate, whoever signed it, for any name, at any time. The handshake's signature is
/// still checked, so that what is archived came from the holder of the certificate's key.
#[derive(Debug)]
struct AnyCertificate {
    algorithms: WebPkiSupportedAlgorithms,
}

impl AnyCertificate {
    fn new(provider: &CryptoProvider) -> Self {
        Self { algorithms: provider.signature_verification_algorithms }
    }
}

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _certificate: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
