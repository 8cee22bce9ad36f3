//! What stands at a path: what is answered, how it is delivered, and where it links to.
//!
//! The server turns these into bytes and the truth turns them into expectations; neither reads the
//! other. Links are kept as targets, and written as text only when a page is rendered, so that the
//! truth never has to parse what it judges.

use crate::charset::Charset;
use crate::hostile::Misbehaviour;

/// What one path of one host holds.
#[derive(Debug, Clone)]
pub(crate) struct Resource {
    pub reply: Reply,
    pub delivery: Delivery,
    pub role: Role,
}

/// What is answered.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    /// 200 and a page.
    Html(Page),
    /// A redirect, its target written in the form of the link.
    Redirect { status: u16, to: Link },
    /// A short page with this status.
    Status(u16),
    /// The first try fails, later ones give the other reply.
    Flaky { first: u16, retry_after: RetryAfter, then: Box<Reply> },
    /// 200 and these bytes, whose links are known.
    Bytes { content_type: &'static str, body: Vec<u8>, links: Vec<Link> },
    /// HTTP broken on purpose; status 200 where there is one at all.
    Bad(Misbehaviour),
}

/// How an answer to be tried again says when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RetryAfter {
    None,
    Seconds(u64),
    /// The same as an HTTP date, rounded up to a whole second.
    Date(u64),
}

impl RetryAfter {
    /// The least wait that it asks for.
    pub fn at_least_ms(self) -> u64 {
        match self {
            Self::None => 0,
            Self::Seconds(seconds) | Self::Date(seconds) => seconds * 1_000,
        }
    }
}

/// What the truth makes of a resource, where its reply does not say it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Role {
    Content,
    /// Needed to show a page, not a page.
    Asset,
    Sitemap,
    /// Changes something when fetched.
    Action,
    /// Too long for a crawler to be blamed for leaving it out.
    Overlong,
    /// The same body as this path of the same host.
    CopyOf(String),
    /// Stands before the page that was asked for.
    Wall,
}

/// How the bytes of an answer travel.
#[derive(Debug, Clone, Default)]
pub(crate) struct Delivery {
    pub coding: Coding,
    pub chunked: bool,
    pub close: bool,
    /// In drops, with waits between them; under a second in all.
    pub drip: bool,
    /// Instead of the type that belongs to the reply; empty for none at all.
    pub content_type: Option<&'static str>,
    /// Header lines without their line ends.
    pub headers: Vec<&'static str>,
}

/// Content coding, used when the client accepts it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Coding {
    #[default]
    Identity,
    Gzip,
    Deflate,
}

/// A page before it is written down.
#[derive(Debug, Clone, Default)]
pub(crate) struct Page {
    pub title: String,
    pub links: Vec<Link>,
    /// Path for `<base href>`.
    pub base: Option<String>,
    pub charset: Charset,
    /// `<meta name=robots content=nofollow>`.
    pub nofollow: bool,
    /// Written with all the variety that HTML allows, and with links that are none.
    pub varied: bool,
    /// Links to private networks and other schemes, which nobody should fetch.
    pub foreign: bool,
    /// Seed of its text; equal seeds give equal text.
    pub text: u64,
    /// Size to fill up to.
    pub bytes: usize,
}

/// A link as the generator means it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Link {
    /// Index of the host.
    pub host: usize,
    /// Path and query, as a canonical URL has them.
    pub path: String,
    /// The same as it may be written in a page of another charset, `path` when empty.
    pub written: String,
    pub form: Form,
    pub carrier: Carrier,
    /// `rel=nofollow`.
    pub nofollow: bool,
}

impl Link {
    /// A link within the host, written as a path.
    pub fn local(host: usize, path: impl Into<String>) -> Self {
        Self::new(host, path, Form::Root)
    }

    /// A link to any host, written in full.
    pub fn absolute(host: usize, path: impl Into<String>) -> Self {
        Self::new(host, path, Form::Absolute)
    }

