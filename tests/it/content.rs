//! What larm makes of what is no page: PDFs in a process of their own, files that feeds and sitemaps offer,
//! and a crawl that is for one kind of file.

use std::path::PathBuf;

use larm_crawl::Plan;
use larm_crawl::pdf::PdfProgram;
use serde_json::Value;

use crate::hand::{Hand, at, page, with_body};
use crate::kept::Kept;
use crate::world::crawl;

const HOST: &str = "h.test";

fn place(path: &str) -> String {
    format!("{HOST}{path}")
}

/// The binary reads PDFs for a library user as for itself.
fn reader() -> Option<PdfProgram> {
    let path = PathBuf::from(env!("CARGO_BIN_EXE_larm"));
    Some(PdfProgram { path, args: vec!["read-pdf".to_owned()] })
}

/// 200 and these bytes, of this type.
fn file(content_type: &str, body: &[u8]) -> Vec<u8> {
    let (ok, length) = ("HTTP/1.1 200 OK\r\nConnection: close", body.len());
    let head = format!("{ok}\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\n\r\n");
    [head.as_bytes(), body].concat()
}

/// A PDF of one page with this content stream, and a link.
fn pdf(content: &str) -> Vec<u8> {
    let objects = [
        "<</Type/Catalog/Pages 2 0 R>>".to_owned(),
        "<</Type/Pages/Kids[3 0 R]/Count 1>>".to_owned(),
        "<</Type/Page/Parent 2 0 R/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>/XObject<</X 7 0 R>>>>\
         /Annots[<</Subtype/Link/A<</S/URI/URI(/found-in-pdf)>>>>]>>"
            .to_owned(),
        stream("", content),
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>".to_owned(),
        "<</Title(The guide)>>".to_owned(),
        // A drawing that draws itself twice, sixteen deep: more than anybody waits for.
        stream("/Subtype/Form/Resources<</XObject<</X 7 0 R>>>>", &"/X Do ".repeat(40)),
    ];
    let mut out = "%PDF-1.4\n".to_owned();
    for (at, object) in objects.iter().enumerate() {
        out += &format!("{} 0 obj\n{object}\nendobj\n", at + 1);
    }
    out += "trailer\n<</Root 1 0 R/Info 6 0 R>>\n%%EOF\n";
    out.into_bytes()
}

fn stream(dict: &str, content: &str) -> String {
    format!("<<{dict}/Length {}>>\nstream\n{content}\nendstream", content.len())
}

fn notes(kept: &Kept, url: &str) -> Vec<Value> {
    kept.line(url)["notes"].as_array().cloned().unwrap_or_default()
}

fn pdf_web() -> Hand {
    Hand::serve(|_| {
        let links = ["/guide.pdf", "/hostile.pdf", "/broken.pdf", "/end"];
        let hostile = pdf("BT /F1 12 Tf (before) Tj ET /X Do");
        vec![
            (place("/"), page(&links)),
            (place("/guide.pdf"), file("application/pdf", &pdf("BT /F1 12 Tf (Read me) Tj ET"))),
            (place("/hostile.pdf"), file("application/octet-stream", &hostile)),
            (place("/broken.pdf"), file("application/pdf", b"%PDF-1.7 and nothing else")),
            (place("/found-in-pdf"), page(&[])),
            (place("/end"), page(&["/"])),
        ]
    })
}

fn pdf_plan(web: &Hand) -> Plan {
    let mut plan = web.plan(&place("/"), &[HOST]);
    plan.keep.page_text = true;
    plan.limits.pdf_ms_max = 2_000;
    plan
}

#[test]
fn a_pdf_is_read_and_a_hostile_one_costs_itself_alone() {
    let web = pdf_web();
    crawl(Plan { pdf: reader(), ..pdf_plan(&web) });
    let kept = Kept::of(&web.dir());
    let listed = |path: &str| {
        let url = web.url(&place(path));
        kept.pages.iter().find(|page| page["url"] == url.as_str()).cloned().expect("it is listed")
    };
    let guide = listed("/guide.pdf");
    assert_eq!((&guide["title"], &guide["text"]), (&"The guide".into(), &"Read me".into()));
    assert_eq!(guide["mime"], "application/pdf");
    assert!(web.asked().contains(&place("/found-in-pdf")), "its link was followed");
    assert!(web.asked().contains(&place("/end")), "the crawl went on");
    let of = |path: &str| notes(&kept, &web.url(&place(path)));
    assert_eq!(of("/guide.pdf"), Vec::<Value>::new());
    assert_eq!(of("/broken.pdf"), ["pdf-broken"]);
    let hostile = of("/hostile.pdf");
    assert!(hostile == ["pdf-late"] || hostile == ["pdf-reader-died"], "{hostile:?}");
    kept.assert_sound();
}

