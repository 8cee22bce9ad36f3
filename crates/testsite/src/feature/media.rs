//! Files that are no pages: sound behind a link and in a podcast's feed, and a document.

use super::Shelf;
use crate::resource::{Carrier, Link, Reply, Resource, Role};
use crate::web::Web;

/// A page with sound, a feed and a PDF.
///
/// The truth says: what pages link to is demanded, also the sound and the document; what the feed offers
/// besides is as an asset is, and what feed and document link to is known anyway: whether to look into them
/// is a matter of taste.
pub(super) fn media(web: &Web, shelf: &mut Shelf) {
    let (talk, episode, cast) = ("/media/talk.mp3", "/media/episode", "/media/episode.ogg");
    let (feed, guide) = ("/media/feed.xml", "/media/guide.pdf");
    let links = [talk, episode, feed, guide].map(|path| shelf.link(path)).to_vec();
    shelf.offer("/media/", Resource::page(shelf.page("/media/", links)));
    shelf.put(talk, Resource::bytes("audio/mpeg", *b"ID3\x03\0\0\0\0\0\0 a talk"));
    shelf.put_page(episode);
    shelf.put(cast, Resource::bytes("audio/ogg", *b"OggS\0 a cast").with_role(Role::Asset));
    let offered = shelf.link(cast).carried_by(Carrier::Image);
    let links = vec![Link::absolute(shelf.host, episode), offered];
    let body = podcast(&web.url(shelf.host, episode), cast).into_bytes();
    shelf.put(feed, known("application/rss+xml", body, links));
    let body = document(&web.url(shelf.host, "/"));
    shelf.put(guide, known("application/pdf", body, vec![Link::absolute(shelf.host, "/")]));
}

/// Bytes with links that are known.
fn known(content_type: &'static str, body: Vec<u8>, links: Vec<Link>) -> Resource {
    let reply = Reply::Bytes { content_type, body, links };
    Resource { reply, delivery: Default::default(), role: Role::Content }
}

fn podcast(episode: &str, cast: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?>\n<rss version=\"2.0\"><channel><title>Casts</title>\n\
         <item><title>An episode</title><link>{episode}</link>\n\
         <enclosure url=\"{cast}\" type=\"audio/ogg\" length=\"12\"/></item>\n</channel></rss>\n"
    )
}

/// A PDF of one page that says a sentence and links to `url`.
fn document(url: &str) -> Vec<u8> {
    let content = "BT /F1 12 Tf 72 720 Td (The guide of this house, on one page.) Tj ET";
    let objects = [
        "<</Type/Catalog/Pages 2 0 R>>".to_owned(),
        "<</Type/Pages/Kids[3 0 R]/Count 1>>".to_owned(),
        format!(
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R\
             /Resources<</Font<</F1 5 0 R>>>>/Annots[<</Type/Annot/Subtype/Link\
             /Rect[72 700 300 740]/A<</S/URI/URI({url})>>>>]>>"
        ),
        format!("<</Length {}>>\nstream\n{content}\nendstream", content.len()),
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>".to_owned(),
        "<</Title(A guide)>>".to_owned(),
    ];
    let mut out = "%PDF-1.4\n".to_owned();
    let mut table = "0000000000 65535 f \n".to_owned();
    for (at, object) in objects.iter().enumerate() {
        table += &format!("{:010} 00000 n \n", out.len());
        out += &format!("{} 0 obj\n{object}\nendobj\n", at + 1);
    }
    let (start, size) = (out.len(), objects.len() + 1);
    out += &format!("xref\n0 {size}\n{table}trailer\n<</Size {size}/Root 1 0 R/Info 6 0 R>>\n");
    out += &format!("startxref\n{start}\n%%EOF\n");
    out.into_bytes()
}
