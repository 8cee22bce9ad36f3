//! Settings → [`Plan`]: the second step, where every value gets its meaning.

use std::path::PathBuf;

use anyhow::Result;
use larm_core::Limits;
use larm_core::gain::{self, Floor};
use larm_core::order::focus::Topic;
use larm_core::order::{Name, Order};
use larm_core::robots::product_token;
use larm_core::scope::{ScopeMode, Target};
use larm_core::url::{CrawlUrl, UrlRules};
use larm_core::workbench::Pace;
use larm_crawl::fetch::{FetchPlan, HostAccess, SignPlan};
use larm_crawl::frontier::Budgets;
use larm_crawl::login::LoginPlan;
use larm_crawl::plan::{CUT_AT, HOST_BASE, SITE_BASE};
use larm_crawl::{Keep, Plan, Selection, SignalPlan};

use super::proxies::proxies;
use super::raw::{Duplicates, HostSettings, Settings, Warc};
use super::secret::{credentials, reveal, reveal_all, told};
use super::value::Allowance;
use super::{Config, examples, save};
use crate::exit::usage;
use crate::pdf;

/// Name and version, as every request says them.
pub const PRODUCT: &str = concat!("larm/", env!("CARGO_PKG_VERSION"));

/// More threads than any machine has cores for.
const THREADS_MAX: usize = 1_024;

/// The plan of a crawl into `dir`.
pub fn build(config: &Config, dir: PathBuf) -> Result<Plan> {
    let settings = &config.settings;
    let limits = limits(settings)?;
    check_threads(settings)?;
    check_keep_best(settings, &limits)?;
    let user_agent = user_agent(settings)?;
    let topic = examples::topic(settings, &dir, &limits)?;
    Ok(Plan {
        seeds: config.seeds.pages.clone(),
        sitemaps: config.seeds.sitemaps.clone(),
        selection: selection(settings)?,
        url_rules: url_rules(settings)?,
        pace: pace(settings, &limits),
        host_delays: host_delays(settings),
        budgets: budgets(config)?,
        places: parsed(&settings.place, "--place")?,
        order: order(settings, &topic),
        topic,
        dir,
        time_ms_max: settings.max_time.map(|time| time.0),
        bytes_max: settings.max_size.map(|size| size.0),
        floor: floor(settings, &limits)?,
        concurrency: concurrency(settings, &limits)?,
        more_threads: more_threads(settings),
        resolve: parsed(&settings.resolve, "--resolve")?,
        public_only: settings.public_only == Some(true),
        allow_private: parsed(&settings.allow_private, "--allow-private")?,
        obey_robots: settings.ignore_robots != Some(true),
        signals: SignalPlan {
            respect: settings.respect_signals.iter().copied().collect(),
            tdmrep: settings.tdmrep == Some(true),
        },
        duplicates: duplicates(settings),
        probe: settings.no_probe != Some(true),
        usual_sitemap: settings.no_sitemap != Some(true),
        path_ascending: settings.path_ascending == Some(true),
        pdf: pdf::program().filter(|_| settings.no_pdf != Some(true)),
        agent: product_token(&user_agent).to_owned(),
        operator: None,
        contact: settings.contact.clone(),
        changes: Vec::new(),
        settings: save::told(&config.settings)?,
        keep: Keep {
            warc: settings.warc != Some(Warc::None),
            pages: settings.no_pages != Some(true),
            page_text: settings.page_text == Some(true),
            links: settings.no_links != Some(true),
            log: true,
        },
        fetch: fetch(settings, user_agent, &limits)?,
        logins: logins(settings, config)?,
        cookie_jar: settings.cookie_jar.clone(),
        limits,
    })
}

fn duplicates(settings: &Settings) -> larm_crawl::Duplicates {
    match settings.duplicates {
        Some(Duplicates::Off) => larm_crawl::Duplicates::Off,
        Some(Duplicates::Mark) => larm_crawl::Duplicates::Mark,
        Some(Duplicates::Stop) | None => larm_crawl::Duplicates::Stop,
    }
}

/// The limits in force.
pub fn limits(settings: &Settings) -> Result<Limits> {
    let mut limits = Limits::default();
    if let Some(size) = settings.max_page_size {
        // What holds a page grows with it; whoever sets those limits by name has the last word.
        let decoded = limits.body_decoded_bytes_max.max(size.0.saturating_mul(3));
        let in_flight = limits.bodies_bytes_max.max(size.0);
        for (name, value) in [
            ("body_bytes_max", size.0),
            ("body_decoded_bytes_max", decoded),
            ("bodies_bytes_max", in_flight),
        ] {
            limits.set(name, value).map_err(|error| usage(format!("--max-page-size: {error}")))?;
        }
    }
    for (name, value) in &settings.limits {
        limits.set(name, *value).map_err(|error| usage(format!("[limits]: {error}")))?;
    }
    limits.validate().map_err(|error| usage(format!("[limits]: {error}")))?;
    Ok(limits)
}

