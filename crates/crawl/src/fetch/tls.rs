//! TLS for fetching (step 7 of the line): rustls with aws-lc-rs.
//!
//! Trusted are the authorities of Mozilla's list as compiled in, those of the system where they can be
//! read, and those of a file that the user names. Nothing process-wide is installed. `insecure` takes
//! any certificate for any name: a crawl of one's own machines may want that, and the plan has to say so.
//!
//! A system keeps its authorities in some hundred files, which take longer to read than most sites do to begin with. They are
//! read when somebody comes whom the others alone do not vouch for.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{VerifierBuilderError, WebPkiServerVerifier, verify_server_name};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{ClientConfig, DigitallySignedStruct, OtherError, RootCertStore, SignatureScheme};
use tokio_rustls::TlsConnector;

use super::FetchPlan;
use super::failure::is_out_of_files;
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
    let named = plan.ca_file.as_deref().map(read_file).transpose()?.unwrap_or_default();
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    for certificate in &named {
        let added = roots.add(certificate.clone());
        added.map_err(|error| unusable(plan.ca_file.as_deref(), error.to_string()))?;
    }
    let usual = verifier(roots.clone(), &provider).map_err(unfit)?;
    let trust = Trust {
        usual,
        with_system: Mutex::default(),
        roots,
        provider: provider.clone(),
        named,
        takes_any: plan.insecure,
    };
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(unfit)?;
    Ok(config.dangerous().with_custom_certificate_verifier(Arc::new(trust)).with_no_client_auth())
}

fn unfit(error: impl std::fmt::Display) -> Error {
    Error::Plan(format!("TLS cannot be set up: {error}"))
}

fn verifier(
    roots: RootCertStore,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<WebPkiServerVerifier>, VerifierBuilderError> {
    WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone()).build()
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
    /// By all authorities but the system's.
    usual: Arc<WebPkiServerVerifier>,
    /// By these and the system's, once they were read.
    with_system: Mutex<Option<Arc<WebPkiServerVerifier>>>,
    roots: RootCertStore,
    provider: Arc<CryptoProvider>,
    named: Vec<CertificateDer<'static>>,
    takes_any: bool,
}

impl Trust {
    /// The system's own authorities are a courtesy: a machine without any, or with a broken one, still
    /// reaches the public web. If there was no file left to read them with, they are read again the next time, and
    /// it is not the server's fault.
    fn with_system(&self) -> Result<Arc<WebPkiServerVerifier>, NoFileLeft> {
        let mut kept = self.with_system.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(verifier) = &*kept {
            return Ok(verifier.clone());
        }
        let found = rustls_native_certs::load_native_certs();
        if let Some(error) = found.errors.iter().find(|error| is_for_want_of_files(error)) {
            return Err(NoFileLeft(error.to_string()));
        }
        let mut roots = self.roots.clone();
        roots.add_parsable_certificates(found.certs);
        let verifier = verifier(roots, &self.provider).unwrap_or_else(|_| self.usual.clone());
        *kept = Some(verifier.clone());
        Ok(verifier)
    }
}

/// There was no file left to read the system's authorities with: whether they vouch for a server is not known.
#[derive(Debug, thiserror::Error)]
#[error("no file left here to read the system's certificates with: {0}")]
pub(super) struct NoFileLeft(pub(super) String);

impl From<NoFileLeft> for rustls::Error {
    fn from(error: NoFileLeft) -> Self {
        Self::Other(OtherError(Arc::new(error)))
    }
}

fn is_for_want_of_files(error: &rustls_native_certs::Error) -> bool {
    use rustls_native_certs::ErrorKind;
    matches!(&error.kind, ErrorKind::Io { inner, .. } if is_out_of_files(inner))
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
        let ask = |whom: &WebPkiServerVerifier| {
            whom.verify_server_cert(certificate, intermediates, name, ocsp, now)
        };
        // Which error is told says little of the other ways in which a chain was tried: whoever is refused gets another hearing.
        let answer = match ask(&self.usual) {
            Err(rustls::Error::InvalidCertificate(_)) => match self.with_system() {
                Ok(verifier) => ask(&verifier),
                Err(unknown) => Err(unknown.into()),
            },
            known => known,
        };
        match answer {
            // Whatever else is wrong with it, such as its date, is wrong with a named one, too.
            Err(rustls::Error::InvalidCertificate(Other(_) | UnknownIssuer))
                if self.named.contains(certificate) =>
            {
                verify_server_name(&ParsedCertificate::try_from(certificate)?, name)?;
                Ok(ServerCertVerified::assertion())
            }
            answer => answer,
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
