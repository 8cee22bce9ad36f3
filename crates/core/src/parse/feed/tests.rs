//! Feeds of every kind by example, and against outside ones with their expectations.

use regex::Regex;
use url::Url;

use crate::parse::{Hint, Input, Kind, Note, Page, parse, testdata};
use crate::{Limits, Millis, Via};

fn read(content_type: &str, body: &str) -> Page {
    let url = Url::parse("http://h/feeds/feed.xml").unwrap();
    let input =
        Input { url: &url, content_type: Some(content_type), body: body.as_bytes(), text: true };
    parse(&input, &Limits::default())
}

/// Links of a page, resolved.
fn links(page: &Page, url: &str) -> Vec<(Via, String)> {
    let own = Url::parse(url).unwrap();
    let base = page.base.as_ref().unwrap_or(&own);
    let resolved =
        |target: &str| base.join(target).map_or_else(|_| target.to_owned(), String::from);
    page.links().map(|link| (link.via, resolved(link.target))).collect()
}

/// A kind of feed, one of it, and its links.
type Row = (&'static str, &'static str, &'static [(Via, &'static str)]);

#[test]
fn every_kind_of_feed_gives_its_entries_and_what_they_offer() {
    use Via::{Enclosure, Link, Sitemap};
    let rows: &[Row] = &[
        (
            "RSS 2.0 with a podcast",
            "<rss version='2.0'><channel><title>T</title><link>http://h/</link>
             <image><url>http://h/logo.png</url><link>http://h/x</link></image>
             <item><title>One</title><link>http://h/1</link><guid>http://h/guid</guid>
             <enclosure url='http://h/1.mp3' type='audio/mpeg'/><comments>http://h/1#c</comments></item>
             <item><guid isPermaLink='true'>http://h/2</guid></item></channel></rss>",
            &[
                (Sitemap, "http://h/"),
                (Enclosure, "http://h/logo.png"),
                (Sitemap, "http://h/1"),
                (Enclosure, "http://h/1.mp3"),
                (Link, "http://h/1#c"),
                (Sitemap, "http://h/2"),
            ],
        ),
        (
            "RSS 1.0",
            "<rdf:RDF xmlns='http://purl.org/rss/1.0/'><channel rdf:about='http://h/f'><link>/</link></channel>
             <item rdf:about='http://h/1'><title>One</title></item>
             <item rdf:about='urn:x'><link>http://h/2</link></item></rdf:RDF>",
            &[(Sitemap, "http://h/"), (Sitemap, "http://h/1"), (Sitemap, "http://h/2")],
        ),
        (
            "Atom",
            "<feed xmlns='http://www.w3.org/2005/Atom' xml:base='http://b/x/'><title>T</title>
             <link rel='self' href='f'/><link href='home'/><link rel='next' href='?2'/><icon>i.ico</icon>
             <entry xml:base='y/'><link href='1'/><link rel='enclosure' href='1.ogg'/></entry>
             <entry><link rel='alternate' href='2'/><link rel='edit' href='no'/>
             <source><title>S</title><link href='no'/></source></entry></feed>",
            &[
                (Sitemap, "http://b/x/home"),
                (Link, "http://b/x/?2"),
                (Enclosure, "http://b/x/i.ico"),
                (Sitemap, "http://b/x/y/1"),
                (Enclosure, "http://b/x/y/1.ogg"),
                (Sitemap, "http://b/x/2"),
            ],
        ),
        (
            "CDF",
            "<CHANNEL HREF='http://h/' BASE='http://h/b/'><TITLE>T</TITLE><LOGO HREF='l.gif'/>
             <ITEM HREF='1'><TITLE>One</TITLE></ITEM><ITEM><A HREF='2'/></ITEM></CHANNEL>",
            &[
                (Sitemap, "http://h/"),
                (Enclosure, "http://h/b/l.gif"),
                (Sitemap, "http://h/b/1"),
                (Sitemap, "http://h/b/2"),
            ],
        ),
    ];
    for (name, body, expected) in rows {
        let page = read("application/xml", body);
        let expected: Vec<_> =
            expected.iter().map(|(via, url)| (*via, (*url).to_owned())).collect();
        assert_eq!(page.kind, Kind::Feed, "{name}");
        assert_eq!(links(&page, "http://h/feeds/feed.xml"), expected, "{name}");
        assert_eq!(page.notes, [], "{name}");
    }
}

#[test]
fn what_media_rss_offers_is_an_enclosure() {
    let body = "<rss><channel><item><link>http://h/1</link><media:group><media:content \
                url='http://h/v.mp4'/></media:group><media:thumbnail url='http://h/t.jpg'/></item></channel></rss>";
    let rows = [
        (Via::Sitemap, "http://h/1"),
        (Via::Enclosure, "http://h/v.mp4"),
        (Via::Enclosure, "http://h/t.jpg"),
    ];
    let page = read("application/xml", body);
    let found: Vec<_> = page.links().map(|link| (link.via, link.target)).collect();
    assert_eq!(found, rows);
}

