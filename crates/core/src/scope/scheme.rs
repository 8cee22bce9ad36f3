//! Filter `scheme`: http, https and file, or only some of them.

use super::{Filter, Subject, Verdict};

pub(super) struct Scheme {
    /// Schemes to follow, in lower case; all of them where none is named.
    pub allow: Vec<String>,
}

impl Filter for Scheme {
    fn name(&self) -> &'static str {
        "scheme"
    }

    fn is_about_safety(&self) -> bool {
        true
    }

    fn judge(&self, subject: &Subject<'_>) -> Verdict {
        let scheme = subject.url.scheme();
        if self.allow.is_empty() || self.allow.iter().any(|allow| allow == scheme) {
            return Verdict::Pass;
        }
        Verdict::reject("scheme", format!("{scheme} URLs are not followed"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{assert_passes, assert_rejects, link};
    use super::*;

    #[test]
    fn one_scheme_can_be_left_out() {
        let both = Scheme { allow: Vec::new() };
        assert_passes(&both, link("http://h/"));
        assert_passes(&both, link("https://h/"));
        assert_passes(&both, link("file:///a"));
        let secure = Scheme { allow: vec!["https".to_owned()] };
        assert_passes(&secure, link("https://h/"));
        assert_rejects(&secure, link("http://h/"), "scheme: http URLs are not followed");
        assert_rejects(&secure, link("file:///a"), "scheme: file URLs are not followed");
    }
}
