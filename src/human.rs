//! Numbers, sizes and times as people read them, and a little colour where it is welcome.

use std::io::IsTerminal;

/// `1,234,567`.
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1 page`, `2 pages`.
pub fn counted(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

/// `2.4 %`, of a share from 0 to 1.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent.fract() < 0.05 { format!("{percent:.0} %") } else { format!("{percent:.1} %") }
}

/// `12.3 MB`.
pub fn bytes(number: u64) -> String {
    let units = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "KB")];
    let number = number as f64;
    match units.iter().find(|(unit, _)| number >= *unit) {
        Some((unit, name)) if number / unit >= 100.0 => format!("{:.0} {name}", number / unit),
        Some((unit, name)) => format!("{:.1} {name}", number / unit),
        None => format!("{number} bytes"),
    }
}

/// `0.8 s`, `42 s`, `3 min 05 s`, `2 h 10 min`, `3 days 4 h`.
pub fn time(ms: u64) -> String {
    let s = ms / 1_000;
    match s {
        0..10 => format!("{:.1} s", ms as f64 / 1_000.0),
        10..60 => format!("{s} s"),
        60..3_600 => format!("{} min {:02} s", s / 60, s % 60),
        3_600..86_400 => format!("{} h {:02} min", s / 3_600, s % 3_600 / 60),
        _ => format!("{} days {} h", s / 86_400, s % 86_400 / 3_600),
    }
}

/// `0:35`, `1:02:03`: a clock that runs.
pub fn clock(ms: u64) -> String {
    let s = ms / 1_000;
    match s / 3_600 {
        0 => format!("{}:{:02}", s / 60, s % 60),
        hours => format!("{hours}:{:02}:{:02}", s / 60 % 60, s % 60),
    }
}

/// The text cut to `chars_max` characters, with a mark where something is missing, and plain.
pub fn cut(text: &str, chars_max: usize) -> String {
    let text = plain(text);
    if text.chars().count() <= chars_max {
        return text;
    }
    text.chars().take(chars_max.saturating_sub(1)).chain(['…']).collect()
}

/// What somebody else wrote, without what would steer a terminal: control characters but for line ends and
/// tabs, and those that turn the direction of what follows around.
pub fn plain(text: &str) -> String {
    let is_plain = |c: &char| match *c {
        '\n' | '\t' => true,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => false,
        c => !c.is_control(),
    };
    text.chars().filter(is_plain).collect()
}

/// How to emphasise, where that is wanted.
#[derive(Debug, Clone, Copy)]
pub struct Paint {
    on: bool,
}

impl Paint {
    /// For standard error: colour on a terminal, unless `NO_COLOR` is set (no-color.org).
    pub fn for_stderr() -> Self {
        Self { on: wants_colour() && std::io::stderr().is_terminal() }
    }

    /// For standard output.
    pub fn for_stdout() -> Self {
        Self { on: wants_colour() && std::io::stdout().is_terminal() }
    }

    /// What matters.
    pub fn bold(self, text: &str) -> String {
        self.wrap("1", text)
    }

    /// What is in order.
    pub fn good(self, text: &str) -> String {
        self.wrap("32", text)
    }

    /// What deserves a look.
    pub fn warn(self, text: &str) -> String {
        self.wrap("33", text)
    }

    /// What is beside the point.
    pub fn dim(self, text: &str) -> String {
        self.wrap("2", text)
    }

    fn wrap(self, code: &str, text: &str) -> String {
        if self.on { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

fn wants_colour() -> bool {
    let set = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    !set && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_for_people() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(counted(1, "page", "pages"), "1 page");
        assert_eq!(counted(0, "page", "pages"), "0 pages");
        let sizes = [0, 999, 1_500, 123_456, 20_000_000, 3_200_000_000].map(bytes);
        assert_eq!(sizes, ["0 bytes", "999 bytes", "1.5 KB", "123 KB", "20.0 MB", "3.2 GB"]);
        let times = [800, 42_000, 185_000, 7_800_000, 273_600_000].map(time);
        assert_eq!(times, ["0.8 s", "42 s", "3 min 05 s", "2 h 10 min", "3 days 4 h"]);
        assert_eq!([35_000, 3_723_000].map(clock), ["0:35", "1:02:03"]);
        assert_eq!(cut("äöüß", 3), "äö…");
        assert_eq!(cut("äöü", 3), "äöü");
        assert_eq!(cut("a\u{1b}[31mb", 8), "a[31mb");
    }

    #[test]
    fn what_others_wrote_steers_no_terminal() {
        let text = "a\u{1b}[2Jb\u{9b}31m\u{7}\u{7f}\r\0c\n\td\u{202e}e\u{2066}f\u{200f}é";
        assert_eq!(plain(text), "a[2Jb31mc\n\tdef\u{200f}é");
    }
}
