//! What pages embed, and pages that only a sitemap names.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::Shelf;
use crate::resource::{Carrier, Link, Reply, Resource, Role};
use crate::web::Web;

/// The sitemap that robots.txt names.
pub(crate) const SITEMAP_INDEX: &str = "/sitemap-index.xml";

/// The image that sitemaps offer beside their pages.
const MAPPED_IMAGE: &str = "/mapped/image.png";

/// A picture of one grey pixel.
pub(super) const PIXEL_PNG: [u8; 67] = [
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52,
    0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x00, 0x00, 0x00, 0x00, 0x3a, 0x7e, 0x9b,
    0x55, 0x00, 0x00, 0x00, 0x0a, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9c, 0x63, 0x68, 0x00, 0x00, 0x00,
    0x82, 0x00, 0x81, 0x77, 0xcd, 0x72, 0xb6, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae,
    0x42, 0x60, 0x82,
];

/// The links by which pages embed the assets of their host.
pub(crate) fn embedded(host: usize) -> [Link; 4] {
    let link = |path, carrier| Link::local(host, path).carried_by(carrier);
    [
        link("/assets/style.css", Carrier::Stylesheet),
        link("/assets/app.js", Carrier::Script),
        link("/assets/logo.png", Carrier::Image),
        link("/assets/photo-large.png", Carrier::Srcset),
    ]
}

/// The truth says: assets are not demanded (a crawler may be told to leave them), and are never
/// extra.
pub(super) fn assets(shelf: &mut Shelf) {
    for path in ["/assets/logo.png", "/assets/photo-large.png", "/assets/background.png"] {
        shelf.put(path, asset("image/png", &PIXEL_PNG));
    }
    shelf.put("/assets/app.js", asset("text/javascript", b"const made = '/fake/by-script';\n"));
    let css = b"body { max-width: 40em; margin: 2em auto; font: 1.1em/1.6 Georgia, serif;
  \
        color: #222; background: #fdfcf8 url(/assets/background.png) no-repeat }
\
        a { display: block; color: #15607a }
";
    let mut style = asset("text/css", css);
    if let Reply::Bytes { links, .. } = &mut style.reply {
        links.push(shelf.link("/assets/background.png").carried_by(Carrier::Image));
    }
    shelf.put("/assets/style.css", style);
}

fn asset(content_type: &'static str, body: &[u8]) -> Resource {
    Resource::bytes(content_type, body).with_role(Role::Asset)
}

/// An index, a plain sitemap and a compressed one, each page with an image of the extension for those.
///
/// The truth says: sitemaps are demanded, and so are the pages that they name, found by `sitemap`; the
/// image is an asset.
pub(super) fn sitemaps(web: &Web, shelf: &mut Shelf) {
    let (plain, packed) = ("/sitemap-1.xml", "/sitemap-2.xml.gz");
    let index = sitemap(web, shelf.host, "sitemapindex", "sitemap", &[plain, packed]);
    let first = sitemap(web, shelf.host, "urlset", "url", &["/mapped/1", "/mapped/2"]);
    let second = sitemap(web, shelf.host, "urlset", "url", &["/mapped/3", "/mapped/4"]);
    shelf.put(MAPPED_IMAGE, asset("image/png", &PIXEL_PNG));
    shelf.put(SITEMAP_INDEX, index);
    shelf.put(plain, first);
    shelf.put(packed, compressed(second));
    for n in 1..=4 {
        shelf.put_page(&format!("/mapped/{n}"));
    }
}

fn sitemap(web: &Web, host: usize, outer: &str, inner: &str, paths: &[&str]) -> Resource {
    let image = web.url(host, MAPPED_IMAGE);
    let image = match inner {
        "url" => format!("<image:image><image:loc>{image}</image:loc></image:image>"),
        _ => String::new(),
    };
    let entry = |path: &&str| {
        let about = "<lastmod>2026-01-31</lastmod>";
        format!("  <{inner}><loc>{}</loc>{about}{image}</{inner}>\n", web.url(host, path))
    };
    let entries: String = paths.iter().map(entry).collect();
    let namespace = "http://www.sitemaps.org/schemas/sitemap/0.9";
    let images = "http://www.google.com/schemas/sitemap-image/1.1";
    let body = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<{outer} xmlns=\"{namespace}\" xmlns:image=\"{images}\">\n\
         {entries}</{outer}>\n"
    )
    .into_bytes();
    let offered = (inner == "url").then(|| Link::absolute(host, MAPPED_IMAGE));
    let offered = offered.map(|link| link.carried_by(Carrier::Image));
    let links = paths.iter().map(|path| Link::absolute(host, *path)).chain(offered).collect();
    let reply = Reply::Bytes { content_type: "application/xml", body, links };
    Resource { reply, delivery: Default::default(), role: Role::Sitemap }
}

fn compressed(mut sitemap: Resource) -> Resource {
    if let Reply::Bytes { content_type, body, .. } = &mut sitemap.reply {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(body).expect("writing to memory does not fail");
        *body = encoder.finish().expect("writing to memory does not fail");
        *content_type = "application/gzip";
    }
    sitemap
}
