//! TLS, with certificates made on the spot.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_rustls::TlsAcceptor;

use super::server::*;
use super::*;

const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const UNTIL_CLOSE: &[u8] = b"HTTP/1.1 200 OK\r\n\r\nok";

/// A server that speaks TLS.
pub struct Spoken {
    pub address: SocketAddr,
    pub pem: tempfile::NamedTempFile,
    /// Connections so far.
    pub accepted: Arc<AtomicUsize>,
}

/// How a server ends a TLS connection.
#[derive(Clone, Copy)]
pub enum Farewell {
    Said,
    Left,
}

/// A certificate for `name`, ready to be used with these protocols, and as a file.
pub fn acceptor(name: &str, protocols: &[&[u8]]) -> (TlsAcceptor, tempfile::NamedTempFile) {
    let made = rcgen::generate_simple_self_signed([name.to_owned()]).unwrap();
    acceptor_of(&made.cert, &made.signing_key, protocols)
}

/// The same for a certificate that is made already.
fn acceptor_of(
    cert: &rcgen::Certificate,
    key: &rcgen::KeyPair,
    protocols: &[&[u8]],
) -> (TlsAcceptor, tempfile::NamedTempFile) {
    let mut pem = tempfile::NamedTempFile::new().unwrap();
    pem.write_all(cert.pem().as_bytes()).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key)
        .unwrap();
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    (TlsAcceptor::from(Arc::new(config)), pem)
}

/// A server whose certificate is for `name`, which answers with `bytes` and hangs up.
pub async fn site(name: &str, bytes: &'static [u8], farewell: Farewell) -> Spoken {
    let (acceptor, pem) = acceptor(name, &[b"h2", b"http/1.1"]);
    let (address, accepted) = start(move |_, stream| {
        let acceptor = acceptor.clone();
        async move {
            let Ok(mut stream) = acceptor.accept(stream).await else {
                return;
            };
            assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"http/1.1"[..]));
            while read_request(&mut stream).await.is_some() {
                stream.write_all(bytes).await.unwrap();
                if bytes == UNTIL_CLOSE {
                    break;
                }
            }
            if let Farewell::Said = farewell {
                let _ = stream.shutdown().await;
            }
        }
    })
    .await;
    Spoken { address, pem, accepted }
}

pub fn permit_for(host: &str, address: SocketAddr) -> Permit {
    let url = format!("https://{host}:{}/", address.port());
    Permit::for_test(CrawlUrl::from_canonical(&url).unwrap(), address.ip())
}

pub fn trusting(pem: &tempfile::NamedTempFile) -> FetchPlan {
    FetchPlan { ca_file: Some(pem.path().to_owned()), ..FetchPlan::default() }
}

async fn get_with(plan: FetchPlan, permit: &Permit) -> Result<Fetched, Failure> {
    let fetcher = HttpFetch::new(plan, None, Limits::default(), Clock::start()).unwrap();
    fetcher.fetch(permit, &|_| {}).await
}

/// The host of a site that listens at 127.0.0.1, whose first address is another, where somebody takes calls
/// and hangs up.
#[expect(clippy::disallowed_methods, reason = "a server needs a life of its own beside the fetch")]
async fn behind_a_broken_address(site: &Spoken) -> Permit {
    let broken: std::net::IpAddr = "127.0.0.2".parse().unwrap();
    let listener = tokio::net::TcpListener::bind((broken, site.address.port())).await.unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            drop(stream);
        }
    });
    let url = permit_for("site.example", site.address).url().clone();
    Permit::for_test(url, broken).with_others(vec![site.address.ip()])
}

#[tokio::test]
async fn an_address_that_fails_at_tls_is_followed_by_the_next() {
    let site = site("site.example", OK, Farewell::Said).await;
    let permit = behind_a_broken_address(&site).await;
    let failure = get_with(trusting(&site.pem), &permit).await.unwrap_err();
    // EYES-1: the host moves to where it answers, and is asked there in its next turn.
    assert_eq!(failure.elsewhere, Some(site.address.ip()), "{failure}");
    let nobody = get_with(FetchPlan::default(), &permit).await.unwrap_err();
    assert_eq!((nobody.class, nobody.elsewhere), (FailureClass::Tls, None), "{nobody}");
    assert!(nobody.detail.contains("closed during"), "of the first address: {nobody}");
}

#[tokio::test]
async fn plain_bytes_are_archived_from_an_encrypted_connection_that_is_used_again() {
    let site = site("site.example", OK, Farewell::Said).await;
    let fetcher =
        HttpFetch::new(trusting(&site.pem), None, Limits::default(), Clock::start()).unwrap();
    for _ in 0..2 {
        let calls = Calls::default();
        let permit = permit_for("site.example", site.address);
        let fetched = fetcher.fetch(&permit, &|at| calls.add(at)).await.unwrap();
        assert_eq!(fetched.raw.as_ref(), OK);
        assert!(fetched.request.starts_with(b"GET / HTTP/1.1\r\nHost: site.example:"));
        assert_eq!(calls.all().len(), 1);
    }
    assert_eq!((fetcher.counts().opened, fetcher.counts().reused), (1, 1));
}

