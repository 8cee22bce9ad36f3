//! HTTP/2 that fails, in every way: one page at the most is lost, with a reason, and the crawl ends.
//!
//! Each host meets its trouble once, at the third request after its robots.txt. With two tries all pages
//! are there; with one, the page that met the trouble says what it was.

use larm_crawl::Plan;
use larm_crawl::store::summary::State;
use larm_testsite::secure::{Http2, Trouble};

use crate::kept::{Kept, story};
use crate::secure::Secured;
use crate::world::crawl;

fn plan(secured: &Secured, tries: u64) -> Plan {
    let mut plan = secured.plan();
    plan.fetch.http2 = true;
    plan.limits.url_tries_max = tries;
    plan.limits.host_back_off_ms_max = 20;
    plan.limits.first_byte_ms_max = 3_000;
    plan.limits.fetch_ms_max = 4_000;
    plan.limits.body_bytes_max = 500_000;
    plan
}

#[test]
fn look() {
    let troubles: Vec<Trouble> = Http2::ALL.iter().map(|h2| Trouble::Http2(*h2)).collect();
    for tries in [1, 2] {
        let secured = Secured::new(&troubles);
        let summary = crawl(plan(&secured, tries));
        assert_eq!((summary.state, summary.queued), (State::Finished, 0), "{summary:?}");
        let kept = Kept::of(&secured.dir());
        for h2 in Http2::ALL {
            for path in ["/", "/1", "/2", "/3", "/4"] {
                let url = secured.site.url(Trouble::Http2(*h2), path).unwrap();
                match kept.log.iter().find(|line| line["url"] == *url) {
                    None => println!("{tries} {} {path} none", h2.word()),
                    Some(line) if line["outcome"] == "fetched" && story(line) == ": " => {}
                    Some(line) => println!("{tries} {} {path} {} {} {}", h2.word(), line["outcome"], line["tries"], story(line)),
                }
            }
        }
    }
}
