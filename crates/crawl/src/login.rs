//! Logging in with a form, before a host is crawled.
//!
//! A login is a few requests, each under a lease of its host and so paced like any other: the page with the
//! form, the form filled in, the redirects behind it. The URLs of the host wait meanwhile. They are given
//! up, with the reason, if the login fails: a crawl that was to see what members see must not end up with
//! what everybody sees. A host that sends us back to its login page has ended the session; then it is done
//! again, a few times.
//!
//! - LOGIN-1: what is filled in goes to the origin of the login page alone, or to the same host by https.
//! - LOGIN-2: nothing of a login is archived.
//!
//! robots.txt is not asked about these few URLs: a person named them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use larm_core::parse::{Form, Input, forms};
use larm_core::url::{CrawlUrl, UrlRules, canonicalise, resolve};
use larm_core::{Limits, Outcome};

use crate::error::{Error, Result};
use crate::fetch::{Cookies, Fetched};

/// Redirects behind a form.
const HOPS_MAX: u32 = 5;
/// Logins to one host in one run.
const TRIES_MAX: u32 = 3;

/// How to log in to one host.
#[derive(Clone, PartialEq, Eq)]
pub struct LoginPlan {
    /// The page with the form.
    pub url: CrawlUrl,
    /// Which form, by its name or id; else the first that asks for a password.
    pub form: Option<String>,
    /// What to fill in.
    pub fields: Vec<(String, String)>,
    /// What the page behind it shows to those who are in.
    pub text: Option<String>,
    /// The cookie that those have who are in.
    pub cookie: Option<String>,
}

impl std::fmt::Debug for LoginPlan {
    /// Without what is filled in.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LoginPlan").field("url", &self.url.as_str()).finish_non_exhaustive()
    }
}

/// What a URL's host says at its door.
#[derive(Debug, PartialEq, Eq)]
pub enum Door {
    /// Come in.
    Open,
    /// First ask for this, with that filled in.
    First(CrawlUrl, Option<String>),
    /// No, because of this.
    Shut(String),
}

/// The logins of a crawl.
#[derive(Default)]
pub struct Logins {
    by_host: HashMap<String, Login>,
    cookies: Option<Arc<Cookies>>,
    limits: Limits,
}

struct Login {
    plan: LoginPlan,
    session: Mutex<Session>,
}

#[derive(Debug, Default)]
struct Session {
    stand: Stand,
    tries: u32,
}

/// How far a login has come.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
enum Stand {
    #[default]
    Out,
    FilledIn(CrawlUrl, String),
    Sent(CrawlUrl, u32),
    In,
    Failed(String),
}

impl Logins {
    /// The logins of a plan, whose success shows in `cookies`.
    pub fn new(
        plans: &[LoginPlan],
        cookies: Option<Arc<Cookies>>,
        limits: &Limits,
    ) -> Result<Self> {
        let mut by_host = HashMap::new();
        for plan in plans {
            let login = Login { plan: plan.clone(), session: Mutex::default() };
            if by_host.insert(plan.url.host().to_owned(), login).is_some() {
                let host = plan.url.host();
                return Err(Error::Plan(format!("there are two logins for {host}; one is enough")));
            }
        }
        Ok(Self { by_host, cookies, limits: limits.clone() })
    }

    /// Whether nobody asks for a login.
    pub fn is_empty(&self) -> bool {
        self.by_host.is_empty()
    }

    /// What is to be done before `url` can be asked for.
    pub fn door(&self, url: &CrawlUrl) -> Door {
        let Some(login) = self.by_host.get(url.host()) else { return Door::Open };
        match login.lock().stand.clone() {
            Stand::Out => Door::First(login.plan.url.clone(), None),
            Stand::FilledIn(target, form) => Door::First(target, Some(form)),
            Stand::Sent(target, _) => Door::First(target, None),
            Stand::In => Door::Open,
            Stand::Failed(why) => Door::Shut(why),
        }
    }

    /// Takes the answer to a request that `door` asked for.
    pub fn hear(&self, asked: &CrawlUrl, fetched: &Fetched) {
        let Some(login) = self.by_host.get(asked.host()) else { return };
        let mut session = login.lock();
        let next = match &session.stand {
            Stand::Out => self.fill_in(&login.plan, asked, fetched),
            Stand::FilledIn(..) => self.behind(&login.plan, asked, fetched, 0),
            Stand::Sent(_, hops) => self.behind(&login.plan, asked, fetched, *hops),
            settled => Ok(settled.clone()),
        };
        session.stand = next.unwrap_or_else(|why| {
            session.tries += 1;
            let again = fetched.status >= 500 && session.tries < TRIES_MAX;
            if again { Stand::Out } else { Stand::Failed(format!("{}: {why}", login.plan.url)) }
        });
        match &session.stand {
            Stand::In => tracing::info!(url = %login.plan.url, "logged in"),
            Stand::Failed(why) => tracing::warn!("the login failed: {why}"),
            _ => {}
        }
    }

