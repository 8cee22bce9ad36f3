//! Filter `known-paths`: views and links that are known to be worthless or harmful to a crawler.
//!
//! Lists by name, each of which can be left out, and a user's own patterns beside them. The patterns
//! see path and query. They ask for more than a word wherever that word could be the subject of a
//! page: `/posts/7/delete` is a button, `/docs/sql/delete` and `/delete-key-guide.html` are reading.
//! Seeds pass, since a person typed them. The lists do not speak of files: reading one changes nothing.

use std::sync::LazyLock;

use regex_automata::meta::{Config, Regex};
use regex_automata::util::syntax;
use regex_automata::{Input, MatchKind, PatternSet};
use serde::{Deserialize, Serialize};

use super::pattern::Patterns;
use super::{Filter, ScopeError, Subject, Verdict};
use crate::Via;

/// A list of known paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KnownList {
    /// The same directory listing in another order.
    DirectoryIndex,
    /// A visitor's session in the path, new on every visit.
    Sessions,
    /// Links that change something: log out, delete, vote, put into a cart.
    Actions,
    /// Whatever could change something, by any word of the URL. For crawls behind a login, where a mistake
    /// is somebody's loss: pages that are only about such words are left out, too.
    AnyActions,
    /// Editing, comparing and exporting in a wiki.
    WikiViews,
    /// One page per day, week or month of a calendar.
    Calendars,
}

impl KnownList {
    /// Every list that is used by itself.
    pub const ALL: [Self; 5] =
        [Self::DirectoryIndex, Self::Sessions, Self::Actions, Self::WikiViews, Self::Calendars];

    /// The word in `larm.toml`; the same as serde writes.
    pub fn word(self) -> &'static str {
        match self {
            Self::DirectoryIndex => "directory-index",
            Self::Sessions => "sessions",
            Self::Actions => "actions",
            Self::AnyActions => "any-actions",
            Self::WikiViews => "wiki-views",
            Self::Calendars => "calendars",
        }
    }

    /// What its URLs are, for the reason.
    fn meaning(self) -> &'static str {
        match self {
            Self::DirectoryIndex => "another order of a directory listing",
            Self::Sessions => "a visitor's session in the path",
            Self::Actions => "a link that changes something",
            Self::AnyActions => "a link that may change something, behind a login",
            Self::WikiViews => "an editing or history view of a wiki",
            Self::Calendars => "a date view of a calendar",
        }
    }

    fn patterns(self) -> &'static [&'static str] {
        match self {
            Self::DirectoryIndex => DIRECTORY_INDEX,
            Self::Sessions => SESSIONS,
            Self::Actions => ACTIONS,
            Self::AnyActions => ANY_ACTIONS,
            Self::WikiViews => WIKI_VIEWS,
            Self::Calendars => CALENDARS,
        }
    }
}

/// Column and order, as Apache 2, nginx and Apache 1.3 write them.
const DIRECTORY_INDEX: &[&str] = &[r"/\?C=[NMSD](?:[;&]O=[AD])?$", r"/\?[NMSD]=[AD]$"];

/// ASP.NET without cookies, and names that say so.
const SESSIONS: &[&str] = &[
    r"(?i)/\((?:[a-z]\([0-9a-z]{24}\))+\)(?:/|$)",
    r"(?i)/\([0-9a-z]{24}\)/",
    r"(?i)/(?:jsessionid|phpsessid|sessionid|session_id|sid)[=/][0-9a-f]{16,}(?:[/?.]|$)",
];

const ACTIONS: &[&str] = &[
    // Leaving is the last segment, as a page or as a script.
    r"(?i)/(?:log|sign)[-_]?(?:out|off)(?:\.(?:php|aspx?|jsp|do|cgi))?/?(?:\?|$)",
    // Verbs that need an object: a number beside them, or parameters behind them.
    r"(?i)/(?:delete|remove|destroy|trash|vote|upvote|downvote|unfollow)/\d+(?:[/?]|$)",
    r"(?i)/\d+/(?:delete|remove|destroy|trash|vote|upvote|downvote|unfollow)/?(?:\?|$)",
    r"(?i)/(?:delete|remove|destroy|vote|unfollow)(?:\.(?:php|aspx?|jsp|do|cgi))?\?",
    r"(?i)/unsubscribe(?:\.(?:php|aspx?|jsp|do|cgi))?(?:/[^/?]+/?(?:\?|$)|\?)",
    // Shops.
    r"(?i)/add[-_]?to[-_]?(?:cart|bag|basket|wishlist|compare)(?:\.(?:php|aspx?|jsp|do))?(?:[/?]|$)",
    r"(?i)/(?:cart|basket|wishlist)/(?:add|remove|delete|update)(?:[/?]|$)",
    r"(?i)[?&](?:add-to-cart|add_to_cart|add_to_wishlist|remove_item|removed_item)=",
    // The action as a parameter.
    r"(?i)[?&](?:action|act|do|op|cmd|task|mode)=(?:log|sign)[-_]?(?:out|off)(?:&|$)",
    r"(?i)[?&](?:action|act|do|op|cmd|task)=(?:delete|del|remove|destroy|vote|unsubscribe|add[-_]?to[-_]?cart)(?:&|$)",
    r"(?i)[?&](?:logout|signout|delete|unsubscribe)(?:=[^&]*)?(?:&|$)",
];