    /// A link in a form of choice.
    pub fn new(host: usize, path: impl Into<String>, form: Form) -> Self {
        let (path, written) = (path.into(), String::new());
        Self { host, path, written, form, carrier: Carrier::Anchor, nofollow: false }
    }

    /// The same, embedded or wrapped in another element.
    pub fn carried_by(mut self, carrier: Carrier) -> Self {
        self.carrier = carrier;
        self
    }

    /// The host that this link leads to when it stands on a page of host `at`: a copy of a page
    /// takes its relative links with it.
    pub fn host_seen_from(&self, at: usize) -> usize {
        if self.form.names_host() { self.host } else { at }
    }

    /// Path and query as they are written in the page.
    pub fn written(&self) -> &str {
        if self.written.is_empty() { &self.path } else { &self.written }
    }
}

/// Ways to write one URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// `http://host:port/path`
    Absolute,
    /// `HTTP://HOST:port/path`
    Shouted,
    /// `//host:port/path`
    Network,
    /// `/path`
    Root,
    /// `../path`, against the page or its base.
    Relative,
    /// `/x/../path`
    Dotted,
    /// `/path#part`
    Fragment,
    /// White space around it.
    Spaced,
    /// Slashes as character references.
    Entities,
}

impl Form {
    /// Whether the text names the host, and so means the same on a copy of the page.
    pub fn names_host(self) -> bool {
        matches!(self, Self::Absolute | Self::Shouted | Self::Network)
    }
}

/// The element that a link stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Carrier {
    Anchor,
    Area,
    Noscript,
    /// `<meta http-equiv=refresh>`; at most one per page.
    Refresh,
    Image,
    Srcset,
    Stylesheet,
    Script,
}

impl Resource {
    fn new(reply: Reply) -> Self {
        Self { reply, delivery: Delivery::default(), role: Role::Content }
    }

    /// An ordinary page.
    pub fn page(page: Page) -> Self {
        Self::new(Reply::Html(page))
    }

    /// A redirect.
    pub fn redirect(status: u16, to: Link) -> Self {
        Self::new(Reply::Redirect { status, to })
    }

    /// A bare status.
    pub fn status(status: u16) -> Self {
        Self::new(Reply::Status(status))
    }

    /// The same, but only at the second try.
    pub fn flaky(self, first: u16, retry_after: RetryAfter) -> Self {
        let reply = Reply::Flaky { first, retry_after, then: Box::new(self.reply) };
        Self { reply, ..self }
    }

    /// Bytes without links.
    pub fn bytes(content_type: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Self::new(Reply::Bytes { content_type, body: body.into(), links: Vec::new() })
    }

    /// HTTP broken on purpose.
    pub fn bad(misbehaviour: Misbehaviour) -> Self {
        Self::new(Reply::Bad(misbehaviour))
    }

    /// The same in another role.
    pub fn with_role(mut self, role: Role) -> Self {
        self.role = role;
        self
    }

    /// The same, delivered so.
    pub fn with_delivery(mut self, delivery: Delivery) -> Self {
        self.delivery = delivery;
        self
    }

    /// Whether the page as a whole asks for its links not to be followed.
    pub fn nofollow(&self) -> bool {
        let by_header = self.delivery.headers.contains(&crate::feature::NOFOLLOW_HEADER);
        by_header || matches!(&self.reply, Reply::Html(page) if page.nofollow)
    }
}

impl Reply {
    /// Every link that the final answer holds.
    pub fn links(&self) -> &[Link] {
        match self {
            Self::Html(page) => &page.links,
            Self::Redirect { to, .. } => std::slice::from_ref(to),
            Self::Flaky { then, .. } => then.links(),
            Self::Bytes { links, .. } => links,
            Self::Status(_) | Self::Bad(_) => &[],
        }
    }

    /// Status of the final answer; 0 when it has none.
    pub fn status(&self) -> u16 {
        match self {
            Self::Html(_) | Self::Bytes { .. } => 200,
            Self::Redirect { status, .. } | Self::Status(status) => *status,
            Self::Flaky { then, .. } => then.status(),
            Self::Bad(misbehaviour) => misbehaviour.status(),
        }
    }
}
