//! A message's Markdown as markup of a page: a few tags of ours, and all else as text.

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag};

use super::escaped::escaped;
use crate::interop::visible::Layout;

/// A longer text stays as it is.
const LEN_MAX: usize = 256 * 1024;

/// What lies deeper in lists and quotations has no tags of its own.
const DEPTH_MAX: usize = 24;

/// The markup of a text; none: it is better shown as it is, since a part of it would not show. What a person has typed stands for
/// itself where Markdown reads it as another character, as `&lt;` or `\\<` for `<`.
///
/// HTML in the text is text. A link leads to the web or to a mailbox, or it is its own text; a picture always is. Underscores
/// stay what they are: in names they are no emphasis.
pub(super) fn rendered(text: &str, is_typed: bool) -> Option<String> {
    if text.len() > LEN_MAX {
        return None;
    }
    let parser = Parser::new_ext(text, Options::empty());
    if parser.reference_definitions().iter().next().is_some() {
        return None;
    }
    let mut page = Rendered { out: String::with_capacity(text.len() + text.len() / 4), open: Vec::new() };
    // Where what has been shown ends.
    let mut shown = 0;
    for (event, place) in parser.into_offset_iter() {
        if let Event::Text(said) = &event
            && is_typed
        {
            let is_escape = |before: usize| before >= shown && text.as_bytes()[before] == b'\\';
            let begins_with_mark = text.as_bytes().get(place.start).is_some_and(u8::is_ascii_punctuation);
            if begins_with_mark && place.start.checked_sub(1).is_some_and(is_escape) {
                page.out.push('\\');
            }
            shown = place.end;
            match text.get(place).filter(|typed| typed.starts_with('&') && typed.ends_with(';')) {
                Some(typed) => page.text(typed),
                None => page.text(said),
            }
            continue;
        }
        let begins_with_underscore = text.as_bytes().get(place.start) == Some(&b'_');
        match event {
            Event::Start(tag) => page.begin(&tag, begins_with_underscore),
            Event::End(_) => page.end(),
            Event::Code(code) => page.around("<code>", &code, "</code>"),
            Event::SoftBreak | Event::HardBreak => page.out.push('\n'),
            Event::Rule => page.out.push_str("<hr>"),
            Event::TaskListMarker(is_done) => page.out.push_str(if is_done { "[x] " } else { "[ ] " }),
            Event::Text(text)
            | Event::Html(text)
            | Event::InlineHtml(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text)
            | Event::FootnoteReference(text) => page.text(&text),
        }
    }
    Some(page.out)
}

struct Rendered {
    out: String,
    /// What ends each tag that is open.
    open: Vec<String>,
}

impl Rendered {
    fn text(&mut self, text: &str) {
        self.out.push_str(&escaped(text, Layout::Block));
    }

    fn around(&mut self, before: &str, text: &str, behind: &str) {
        self.out.push_str(before);
        self.text(text);
        self.out.push_str(behind);
    }

    fn begin(&mut self, tag: &Tag<'_>, begins_with_underscore: bool) {
        let is_deep = self.open.len() >= DEPTH_MAX;
        let (before, behind) = match tag {
            Tag::Link { dest_url, title, .. } => link(dest_url, title),
            Tag::Image { dest_url, .. } => {
                let to = escaped(dest_url, Layout::Line);
                ("![".to_owned(), format!("]({to})"))
            }
            Tag::Emphasis if begins_with_underscore => ("_".to_owned(), "_".to_owned()),
            Tag::Strong if begins_with_underscore => ("__".to_owned(), "__".to_owned()),
            _ if is_deep => Default::default(),
            Tag::Heading { level, .. } => element(match level {
                HeadingLevel::H1 => "h3",
                HeadingLevel::H2 => "h4",
                HeadingLevel::H3 => "h5",
                _ => "h6",
            }),
            Tag::CodeBlock(kind) => {
                let of = match kind {
                    CodeBlockKind::Fenced(of) if !of.is_empty() => {
                        format!("<small>{}</small>\n", escaped(of, Layout::Line))
                    }
                    _ => String::new(),
                };
                (format!("<pre>{of}"), "</pre>".to_owned())
            }
            Tag::List(Some(first)) => (format!("<ol start=\"{first}\">"), "</ol>".to_owned()),
            Tag::List(None) => element("ul"),
            Tag::Item => element("li"),
            Tag::BlockQuote(_) => element("blockquote"),
            Tag::Emphasis => element("em"),
            Tag::Strong => element("strong"),
            _ => element("p"),
        };
        self.out.push_str(&before);
        self.open.push(behind);
    }

