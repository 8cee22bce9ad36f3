//! Filter `depth`: how many hops from a seed. What a page embeds counts like the page itself.

use super::{Filter, Subject, Verdict};

pub(super) struct Depth {
    pub hops_max: u32,
}

impl Filter for Depth {
    fn name(&self) -> &'static str {
        "depth"
    }

    fn judge(&self, subject: &Subject<'_>) -> Verdict {
        let hops = subject.depth.saturating_sub(u32::from(subject.via.is_embed()));
        if hops <= self.hops_max {
            return Verdict::Pass;
        }
        Verdict::reject("depth", format!("{hops} hops from a seed, {} allowed", self.hops_max))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{assert_passes, assert_rejects, link};
    use super::*;
    use crate::Via;

    #[test]
    fn hops_are_counted_from_the_seed() {
        let filter = Depth { hops_max: 2 };
        let at = |depth| Subject { depth, ..link("http://h/") };
        assert_passes(&filter, at(0));
        assert_passes(&filter, at(2));
        assert_rejects(&filter, at(3), "depth: 3 hops from a seed, 2 allowed");
    }

    #[test]
    fn what_a_page_embeds_counts_like_the_page() {
        let filter = Depth { hops_max: 0 };
        let image = Subject { depth: 1, via: Via::Embed, ..link("http://h/a.png") };
        assert_passes(&filter, image);
        assert_rejects(&filter, Subject { depth: 2, ..image }, "depth: 1 hops from a seed");
    }
}