/// Words of paths, parameters and their values, between whatever is no letter.
const ANY_ACTIONS: &[&str] = &[
    r"(?i)(?:log|sign)[-_.]?(?:out|off)|abmelden|ausloggen|d(?:e|%c3%a9)connexion|cerrar[-_]?sesion",
    r"(?i)(?:^|[^a-z])(?:delete|del|remove|rm|destroy|trash|erase|purge|wipe|drop|discard|l(?:oe|%c3%b6)schen)(?:$|[^a-z])",
    r"(?i)(?:^|[^a-z])(?:up|down|un)?(?:vote|like|follow|subscribe|star|watch|mute|block|flag|pin)(?:$|[^a-z])",
    r"(?i)(?:^|[^a-z])(?:dislike|report|ban|approve|reject|accept|decline|confirm|cancel|revoke|reset|disable|enable|deactivate|activate|(?:un)?publish|(?:un)?archive|restore|merge|close|reopen|move|rename|send|submit|save|update|buy|purchase|checkout|order|pay|add[-_]?to[-_]?[a-z]+)(?:$|[^a-z])",
    r"(?i)(?:delete|remove|trash|destroy|vote)[-_]?(?:post|item|id|user|comment|entry|page|file|all)",
];

/// MediaWiki, DokuWiki, MoinMoin. `history`, `info` and `raw` alone could be anything, so they need
/// the name of a wiki page with them.
const WIKI_VIEWS: &[&str] = &[
    r"(?i)[?&]action=(?:edit|submit|protect|unprotect|rollback|purge|watch|unwatch|markpatrolled)(?:&|$)",
    r"(?i)(?:/wiki/|/index\.php/|[?&]title=).*[?&]action=(?:history|info|raw|render|credits|diff)(?:&|$)",
    r"(?i)[?&]action=(?:history|info|raw|render|credits)&(?:.*&)?title=",
    r"(?i)(?:/wiki/|/index\.php|[?&]title=).*[?&](?:oldid|diff|veaction|printable|redlink)=",
    r"(?i)[?&](?:oldid|diff)=(?:\d+|prev|next|cur)&(?:.*&)?(?:oldid|diff|title)=",
    r"(?i)[/=]Special:(?:RecentChangesLinked|WhatLinksHere|UserLogin|UserLogout|CreateAccount|Contributions|Log|Export|Diff|MobileDiff|History|Book|DownloadAsPdf|MovePage|PermanentLink|CiteThisPage)(?:[/?&]|$)",
    r"(?i)[?&]do=(?:edit|diff|revisions|recent|backlink|media|subscribe|resendpwd|export_[a-z]+)(?:&|$)",
];

const CALENDARS: &[&str] = &[
    r"(?i)/(?:calendar|calendrier|calendario|kalender)/(?:.*/)?\d{4}[-/]\d{1,2}[-/]\d{1,2}(?:[/?]|$)",
    r"(?i)/(?:calendar|calendrier|calendario|kalender)/(?:day|week|month|year)/(?:\d|\?|$)",
    r"(?i)/(?:calendar|calendrier|calendario|kalender)[^?]*\?(?:.*&)?(?:date|day|week|month)=\d",
    r"(?i)/action~(?:month|week|oneday|agenda|posterboard|stream)(?:[/~]|$)",
    r"(?i)[?&](?:tribe-bar-date|eventDisplay|tribe_event_display|ical|outlook-ical)=",
];

/// The filter.
pub(super) struct KnownPaths {
    known: Regex,
    /// The list of each pattern of `known`.
    lists: Vec<KnownList>,
    extra: Patterns,
}

impl KnownPaths {
    pub fn new(lists: &[KnownList], extra: &[String], bytes_max: u64) -> Result<Self, ScopeError> {
        Ok(Self {
            known: known(lists),
            lists: patterns(lists).map(|(list, _)| list).collect(),
            extra: Patterns::new(extra, bytes_max)?,
        })
    }