    fn end(&mut self) {
        self.out.push_str(&self.open.pop().unwrap_or_default());
    }
}

fn element(name: &str) -> (String, String) {
    (format!("<{name}>"), format!("</{name}>"))
}

fn link(to: &str, title: &str) -> (String, String) {
    let is = |scheme: &str| to.get(..scheme.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(scheme));
    let title = if title.is_empty() { String::new() } else { format!(" ({})", escaped(title, Layout::Line)) };
    let shown = escaped(to, Layout::Line);
    match ["https://", "http://", "mailto:"].into_iter().any(is) {
        true => (format!("<a href=\"{shown}\">"), format!("</a>{title}")),
        false => ("[".to_owned(), format!("]({shown}){title}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(rendered(text, false).as_deref(), Some(expected), "{text}");
    }

    #[test]
    fn markdown_is_shown_as_what_it_means() {
        check("One\ntwo.\n\nThree.", "<p>One\ntwo.</p><p>Three.</p>");
        check(
            "# Head\n- a\n- *b* **c** `d<`",
            "<h3>Head</h3><ul><li>a</li><li><em>b</em> <strong>c</strong> <code>d&lt;</code></li></ul>",
        );
        check("```rust\nfn a() {}\n```", "<pre><small>rust</small>\nfn a() {}\n</pre>");
        check("3. c", "<ol start=\"3\"><li>c</li></ol>");
        check("> q\n\n---", "<blockquote><p>q</p></blockquote><hr>");
        check("see __init__ and _x_", "<p>see __init__ and _x_</p>");
    }

    #[test]
    fn what_a_person_typed_is_no_other_character() {
        check("write &lt;b&gt; &copy; \\< \\\\", "<p>write &lt;b&gt; © &lt; \\</p>");
        for (typed, expected) in [
            ("write &lt;b&gt; &copy;, *so*", "<p>write &amp;lt;b&amp;gt; &amp;copy;, <em>so</em></p>"),
            ("a \\< b \\\\ c \\*d\\* C:\\_x \\n", "<p>a \\&lt; b \\\\ c \\*d\\* C:\\_x \\n</p>"),
            ("a & b; `&lt;` &nothing;", "<p>a &amp; b; <code>&amp;lt;</code> &amp;nothing;</p>"),
            ("```\n&lt;\n```", "<pre>&amp;lt;\n</pre>"),
        ] {
            assert_eq!(rendered(typed, true).as_deref(), Some(expected), "{typed}");
        }
    }

    #[test]
    fn html_is_text_and_links_lead_to_the_web_only() {
        check("a <b>c</b>", "<p>a &lt;b&gt;c&lt;/b&gt;</p>");
        check("<script>\nalert(1)\n</script>", "<p>&lt;script&gt;\nalert(1)\n&lt;/script&gt;</p>");
        check("[a](https://a.b/?c=\"d)", "<p><a href=\"https://a.b/?c=&quot;d\">a</a></p>");
        check("[a](java&#115;cript:alert(1))", "<p>[a](javascript:alert(1))</p>");
        check("[a](<  javascript:x>)", "<p>[a](  javascript:x)</p>");
        check("<javascript:alert(1)>", "<p>[javascript:alert(1)](javascript:alert(1))</p>");
        check("![p](https://a.b/p.png)", "<p>![p](https://a.b/p.png)</p>");
        check("[a](HTTPS://a.b 'T<')", "<p><a href=\"HTTPS://a.b\">a</a> (T&lt;)</p>");
        check("\\<img src=x>", "<p>&lt;img src=x&gt;</p>");
    }

    #[test]
    fn what_would_not_show_stays_as_it_is() {
        assert_eq!(rendered("[x]: https://a.b\n\ntext", false), None);
        assert_eq!(rendered(&"x".repeat(LEN_MAX + 1), false), None);
    }

    #[test]
    fn deep_nesting_costs_no_depth_of_the_page() {
        let page = rendered(&format!("{} deep", ">".repeat(20_000)), false).unwrap();
        assert!(page.matches("<blockquote>").count() <= DEPTH_MAX && page.contains("deep"));
        assert_eq!(page.matches("<blockquote>").count(), page.matches("</blockquote>").count());
    }
}
