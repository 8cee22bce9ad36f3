//! Redirects that lead nowhere, round in circles, or where no page may lead.

use std::io;

use super::{BAD, family, page};
use crate::exchange::Exchange;

/// Hops of the long chain.
const CHAIN: usize = 50;

family! {
    /// Ways to redirect badly.
    Redirect {
        /// To itself.
        ToItself = "redirect-to-itself",
        /// There and back again.
        Loop = "redirect-loop",
        /// Fifty hops, and a page at their end.
        Chain = "redirect-chain",
        /// A new place at every hop, without end.
        Endless = "redirect-endless",
        /// To a file of whoever follows.
        ToFile = "redirect-to-file",
        /// To a private address.
        ToPrivate = "redirect-to-private",
        /// To where machines of a cloud learn their secrets.
        ToMetadata = "redirect-to-metadata",
        /// To a URL that is the page itself.
        ToData = "redirect-to-data",
        /// To a script.
        ToScript = "redirect-to-script",
        /// To what is no URL.
        ToNonsense = "redirect-to-nonsense",
        /// To an empty place, which is the URL itself.
        ToNothing = "redirect-to-nothing",
        /// Nowhere is said where to.
        Nowhere = "redirect-nowhere",
        /// To a URL of 40 KB.
        ToLong = "redirect-to-long",
    }
}

/// Redirects, or ends the way that led here.
pub(super) async fn send(
    exchange: &mut Exchange<'_>,
    redirect: Redirect,
    path: &str,
) -> io::Result<()> {
    let hop = path.strip_prefix(BAD).and_then(|rest| rest.strip_prefix('/')).unwrap_or("0");
    let hop: usize = hop.parse().unwrap_or(0);
    let to = match redirect {
        Redirect::Chain if hop >= CHAIN => {
            return page(exchange, b"<title>The end</title><p>At last.").await;
        }
        Redirect::Nowhere => return exchange.last(&moved("")).await,
        other => target(other, hop),
    };
    exchange.last(&moved(&format!("Location: {to}\r\n"))).await
}

fn target(redirect: Redirect, hop: usize) -> String {
    match redirect {
        Redirect::Loop if hop == 0 => format!("{BAD}/1"),
        Redirect::ToItself | Redirect::Loop => BAD.to_owned(),
        Redirect::Chain | Redirect::Endless => format!("{BAD}/{}", hop + 1),
        Redirect::ToFile => "file:///etc/passwd".to_owned(),
        Redirect::ToPrivate => "http://10.0.0.1/admin".to_owned(),
        Redirect::ToMetadata => "http://169.254.169.254/latest/meta-data/".to_owned(),
        Redirect::ToData => "data:text/html,<p>All of it.".to_owned(),
        Redirect::ToScript => "javascript:alert(1)".to_owned(),
        Redirect::ToNonsense => "http://[nobody/".to_owned(),
        Redirect::ToNothing | Redirect::Nowhere => String::new(),
        // Within what a header block may have, and beyond what a URL may.
        Redirect::ToLong => format!("{BAD}/{}", "long/".repeat(8_000)),
    }
}

fn moved(location: &str) -> Vec<u8> {
    format!("HTTP/1.1 302 Found\r\n{location}Content-Length: 0\r\n\r\n").into_bytes()
}