/// What makes two URLs one.
pub fn url_rules(settings: &Settings) -> Result<UrlRules> {
    let defaults = UrlRules::default();
    let bytes_max = limits(settings)?.url_bytes_max;
    Ok(UrlRules {
        drop_params: settings.drop_params.clone().unwrap_or(defaults.drop_params),
        sort_query: settings.sort_query.unwrap_or(defaults.sort_query),
        bytes_max: usize::try_from(bytes_max).unwrap_or(usize::MAX),
    })
}

/// The user agent as sent.
pub fn user_agent(settings: &Settings) -> Result<String> {
    let contact = settings.contact.as_deref().map(check_contact).transpose()?;
    let given = settings.user_agent.clone();
    if given.as_deref().is_some_and(|agent| agent.trim().is_empty()) {
        return Err(usage(
            "--user-agent cannot be empty: site owners must be able to tell who asks",
        ));
    }
    Ok(given.unwrap_or_else(|| match contact {
        Some(contact) => format!("{PRODUCT} (+{contact})"),
        None => PRODUCT.to_owned(),
    }))
}

fn check_contact(contact: &str) -> Result<&str> {
    let plausible = contact.starts_with("https://")
        || contact.starts_with("http://")
        || contact.split_once('@').is_some_and(|(name, host)| !name.is_empty() && host.len() > 2);
    let clean = contact.chars().all(|c| c.is_ascii_graphic() && !"()".contains(c));
    if plausible && clean {
        return Ok(contact);
    }
    Err(usage(format!(
        "--contact `{contact}` is no address for webmasters; write a page such as \
         https://example.com/bot or an e-mail address"
    )))
}

fn selection(settings: &Settings) -> Result<Selection> {
    let defaults = Selection::default();
    Ok(Selection {
        scope: settings.scope.unwrap_or(defaults.scope),
        include: patterns(&settings.include, "--include")?,
        exclude: patterns(&settings.exclude, "--exclude")?,
        depth_max: settings.depth.unwrap_or(defaults.depth_max),
        accept: types(&settings.accept)?,
        assets: settings.assets.unwrap_or(defaults.assets),
        follow_symlinks: settings.follow_symlinks == Some(true),
        blocked: Vec::new(),
        block_file: settings.block.clone(),
        targets: targets(&settings.allow_target)?,
        filters: settings.filters.clone().unwrap_or(defaults.filters),
    })
}

/// Whether a pattern is a regular expression is for the filters to say; an empty one is a mistake that
/// they would take for "everything".
fn patterns(patterns: &[String], flag: &str) -> Result<Vec<String>> {
    match patterns.iter().any(|pattern| pattern.trim().is_empty()) {
        true => Err(usage(format!("{flag} needs a regular expression, not an empty text"))),
        false => Ok(patterns.to_vec()),
    }
}

fn targets(hosts: &[String]) -> Result<Vec<String>> {
    for host in hosts {
        host.parse::<Target>().map_err(|error| usage(format!("--allow-target: {error}")))?;
    }
    Ok(hosts.to_vec())
}

fn types(accept: &[String]) -> Result<Vec<String>> {
    let types = accept.iter().flat_map(|text| text.split(',')).map(str::trim);
    let types: Vec<String> = types.filter(|text| !text.is_empty()).map(str::to_owned).collect();
    match types.iter().find(|text| text.split('/').count() != 2) {
        Some(wrong) => Err(usage(format!(
            "--accept `{wrong}` is no content type; write it like text/html or audio/*"
        ))),
        None => Ok(types),
    }
}

fn pace(settings: &Settings, limits: &Limits) -> Pace {
    let defaults = Pace::default();
    let connections = u32::try_from(limits.address_connections_max).unwrap_or(u32::MAX);
    let pace = Pace {
        delay_ms: settings.delay.map_or(defaults.delay_ms, |time| time.0),
        address_connections_max: connections,
        adaptive_max_ms: limits.gap_adaptive_ms_max,
        rate: settings.rate.and_then(|rate| rate.0),
        ..defaults
    };
    match pace.delay_ms {
        // For one's own servers: no gap of any kind.
        0 => Pace { address_gap_ms: 0, response_factor: 0, ..pace },
        _ => pace,
    }
}

