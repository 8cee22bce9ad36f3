//! The request for a permit, and what an archive may know of it (step 7 of the line).
//!
//! A request is put together from what every host is told, what its own host is told ([`Access`]), the
//! cookies of its site and the answer to its server's challenge. Whatever is secret in it is marked when
//! it is put in, and is blotted out of the bytes before anybody else sees them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, COOKIE, HOST, PROXY_AUTHORIZATION,
    USER_AGENT,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri};
use http_body_util::Full;
use larm_core::url::CrawlUrl;
use larm_core::{Failure, FailureClass, Limits, Protocol};

use super::access::{Access, Credentials, field, is_harmless, secret, value};
use super::auth::Challenge;
use super::connection::{Asked, bytes};
use super::cookies::Cookies;
use super::dial::{Target, authority};
use super::plan::FetchPlan;
use super::sign::Signer;
use crate::Result;
use crate::robots::Permit;

const ACCEPTED: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const ENCODINGS: &str = "gzip, deflate, br, zstd";
const FORM: &str = "application/x-www-form-urlencoded";

/// Puts requests together.
pub(super) struct Requests {
    /// What every host is told, its own name first.
    fields: HeaderMap,
    /// The same for HTTP/2, where the name is no field.
    nameless: HeaderMap,
    access: Access,
    cookies: Option<Arc<Cookies>>,
    challenges: Challenges,
    signer: Option<Signer>,
}

/// A request that is about to be sent.
pub(super) struct Outgoing {
    pub request: Asked,
    /// Names of the fields whose values nobody else may see.
    pub secrets: Vec<HeaderName>,
    /// Whether it answers a challenge.
    is_answer: bool,
}

impl Requests {
    pub fn new(plan: &FetchPlan, cookies: Option<Arc<Cookies>>, limits: &Limits) -> Result<Self> {
        let mut fields = HeaderMap::new();
        // Fields are written in the order in which they were put in; the host's value comes later.
        fields.insert(HOST, HeaderValue::from_static(""));
        fields.insert(USER_AGENT, value("User-Agent", &plan.user_agent)?);
        fields.insert(ACCEPT, HeaderValue::from_static(ACCEPTED));
        fields.insert(ACCEPT_ENCODING, HeaderValue::from_static(ENCODINGS));
        let own = plan.headers.iter().filter(|(name, _)| is_harmless(name));
        let own = own.map(|(name, text)| field(name, text)).collect::<Result<Vec<_>>>()?;
        for (name, _) in &own {
            fields.remove(name);
        }
        for (name, value) in own {
            fields.append(name, value);
        }
        let challenges = Challenges::new(limits);
        let nameless = fields.iter().filter(|(name, _)| *name != HOST);
        let nameless = nameless.map(|(name, value)| (name.clone(), value.clone())).collect();
        let signer = plan.sign.as_ref().map(Signer::new).transpose()?;
        Ok(Self { fields, nameless, access: Access::new(plan)?, cookies, challenges, signer })
    }

    /// The request for a permit: path and query in the request line, the host first among the fields.
    pub fn request(
        &self,
        permit: &Permit,
        target: &Target<'_>,
        protocol: Protocol,
    ) -> Result<Outgoing, Failure> {
        let url = permit.url();
        let unfit = |_| Failure::new(FailureClass::Protocol, "the URL does not fit into a request");
        let whole = target.is_read_by_proxy() || protocol == Protocol::Http2;
        let mut request = Request::new(Full::default());
        *request.uri_mut() = match whole {
            true => Uri::try_from(url.as_str()),
            false => Uri::try_from(url.path_and_query()),
        }
        .map_err(|error| unfit(error.to_string()))?;
        *request.headers_mut() = match protocol {
            Protocol::Http2 => self.nameless.clone(),
            _ => {
                let host = HeaderValue::try_from(authority(url));
                let mut fields = self.fields.clone();
                fields.insert(HOST, host.map_err(|error| unfit(error.to_string()))?);
                fields
            }
        };
        self.add_form(permit, &mut request);
        self.signer.iter().for_each(|signer| signer.sign(request.headers_mut(), authority(url)));
        let is_answer = self.add_secrets(url, target, &mut request);
        let secrets = request.headers().iter().filter(|(_, value)| value.is_sensitive());
        let secrets = secrets.map(|(name, _)| name.clone()).collect();
        Ok(Outgoing { request, secrets, is_answer })
    }