#[test]
fn a_feed_has_a_title_a_language_and_text_and_its_links_have_the_titles_of_their_entries() {
    let page = read(
        "application/rss+xml",
        "<rss><channel><image><title>Logo</title></image><title>The &amp; channel</title>
         <language>de</language>
         <description>About</description>
         <item><title>First &lt;b&gt;one&lt;/b&gt;</title><link>http://h/1</link>
         <description>&lt;p&gt;Some &lt;i&gt;words&lt;/i&gt;.&lt;/p&gt;</description>
         <pubDate>Wed, 31 Jan 2024 12:00:00 GMT</pubDate></item>
         <item><title>Second</title><link>http://h/2</link><description>short</description>
         <content:encoded><![CDATA[<p>The whole text</p>]]></content:encoded></item></channel></rss>",
    );
    assert_eq!(page.title.as_deref(), Some("The & channel"));
    assert_eq!(page.lang.as_deref(), Some("de"));
    let text = "The & channel\nAbout\nFirst one\nSome words.\nSecond\nThe whole text";
    assert_eq!(page.text, text);
    let texts: Vec<_> = page.links().map(|link| link.text).collect();
    assert_eq!(texts, ["First one", "Second"]);
    let modified = Some(Millis(1_706_702_400_000));
    assert_eq!(page.hint(0), Some(Hint { modified, priority: None }));
    assert_eq!(page.hint(1), None);
}

#[test]
fn a_json_feed_is_a_feed() {
    let page = read(
        "application/feed+json",
        r#"{"version":"https://jsonfeed.org/version/1.1","title":"T","language":"en",
            "home_page_url":"http://h/","next_url":"http://h/2.json","favicon":7,"items":[
            {"id":"1","url":"http://h/1","title":"One","content_html":"<p>a <b>b</b></p>",
             "date_published":"2024-01-31T12:00:00Z",
             "attachments":[{"url":"http://h/1.mp3","mime_type":"audio/mpeg"}]},
            {"id":"http://h/2","content_text":"plain","image":"http://h/2.png"},
            {"id":3,"url":"http://h/3","external_url":"http://elsewhere/"}]}"#,
    );
    let rows = [
        (Via::Sitemap, "http://h/"),
        (Via::Link, "http://h/2.json"),
        (Via::Sitemap, "http://h/1"),
        (Via::Enclosure, "http://h/1.mp3"),
        (Via::Sitemap, "http://h/2"),
        (Via::Enclosure, "http://h/2.png"),
        (Via::Sitemap, "http://h/3"),
        (Via::Link, "http://elsewhere/"),
    ];
    let found: Vec<_> = page.links().map(|link| (link.via, link.target)).collect();
    assert_eq!(found, rows);
    assert_eq!((page.title.as_deref(), page.lang.as_deref()), (Some("T"), Some("en")));
    assert_eq!(page.text, "One\na b\nplain");
    assert_eq!(page.hint(2).unwrap().modified, Some(Millis(1_706_702_400_000)));
}

#[test]
fn a_json_feed_that_is_none_is_noted() {
    for body in ["", "{", "{\"items\": 3}", "{\"items\": [7]}"] {
        let page = read("application/feed+json", body);
        assert_eq!(
            (page.link_count(), page.notes.as_slice()),
            (0, &[Note::BrokenJson][..]),
            "{body}"
        );
    }
}

/// The folders of which entry links and bases have to agree.
const REQUIRED: [&str; 6] = ["rss", "rdf", "cdf", "atom", "atom10", "base"];

/// Expectations that are not ours: a licence is no entry, the second is written with escapes, and in the
/// third a host keeps its capitals, which mean nothing.
const OTHERWISE: [&str; 3] =
    ["entry_link_rel_license.xml", "feed_link_xml_base_iri.xml", "item_image_link_conflict.xml"];

#[test]
fn outside_feeds_agree_with_their_expectations() {
    let Some(files) = testdata::archive("sitemap/feedparser-wellformed.tar.gz") else {
        return;
    };
    let link = Regex::new(r"(?:entries\[\d\]|feed)\['link'\] == u?'([^']*)'$").unwrap();
    let first =
        Regex::new(r"(?:entries\[\d\]|feed)\['links'\]\[0\]\['href'\] == u?'([^']*)'$").unwrap();
    let file = Regex::new(r"\['enclosures'\]\[\d\]\['(?:url|href)'\] == u?'([^']*)'").unwrap();
    let (mut checked, mut wrong) = (0, Vec::new());
    for (name, body) in &files {
        let source = String::from_utf8_lossy(body);
        let folder = name.split('/').rev().nth(1).unwrap_or_default();
        let page = read("application/xml", &source);
        assert_ne!(page.kind, Kind::Other, "{name}");
        let expect = source.lines().find_map(|line| line.trim().strip_prefix("Expect:"));
        let Some(expect) = expect.filter(|_| REQUIRED.contains(&folder)) else { continue };
        let location = source.lines().find_map(|line| line.trim().strip_prefix("Header:"));
        let location = location.and_then(|line| line.trim().strip_prefix("Content-Location:"));
        let found = links(&page, location.map_or("http://127.0.0.1:8097/", str::trim));
        let is_there = |url: &str, wanted: &[Via]| {
            let same = |target: &str| target.trim_end_matches('/') == url.trim_end_matches('/');
            found.iter().any(|(via, target)| wanted.contains(via) && same(target))
        };
        let page_link = link.captures(expect).or_else(|| first.captures(expect));
        let expected = page_link.map(|found| (found, &[Via::Sitemap][..]));
        let expected =
            expected.or_else(|| file.captures(expect).map(|f| (f, &[Via::Enclosure][..])));
        let Some((expected, vias)) = expected else { continue };
        if OTHERWISE.iter().any(|file| name.ends_with(file)) {
            continue;
        }
        checked += 1;
        if !is_there(&expected[1], vias) {
            wrong.push(format!("{name}: {} not among {found:?}", &expected[1]));
        }
    }
    assert!(wrong.is_empty(), "{checked} checked, {} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(checked >= 40, "only {checked} were checked");
}