fn host_delays(settings: &Settings) -> Vec<(String, u64)> {
    let delays = settings.host.iter();
    delays.filter_map(|(name, host)| Some((name.to_ascii_lowercase(), host.delay?.0))).collect()
}

fn budgets(config: &Config) -> Result<Budgets> {
    let settings = &config.settings;
    if settings.per_host.is_some() && config.seeds.all().any(CrawlUrl::is_file) {
        return Err(usage(
            "--per-host is for the web: files have no host; --max-pages bounds them",
        ));
    }
    if settings.max_time.is_some_and(|time| time.0 == 0) {
        return Err(usage("--max-time 0 would fetch nothing; leave it out for no such limit"));
    }
    if settings.per_host == Some(0) {
        return Err(usage("--per-host 0 would fetch nothing; leave it out for no such limit"));
    }
    let (host_base, site_base, cut_at) = worth(settings);
    let pages_max = settings.max_pages.and_then(|pages| pages.0);
    let host_pages_max = settings.per_host;
    Ok(Budgets { pages_max, host_pages_max, host_base, site_base, cut_at })
}

/// When good pages have become too rare.
fn floor(settings: &Settings, limits: &Limits) -> Result<Option<Floor>> {
    let Settings { stop_below, stop_window, good_above, .. } = settings;
    let Some(share) = stop_below.map(|share| share.0) else {
        return match stop_window.is_some() || good_above.is_some() {
            true => Err(usage("--stop-window and --good-above go with --stop-below")),
            false => Ok(None),
        };
    };
    let (pages, good) = (stop_window.unwrap_or(gain::PAGES), good_above.unwrap_or(gain::GOOD));
    let pages_max = limits.stop_window_pages_max;
    if !(1..=pages_max).contains(&pages) {
        let why = format!("--stop-window {pages} is not between 1 and {pages_max} pages");
        return Err(usage(format!("{why} (--limit stop_window_pages_max=N for more)")));
    }
    if !(good > 0.0 && good <= 1.0) {
        return Err(usage(format!("--good-above {good} is not between 0 and 1, such as 0.5")));
    }
    Ok(Some(Floor { share, pages, good }))
}

/// Budgets that grow with what pages are worth. Whoever names the sites to be crawled wants all of them;
/// who goes anywhere meets those that have nothing to say.
fn worth(settings: &Settings) -> (Option<u64>, Option<u64>, Option<u32>) {
    let anywhere = settings.scope == Some(ScopeMode::Any);
    let or_default = |set: Option<Allowance>, default| match set {
        Some(allowance) => allowance.0,
        None => default,
    };
    let cut_at = or_default(settings.pattern_budget, Some(u64::from(CUT_AT)));
    (
        or_default(settings.host_budget, anywhere.then_some(HOST_BASE)),
        or_default(settings.site_budget, anywhere.then_some(SITE_BASE)),
        cut_at.map(|pages| u32::try_from(pages).unwrap_or(u32::MAX)),
    )
}

fn concurrency(settings: &Settings, limits: &Limits) -> Result<Option<u64>> {
    let asked = settings.concurrency.and_then(|concurrency| concurrency.0);
    match asked.filter(|asked| *asked > limits.fetches_max) {
        Some(asked) => Err(usage(format!(
            "--concurrency {asked} is above the limit `fetches_max` of {}; raise that one, too, with \
             --limit fetches_max={asked}",
            limits.fetches_max
        ))),
        None => Ok(asked),
    }
}

/// Who looks for something has it looked for. While the examples are still to be fetched, there is nothing
/// to look for.
fn order(settings: &Settings, topic: &Topic) -> Order {
    let by_topic = match (&settings.query, topic.is_empty()) {
        // Breadth first, the pages that come first would be the best, and all others in vain.
        (_, true) if settings.keep_best.is_some() => Name::Pagerank,
        (_, true) => Name::Breadth,
        (Some(_), false) => Name::Query,
        (None, false) => Name::Like,
    };
    let order = settings.order.clone().unwrap_or_else(|| Order::by(by_topic));
    let must_wait = topic.is_empty() && !settings.like.is_empty();
    if must_wait { Order::by(Name::Breadth) } else { order }
}

