//! Secrets in settings: passwords, tokens, header fields that carry them.
//!
//! They can be written as `env:NAME` or `file:PATH`, and are then read when the crawl starts and kept
//! nowhere. Those that are written out are kept apart from the other settings of a crawl directory, in
//! `secrets.toml`, which nobody but its owner can read, so that the directory can be shown around.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;
use larm_crawl::fetch::{Credentials, is_harmless};
use larm_crawl::store::durable;

use super::raw::{HostSettings, Settings};
use crate::exit::usage;

/// The file beside `larm.toml`.
pub const FILE_NAME: &str = "secrets.toml";

/// Settings whose values are never shown.
pub const KEYS: [&str; 4] = ["header", "basic-auth", "bearer", "proxy"];

/// What ends the host and port of a URL.
pub const BEHIND_HOST: [char; 4] = ['/', '?', '#', '\\'];

/// A URL in two, if it has a user in it: what stands before the user, and what comes behind. An address for
/// mail has a user and no secret.
pub fn split_user(text: &str) -> Option<(&str, &str)> {
    let at = text.find("://").map_or(0, |at| at + 3);
    let (scheme, rest) = text.split_at(at);
    let authority = rest.split(BEHIND_HOST).next().unwrap_or_default();
    let user = authority.rfind('@').filter(|_| !authority.starts_with("mailto:"))?;
    Some((scheme, &rest[user + 1..]))
}

/// A text as it may be repeated: a URL without the user in it.
pub fn told(text: &str) -> String {
    match split_user(text) {
        Some((scheme, rest)) => format!("{scheme}…@{rest}"),
        None => text.to_owned(),
    }
}

/// What a secret says, looked up where it is only named.
pub fn reveal(text: &str) -> Result<String> {
    if let Some(name) = text.strip_prefix("env:") {
        let value = std::env::var(name);
        return value.map_err(|_| usage(format!("the environment has no variable `{name}`")));
    }
    let Some(path) = text.strip_prefix("file:") else { return Ok(text.to_owned()) };
    let value = std::fs::read_to_string(path).map_err(|error| usage(format!("{path}: {error}")))?;
    Ok(value.trim_end_matches(['\r', '\n']).to_owned())
}

/// Who asks, by `basic-auth` or `bearer`.
pub fn credentials(basic: Option<&str>, bearer: Option<&str>) -> Result<Option<Credentials>> {
    match (basic, bearer) {
        (Some(_), Some(_)) => Err(usage("basic-auth and bearer exclude each other")),
        (None, Some(token)) => Ok(Some(Credentials::Bearer(reveal(token)?))),
        (Some(text), None) => {
            let text = reveal(text)?;
            let (user, password) = text.split_once(':').ok_or_else(|| {
                usage(
                    "basic-auth is written USER:PASSWORD, or env:NAME of a variable that holds it",
                )
            })?;
            let (user, password) = (user.to_owned(), password.to_owned());
            Ok(Some(Credentials::Password { user, password }))
        }
        (None, None) => Ok(None),
    }
}

/// Whether a value is the secret itself, and not only where to find it.
fn is_written_out(text: &str) -> bool {
    !text.starts_with("env:") && !text.starts_with("file:")
}

fn is_secret_header(text: &str) -> bool {
    let (name, value) = text.split_once(':').unwrap_or((text, ""));
    !is_harmless(name) && is_written_out(value.trim())
}

/// Parts settings into those for everybody's eyes and those for nobody's.
pub fn part(mut settings: Settings) -> (Settings, Settings) {
    let mut secret = Settings::default();
    if settings.header.iter().any(|header| is_secret_header(header)) {
        secret.header = std::mem::take(&mut settings.header);
    }
    secret.basic_auth = settings.basic_auth.take_if(|text| is_written_out(text));
    secret.bearer = settings.bearer.take_if(|text| is_written_out(text));
    secret.proxy = settings.proxy.take_if(|text| is_written_out(text) && text.contains('@'));
    for (name, host) in &mut settings.host {
        let hidden = part_host(host);
        if hidden != HostSettings::default() {
            secret.host.insert(name.clone(), hidden);
        }
    }
    let fields = settings.login.iter().flat_map(|login| login.fields.values());
    if fields.clone().any(|value| is_written_out(value)) {
        secret.login = std::mem::take(&mut settings.login);
    }
    (settings, secret)
}

