//! One JSON object a line in, one out, in the same order. A line that cannot be read gives
//! `{"error": …}` in its place; nothing that is in a line ends the program.

use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};

use anyhow::Result;
use larm_core::Limits;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Answers every line of standard input.
pub fn each_line<Q: DeserializeOwned>(answer: fn(Q, &Limits) -> Value) -> Result<()> {
    // Stdin's own buffer is small for lines that hold whole pages.
    let input = BufReader::with_capacity(1 << 18, io::stdin().lock());
    let output = BufWriter::with_capacity(1 << 18, io::stdout().lock());
    answer_all(input, output, answer)
}

fn answer_all<Q: DeserializeOwned, R: Read>(
    mut input: BufReader<R>,
    mut output: impl Write,
    answer: fn(Q, &Limits) -> Value,
) -> Result<()> {
    let limits = Limits::default();
    // In base 64 a body takes a third more.
    let line_bytes_max = limits.body_decoded_bytes_max.saturating_mul(2);
    let mut line = Vec::new();
    loop {
        line.clear();
        if input.by_ref().take(line_bytes_max).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        let reply = if line.len() as u64 == line_bytes_max && !line.ends_with(b"\n") {
            input.skip_until(b'\n')?;
            json!({"error": format!("the line is longer than {line_bytes_max} bytes")})
        } else if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        } else {
            reply(&line, answer, &limits)
        };
        serde_json::to_writer(&mut output, &reply)?;
        output.write_all(b"\n")?;
        // Whoever asks one by one waits for the answer.
        if input.buffer().is_empty() {
            output.flush()?;
        }
    }
    Ok(output.flush()?)
}

fn reply<Q: DeserializeOwned>(
    line: &[u8],
    answer: fn(Q, &Limits) -> Value,
    limits: &Limits,
) -> Value {
    match serde_json::from_slice(line) {
        Ok(question) => answer(question, limits),
        Err(error) => json!({"error": format!("not understood: {error}")}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run<Q: DeserializeOwned>(input: &[u8], answer: fn(Q, &Limits) -> Value) -> Vec<Value> {
        let mut out = Vec::new();
        answer_all(BufReader::new(input), &mut out, answer).unwrap();
        let lines = String::from_utf8(out).unwrap();
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn urls_are_answered_in_order_and_bad_lines_in_their_place() {
        let input = br#"{"url":"HTTP://Example.com:80/a/../b?utm_source=x#f"}
{"url":"../c","base":"http://h/a/b"}
{"url":"\ud800"}
not json
{"url":"mailto:a@b"}
{"url":"x","base":"mailto:"}
{"url":"\u0000","extra":1}"#;
        let out = run(input, super::super::url::answer);
        assert_eq!(out.len(), 7);
        assert_eq!(out[0]["url"], "http://example.com/b");
        assert_eq!(out[0]["error"], Value::Null);
        assert_eq!(out[0]["host"], "example.com");
        assert_eq!(out[0]["surt"], "com,example)/b");
        assert_eq!(out[0]["fingerprint"].as_str().unwrap().len(), 16);
        assert_eq!(out[1]["url"], "http://h/c");
        for line in &out[2..6] {
            assert!(line["error"].is_string(), "{line}");
        }
        assert_eq!(out[4]["url"], Value::Null);
    }

    #[test]
    fn robots_are_answered_for_tokens_and_whole_agents() {
        let input = br#"{"robots":"user-agent: foobot\ndisallow: /a\ncrawl-delay: 2\nsitemap: http://h/s.xml","agent":"FooBot","url":"http://h/a?b"}
{"robots":"user-agent: foobot\ndisallow: /a","agent":"Mozilla/5.0 (compatible; foobot/2.1)","url":"http://h/a"}
{"robots":"user-agent: foobot\ndisallow: /a","agent":"bar","url":"http://h/a"}
{"robots":"","agent":"bar","url":"::"}"#;
        let out = run(input, super::super::robots::answer);
        assert_eq!(out[0]["allowed"], false);
        assert_eq!(out[0]["rule"], "disallow: /a");
        assert_eq!(out[0]["crawl_delay"], 2);
        assert_eq!(out[0]["sitemaps"][0], "http://h/s.xml");
        assert_eq!(out[1]["allowed"], false);
        assert_eq!(out[2]["allowed"], true);
        assert_eq!(out[2]["rule"], Value::Null);
        assert!(out[3]["error"].is_string());
    }

    #[test]
    fn pages_are_answered_with_resolved_links() {
        let html = "<title>T</title><html lang=de><meta name=robots content='noindex'>\
                    <a href='../x?utm_id=1#f' rel=nofollow>X</a><a href='mailto:a@b'>M</a>";
        let body = data_encoding::BASE64.encode(html.as_bytes());
        let line = json!({"url": "http://h/a/b", "content_type": "text/html", "body_base64": body});
        let out = run(format!("{line}\n").as_bytes(), super::super::page::answer);
        let page = &out[0];
        assert_eq!(page["title"], "T");
        assert_eq!(page["meta_robots"], "noindex");
        let link = |index: usize| page["links"][index].clone();
        assert_eq!(link(0)["url"], "http://h/x");
        assert_eq!(link(0)["href"], "../x?utm_id=1#f");
        assert_eq!(
            (link(0)["rel"].clone(), link(0)["via"].clone()),
            (json!("nofollow"), json!("anchor"))
        );
        assert_eq!(link(1)["url"], "mailto:a@b");
    }
}