/// Four megabytes that become some hundred when they are read.
#[test]
fn a_pdf_that_wants_more_memory_than_it_may_have_costs_itself_alone() {
    let web = Hand::serve(|_| {
        let numbers = b"0 ".repeat(2_000_000);
        let greedy = [pdf(""), b"8 0 obj[".to_vec(), numbers, b"]endobj\n".to_vec()];
        vec![
            (place("/"), page(&["/greedy.pdf", "/end"])),
            (place("/greedy.pdf"), file("application/pdf", &greedy.concat())),
            (place("/end"), page(&[])),
        ]
    });
    let mut plan = Plan { pdf: reader(), ..pdf_plan(&web) };
    plan.limits.pdf_memory_bytes_max = 128 * 1024 * 1024;
    plan.limits.pdf_ms_max = 600_000;
    crawl(plan);
    let kept = Kept::of(&web.dir());
    assert_eq!(notes(&kept, &web.url(&place("/greedy.pdf"))), ["pdf-reader-died"]);
    assert!(web.asked().contains(&place("/end")));
}

#[test]
fn without_a_reader_a_pdf_is_kept_and_not_read() {
    let web = pdf_web();
    crawl(pdf_plan(&web));
    let kept = Kept::of(&web.dir());
    assert_eq!(notes(&kept, &web.url(&place("/guide.pdf"))), ["pdf-unread"]);
    assert!(!web.asked().contains(&place("/found-in-pdf")));
    kept.answer(&web.url(&place("/guide.pdf")));
}

#[test]
fn a_reader_that_is_no_reader_does_no_harm() {
    for (program, args) in [("/bin/sh", vec!["-c", "yes"]), ("/bin/sh", vec!["-c", "exit 3"])] {
        let web = pdf_web();
        let args = args.into_iter().map(str::to_owned).collect();
        let pdf = Some(PdfProgram { path: program.into(), args });
        crawl(Plan { pdf, ..pdf_plan(&web) });
        let notes = notes(&Kept::of(&web.dir()), &web.url(&place("/guide.pdf")));
        assert_eq!(notes, ["pdf-reader-died"]);
    }
}

/// Sound behind a link, an element, a feed and a sitemap; and what else a site has.
fn site_with_sound() -> Hand {
    Hand::serve(|port| {
        let whole = |path: &str| at(port, &place(path));
        let feed = format!(
            "<rss version='2.0'><channel><title>Casts</title><item><title>One</title>\
             <link>{}</link><enclosure url='{}' type='audio/mpeg' length='9'/></item></channel></rss>",
            whole("/episode"),
            whole("/play?episode=1"),
        );
        let map = format!(
            "<urlset><url><loc>{}</loc><video:video><video:content_loc>{}</video:content_loc>\
             </video:video></url></urlset>",
            whole("/mapped"),
            whole("/film.mp4"),
        );
        let home = "<a href=/linked.mp3>x</a><audio src=/embedded.ogg></audio><img src=/a.png>\
                    <a href=/feed>f</a><a href=/report.pdf>r</a><a href=/notes.txt>n</a>\
                    <a href=/download>d</a>";
        let sound = |bytes: &[u8]| file("audio/mpeg", bytes);
        vec![
            (place("/"), with_body("text/html", home)),
            (
                place("/robots.txt"),
                with_body("text/plain", &format!("Sitemap: {}", whole("/map.xml"))),
            ),
            (place("/map.xml"), with_body("application/xml", &map)),
            (place("/feed"), with_body("application/rss+xml", &feed)),
            (place("/episode"), page(&["/deep.flac"])),
            (place("/mapped"), page(&["/home.wav"])),
            (place("/linked.mp3"), sound(b"ID3 linked")),
            (place("/embedded.ogg"), file("application/ogg", b"OggS\0 embedded")),
            (place("/play?episode=1"), sound(b"ID3 enclosure")),
            (place("/deep.flac"), file("audio/flac", b"fLaC deep")),
            (place("/home.wav"), file("application/octet-stream", b"RIFF....WAVEfmt home")),
            (place("/download"), file("application/octet-stream", b"ID3 by its bytes")),
            (place("/film.mp4"), file("video/mp4", b"....ftypmp42")),
            (place("/a.png"), file("image/png", b"\x89PNG")),
            (place("/notes.txt"), with_body("text/plain", "words")),
            (place("/report.pdf"), file("application/pdf", b"%PDF-1.4")),
        ]
    })
}