#[tokio::test]
async fn an_address_can_have_a_certificate() {
    let site = site("127.0.0.1", OK, Farewell::Said).await;
    let fetched =
        get_with(trusting(&site.pem), &permit_for("127.0.0.1", site.address)).await.unwrap();
    assert_eq!(fetched.status, 200);
}

#[tokio::test]
async fn certificates_that_prove_nothing_are_refused_unless_the_plan_says_otherwise() {
    let site = site("site.example", OK, Farewell::Said).await;
    #[rustfmt::skip]
    let rows = [
        (FetchPlan::default(), "site.example", Some("not trusted")),
        (trusting(&site.pem), "other.example", Some("another name")),
        (trusting(&site.pem), "site.example", None),
        (FetchPlan { insecure: true, ..FetchPlan::default() }, "other.example", None),
    ];
    for (plan, host, refusal) in rows {
        match (get_with(plan, &permit_for(host, site.address)).await, refusal) {
            (Ok(fetched), None) => assert_eq!(fetched.status, 200),
            (Err(failure), Some(words)) => {
                assert_eq!(failure.class, FailureClass::Tls);
                assert!(failure.detail.contains(words), "{failure}");
            }
            (result, _) => panic!("{host}: {result:?}"),
        }
    }
}

#[tokio::test]
async fn a_hang_up_without_farewell_ends_a_body_of_unknown_length_with_a_note() {
    for (farewell, notes) in [(Farewell::Said, 0), (Farewell::Left, 1)] {
        let site = site("site.example", UNTIL_CLOSE, farewell).await;
        let fetched =
            get_with(trusting(&site.pem), &permit_for("site.example", site.address)).await.unwrap();
        assert_eq!((fetched.raw.as_ref(), fetched.truncated), (UNTIL_CLOSE, None));
        assert_eq!(fetched.notes.len(), notes, "{:?}", fetched.notes);
    }
}

#[tokio::test]
async fn a_server_without_tls_fails_the_handshake() {
    for bytes in [&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], b""] {
        let (address, _) = start(move |_, mut stream| async move {
            let _ = stream.read(&mut [0; 1_024]).await;
            let _ = stream.write_all(bytes).await;
        })
        .await;
        let url = CrawlUrl::from_canonical(&format!("https://{address}/")).unwrap();
        let permit = Permit::for_test(url, address.ip());
        let failure = get_with(FetchPlan::default(), &permit).await.unwrap_err();
        assert_eq!(failure.class, FailureClass::Tls, "{failure}");
    }
}

#[tokio::test]
async fn a_handshake_that_does_not_end_is_given_up() {
    let (address, _) =
        start(|_, mut stream| async move { while stream.read_u8().await.is_ok() {} }).await;
    let url = CrawlUrl::from_canonical(&format!("https://{address}/")).unwrap();
    let limits = Limits { connect_ms_max: 50, ..Limits::default() };
    let fetcher = fetcher(limits);
    let permit = Permit::for_test(url, address.ip());
    let failure = fetcher.fetch(&permit, &|_| {}).await.unwrap_err();
    assert_eq!(failure.class, FailureClass::ConnectTimeout);
}

#[test]
fn a_certificate_file_that_holds_none_is_named() {
    let empty = tempfile::NamedTempFile::new().unwrap();
    let missing = empty.path().with_extension("missing");
    for path in [empty.path(), &missing] {
        let plan = FetchPlan { ca_file: Some(path.to_owned()), ..FetchPlan::default() };
        let error = HttpFetch::new(plan, None, Limits::default(), Clock::start()).err().unwrap();
        assert!(error.to_string().contains(&*path.to_string_lossy()), "{error}");
    }
}

#[tokio::test]
async fn a_certificate_that_signed_itself_as_an_authority_is_trusted_when_it_is_named() {
    let mut asked = rcgen::CertificateParams::new(["h.example".to_owned()]).unwrap();
    asked.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let key = rcgen::KeyPair::generate().unwrap();
    let made = asked.self_signed(&key).unwrap();
    let (acceptor, pem) = acceptor_of(&made, &key, &[]);
    let (address, _) = start(move |_, stream| {
        let acceptor = acceptor.clone();
        async move {
            let Ok(mut stream) = acceptor.accept(stream).await else { return };
            read_request(&mut stream).await;
            let _ = stream.write_all(OK).await;
        }
    })
    .await;
    let named = get_with(trusting(&pem), &permit_for("h.example", address)).await;
    assert_eq!(named.unwrap().payload, "ok");
    let other_name = get_with(trusting(&pem), &permit_for("other.example", address)).await;
    assert!(other_name.unwrap_err().detail.contains("another name"));
    let unnamed = get_with(FetchPlan::default(), &permit_for("h.example", address)).await;
    assert_eq!(unnamed.unwrap_err().class, FailureClass::Tls);
}
