//! Filter `length`: no URL longer than the limit.
//!
//! Canonicalising refuses such URLs too; this one holds where the limit was lowered afterwards.

use super::{Filter, Subject, Verdict};

pub(super) struct Length {
    pub bytes_max: u64,
}

impl Filter for Length {
    fn name(&self) -> &'static str {
        "length"
    }

    fn judge(&self, subject: &Subject<'_>) -> Verdict {
        let bytes = subject.url.as_str().len();
        if u64::try_from(bytes).is_ok_and(|bytes| bytes <= self.bytes_max) {
            return Verdict::Pass;
        }
        let detail = format!("{bytes} bytes long, {} allowed", self.bytes_max);
        Verdict::reject("length", detail)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{assert_passes, assert_rejects, link};
    use super::*;

    #[test]
    fn a_url_may_be_as_long_as_the_limit_and_no_longer() {
        let filter = Length { bytes_max: 10 };
        assert_passes(&filter, link("http://h/1"));
        assert_rejects(&filter, link("http://h/12"), "length: 11 bytes long, 10 allowed");
    }
}