#[test]
fn whoever_asks_for_sound_gets_every_file_of_it_listed_and_nothing_else() {
    let web = site_with_sound();
    let mut plan = web.plan(&place("/"), &[HOST]);
    plan.selection.accept = vec!["audio/*".to_owned()];
    plan.fetch.accept = plan.selection.accept.clone();
    let summary = crawl(plan);
    let kept = Kept::of(&web.dir());
    let paths =
        ["/deep.flac", "/download", "/embedded.ogg", "/home.wav", "/linked.mp3", "/play?episode=1"];
    let sound: Vec<String> = paths.iter().map(|path| web.url(&place(path))).collect();
    let sorted = |mut urls: Vec<String>| {
        urls.sort();
        urls
    };
    let listed = kept.pages.iter().map(|page| page["url"].as_str().expect("a URL").to_owned());
    assert_eq!(sorted(listed.collect()), sound);
    let mut archived = sorted(kept.answered());
    archived.retain(|url| !url.ends_with("/map.xml"));
    assert_eq!(archived, sound);
    assert_eq!(summary.fetched, 7, "six files and a sitemap: {summary:?}");
    for unasked in ["/a.png", "/film.mp4", "/report.pdf"] {
        assert!(!web.asked().contains(&place(unasked)), "{unasked} is of another type by its name");
    }
    let home = kept.line(&web.url(&place("/")));
    let why = home.to_string();
    assert!(why.contains("types") && why.contains("read for its links"), "{why}");
    assert!(kept.links_of(&web.url(&place("/"))).len() > 3, "where it leads is known");
}

#[test]
fn what_pages_embed_is_kept_besides_where_it_was_asked_for() {
    let web = Hand::serve(|_| {
        let home = "<img src=/a.png><img src=/b><a href=/c.png>c</a>";
        vec![
            (place("/"), with_body("text/html", home)),
            (place("/a.png"), file("image/png", b"\x89PNG a")),
            (place("/b"), file("image/png", b"\x89PNG b")),
            (place("/c.png"), file("image/png", b"\x89PNG c")),
        ]
    });
    let mut plan = web.plan(&place("/"), &[HOST]);
    plan.selection.accept = vec!["text/html".to_owned()];
    plan.fetch.accept = plan.selection.accept.clone();
    (plan.selection.assets, plan.fetch.assets) = (true, true);
    crawl(plan);
    let mut archived = Kept::of(&web.dir()).answered();
    archived.sort();
    assert_eq!(archived, ["/", "/a.png", "/b"].map(|path| web.url(&place(path))));
}

#[test]
fn a_sitemap_is_looked_for_at_its_usual_place_where_none_is_named() {
    let web = Hand::serve(|port| {
        let map = format!("<urlset><url><loc>{}</loc></url></urlset>", at(port, &place("/mapped")));
        vec![
            (place("/"), page(&["/linked"])),
            (place("/sitemap.xml"), with_body("application/xml", &map)),
            (place("/mapped"), page(&[])),
            (place("/linked"), page(&[])),
        ]
    });
    let mut plan = web.plan(&place("/"), &[HOST]);
    plan.usual_sitemap = true;
    plan.budgets.pages_max = Some(3);
    let summary = crawl(plan);
    assert_eq!(web.asked().iter().filter(|place| place.ends_with("/sitemap.xml")).count(), 1);
    assert!(web.asked().contains(&place("/mapped")));
    assert_eq!(summary.fetched, 4, "three pages within the budget, and the sitemap");
    let line = Kept::of(&web.dir());
    assert_eq!(line.line(&web.url(&place("/mapped")))["depth"], 1);
}

#[test]
fn no_sitemap_at_its_usual_place_is_nothing_that_is_missing() {
    let every_path = page(&["/only-here"]);
    for answer in [None, Some(every_path)] {
        let web = Hand::serve(|_| {
            let mut answers = vec![(place("/"), page(&["/linked"])), (place("/linked"), page(&[]))];
            answers.extend(answer.map(|answer| (place("/sitemap.xml"), answer)));
            answers
        });
        let mut plan = web.plan(&place("/"), &[HOST]);
        plan.usual_sitemap = true;
        let summary = crawl(plan);
        assert_eq!(summary.fetched, 2, "{summary:?}");
        assert!(!summary.statuses.contains_key("404"), "{summary:?}");
        assert!(!web.asked().contains(&place("/only-here")), "a page is no sitemap");
        let listed = Kept::of(&web.dir()).pages.len();
        assert_eq!(listed, 2);
    }
}

#[test]
fn whoever_asks_for_the_seeds_alone_gets_no_sitemap() {
    let web = Hand::serve(|_| vec![(place("/"), page(&["/linked"]))]);
    let mut plan = web.plan(&place("/"), &[HOST]);
    plan.usual_sitemap = true;
    plan.selection.depth_max = 0;
    crawl(plan);
    assert_eq!(web.asked(), [place("/")]);
}