    fn add_form(&self, permit: &Permit, request: &mut Asked) {
        if let Some(form) = permit.form() {
            *request.method_mut() = Method::POST;
            request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(FORM));
            *request.body_mut() = Full::new(Bytes::copy_from_slice(form.as_bytes()));
        }
    }

    /// Adds what is for this host alone. Whether a challenge is answered by it.
    fn add_secrets(&self, url: &CrawlUrl, target: &Target<'_>, request: &mut Asked) -> bool {
        let grants: Vec<_> = self.access.grants(url).collect();
        // The host's own section is the last word.
        for grant in grants.into_iter().rev() {
            let fields = request.headers_mut();
            grant.fields.keys().for_each(|name| _ = fields.remove(name));
            grant.fields.iter().for_each(|(name, value)| _ = fields.append(name, value.clone()));
        }
        if let Some(text) = self.cookies.as_ref().and_then(|cookies| cookies.header(url)) {
            add_secret(request, COOKIE, &text);
        }
        let proxy = target.proxy.filter(|_| target.is_read_by_proxy());
        if let Some(text) = proxy.and_then(|proxy| proxy.authorization()) {
            add_secret(request, PROXY_AUTHORIZATION, &text);
        }
        let answer = self.password(url).and_then(|(user, password)| {
            let asked = (request.method().as_str(), url.path_and_query());
            self.challenges.answer(url.origin(), user, password, asked)
        });
        match &answer {
            Some(text) => add_secret(request, AUTHORIZATION, text),
            None => return false,
        }
        true
    }

    fn password(&self, url: &CrawlUrl) -> Option<(&str, &str)> {
        let mut known = self.access.grants(url).filter_map(|grant| grant.credentials.as_ref());
        known.find_map(|credentials| match credentials {
            Credentials::Password { user, password } => Some((user.as_str(), password.as_str())),
            Credentials::Bearer(_) => None,
        })
    }

    /// Whether there is a jar for cookies.
    pub fn keeps_cookies(&self) -> bool {
        self.cookies.is_some()
    }

    /// Learns from a response: its cookies, and what it asks for. Whether asking once more can help.
    pub fn hear(&self, url: &CrawlUrl, status: u16, headers: &HeaderMap, was_answer: bool) -> bool {
        if let Some(cookies) = &self.cookies {
            cookies.hear(url, headers);
        }
        if status != 401 || self.password(url).is_none() {
            return false;
        }
        let Some(challenge) = Challenge::of(headers) else { return false };
        let is_stale = matches!(&challenge, Challenge::Digest(digest) if digest.is_stale);
        self.challenges.learn(url.origin(), challenge);
        !was_answer || is_stale
    }
}

impl Outgoing {
    /// Whether it answers a challenge.
    pub fn is_answer(&self) -> bool {
        self.is_answer
    }
}

/// A value that cannot be a header's is not sent; cookies may hold such.
fn add_secret(request: &mut Asked, name: HeaderName, text: &str) {
    if let Ok(value) = HeaderValue::try_from(text) {
        request.headers_mut().insert(name, secret(value));
    }
}

/// The bytes of a request without the values of its secrets, and without a form's content.
pub(super) fn redacted(request: &[u8], secrets: &[HeaderName], has_form: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(request.len());
    for line in request.split_inclusive(|byte| *byte == b'\n') {
        let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
        match secrets.iter().any(|secret| name.eq_ignore_ascii_case(secret.as_str().as_bytes())) {
            true => {
                out.extend_from_slice(name);
                out.extend_from_slice(b": redacted\r\n");
            }
            false => out.extend_from_slice(line),
        }
        if has_form && out.ends_with(b"\r\n\r\n") {
            break;
        }
    }
    out
}

/// Blots out the values of cookies that a response sets, in place: no length and no offset changes.
pub(super) fn blot_cookies(head: &mut [u8]) {
    for line in head.split_mut(|byte| *byte == b'\n') {
        const NAME: &[u8] = b"set-cookie:";
        if !line.get(..NAME.len()).is_some_and(|name| name.eq_ignore_ascii_case(NAME)) {
            continue;
        }
        // Without a name, all of it is value.
        let end = line.iter().position(|byte| matches!(byte, b';' | b'\r')).unwrap_or(line.len());
        let name_end = line[..end].iter().position(|byte| *byte == b'=').map(|at| at + 1);
        let value = line[name_end.unwrap_or(NAME.len() + 1).min(end)..].iter_mut();
        value.take_while(|byte| !matches!(**byte, b';' | b'\r')).for_each(|byte| *byte = b'*');
    }
}

/// What servers have asked for, by origin.
struct Challenges {
    by_origin: Mutex<HashMap<String, Challenge>>,
    count_max: usize,
}

impl Challenges {
    fn new(limits: &Limits) -> Self {
        Self { by_origin: Mutex::default(), count_max: bytes(limits.cookie_sites_max) }
    }

    fn learn(&self, origin: &str, challenge: Challenge) {
        let mut known = self.lock();
        if known.len() < self.count_max || known.contains_key(origin) {
            known.insert(origin.to_owned(), challenge);
        }
    }

    fn answer(
        &self,
        origin: &str,
        user: &str,
        password: &str,
        asked: (&str, &str),
    ) -> Option<String> {
        let salt = uuid::Uuid::new_v4().as_u64_pair().0;
        let mut known = self.lock();
        Some(known.get_mut(origin)?.answer(user, password, asked, salt))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Challenge>> {
        self.by_origin.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
