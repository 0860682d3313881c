//! A transcript as Markdown, for reading and for pasting.

use std::io::{self, Write};
use std::sync::Arc;

use super::{Page, PageHead, Rules, about, branch_name, is_boundary, output_of, time_of};
use crate::event::{Part, PartBody, Role, ToolInput};
use crate::interop::told::{input_text, part_text};
use crate::interop::visible::{Layout, visible};
use crate::projection::{ProjectedMessage, Redact};

/// Writes Markdown. What a person or a model has said is a quotation, so that no text can look like the page's own
/// headings; what tools were given and gave is code, and so is a text that has a code block in it. No text becomes HTML.
#[derive(Debug)]
pub struct Markdown<W> {
    out: W,
    /// Inside another branch, whose headings are one level deeper.
    in_branch: bool,
    /// Whether a person has typed what is being written.
    is_typed: bool,
    rules: Rules,
}

impl<W: Write> Markdown<W> {
    /// Begins a page.
    ///
    /// # Errors
    /// What the output says.
    pub fn new(mut out: W, head: &PageHead) -> io::Result<Self> {
        writeln!(out, "# {}\n", line(&head.title))?;
        for (name, value) in &head.facts {
            writeln!(out, "- {}: {}", line(name), code_span(value))?;
        }
        writeln!(out)?;
        Ok(Self { out, in_branch: false, is_typed: false, rules: Rules::default() })
    }

    /// Takes out of what a reader of the page sees what these rules take out: also where Markdown makes other words of a text.
    /// (Ids, and what a message holds for programs, are the caller's to change.)
    #[must_use]
    pub fn with_rules(mut self, rules: impl IntoIterator<Item = Arc<dyn Redact>>) -> Self {
        self.rules = Rules(rules.into_iter().collect());
        self
    }

    fn quote(&mut self, text: &str) -> io::Result<()> {
        if has_fence(text) {
            return self.code(text);
        }
        let text = self.rules.applied(text);
        let text = visible(&text, Layout::Block);
        // In code an entity means itself.
        let text = if self.is_typed && !text.contains('`') { typed(&text).into() } else { text };
        let tamed = tamed(&text);
        if let Some(left) = self.taken_out(&tamed) {
            return self.code(&left);
        }
        for line in tamed.lines() {
            writeln!(self.out, "{}", format!("> {line}").trim_end())?;
        }
        writeln!(self.out)
    }

    /// What is left of a text, as it is read, if the rules take something out of that.
    fn taken_out(&self, text: &str) -> Option<String> {
        if self.rules.0.is_empty() {
            return None;
        }
        #[cfg(feature = "markdown")]
        if let Some((shown, links)) = super::rendered::shown_elsewhere(text) {
            return self.rules.taken_out(&shown, &links);
        }
        // As code it is read as it stands.
        Some(text.to_owned())
    }

    fn code(&mut self, text: &str) -> io::Result<()> {
        let text = self.rules.applied(text);
        let text = visible(&text, Layout::Block);
        // Longer than any row of backticks in the text, so that nothing in it ends the block.
        let fence = "`".repeat(longest_row(&text).max(2) + 1);
        writeln!(self.out, "{fence}\n{}\n{fence}\n", text.trim_end_matches('\n'))
    }

    fn part(&mut self, part: &Part) -> io::Result<()> {
        match &part.body {
            PartBody::Text(text) => self.quote(&text.text),
            PartBody::Reasoning(_) => self.quote(&part_text(part)),
            PartBody::ToolCall(call) => {
                let end = if call.incomplete { " (the stream ended inside this call)" } else { "" };
                writeln!(self.out, "calls {} ({}){end}\n", code_span(&call.name), code_span(&call.id))?;
                match &call.input {
                    ToolInput::None => Ok(()),
                    input => self.code(&input_text(input)),
                }
            }
            PartBody::ToolResult(result) => {
                let failed = if result.is_error { ", failed" } else { "" };
                writeln!(self.out, "result of {}{failed}\n", code_span(&result.call_id))?;
                let (text, parts) = output_of(&result.output);
                if !text.is_empty() {
                    self.code(&text)?;
                }
                parts.iter().try_for_each(|part| self.code(&part_text(part)))
            }
            _ => self.code(&part_text(part)),
        }
    }
}

impl<W: Write> Page for Markdown<W> {
    fn message(&mut self, message: &ProjectedMessage) -> io::Result<()> {
        if is_boundary(message) {
            return writeln!(self.out, "---\n\n*compacted at {}; the summary follows*\n", time_of(message));
        }
        let level = if self.in_branch { "###" } else { "##" };
        let about = about(message).join(" · ");
        writeln!(self.out, "{level} {}\n\n*{} · {}*\n", message.role.name(), line(&about), time_of(message))?;
        self.is_typed = message.role == Role::User;
        message.content.iter().try_for_each(|part| self.part(part))?;
        if let Some(said) = message.said_in_fields() {
            self.code(&said)?;
        }
        message.metadata.notes.iter().try_for_each(|note| self.note(note))
    }

