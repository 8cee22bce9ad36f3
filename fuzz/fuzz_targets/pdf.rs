//! Any bytes read as a PDF come to an end, and tell no more than they were asked for. In a crawl this runs in a
//! confined process; here it has to do without.
#![no_main]

use larm_core::Limits;
use larm_core::parse::pdf::{Order, Piece};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|body: &[u8]| {
    // Small bounds are met more often.
    let limits = Limits {
        page_text_bytes_max: 10_000,
        page_links_max: 100,
        pdf_stream_bytes_max: 100_000,
        pdf_pages_max: 20,
        pdf_nesting_max: 3,
        ..Limits::default()
    };
    let (mut text_bytes, mut link_count, mut ended) = (0, 0, 0);
    let tell = |piece| {
        match piece {
            Piece::Page { text, links } => {
                text_bytes += text.len() as u64;
                link_count += links.len() as u64;
            }
            Piece::About(_) => {}
            Piece::End { .. } | Piece::Locked | Piece::Broken => ended += 1,
        }
        Ok::<_, ()>(())
    };
    larm_pdf::read(body, &Order::new(&limits), tell).expect("nothing was refused");
    assert_eq!(ended, 1);
    // A letter may be a few bytes over.
    assert!(text_bytes <= limits.page_text_bytes_max + 100 && link_count <= limits.page_links_max);
});
