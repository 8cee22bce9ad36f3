//! Markdown of pages small and hostile.

use url::Url;

use super::{Part, markdown};
use crate::Limits;
use crate::parse::Input;

fn written(source: &str, part: Part) -> String {
    let url = Url::parse("http://example.org/dir/page").unwrap();
    let body = source.as_bytes();
    let input = Input { url: &url, content_type: Some("text/html"), body, text: true };
    markdown(&input, part, &Limits::default())
}

fn check(rows: &[(&str, &str)]) {
    for (source, expected) in rows {
        assert_eq!(written(source, Part::Whole), *expected, "{source}");
    }
}

#[test]
fn markdown_shows_what_the_page_says() {
    check(&[
        ("<h1>A</h1><p>b <b> c </b>d<p>e", "# A\n\nb **c** d\n\ne\n"),
        ("<blockquote><p>a<p>b</blockquote>c", "> a\n>\n> b\n\nc\n"),
        ("a<blockquote>b<blockquote>c</blockquote></blockquote>d", "a\n\n> b\n>\n> > c\n\nd\n"),
        ("a<br>b<br><br>c<hr>d", "a  \nb\n\nc\n\n---\n\nd\n"),
        ("<dl><dt>a<dd>b<dt>c<dd>d</dl>", "a\n: b\n\nc\n: d\n"),
        ("<div>a</div><div>b</div>", "a\n\nb\n"),
        ("<button>a</button><button>b</button>", "a b\n"),
        ("<p>a <del>b</del>c", "a ~~b~~c\n"),
        ("", "\n"),
    ]);
}

#[test]
fn items_stand_in_as_far_as_their_lists_demand() {
    check(&[
        ("<ul><li>a<li>b<ol><li>c<li>d</ol></ul>e", "- a\n- b\n  1. c\n  2. d\n\ne\n"),
        ("<ol><li>a<ul><li>b</ul></ol>", "1. a\n   - b\n"),
        ("<ul><li><p>a<p>b</ul>", "- a\n\n  b\n"),
        ("<ul><li><pre>a\nb</pre></ul>", "- ```\n  a\n  b\n  ```\n"),
        ("<ul><li></ul>a", "a\n"),
    ]);
}

#[test]
fn links_and_pictures_are_absolute_and_survive_blocks() {
    check(&[
        ("<a href='x y'>go <i>on</i></a>.", "[go *on*](http://example.org/dir/x%20y).\n"),
        ("<a href='a(b)<c>'>d</a>", "[d](http://example.org/dir/a%28b%29%3Cc%3E)\n"),
        ("<img src=i alt='a b'><img src=j>", "![a b](http://example.org/dir/i)\n"),
        ("<base href=/z/><a href=x>y</a>", "[y](http://example.org/z/x)\n"),
        ("<a href=x><div>a</div><p>b</a>c", "[a](http://example.org/dir/x)\n\nbc\n"),
        (
            "<a href=x><img src=i alt=a></a>",
            "[![a](http://example.org/dir/i)](http://example.org/dir/x)\n",
        ),
        ("<a href=x></a><a name=y>t</a>", "t\n"),
    ]);
}

#[test]
fn marks_are_closed_where_they_were_opened() {
    check(&[
        ("<b></b><a href=x></a>t<script>no</script><title>no</title>", "t\n"),
        ("<b>a<p>b</b>", "**a**\n\nb\n"),
        ("<b>a</b><b>b</b>", "**ab**\n"),
        ("<b><i>a</b>b</i>", "***a***b\n"),
        ("<b><p>a</p></b>", "**a**\n"),
        ("<i>a <i>b</i> c</i>", "*a b* c\n"),
    ]);
}

#[test]
fn code_keeps_its_text_and_its_language() {
    check(&[
        ("use <code>a*b</code> and * and &lt;b&gt;", "use `a*b` and \\* and \\<b>\n"),
        ("<code>a`b</code> <code>``</code>", "``a`b`` ``` `` ```\n"),
        ("<code>a <a href=x>b</a></code>", "`a` [`b`](http://example.org/dir/x)\n"),
        ("<pre>a\n  b*</pre>c", "```\na\n  b*\n```\n\nc\n"),
        (
            "<pre><code class='x language-Rust'>\n\nfn a() {}\n</code></pre>",
            "```rust\n\nfn a() {}\n```\n",
        ),
        ("<pre class='brush: js; x'>a</pre>", "```js\na\n```\n"),
        ("<pre class='lang-a`b'>a</pre>", "```\na\n```\n"),
        ("<pre>```\na</pre>", "````\n```\na\n````\n"),
        ("<pre><div>a</div><div>b</div></pre>", "```\na\nb\n```\n"),
        ("<pre> </pre>a", "a\n"),
    ]);
}

#[test]
fn tables_of_data_are_tables_and_others_are_not() {
    check(&[
        (
            "<p>t<table><tr><th>a<th>b|<tr><td><p>c</p><td><b>d</b><tr><td><td>e</table>f",
            "t\n\n| a | b\\| |\n| --- | --- |\n| c | **d** |\n|  | e |\n\nf\n",
        ),
        ("<table><tr><td>a<tr><td>b</table>", "a\n\nb\n"),
        ("<table><tr><td>a<td><ul><li>b</ul><tr><td>c<td>d</table>", "a\n\n- b\n\nc\n\nd\n"),
        ("<table><tr><td>a<td><table><tr><td>b<td>c</table></table>", "a\n\nb\n\nc\n"),
    ]);
}

#[test]
fn words_are_not_taken_for_markup() {
    check(&[
        ("# a", "\\# a\n"),
        ("<p>1. a<p>1) a<p>2024 a", "1\\. a\n\n1\\) a\n\n2024 a\n"),
        ("<p>- a<p>--- a<p>&gt; a<p>== a", "\\- a\n\n\\--- a\n\n\\> a\n\n\\== a\n"),
        ("_a_ b_c &amp;lt; ~~d", "\\_a\\_ b_c \\&lt; \\~~d\n"),
        ("[a](b) \\", "\\[a\\](b) \\\\\n"),
    ]);
}

#[test]
fn the_main_part_stands_under_its_title_and_the_rest_is_left_out() {
    let long =
        "Before anybody was awake, the whole harbour lay still, and the boats moved a little.";
    let source = format!(
        "<title>T</title><nav><ul><li>a<li><b>b</ul></nav><div><p>{long}<p>{long}<ul><li>{long}</ul>\
         <img src=i alt=c></div><footer>d<table><tr><td>e<td>f<tr><td>g<td>h</table><pre>i</pre></footer>"
    );
    let expected =
        format!("# T\n\n{long}\n\n{long}\n\n- {long}\n\n![c](http://example.org/dir/i)\n");
    assert_eq!(written(&source, Part::Main), expected);
    let titled = source.replace("<div>", "<div><h2>T</h2>");
    assert_eq!(written(&titled, Part::Main), expected.replacen("# T", "## T", 1));
    assert!(written(&source, Part::Whole).contains("- a\n- **b**"));
    assert_eq!(written("<nav>a</nav>b", Part::Main), "a\n\nb\n");
}
