//! TLS for fetching (step 7 of the line): rustls with aws-lc-rs.
//!
//! Trusted are the authorities of Mozilla's list as compiled in, those of the system where they can be
//! read, and those of a file that the user names. Nothing process-wide is installed. `insecure` takes
//! any certificate for any name: a crawl of one's own machines may want that, and the plan has to say so.

use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
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
    let unfit = |error: String| Error::Plan(format!("TLS cannot be set up: {error}"));
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let named = plan.ca_file.as_deref().map(read_file).transpose()?.unwrap_or_default();
    let roots = Arc::new(roots(&named, plan.ca_file.as_deref())?);
    let usual = WebPkiServerVerifier::builder_with_provider(roots, provider.clone()).build();
    let usual = usual.map_err(|error| unfit(error.to_string()))?;
    let trust = Trust { usual, named, takes_any: plan.insecure };
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| unfit(error.to_string()))?;
    Ok(config.dangerous().with_custom_certificate_verifier(Arc::new(trust)).with_no_client_auth())
}

fn roots(named: &[CertificateDer<'static>], path: Option<&Path>) -> Result<RootCertStore> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    // The system's own authorities are a courtesy: a machine without any, or with a broken one, still
    // reaches the public web.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    for certificate in named {
        roots.add(certificate.clone()).map_err(|error| unusable(path, error.to_string()))?;
    }
    Ok(roots)
}

fn read_file(path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let pem = std::fs::read(path).map_err(Error::io(path))?;
    let found = CertificateDer::pem_slice_iter(&pem).collect::<std::result::Result<Vec<_>, _>>();
    let found = found.map_err(|error| unusable(Some(path), format!("not PEM: {error}")))?;
    if found.is_empty() {
        return Err(unusable(Some(path), "holds no certificate".to_owned()));
    }
    Ok(found)
}

fn unusable(path: Option<&Path>, why: String) -> Error {
    Error::Plan(format!("{}: {why}", path.unwrap_or(Path::new("--ca-file")).display()))
}

/// The usual trust, and trust in servers whose own certificate the user has named: such a one has often
/// signed itself as an authority, which the usual way refuses for a server. Or trust in anybody, whoever
/// signed, for any name, at any time. The handshake's signature is checked in any case, so that what is
/// archived came from the holder of the certificate's key.
#[derive(Debug)]
struct Trust {
    usual: Arc<WebPkiServerVerifier>,
    named: Vec<CertificateDer<'static>>,
    takes_any: bool,
}

impl ServerCertVerifier for Trust {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        use rustls::CertificateError::{Other, UnknownIssuer};
        if self.takes_any {
            return Ok(ServerCertVerified::assertion());
        }
        let usual = self.usual.verify_server_cert(certificate, intermediates, name, ocsp, now);
        match usual {
            // Whatever else is wrong with it, such as its date, is wrong with a named one, too.
            Err(rustls::Error::InvalidCertificate(Other(_) | UnknownIssuer))
                if self.named.contains(certificate) =>
            {
                verify_server_name(&ParsedCertificate::try_from(certificate)?, name)?;
                Ok(ServerCertVerified::assertion())
            }
            usual => usual,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.usual.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.usual.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.usual.supported_verify_schemes()
    }
}