/// What is best can be told from links and archive alone, and a page that is kept must be whole without others.
fn check_keep_best(settings: &Settings, limits: &Limits) -> Result<()> {
    let Some(pages) = settings.keep_best else { return Ok(()) };
    let most = limits.order_pages_max;
    if !(1..=most).contains(&pages) {
        return Err(usage(format!(
            "--keep-best {pages} is not between 1 and {most} pages, whose worth is known (--limit \
             order_pages_max=N for more)"
        )));
    }
    let missing = [
        (settings.warc == Some(Warc::None), "the archive: leave out --warc none"),
        (settings.no_links == Some(true), "the log of links: leave out --no-links"),
        (settings.assets == Some(true), "pages alone, not what they embed: leave out --assets"),
    ];
    match missing.iter().find(|(is_so, _)| *is_so) {
        Some((_, what)) => Err(usage(format!("--keep-best needs {what}"))),
        None => Ok(()),
    }
}

/// The crawl itself runs on one thread, and fetches on that and on the others.
fn more_threads(settings: &Settings) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    settings.threads.unwrap_or_else(cores).saturating_sub(1)
}

fn check_threads(settings: &Settings) -> Result<()> {
    match settings.threads {
        Some(threads) if !(1..=THREADS_MAX).contains(&threads) => Err(usage(format!(
            "--threads {threads} is not between 1 and {THREADS_MAX}; leave it out for one per core"
        ))),
        _ => Ok(()),
    }
}

fn fetch(settings: &Settings, user_agent: String, limits: &Limits) -> Result<FetchPlan> {
    Ok(FetchPlan {
        user_agent,
        headers: headers(&settings.header)?,
        credentials: credentials(settings.basic_auth.as_deref(), settings.bearer.as_deref())?,
        homes: Vec::new(),
        hosts: settings.host.iter().map(host_access).collect::<Result<_>>()?,
        cookies: settings.cookies == Some(true),
        http2: settings.http2 == Some(true),
        proxies: proxies(settings)?,
        accept: types(&settings.accept)?,
        assets: settings.assets == Some(true),
        insecure: settings.insecure == Some(true),
        ca_file: settings.ca_file.clone(),
        sign: sign(settings, limits)?,
    })
}

fn sign(settings: &Settings, limits: &Limits) -> Result<Option<SignPlan>> {
    let agent = settings.signature_agent.clone();
    match &settings.sign_key {
        Some(key) => {
            let good_for_ms = limits.signature_ms_max;
            Ok(Some(SignPlan { key: key.clone(), agent, good_for_ms }))
        }
        None if agent.is_some() => Err(usage("--signature-agent needs a --sign-key to sign with")),
        None => Ok(None),
    }
}

fn host_access((host, settings): (&String, &HostSettings)) -> Result<HostAccess> {
    Ok(HostAccess {
        host: host.clone(),
        headers: headers(&settings.header)?,
        credentials: credentials(settings.basic_auth.as_deref(), settings.bearer.as_deref())?,
    })
}

fn logins(settings: &Settings, config: &Config) -> Result<Vec<LoginPlan>> {
    let rules = url_rules(settings)?;
    settings
        .login
        .iter()
        .map(|login| {
            let url = larm_core::url::seed(&login.url, &rules)
                .map_err(|error| usage(format!("[[login]] `{}`: {error}", told(&login.url))))?;
            if !config.seeds.all().any(|seed| seed.host() == url.host()) {
                let host = url.host();
                return Err(usage(format!(
                    "[[login]] is for {host}, which no URL to crawl names: nothing would be behind it"
                )));
            }
            Ok(LoginPlan {
                url,
                form: login.form.clone(),
                fields: reveal_all(&login.fields)?,
                text: login.success_text.clone(),
                cookie: login.success_cookie.clone(),
            })
        })
        .collect()
}

fn headers(texts: &[String]) -> Result<Vec<(String, String)>> {
    (1..).zip(texts).map(|(number, text)| header(number, text)).collect()
}

/// What cannot be taken apart may be a token alone: it is told by its number.
fn header(number: usize, text: &str) -> Result<(String, String)> {
    let parts = text.split_once(':').map(|(name, value)| (name.trim(), value.trim()));
    let named = parts.filter(|(name, _)| !name.is_empty());
    let wrong = || {
        usage(format!("--header, number {number}, is not of the form 'Name: value' (not shown)"))
    };
    let (name, value) = named.ok_or_else(wrong)?;
    Ok((name.to_owned(), reveal(value)?))
}

fn parsed<T: std::str::FromStr<Err = String>>(texts: &[String], flag: &str) -> Result<Vec<T>> {
    let parse = |text: &String| text.parse().map_err(|why| usage(format!("{flag}: {why}")));
    texts.iter().map(parse).collect()
}
