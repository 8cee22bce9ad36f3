//! From text to URL: links by the WHATWG rules, seeds as people type them (step 1 of the line).

use std::net::IpAddr;

use encoding_rs::{EncoderResult, Encoding};
use url::{Host, Url};

use super::{CrawlUrl, UrlError, UrlRules, canonicalise};

/// Resolves link text against a base, as the WHATWG standard has it. `encoding` is the page's
/// charset, in which its queries are written.
///
/// One known gap: a host in ASCII with an `xn--` label that stands for nothing is refused, which the
/// standard has let through since 2025.
pub fn resolve(
    text: &str,
    base: Option<&Url>,
    encoding: Option<&'static Encoding>,
) -> Result<Url, UrlError> {
    let parsed = parse(text, base, encoding).or_else(|error| {
        // The parser takes the third slash of `///host` for an empty host when there is a base.
        let host = text.trim_start().trim_start_matches(['/', '\\']);
        match base {
            Some(base) if base.is_special() && text.trim_start().starts_with(['/', '\\']) => {
                parse(&format!("//{host}"), Some(base), encoding)
            }
            _ => Err(error),
        }
    });
    let mut url = parsed.map_err(|error| UrlError::Invalid(error.to_string()))?;
    // Part of the standard's path percent-encode set since 2024, not yet of the parser's.
    if !url.cannot_be_a_base() && url.path().contains('^') {
        let path = url.path().replace('^', "%5E");
        url.set_path(&path);
    }
    Ok(url)
}

fn parse(
    text: &str,
    base: Option<&Url>,
    encoding: Option<&'static Encoding>,
) -> Result<Url, url::ParseError> {
    let options = Url::options().base_url(base);
    match encoding.filter(|encoding| *encoding != encoding_rs::UTF_8) {
        Some(legacy) => {
            options.encoding_override(Some(&|query| encode_query(query, legacy).into())).parse(text)
        }
        None => options.parse(text),
    }
}

/// The bytes of a query in a legacy charset. A character that the charset lacks becomes an escaped
/// numeric reference (URL standard, "percent-encode after encoding"): `&#8224;` as `%26%238224%3B`.
fn encode_query(query: &str, encoding: &'static Encoding) -> Vec<u8> {
    let mut encoder = encoding.output_encoding().new_encoder();
    let mut out = Vec::new();
    let mut rest = query;
    loop {
        let needed = encoder.max_buffer_length_from_utf8_without_replacement(rest.len());
        out.reserve(needed.unwrap_or(rest.len()));
        let (result, read) =
            encoder.encode_from_utf8_to_vec_without_replacement(rest, &mut out, true);
        rest = rest.split_at(read).1;
        match result {
            EncoderResult::InputEmpty => return out,
            EncoderResult::Unmappable(lacking) => {
                let reference = format!("%26%23{}%3B", u32::from(lacking));
                out.extend_from_slice(reference.as_bytes());
            }
            EncoderResult::OutputFull => {}
        }
    }
}

/// A seed as a person types it: the scheme may be left out. It is then `https`, and `http` for
/// `localhost` and for loopback and private addresses, where certificates are rare.
pub fn seed(text: &str, rules: &UrlRules) -> Result<CrawlUrl, UrlError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(UrlError::Empty);
    }
    if has_scheme(text) {
        return canonicalise(resolve(text, None, None)?, rules);
    }
    if let Some(scheme) = mistyped_scheme(text) {
        return Err(UrlError::Scheme(scheme.to_owned()));
    }
    let mut url = resolve(&format!("https://{text}"), None, None)?;
    if is_local(&url) {
        url = resolve(&format!("http://{text}"), None, None)?;
    }
    canonicalise(url, rules)
}

/// Whether the text begins with a scheme (RFC 3986 section 3.1) and not with `host:port`, which looks
/// like one: `mailto:x` and `ftp://h` do, `localhost:8080` and `h/?to=http://x` do not.
fn has_scheme(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else {
        return false;
    };
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    is_scheme && !begins_with_port(rest)
}

/// What stands where a scheme stands and can be none: `ht!tp` of `ht!tp://x`, which is no host either.
fn mistyped_scheme(text: &str) -> Option<&str> {
    let (scheme, _) = text.split_once("://")?;
    (!scheme.contains(['/', '?', '#'])).then_some(scheme)
}

fn begins_with_port(text: &str) -> bool {
    let end = text.find(['/', '?', '#']).unwrap_or(text.len());
    text.split_at(end).0.parse::<u16>().is_ok()
}

fn is_local(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => is_private(address.into()),
        Some(Host::Ipv6(address)) => is_private(address.to_canonical()),
        None => false,
    }
}

fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => {
            v4.is_loopback() || v4.is_private() || v4.is_link_local() || v4.is_unspecified()
        }
        IpAddr::V6(v6) => {
            v6.is_loopback()
                || v6.is_unique_local()
                || v6.is_unicast_link_local()
                || v6.is_unspecified()
        }
    }
}