    /// Whether an answer means that the session is over. Then the login is done again.
    pub fn lost(&self, url: &CrawlUrl, outcome: &Outcome) -> bool {
        let Outcome::Redirected { to, .. } = outcome else { return false };
        let Some(login) = self.by_host.get(url.host()) else { return false };
        let door = &login.plan.url;
        // The target is as the server wrote it, where it is no URL.
        let Ok(to) = resolve(to, Some(&url.to_url()), None) else { return false };
        let Ok(to) = canonicalise(to, &UrlRules::default()) else { return false };
        if (to.host(), to.path()) != (door.host(), door.path()) || url.path() == door.path() {
            return false;
        }
        let mut session = login.lock();
        if session.stand != Stand::In {
            return false;
        }
        session.tries += 1;
        session.stand = match session.tries < TRIES_MAX {
            true => Stand::Out,
            false => Stand::Failed(format!("{door}: the session ended again and again")),
        };
        true
    }

    fn fill_in(
        &self,
        plan: &LoginPlan,
        asked: &CrawlUrl,
        fetched: &Fetched,
    ) -> Result<Stand, String> {
        if !(200..300).contains(&fetched.status) {
            return Err(format!("the login page answers {}", fetched.status));
        }
        let forms = self.forms_of(asked, fetched);
        let form = pick(&forms, plan.form.as_deref())?;
        if !form.is_post {
            return Err(
                "the form is sent by GET, which would put what is filled in into a URL".into()
            );
        }
        let target = same_place(&form.action, asked)?;
        let body = filled(form, &plan.fields)?;
        Ok(Stand::FilledIn(target, body))
    }

    /// The answer to the form, or to a redirect behind it.
    fn behind(
        &self,
        plan: &LoginPlan,
        asked: &CrawlUrl,
        fetched: &Fetched,
        hops: u32,
    ) -> Result<Stand, String> {
        let location = fetched.header("location").filter(|_| (300..400).contains(&fetched.status));
        if let Some(location) = location {
            return match same_place(location, asked) {
                Ok(target) if hops < HOPS_MAX => Ok(Stand::Sent(target, hops + 1)),
                Ok(_) => Err(format!("more than {HOPS_MAX} redirects behind the form")),
                // The way on leads elsewhere. What matters is whether we are in.
                Err(_) => self.judge(plan, asked, fetched),
            };
        }
        self.judge(plan, asked, fetched)
    }

    fn judge(
        &self,
        plan: &LoginPlan,
        asked: &CrawlUrl,
        fetched: &Fetched,
    ) -> Result<Stand, String> {
        if fetched.status >= 400 {
            return Err(format!("the answer to the form is {}", fetched.status));
        }
        if let Some(name) = &plan.cookie {
            let has = self.cookies.as_ref().is_some_and(|jar| jar.has(plan.url.site(), name));
            return if has { Ok(Stand::In) } else { Err(format!("no cookie `{name}` was set")) };
        }
        let decoded = fetched.decoded(&self.limits);
        if let Some(text) = &plan.text {
            let shows = memchr::memmem::find(&decoded.bytes, text.as_bytes()).is_some();
            return match shows {
                true => Ok(Stand::In),
                false => Err(format!("the page behind the form does not show `{text}`")),
            };
        }
        match self.forms_of(asked, fetched).iter().any(|form| form.has_password) {
            true => Err("the page behind the form asks for a password again".to_owned()),
            false => Ok(Stand::In),
        }
    }

    fn forms_of(&self, asked: &CrawlUrl, fetched: &Fetched) -> Vec<Form> {
        let decoded = fetched.decoded(&self.limits);
        let input = Input {
            url: &asked.to_url(),
            content_type: fetched.content_type(),
            body: &decoded.bytes,
            text: false,
        };
        forms(&input, &self.limits)
    }
}

