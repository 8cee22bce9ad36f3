//! What went wrong on the network, as a class and in words (step 7 of the line).
//!
//! Classes come from error kinds, never from message texts. The words are for a person who asks why a
//! page is missing.

use std::error::Error as StdError;
use std::io;

use larm_core::{Failure, FailureClass, Limits};
use rustls::OtherError;

use super::blunder;
use super::tls::NoFileLeft;

/// A failure to connect.
pub(super) fn connecting(error: &io::Error) -> Failure {
    use io::ErrorKind as Kind;
    if is_out_of_files(error) {
        return Failure::new(FailureClass::NoFiles, format!("no file left here: {error}"));
    }
    match error.kind() {
        Kind::ConnectionRefused => Failure::new(FailureClass::Refused, "connection refused"),
        Kind::NetworkUnreachable
        | Kind::NetworkDown
        | Kind::HostUnreachable
        | Kind::AddrNotAvailable => {
            Failure::new(FailureClass::Unroutable, format!("no route to the host: {error}"))
        }
        Kind::PermissionDenied => {
            Failure::new(FailureClass::Unroutable, "a firewall on this machine forbids it")
        }
        Kind::TimedOut => Failure::new(FailureClass::ConnectTimeout, "no answer to connecting"),
        _ => broken(error),
    }
}

/// A file of this machine that cannot be read.
pub(super) fn reading(error: &io::Error) -> Failure {
    use io::ErrorKind as Kind;
    if is_out_of_files(error) {
        return Failure::new(FailureClass::NoFiles, format!("no file left here: {error}"));
    }
    let words = match error.kind() {
        Kind::NotFound => "there is no such file".to_owned(),
        Kind::PermissionDenied => "permission denied".to_owned(),
        Kind::NotADirectory => "a part of its path is no directory".to_owned(),
        _ => error.to_string(),
    };
    Failure::new(FailureClass::Unreadable, words)
}

/// Whether our own machine has no file left for a connection.
#[cfg(unix)]
pub(super) fn is_out_of_files(error: &io::Error) -> bool {
    use rustix::io::Errno;
    matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE))
}

#[cfg(not(unix))]
pub(super) fn is_out_of_files(_error: &io::Error) -> bool {
    false
}

/// A failure during the TLS handshake.
pub(super) fn shaking_hands(error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset => {
            Failure::new(FailureClass::Tls, "connection closed during the TLS handshake")
        }
        _ => tls(error).unwrap_or_else(|| {
            Failure::new(FailureClass::Tls, format!("TLS handshake failed: {error}"))
        }),
    }
}

/// A failure between the request and the end of the response's headers, of which so much had come.
pub(super) fn answering(error: &hyper::Error, answer: &[u8], limits: &Limits) -> Failure {
    if let Some(io) = source::<io::Error>(error) {
        return tls(io).unwrap_or_else(|| broken(io));
    }
    if let Some(http2) = source::<h2::Error>(error) {
        return broken_http2(http2);
    }
    if error.is_incomplete_message() || error.is_canceled() || error.is_closed() {
        return Failure::new(
            FailureClass::Reset,
            "connection closed before the response's headers were complete",
        );
    }
    let is_parse = error.is_parse();
    let words = if is_parse { blunder::explain(answer, limits) } else { in_full(error) };
    Failure::new(FailureClass::Protocol, format!("not an HTTP response: {words}"))
}

/// Whether the server cannot have looked at a request over HTTP/2, so that it may be sent again at once
/// (RFC 9113 section 8.7): it said so, or the connection had ended before.
pub(super) fn is_unseen(error: &hyper::Error) -> bool {
    match source::<h2::Error>(error) {
        Some(http2) if http2.is_io() => true,
        Some(http2) if !http2.is_remote() => false,
        Some(http2) if http2.is_go_away() => http2.reason() == Some(h2::Reason::NO_ERROR),
        Some(http2) => http2.reason() == Some(h2::Reason::REFUSED_STREAM),
        None => source::<io::Error>(error).is_some() || error.is_canceled() || error.is_closed(),
    }
}

/// What a server meant that ended an HTTP/2 stream or connection.
fn broken_http2(error: &h2::Error) -> Failure {
    let reason = error.reason().map_or_else(|| error.to_string(), |reason| reason.to_string());
    if error.is_go_away() && error.is_remote() {
        let words = format!("the server ended the HTTP/2 connection ({reason})");
        return Failure::new(FailureClass::Reset, words);
    }
    if error.is_reset() && error.is_remote() {
        let words = format!("the server ended the HTTP/2 stream ({reason})");
        return Failure::new(FailureClass::Reset, words);
    }
    Failure::new(FailureClass::Protocol, format!("not sound HTTP/2: {reason}"))
}

fn broken(error: &io::Error) -> Failure {
    use io::ErrorKind as Kind;
    let words = match error.kind() {
        Kind::ConnectionReset | Kind::ConnectionAborted => "connection reset".to_owned(),
        Kind::BrokenPipe | Kind::UnexpectedEof => "connection closed".to_owned(),
        _ => error.to_string(),
    };
    Failure::new(FailureClass::Reset, words)
}

