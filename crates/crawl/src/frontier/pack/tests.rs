//! Packing and unpacking: nothing is lost, and what is not whole is not read.

use larm_core::url::CrawlUrl;
use larm_core::url::file::LANES;

use super::*;
use crate::frontier::host::host_key;

fn item(url: &str) -> Item {
    Item {
        url: url.into(),
        depth: 3,
        via: Via::Anchor,
        parent: None,
        redirects: 1,
        tries: 2,
        errand: Errand::Page,
        place: Place { priority: 5, seq: 77 },
    }
}

fn items() -> Vec<Item> {
    let robots = Errand::Robots { origin: "https://elsewhere.test:81".into(), hops: 4 };
    vec![
        item("http://a.test/"),
        Item { parent: Some("http://a.test/x".into()), ..item("http://a.test/y?z=1") },
        Item { parent: Some("http://a.test/".into()), ..item("http://a.test/") },
        Item { parent: Some("https://other.test/ä".into()), ..item("https://a.test/ö") },
        Item { parent: Some("https://a.test/öü".into()), ..item("https://a.test/öö") },
        Item {
            errand: Errand::Sitemap,
            via: Via::Robots,
            ..item("https://[::1]:8080/sitemap.xml")
        },
        Item { errand: robots, depth: u32::MAX, ..item("http://127.0.0.1:99/robots.txt") },
        item(&format!("http://long.test/{}", "x".repeat(5_000))),
    ]
}

fn packed(item: &Item) -> Vec<u8> {
    let mut bytes = Vec::new();
    pack(item.into(), 7, HostKey(9), &mut bytes);
    bytes
}

#[test]
fn what_is_packed_comes_out_again() {
    for item in items() {
        let bytes = packed(&item);
        let view = Packed::read(&bytes).unwrap();
        assert_eq!((view.partition, view.host, view.priority), (7, HostKey(9), 5));
        assert_eq!(view.counts(), item.errand.counts());
        assert_eq!(view.unpack(77), item);
    }
}

#[test]
fn host_and_origin_are_those_of_the_url() {
    for item in items() {
        let bytes = packed(&item);
        let view = Packed::read(&bytes).unwrap();
        let url = CrawlUrl::from_canonical(&item.url).unwrap();
        assert_eq!((view.host_name(), view.origin()), (url.host(), url.origin()), "{}", item.url);
    }
}

#[test]
fn every_way_to_find_a_link_has_its_number() {
    for via in Via::ALL {
        let bytes = packed(&Item { via, ..item("http://a.test/") });
        assert_eq!(Packed::read(&bytes).unwrap().unpack(77).via, via);
    }
}

#[test]
fn what_was_cut_short_or_goes_on_is_not_read() {
    for item in items() {
        let mut bytes = packed(&item);
        assert!((0..bytes.len()).all(|end| Packed::read(&bytes[..end]).is_none()));
        bytes.push(0);
        assert!(Packed::read(&bytes).is_none());
    }
}

#[test]
fn a_list_is_read_to_its_end_or_says_where_it_breaks() {
    let mut list = Vec::new();
    for (seq, item) in (300..).zip(items()) {
        let mut bytes = Vec::new();
        pack((&item).into(), 7, host_key(&item.url), &mut bytes);
        put_entry(&mut list, seq, &bytes);
    }
    let seqs: Option<Vec<u64>> = entries(&list).map(|entry| Some(entry?.0)).collect();
    assert_eq!(seqs, Some((300..308).collect()));
    let one = host_key("http://a.test/");
    let seqs: Option<Vec<u64>> = entries_of(&list, one).map(|entry| Some(entry?.0)).collect();
    assert_eq!(seqs, Some(vec![300, 302]));
    list.pop();
    assert!(entries(&list).last().unwrap().is_none());
}

#[test]
fn packed_urls_survive_the_log() {
    let mut packs = Packs::default();
    items().iter().for_each(|item| packs.push(item.into(), 7, HostKey(9)));
    let bytes = postcard::to_stdvec(&packs).unwrap();
    assert_eq!(postcard::from_bytes::<Packs>(&bytes).unwrap(), packs);
    assert_eq!(packs.iter().map(|one| one.unpack(77)).collect::<Vec<_>>(), items());
    let broken = postcard::to_stdvec(&Packs(packs.0[..packs.0.len() - 1].to_vec())).unwrap();
    assert!(postcard::from_bytes::<Packs>(&broken).is_err());
}

#[test]
fn whatever_can_be_read_can_be_used() {
    for item in items().iter().filter(|item| item.url.len() < 100) {
        let bytes = packed(item);
        for at in 0..bytes.len() {
            for byte in 0..=u8::MAX {
                let mut other = bytes.clone();
                other[at] = byte;
                if let Some(view) = Packed::read(&other) {
                    let host = view.host_name();
                    assert!(view.origin().contains(host) || LANES.contains(&host));
                    view.unpack(1);
                }
            }
        }
    }
}

#[test]
fn lengths_beyond_all_bounds_are_not_read() {
    let mut bytes = packed(&item("http://a.test/"));
    let host_bytes = 2 + 8 + 4 + 1;
    assert_eq!(bytes[host_bytes], 6);
    bytes.splice(host_bytes..=host_bytes, [[0xff; 9].as_slice(), &[1]].concat());
    assert!(Packed::read(&bytes).is_none());
}