    /// Number of the first pattern that matches. Whether one does is cheaper to tell than which, and
    /// most links match none.
    fn first_known(&self, text: &[u8]) -> Option<usize> {
        if !self.known.is_match(text) {
            return None;
        }
        let mut matching = PatternSet::new(self.known.pattern_len());
        self.known.which_overlapping_matches(&Input::new(text), &mut matching);
        matching.iter().next().map(|pattern| pattern.as_usize())
    }

    fn objection(&self, text: &str) -> Option<String> {
        let list = self.lists.get(self.first_known(text.as_bytes())?)?;
        Some(format!("{} (list {})", list.meaning(), list.word()))
    }

    fn own_objection(&self, text: &str) -> Option<String> {
        let number = self.extra.first_match(text)?;
        Some(format!("matches `{}` of the list", self.extra.text(number)))
    }
}

/// What is on these lists. All of them is what nearly everybody takes, and whenever rules change; to make that takes milliseconds.
fn known(lists: &[KnownList]) -> Regex {
    static ALL: LazyLock<Regex> = LazyLock::new(|| compile(&KnownList::ALL));
    if *lists == KnownList::ALL { ALL.clone() } else { compile(lists) }
}

fn compile(lists: &[KnownList]) -> Regex {
    // Paths are ASCII: without Unicode the tables are smaller and stay in the cache. They are also
    // short: looking for letters that some pattern needs takes longer than trying them all.
    let config = Config::new().match_kind(MatchKind::All).auto_prefilter(false);
    Regex::builder()
        .configure(config)
        .syntax(syntax::Config::new().unicode(false).utf8(false))
        .build_many(&patterns(lists).map(|(_, pattern)| pattern).collect::<Vec<_>>())
        .expect("the patterns of this file are valid")
}

fn patterns(lists: &[KnownList]) -> impl Iterator<Item = (KnownList, &'static str)> {
    lists.iter().flat_map(|list| list.patterns().iter().map(|pattern| (*list, *pattern)))
}

