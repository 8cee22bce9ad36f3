//! robots.txt by RFC 9309, in the few lines that the reference crawler needs.

/// The rules for agents that the file does not name.
#[derive(Debug, Default)]
pub struct Robots {
    /// Whether allowed, and the pattern.
    pub rules: Vec<(bool, String)>,
    pub sitemaps: Vec<String>,
    /// Nothing may be asked for: the file cannot be had.
    pub shut: bool,
}

impl Robots {
    /// Reads a file.
    pub fn parse(text: &str) -> Self {
        let mut robots = Self::default();
        let (mut ours, mut in_agents) = (false, false);
        for line in text.trim_start_matches('\u{feff}').lines() {
            let line = line.split('#').next().unwrap_or_default();
            let Some((key, value)) = line.split_once(':') else {
                continue;
            };
            let (key, value) = (key.trim().to_ascii_lowercase(), value.trim());
            match key.as_str() {
                "user-agent" => {
                    ours = value == "*" || (in_agents && ours);
                    in_agents = true;
                }
                "allow" | "disallow" => {
                    in_agents = false;
                    if ours && !value.is_empty() {
                        robots.rules.push((key == "allow", value.to_owned()));
                    }
                }
                "sitemap" => robots.sitemaps.push(value.to_owned()),
                _ => {}
            }
        }
        robots
    }

    /// Whether a path may be asked for: the longest rule that matches decides, allow before disallow.
    pub fn allow(&self, path: &str) -> bool {
        let matching = self.rules.iter().filter(|(_, pattern)| matches(pattern, path));
        let decisive = matching.max_by_key(|(allow, pattern)| (pattern.len(), *allow));
        !self.shut && decisive.is_none_or(|(allow, _)| *allow)
    }
}

fn matches(pattern: &str, path: &str) -> bool {
    let (pattern, to_the_end) = match pattern.strip_suffix('$') {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    let mut parts = pattern.split('*');
    let Some(mut rest) = path.strip_prefix(parts.next().unwrap_or_default()) else {
        return false;
    };
    let mut last = "";
    for part in parts {
        let Some(at) = rest.find(part) else {
            return false;
        };
        (rest, last) = (&rest[at + part.len()..], part);
    }
    !to_the_end || rest.is_empty() || (pattern.contains('*') && rest.ends_with(last))
}

#[test]
fn the_longest_match_decides() {
    let robots = Robots::parse("User-agent: *\nDisallow: /a\nAllow: /a/b\nDisallow: /*.x$\n");
    for (path, allowed) in
        [("/", true), ("/a/c", false), ("/a/b", true), ("/q.x", false), ("/q.xy", true)]
    {
        assert_eq!(robots.allow(path), allowed, "{path}");
    }
}
