//! The product token of a user agent: what robots.txt files call a crawler by.

/// The token of a whole user agent, or of a token alone: `larm`, `larm/1.0 (+https://…)` and
/// `Mozilla/5.0 (compatible; larm/1.0; +https://…)` are all `larm`.
pub fn product_token(agent: &str) -> &str {
    let agent = agent.trim();
    let disguised = agent.strip_prefix("Mozilla/").and_then(|rest| {
        let (_, after) = rest.split_once("compatible;")?;
        Some(first_word(after.trim_start())).filter(|word| !word.is_empty())
    });
    disguised.unwrap_or_else(|| first_word(agent))
}

fn first_word(text: &str) -> &str {
    text.split(|c: char| c.is_whitespace() || "/;()".contains(c)).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_found_in_all_writings() {
        let rows = [
            ("larm", "larm"),
            ("larm/0.1.0", "larm"),
            ("larm/0.1.0 (+https://example.com/bot)", "larm"),
            (
                "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
                "Googlebot",
            ),
            ("Mozilla/5.0 (X11; Linux x86_64) Gecko/20100101", "Mozilla"),
            ("my-bot_x", "my-bot_x"),
            ("", ""),
            ("*", "*"),
        ];
        for (agent, token) in rows {
            assert_eq!(product_token(agent), token, "{agent}");
        }
    }
}
