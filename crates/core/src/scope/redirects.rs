//! Filter `redirects`: no endless chain of redirects.

use super::{Filter, Subject, Verdict};

pub(super) struct Redirects {
    pub max: u64,
}

impl Filter for Redirects {
    fn name(&self) -> &'static str {
        "redirects"
    }

    fn judge(&self, subject: &Subject<'_>) -> Verdict {
        if u64::from(subject.redirects) <= self.max {
            return Verdict::Pass;
        }
        let detail = format!("{} redirects in a row, {} allowed", subject.redirects, self.max);
        Verdict::reject("redirects", detail)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{assert_passes, assert_rejects, link};
    use super::*;

    #[test]
    fn a_chain_may_have_as_many_redirects_as_the_limit() {
        let filter = Redirects { max: 5 };
        let after = |redirects| Subject { redirects, ..link("http://h/") };
        assert_passes(&filter, after(0));
        assert_passes(&filter, after(5));
        assert_rejects(&filter, after(6), "redirects: 6 redirects in a row, 5 allowed");
    }
}