impl Filter for KnownPaths {
    fn name(&self) -> &'static str {
        "known-paths"
    }

    fn judge(&self, subject: &Subject<'_>) -> Verdict {
        if subject.via == Via::Seed {
            return Verdict::Pass;
        }
        let text = subject.url.path_and_query();
        let known = (!subject.url.is_file()).then(|| self.objection(text)).flatten();
        match known.or_else(|| self.own_objection(text)) {
            Some(detail) => Verdict::reject("known-paths", detail),
            None => Verdict::Pass,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{assert_passes, assert_rejects, link, seed};
    use super::*;

    fn all() -> KnownPaths {
        KnownPaths::new(&KnownList::ALL, &[], 1 << 20).unwrap()
    }

    #[test]
    fn the_lists_are_for_the_web_and_ones_own_patterns_for_files_too() {
        let own = KnownPaths::new(&KnownList::ALL, &["^/srv/tmp/".to_owned()], 1 << 20).unwrap();
        assert_rejects(&own, link("http://h/posts/7/delete"), "known-paths: ");
        assert_passes(&own, link("file:///srv/posts/7/delete"));
        assert_rejects(&own, link("file:///srv/tmp/a"), "known-paths: matches");
    }

    #[test]
    fn behind_a_login_every_word_counts_that_could_change_something() {
        let strict = KnownPaths::new(&[KnownList::AnyActions], &[], 1 << 20).unwrap();
        #[rustfmt::skip]
        let rejected = [
            "/posts/my-slug/delete", "/posts/1f2e3d4c-0000-4000-8000-000000000000/delete", "/delete/my-slug",
            "/users/bob/delete/", "/posts/12/destroy.json", "/session/destroy", "/x?action=delete_post&id=3",
            "/admin/post.php?post=1&action=trash", "/a?delete_id=5", "/posts/abc/upvote", "/vote/up/123",
            "/comments/12/like", "/logout.html", "/logout.action", "/logout/confirm", "/sign-out/all",
            "/?page=logout", "/abmelden", "/deconnexion", "/d%C3%A9connexion", "/cart/checkout",
        ];
        for path in rejected {
            assert_rejects(
                &strict,
                link(&format!("http://h{path}")),
                "known-paths: a link that may change",
            );
        }
        for path in
            ["/", "/posts/7", "/blog/orderly-closets", "/likely", "/about?page=2", "/removal-vans"]
        {
            assert_passes(&strict, link(&format!("http://h{path}")));
        }
    }

    #[test]
    fn known_paths_are_rejected_and_say_what_they_are() {
        use KnownList::{Actions, Calendars, DirectoryIndex, Sessions, WikiViews};
        let rows = [
            (DirectoryIndex, "/pub/?C=N;O=D"),
            (DirectoryIndex, "/pub/?C=M&O=A"),
            (DirectoryIndex, "/pub/?N=D"),
            (Sessions, "/(S(4hqa0555fwsecu455xqckv45))/page.aspx"),
            (Sessions, "/(4hqa0555fwsecu455xqckv45)/page.aspx"),
            (Sessions, "/shop/sid/9682993c8daa2c5497996114facdc805/item"),
            (Actions, "/logout"),
            (Actions, "/user/sign-out/"),
            (Actions, "/account/log_off.aspx?back=/"),
            (Actions, "/wp-login.php?action=logout&_wpnonce=1"),
            (Actions, "/posts/7/delete"),
            (Actions, "/delete/7"),
            (Actions, "/remove.php?id=7"),
            (Actions, "/comments/12/upvote"),
            (Actions, "/vote?id=12&how=up"),
            (Actions, "/cart/add?sku=1"),
            (Actions, "/add-to-cart/1"),
            (Actions, "/shoes/?add-to-cart=12"),
            (Actions, "/unsubscribe?mail=a%40b"),
            (Actions, "/newsletter/unsubscribe/3f9a"),
            (Actions, "/index.php?id=3&action=delete"),
            (Actions, "/?logout"),
            (WikiViews, "/w/index.php?title=Tree&action=edit&section=2"),
            (WikiViews, "/w/index.php?title=Tree&action=history"),
            (WikiViews, "/w/index.php?action=history&title=Tree"),
            (WikiViews, "/w/index.php?title=Tree&diff=prev&oldid=77"),
            (WikiViews, "/w/index.php?diff=4&oldid=77"),
            (WikiViews, "/wiki/Tree?oldid=77"),
            (WikiViews, "/wiki/Special:WhatLinksHere/Tree"),
            (WikiViews, "/w/index.php?title=Special:UserLogin&returnto=Tree"),
            (WikiViews, "/doku.php?id=tree&do=revisions"),
            (WikiViews, "/tree?do=export_pdf"),
            (Calendars, "/calendar/2024/05/17"),
            (Calendars, "/calendar/week/2024-20"),
            (Calendars, "/kalender?date=2024-05-17"),
            (Calendars, "/events/action~month/exact_date~1/"),
            (Calendars, "/events/?tribe-bar-date=2024-05-17"),
        ];
        for (list, path) in rows {
            let text = format!("http://h{path}");
            let reason = format!("known-paths: {} (list {})", list.meaning(), list.word());
            assert_rejects(&all(), link(&text), &reason);
            assert_passes(&all(), seed(&text));
            let others: Vec<KnownList> =
                KnownList::ALL.into_iter().filter(|other| *other != list).collect();
            let without = KnownPaths::new(&others, &[], 1 << 20).unwrap();
            assert_passes(&without, link(&text));
        }
    }

    #[test]
    fn pages_about_such_things_pass() {
        let paths = [
            "/",
            "/?C=3",
            "/list?N=D",
            "/pub/?c=n",
            "/2.0/api/2.0/x",
            "/2024/05/",
            "/2024/05/17/logout-problems",
            "/delete-key-guide.html",
            "/voting-results.html",
            "/docs/sql/delete",
            "/docs/Web/API/Cache/delete",
            "/docs/kubectl/delete/",
            "/String/remove.html",
            "/how-to/add-to-cart-buttons",
            "/docs/unsubscribe",
            "/blog/sign-out-of-everything",
            "/catalogout/",
            "/cart",
            "/vote",
            "/election/vote/results",
            "/search?q=delete",
            "/search?q=logout&page=2",
            "/index.php?action=view&id=3",
            "/index.php?action=history",
            "/index.php?action=info",
            "/edit-a-page?section=2",
            "/wiki/History",
            "/wiki/Edit",
            "/w/index.php?title=Tree",
            "/wiki/Special:AllPages",
            "/diff?a=1",
            "/doku.php?id=tree",
            "/calendar/",
            "/calendar/2024",
            "/calendar-2024/05/17",
            "/events/2024/05/summer-party",
            "/events?page=2",
            "/news?date=2024-05-17",
            "/sid/short",
            "/(parentheses)/page",
        ];
        for path in paths {
            assert_passes(&all(), link(&format!("http://h{path}")));
        }
    }

    #[test]
    fn every_list_has_the_word_that_serde_writes() {
        for list in KnownList::ALL {
            assert_eq!(serde_json::to_value(list).unwrap(), list.word());
        }
    }

    #[test]
    fn own_patterns_can_be_added() {
        let extra = ["^/print/".to_owned()];
        let filter = KnownPaths::new(&[], &extra, 1 << 20).unwrap();
        assert_rejects(&filter, link("http://h/print/1"), "known-paths: matches `^/print/`");
        assert_passes(&filter, link("http://h/logout"));
        let error = KnownPaths::new(&[], &["(".to_owned()], 1 << 20).err().unwrap();
        assert!(error.to_string().contains("`(`"), "{error}");
    }
}