fn part_host(host: &mut HostSettings) -> HostSettings {
    let mut secret = HostSettings::default();
    if host.header.iter().any(|header| is_secret_header(header)) {
        secret.header = std::mem::take(&mut host.header);
    }
    secret.basic_auth = host.basic_auth.take_if(|text| is_written_out(text));
    secret.bearer = host.bearer.take_if(|text| is_written_out(text));
    secret
}

/// Settings for whoever looks at a crawl and asks nobody: what only servers need is not even looked up.
pub fn forget(settings: &mut Settings) {
    settings.header.clear();
    (settings.basic_auth, settings.bearer) = (None, None);
    settings.proxy = Some("none".to_owned());
    settings.login.iter_mut().for_each(|login| login.fields.clear());
    for host in settings.host.values_mut() {
        *host = HostSettings { delay: host.delay, ..HostSettings::default() };
    }
}

/// Writes the secrets of a crawl, if there are any; else removes those of an earlier run.
pub fn write(secret: &Settings, dir: &Path) -> Result<()> {
    let path = dir.join(FILE_NAME);
    if *secret == Settings::default() {
        return Ok(durable::remove(&path)?);
    }
    let body = toml::to_string(secret).map_err(|error| usage(error.to_string()))?;
    let text = format!("# Secrets of this crawl: for nobody else's eyes.\n\n{body}");
    Ok(durable::replace_private(&path, text.as_bytes())?)
}

/// Names and values to fill in, revealed.
pub fn reveal_all(fields: &BTreeMap<String, String>) -> Result<Vec<(String, String)>> {
    fields.iter().map(|(name, text)| Ok((name.clone(), reveal(text)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_out_is_kept_apart_and_the_rest_is_not() {
        let host = HostSettings {
            basic_auth: Some("u:p".to_owned()),
            bearer: Some("env:TOKEN".to_owned()),
            ..HostSettings::default()
        };
        let settings = Settings {
            header: vec!["X-Key: 7".to_owned()],
            basic_auth: Some("env:AUTH".to_owned()),
            bearer: Some("t".to_owned()),
            proxy: Some("http://u:p@h:1".to_owned()),
            host: [("h".to_owned(), host)].into(),
            ..Settings::default()
        };
        let (public, secret) = part(settings);
        let shown = toml::to_string(&public).unwrap();
        for hidden in ["X-Key", "u:p", "\"t\""] {
            assert!(!shown.contains(hidden), "{shown}");
            assert!(toml::to_string(&secret).unwrap().contains(hidden), "{hidden}");
        }
        assert!(shown.contains("env:AUTH") && shown.contains("env:TOKEN"), "{shown}");
        let harmless = Settings {
            header: vec!["Accept-Language: fi".to_owned(), "X-Key: env:KEY".to_owned()],
            proxy: Some("socks5://h".to_owned()),
            ..Settings::default()
        };
        assert_eq!(part(harmless.clone()), (harmless, Settings::default()));
    }

    #[test]
    fn a_url_is_told_without_its_user() {
        #[rustfmt::skip]
        let rows = [
            ("https://u:p@h:1/a@b", "https://…@h:1/a@b"),
            ("u:p@h/x", "…@h/x"),
            ("https://h/a@b?c@d", "https://h/a@b?c@d"),
            ("http://u:p@q@h/", "http://…@h/"),
            ("mailto:a@b", "mailto:a@b"),
            ("example.com", "example.com"),
        ];
        for (text, expected) in rows {
            assert_eq!(told(text), expected, "{text}");
        }
    }

    #[test]
    fn credentials_are_read_as_they_are_written() {
        let password = |user: &str, password: &str| {
            Some(Credentials::Password { user: user.into(), password: password.into() })
        };
        assert_eq!(credentials(Some("u:p:q"), None).unwrap(), password("u", "p:q"));
        assert_eq!(credentials(None, None).unwrap(), None);
        assert!(credentials(Some("nobody"), None).is_err());
        assert!(credentials(Some("u:p"), Some("t")).is_err());
        assert!(credentials(Some("env:LARM_NO_SUCH_VARIABLE"), None).is_err());
    }
}
