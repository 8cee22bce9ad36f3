//! Filter `scheme`: http and https, or only one of them.

use super::{Filter, Subject, Verdict};

pub(super) struct Scheme {
    /// Schemes to follow, in lower case; http and https where none is named.
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
        let is_web = matches!(scheme, "http" | "https");
        let is_allowed = self.allow.is_empty() || self.allow.iter().any(|allow| allow == scheme);
        if is_web && is_allowed {
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
        let secure = Scheme { allow: vec!["https".to_owned()] };
        assert_passes(&secure, link("https://h/"));
        assert_rejects(&secure, link("http://h/"), "scheme: http URLs are not followed");
    }
}