/// TLS speaks through I/O errors; a server that wants a certificate of ours does so even after the
/// handshake.
fn tls(error: &io::Error) -> Option<Failure> {
    let error = error.get_ref()?.downcast_ref::<rustls::Error>()?;
    if let rustls::Error::Other(OtherError(other)) = error
        && other.is::<NoFileLeft>()
    {
        return Some(Failure::new(FailureClass::NoFiles, other.to_string()));
    }
    Some(Failure::new(FailureClass::Tls, explain(error)))
}

fn explain(error: &rustls::Error) -> String {
    use rustls::Error as Tls;
    match error {
        Tls::InvalidCertificate(certificate) => explain_certificate(certificate),
        Tls::AlertReceived(alert) => explain_alert(*alert),
        Tls::InvalidMessage(_) => "what came is no TLS".to_owned(),
        Tls::PeerIncompatible(_) => "the server speaks no version of TLS that is in use".to_owned(),
        other => format!("TLS failed: {other}"),
    }
}

/// What a server says that ends TLS.
fn explain_alert(alert: rustls::AlertDescription) -> String {
    use rustls::AlertDescription as Alert;
    match alert {
        Alert::ProtocolVersion => "the server speaks no version of TLS that is in use".to_owned(),
        Alert::CertificateRequired => "the server wants a certificate of ours".to_owned(),
        Alert::HandshakeFailure => "the server and we have no cipher in common".to_owned(),
        Alert::UnrecognisedName => "the server knows no host of this name".to_owned(),
        other => format!("the server ended TLS: {other:?}"),
    }
}

fn explain_certificate(certificate: &rustls::CertificateError) -> String {
    use rustls::CertificateError as Certificate;
    match certificate {
        Certificate::Expired | Certificate::ExpiredContext { .. } => {
            "the certificate has expired".to_owned()
        }
        Certificate::NotValidYet | Certificate::NotValidYetContext { .. } => {
            "the certificate is not valid yet".to_owned()
        }
        Certificate::UnknownIssuer => {
            "the certificate is signed by an authority that is not trusted here (--ca-file names more)"
                .to_owned()
        }
        Certificate::NotValidForName | Certificate::NotValidForNameContext { .. } => {
            "the certificate is for another name".to_owned()
        }
        Certificate::Revoked => "the certificate has been revoked".to_owned(),
        other => format!("the certificate is not valid: {other}"),
    }
}

fn source<E: StdError + 'static>(error: &hyper::Error) -> Option<&E> {
    let mut source = error.source();
    while let Some(inner) = source {
        if let Some(found) = inner.downcast_ref::<E>() {
            return Some(found);
        }
        source = inner.source();
    }
    None
}

/// An error with its causes, as one line.
fn in_full(error: &dyn StdError) -> String {
    let mut line = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        line = format!("{line}: {inner}");
        source = inner.source();
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_of_not_connecting_has_its_class() {
        use io::ErrorKind as Kind;
        let rows = [
            (Kind::ConnectionRefused, FailureClass::Refused),
            (Kind::NetworkUnreachable, FailureClass::Unroutable),
            (Kind::NetworkDown, FailureClass::Unroutable),
            (Kind::HostUnreachable, FailureClass::Unroutable),
            (Kind::AddrNotAvailable, FailureClass::Unroutable),
            (Kind::PermissionDenied, FailureClass::Unroutable),
            (Kind::TimedOut, FailureClass::ConnectTimeout),
            (Kind::ConnectionReset, FailureClass::Reset),
            (Kind::Other, FailureClass::Reset),
        ];
        for (kind, class) in rows {
            assert_eq!(connecting(&kind.into()).class, class, "{kind:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn our_own_machine_out_of_files_is_no_failure_of_the_host() {
        for errno in [rustix::io::Errno::MFILE, rustix::io::Errno::NFILE] {
            assert_eq!(connecting(&errno.into()).class, FailureClass::NoFiles);
        }
    }

    #[test]
    fn authorities_that_could_not_be_read_are_no_fault_of_the_server() {
        let error = rustls::Error::from(NoFileLeft("too many open files".to_owned()));
        let failure = shaking_hands(&io::Error::new(io::ErrorKind::InvalidData, error));
        assert_eq!(failure.class, FailureClass::NoFiles);
        assert!(failure.detail.contains("too many open files"), "{failure}");
    }

    #[test]
    fn certificate_errors_are_explained() {
        use rustls::CertificateError as Certificate;
        let rows = [
            (Certificate::Expired, "expired"),
            (Certificate::UnknownIssuer, "not trusted"),
            (Certificate::NotValidForName, "another name"),
            (Certificate::BadSignature, "not valid"),
        ];
        for (certificate, words) in rows {
            let error = io::Error::new(
                io::ErrorKind::InvalidData,
                rustls::Error::InvalidCertificate(certificate),
            );
            let failure = shaking_hands(&error);
            assert_eq!(failure.class, FailureClass::Tls);
            assert!(failure.detail.contains(words), "{}", failure.detail);
        }
    }
}
