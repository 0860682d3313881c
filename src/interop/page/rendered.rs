//! A message's Markdown as markup of a page: a few tags of ours, and all else as text.

use pulldown_cmark::{Alignment, CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag};

use super::escaped::escaped;
use crate::interop::visible::Layout;

/// A longer text stays as it is.
const LEN_MAX: usize = 256 * 1024;

/// What lies deeper in lists and quotations has no tags of its own.
const DEPTH_MAX: usize = 24;

/// A text as markup of a page.
pub(super) struct Markup {
    pub(super) markup: String,
    /// What a reader sees of it.
    pub(super) shown: String,
    /// Where its links lead.
    pub(super) links: Vec<String>,
}

/// The markup of a text; none: it is better shown as it is, since a part of it would not show. What a person has typed stands for
/// itself where Markdown reads it as another character, as `&lt;` or `\\<` for `<`.
///
/// HTML in the text is text. A link leads to the web or to a mailbox, or it is its own text; a picture always is. Underscores
/// stay what they are: in names they are no emphasis.
pub(super) fn rendered(text: &str, is_typed: bool) -> Option<Markup> {
    if text.len() > LEN_MAX {
        return None;
    }
    let parser = Parser::new_ext(text, Options::ENABLE_TABLES);
    if parser.reference_definitions().iter().next().is_some() {
        return None;
    }
    Some(Rendered::of(text, parser, true, is_typed))
}

/// What a reader of Markdown sees of a text, and where its links lead, where all of the usual syntax is understood; none of
/// one that is too long to be looked at.
pub(super) fn shown_elsewhere(text: &str) -> Option<(String, Vec<String>)> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let markup = (text.len() <= LEN_MAX).then(|| Rendered::of(text, Parser::new_ext(text, options), false, false))?;
    Some((markup.shown, markup.links))
}

struct Rendered {
    out: String,
    shown: String,
    links: Vec<String>,
    /// What ends each tag that is open, as markup and as it is seen.
    open: Vec<(String, String)>,
    /// How the columns of the table at hand are set, and at which of them it is; none in its heading.
    columns: Vec<Alignment>,
    column: usize,
    is_heading: bool,
}