    fn begin_branch(&mut self, said: &str) -> io::Result<()> {
        self.in_branch = true;
        writeln!(self.out, "## {}\n", line(&branch_name(said)))
    }

    fn end_branch(&mut self) -> io::Result<()> {
        self.in_branch = false;
        writeln!(self.out, "## end of that branch\n")
    }

    fn note(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "*({})*\n", line(text))
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A text in one line that means itself.
fn line(text: &str) -> String {
    let mut safe = String::new();
    for c in visible(text, Layout::Line).chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '!' | '|' | '&' | '~') {
            safe.push('\\');
        }
        safe.push(c);
    }
    safe
}

/// A text in one line, as code.
fn code_span(text: &str) -> String {
    let text = visible(text, Layout::Line);
    let ticks = "`".repeat(longest_row(&text) + 1);
    if text.starts_with('`') || text.ends_with('`') || text.is_empty() {
        format!("{ticks} {text} {ticks}")
    } else {
        format!("{ticks}{text}{ticks}")
    }
}

fn longest_row(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// The text with each entity as it was typed.
fn typed(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        let (before, from) = rest.split_at(at + 1);
        safe.push_str(before);
        let name = from.trim_start_matches('#').trim_start_matches(|c: char| c.is_ascii_alphanumeric());
        if name.starts_with(';') && name.len() < from.len() {
            safe.push_str("amp;");
        }
        rest = from;
    }
    safe + rest
}

/// The text without what would act where it is shown: each `<` is an entity, which means itself everywhere but in code, and no
/// escape in front of it undoes; a picture is its own text, so that nothing is loaded; and so is a link that leads elsewhere than
/// to the web.
fn tamed(text: &str) -> String {
    let text = text.replace('<', "&lt;").replace("![", "!\\[");
    let mut safe = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find("](").into_iter().chain(rest.find("]:")).min() {
        let (before, from) = rest.split_at(at + 1);
        safe.push_str(before);
        if !leads_to_the_web(&from[1..]) {
            safe.push('\\');
        }
        safe.push_str(&from[..1]);
        rest = &from[1..];
    }
    safe + rest
}

fn leads_to_the_web(link: &str) -> bool {
    let begins = |scheme: &str| link.get(..scheme.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(scheme));
    ["https://", "http://", "mailto:", "#"].into_iter().any(begins)
}

/// Whether a row of the text may be the fence of a code block: what stands in one would mean itself, and where it ends depends on
/// what is around it.
fn has_fence(text: &str) -> bool {
    text.contains("```") || text.contains("~~~")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quoted(text: &str) -> String {
        let mut out = Vec::new();
        Markdown::new(&mut out, &PageHead::new("t")).unwrap().quote(text).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn raw_html_means_itself_whatever_stands_before_it() {
        assert!(quoted("a <b>c</b> 1 < 2").contains("> a &lt;b>c&lt;/b> 1 &lt; 2\n"));
        for text in ["\\<script>", "`<script>`", "    <script>", "- a\n  <script>"] {
            assert!(!quoted(text).contains('<'), "{text}");
        }
    }

    #[test]
    fn what_a_person_typed_is_no_other_character() {
        assert_eq!(typed("a &lt;b&gt; &#60; & c; &amp; &; d&"), "a &amp;lt;b&amp;gt; &amp;#60; & c; &amp;amp; &; d&");
    }

    #[test]
    fn nothing_is_loaded_and_links_lead_to_the_web_only() {
        let safe = quoted("[a](https://a.b) ![p](https://a.b/p.png) [x](javascript:alert(1)) [y]( data:text/html,1)");
        assert!(safe.contains("[a](https://a.b) !\\[p](https://a.b/p.png)"), "{safe}");
        assert!(safe.contains("[x]\\(javascript:") && safe.contains("[y]\\( data:"), "{safe}");
        let safe = quoted("[x]: java&#115;cript:alert(1)\n[y]:\n  file:///etc/passwd\n[z](&#106;avascript:1)");
        assert!(safe.contains("[x]\\: java") && safe.contains("[y]\\:\n") && safe.contains("[z]\\(&#"), "{safe}");
    }

    #[test]
    fn a_text_with_a_fence_is_code_as_a_whole() {
        for text in ["hello\n    ```\n<script>", "- a\n  ```\n<script>", "~~~\n<script>", "a\n````\nb\n````\n<i>"] {
            let quoted = quoted(text);
            let fence = quoted.lines().find(|line| line.starts_with("```")).unwrap();
            assert_eq!(quoted.matches(&format!("{fence}\n")).count(), 2, "{text}: {quoted}");
            assert!(quoted.trim_end().ends_with(fence), "{text}: {quoted}");
        }
    }

    #[test]
    fn code_is_not_ended_by_backticks_in_it() {
        let mut out = Vec::new();
        Markdown::new(&mut out, &PageHead::new("t")).unwrap().code("a\n````\nb").unwrap();
        assert!(String::from_utf8(out).unwrap().ends_with("`````\na\n````\nb\n`````\n\n"));
        assert_eq!(code_span("a``b"), "```a``b```");
        assert_eq!(code_span("`a"), "`` `a ``");
    }
}