impl Login {
    fn lock(&self) -> MutexGuard<'_, Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn pick<'f>(forms: &'f [Form], name: Option<&str>) -> Result<&'f Form, String> {
    let found = match name {
        Some(name) => forms.iter().find(|form| form.names.iter().any(|known| known == name)),
        None => forms.iter().find(|form| form.has_password),
    };
    found.ok_or_else(|| match name {
        Some(name) => format!("the page has no form with the name or id `{name}`"),
        None => "the page has no form that asks for a password".to_owned(),
    })
}

/// LOGIN-1.
fn same_place(link: &str, page: &CrawlUrl) -> Result<CrawlUrl, String> {
    let target = resolve(link, Some(&page.to_url()), None).ok();
    let target = target.and_then(|target| canonicalise(target, &UrlRules::default()).ok());
    let target = target.ok_or_else(|| format!("`{link}` is no URL that can be asked for"))?;
    // From http to https, each on its own port, is the same place.
    let ports = |url: &CrawlUrl| (url.scheme() == "https", url.port());
    let upgraded =
        target.host() == page.host() && (ports(page), ports(&target)) == ((false, 80), (true, 443));
    match target.origin() == page.origin() || upgraded {
        true => Ok(target),
        false => Err(format!("it leads to another place, {}", target.origin())),
    }
}

/// The form as it is sent.
fn filled(form: &Form, fields: &[(String, String)]) -> Result<String, String> {
    if let Some((unknown, _)) = fields.iter().find(|(name, _)| !form.inputs.contains(name)) {
        let known = form.inputs.join(", ");
        return Err(format!("the form has no field `{unknown}`; it has {known}"));
    }
    let given = |name: &str| fields.iter().find(|(given, _)| given == name);
    let kept = form.fields.iter().filter(|(name, _)| given(name).is_none());
    let mut body = url::form_urlencoded::Serializer::new(String::new());
    kept.chain(fields).for_each(|(name, value)| _ = body.append_pair(name, value));
    Ok(body.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> CrawlUrl {
        CrawlUrl::from_canonical(text).unwrap()
    }

    fn form(inputs: &[&str]) -> Form {
        Form {
            inputs: inputs.iter().map(|&name| name.to_owned()).collect(),
            fields: inputs.iter().map(|&name| (name.to_owned(), "old".to_owned())).collect(),
            ..Form::default()
        }
    }

    #[test]
    fn a_form_keeps_what_was_in_it_and_takes_what_is_given() {
        let fields = [("user".to_owned(), "me & you".to_owned())];
        assert_eq!(filled(&form(&["csrf", "user"]), &fields).unwrap(), "csrf=old&user=me+%26+you");
        let error = filled(&form(&["csrf", "login"]), &fields).unwrap_err();
        assert!(error.contains("`user`") && error.contains("csrf, login"), "{error}");
    }

    #[test]
    fn what_is_filled_in_goes_to_the_same_place_alone() {
        #[rustfmt::skip]
        let rows = [
            ("https://h/login", "/in", Some("https://h/in")),
            ("https://h/login", "", Some("https://h/login")),
            ("https://h/login", "http://h/in", None),
            ("http://h/login", "https://h/in", Some("https://h/in")),
            ("https://h/login", "https://evil/in", None),
            ("https://h/login", "https://h:8443/in", None),
            ("http://h:8080/login", "https://h/in", None),
            ("http://h:8080/login", "/in", Some("http://h:8080/in")),
            ("https://h/login", "javascript:x()", None),
        ];
        for (page, link, expected) in rows {
            let found = same_place(link, &url(page)).ok();
            assert_eq!(found.as_ref().map(CrawlUrl::as_str), expected, "{page} {link}");
        }
    }

    #[test]
    fn only_a_way_back_to_the_door_ends_a_session() {
        let plan = LoginPlan {
            url: url("https://h/login"),
            form: None,
            fields: Vec::new(),
            text: None,
            cookie: None,
        };
        let logins = Logins::new(std::slice::from_ref(&plan), None, &Limits::default()).unwrap();
        let to = |to: &str| Outcome::Redirected { status: 302, to: to.to_owned() };
        let page = url("https://h/page");
        assert!(!logins.lost(&page, &to("https://h/login?next=/page")), "never been in");
        logins.by_host["h"].lock().stand = Stand::In;
        assert!(!logins.lost(&page, &to("https://h/other")));
        assert!(!logins.lost(&page, &to("https://evil/login")));
        assert_eq!(logins.door(&page), Door::Open);
        assert!(logins.lost(&page, &to("https://h/login?next=/page")));
        assert_eq!(logins.door(&page), Door::First(url("https://h/login"), None));
        assert_eq!(logins.door(&url("https://other/")), Door::Open);
        for _ in 1..TRIES_MAX {
            logins.by_host["h"].lock().stand = Stand::In;
            assert!(logins.lost(&page, &to("https://h/login")));
        }
        assert!(matches!(logins.door(&page), Door::Shut(why) if why.contains("again and again")));
        assert!(Logins::new(&[plan.clone(), plan], None, &Limits::default()).is_err());
    }
}