impl Rendered {
    fn of(text: &str, parser: Parser<'_>, keeps_underscores: bool, is_typed: bool) -> Markup {
        let mut page = Self {
            out: String::with_capacity(text.len() + text.len() / 4),
            shown: String::with_capacity(text.len()),
            links: Vec::new(),
            open: Vec::new(),
            columns: Vec::new(),
            column: 0,
            is_heading: false,
        };
        // Where what has been shown ends.
        let mut shown = 0;
        for (event, place) in parser.into_offset_iter() {
            if let Event::Text(said) = &event
                && is_typed
            {
                let is_escape = |before: usize| before >= shown && text.as_bytes()[before] == b'\\';
                let begins_with_mark = text.as_bytes().get(place.start).is_some_and(u8::is_ascii_punctuation);
                if begins_with_mark && place.start.checked_sub(1).is_some_and(is_escape) {
                    page.text("\\");
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
                Event::Start(tag) => page.begin(&tag, begins_with_underscore && keeps_underscores),
                Event::End(_) => page.end(),
                Event::Code(code) => page.around("<code>", &code, "</code>"),
                Event::SoftBreak | Event::HardBreak => page.text("\n"),
                Event::Rule => page.out.push_str("<hr>"),
                Event::TaskListMarker(is_done) => page.text(if is_done { "[x] " } else { "[ ] " }),
                Event::Text(text)
                | Event::Html(text)
                | Event::InlineHtml(text)
                | Event::InlineMath(text)
                | Event::DisplayMath(text)
                | Event::FootnoteReference(text) => page.text(&text),
            }
        }
        Markup { markup: page.out, shown: page.shown, links: page.links }
    }

    fn text(&mut self, text: &str) {
        self.out.push_str(&escaped(text, Layout::Block));
        self.shown.push_str(text);
    }

    fn around(&mut self, before: &str, text: &str, behind: &str) {
        self.out.push_str(before);
        self.text(text);
        self.out.push_str(behind);
    }

    fn begin(&mut self, tag: &Tag<'_>, stays_underscore: bool) {
        let is_deep = self.open.len() >= DEPTH_MAX;
        // A table without its rows would be no table.
        let is_deep = is_deep || (matches!(tag, Tag::Table(_)) && self.open.len() + 3 >= DEPTH_MAX);
        if let Tag::Table(columns) = tag {
            self.columns.clone_from(columns);
        }
        if matches!(tag, Tag::TableHead | Tag::TableRow) {
            (self.column, self.is_heading) = (0, matches!(tag, Tag::TableHead));
        }
        let (before, behind) = match tag {
            Tag::Link { dest_url, title, .. } => self.link(dest_url, title),
            Tag::Image { dest_url, .. } => {
                self.shown.push_str("![");
                let to = escaped(dest_url, Layout::Line);
                self.open.push((format!("]({to})"), format!("]({dest_url})")));
                return self.out.push_str("![");
            }
            Tag::Emphasis | Tag::Strong if stays_underscore => {
                let line = if matches!(tag, Tag::Strong) { "__" } else { "_" };
                self.text(line);
                return self.open.push((line.to_owned(), line.to_owned()));
            }
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
                        self.shown.push_str(of);
                        self.shown.push('\n');
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
            Tag::Strikethrough => element("s"),
            Tag::Table(_) => element("table"),
            Tag::TableHead => ("<thead><tr>".to_owned(), "</tr></thead>".to_owned()),
            Tag::TableRow => element("tr"),
            Tag::TableCell => self.cell(),
            _ => element("p"),
        };
        let end = match tag {
            Tag::Emphasis | Tag::Strong | Tag::Strikethrough | Tag::Link { .. } => "",
            Tag::TableCell => "\t",
            _ => "\n",
        };
        self.out.push_str(&before);
        self.open.push((behind, end.to_owned()));
    }

    fn cell(&mut self) -> (String, String) {
        let name = if self.is_heading { "th" } else { "td" };
        let class = match self.columns.get(self.column) {
            Some(Alignment::Right) => " class=\"right\"",
            Some(Alignment::Center) => " class=\"center\"",
            _ => "",
        };
        self.column += 1;
        (format!("<{name}{class}>"), format!("</{name}>"))
    }

    fn link(&mut self, to: &str, title: &str) -> (String, String) {
        let is = |scheme: &str| to.get(..scheme.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(scheme));
        self.links.extend([to, title].map(str::to_owned));
        let title = if title.is_empty() { String::new() } else { format!(" ({})", escaped(title, Layout::Line)) };
        let shown = escaped(to, Layout::Line);
        match ["https://", "http://", "mailto:"].into_iter().any(is) {
            true => (format!("<a href=\"{shown}\">"), format!("</a>{title}")),
            false => ("[".to_owned(), format!("]({shown}){title}")),
        }
    }

    fn end(&mut self) {
        let (markup, shown) = self.open.pop().unwrap_or_default();
        self.out.push_str(&markup);
        self.shown.push_str(&shown);
    }
}

fn element(name: &str) -> (String, String) {
    (format!("<{name}>"), format!("</{name}>"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(rendered(text, false).map(|text| text.markup).as_deref(), Some(expected), "{text}");
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
        check(
            "| a | b |\n|---|--:|\n| *1* | <2 |\n\nend",
            "<table><thead><tr><th>a</th><th class=\"right\">b</th></tr></thead><tr><td><em>1</em></td>\
             <td class=\"right\">&lt;2</td></tr></table><p>end</p>",
        );
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
            assert_eq!(rendered(typed, true).map(|text| text.markup).as_deref(), Some(expected), "{typed}");
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
        assert!(rendered("[x]: https://a.b\n\ntext", false).is_none());
        assert!(rendered(&"x".repeat(LEN_MAX + 1), false).is_none());
    }

    #[test]
    fn what_a_reader_sees_is_known() {
        let shown = |text| rendered(text, false).unwrap().shown;
        assert_eq!(shown("a&#69;b\\_c **d**e `f`"), "aEb_c de f\n");
        assert_eq!(shown("_a_ [b](https://c.d) e"), "_a_ b e\n");
        assert_eq!(rendered("[b](https://c.d/s&#69;c)", false).unwrap().links, ["https://c.d/sEc", ""]);
        let elsewhere = shown_elsewhere("_a_ ~~b~~c [d][x]\n\n[x]: https://e.f").unwrap();
        assert_eq!(elsewhere, ("a bc d\n".to_owned(), vec!["https://e.f".to_owned(), String::new()]));
    }

    #[test]
    fn deep_nesting_costs_no_depth_of_the_page() {
        let page = rendered(&format!("{} deep", ">".repeat(20_000)), false).unwrap().markup;
        assert!(page.matches("<blockquote>").count() <= DEPTH_MAX && page.contains("deep"));
        assert_eq!(page.matches("<blockquote>").count(), page.matches("</blockquote>").count());
    }
}
