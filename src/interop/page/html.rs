//! A transcript as one HTML file that needs nothing but itself.

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;

use super::escaped::escaped;
use super::{Page, PageHead, Rules, about, branch_name, is_boundary, output_of, picture, time_of};
#[cfg(feature = "markdown")]
use crate::event::Role;
use crate::event::{Kind, Part, PartBody, ToolInput, Uuid};
use crate::interop::told::{input_text, part_text};
use crate::interop::visible::Layout;
use crate::projection::{ProjectedMessage, Redact};

/// The page's own style and script. The policy names them by their hashes, so that nothing else can run or be loaded.
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
const POLICY: &str = "default-src 'none'; img-src data:; style-src 'sha256-KmIWD6+fe6TMVsV5/mrva7OClhLxhHGErMXg19xChi4='; script-src 'sha256-JCW3EtHmZCyns88xJz+UAu2/WnrlkjGGtT3IRdvbIWo='; \
     base-uri 'none'; form-action 'none'";
/// A result of more lines or characters is folded.
const LINES_SHOWN: usize = 12;
const CHARS_SHOWN: usize = 1_500;

/// Writes one HTML file: readable without scripts, light or dark as the reader's system is, long results and other
/// branches folded, a search in the page. It loads nothing, and no text of the session can become markup.
#[derive(Debug)]
pub struct Html<W> {
    out: W,
    /// How often a message was written: a result stands on each branch that it is needed on.
    written: HashMap<Uuid, u32>,
    rules: Rules,
    #[cfg(feature = "markdown")]
    with_markdown: bool,
    /// Whether a person has typed what is being written.
    #[cfg(feature = "markdown")]
    is_typed: bool,
}

impl<W: Write> Html<W> {
    /// Begins a page.
    ///
    /// # Errors
    /// What the output says.
    pub fn new(mut out: W, head: &PageHead) -> io::Result<Self> {
        let title = escaped(&head.title, Layout::Line);
        write!(
            out,
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n\
             <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<header>\n<h1>{title}</h1>\n<dl>\n"
        )?;
        for (name, value) in &head.facts {
            writeln!(
                out,
                "<div><dt>{}</dt><dd>{}</dd></div>",
                escaped(name, Layout::Line),
                escaped(value, Layout::Line)
            )?;
        }
        out.write_all(
            b"</dl>\n</header>\n<p class=\"search\"><label>Search <input type=\"search\" id=\"search\"></label> \
              <output id=\"found\"></output></p>\n<main>\n",
        )?;
        Ok(Self {
            out,
            written: HashMap::new(),
            rules: Rules::default(),
            #[cfg(feature = "markdown")]
            with_markdown: false,
            #[cfg(feature = "markdown")]
            is_typed: false,
        })
    }

    /// Shows the Markdown of what people and models say as what it means: headings, lists, emphasis, code, links to the web. Else
    /// it is shown as it is written. HTML in it stays text in both, and what a person has typed
    /// stands for itself where Markdown would read it as another character, such as `&lt;`.
    #[cfg(feature = "markdown")]
    #[must_use]
    pub fn with_markdown(mut self) -> Self {
        self.with_markdown = true;
        self
    }

    /// Takes out of what the page shows what these rules take out: also what only the page makes of a text, as where Markdown
    /// is shown as what it means. (Ids, and what a message holds for programs, are the caller's to change.)
    #[must_use]
    pub fn with_rules(mut self, rules: impl IntoIterator<Item = Arc<dyn Redact>>) -> Self {
        self.rules = Rules(rules.into_iter().collect());
        self
    }

    /// The name of a message's place on the page, which no other has.
    fn name(&mut self, id: Uuid) -> String {
        let nth = self.written.entry(id).or_default();
        *nth = nth.saturating_add(1);
        if *nth == 1 { format!("m-{id}") } else { format!("m-{id}-{nth}") }
    }

    fn said(&mut self, class: &str, text: &str) -> io::Result<()> {
        #[cfg(feature = "markdown")]
        if self.with_markdown
            && let Some(rendered) = super::rendered::rendered(text, self.is_typed)
        {
            return match self.rules.taken_out(&rendered.shown, &rendered.links) {
                Some(left) => self.text(class, &left),
                None => writeln!(self.out, "<div class=\"{class} md\">{}</div>", rendered.markup),
            };
        }
        self.text(class, text)
    }

    fn text(&mut self, class: &str, text: &str) -> io::Result<()> {
        let text = self.rules.applied(text);
        writeln!(self.out, "<div class=\"{class}\">{}</div>", escaped(&text, Layout::Block))
    }

    /// Code or output: shown if it is short, else folded.
    fn code(&mut self, summary: &str, text: &str) -> io::Result<()> {
        let text = &*self.rules.applied(text);
        let is_long = text.lines().nth(LINES_SHOWN).is_some() || text.len() > CHARS_SHOWN;
        let open = if is_long { "" } else { " open" };
        let lines = text.lines().count();
        let size = if is_long { format!(" <small>{lines} lines</small>") } else { String::new() };
        let text = escaped(text, Layout::Block);
        writeln!(self.out, "<details{open}><summary>{summary}{size}</summary><pre>{text}</pre></details>")
    }

    fn part(&mut self, part: &Part) -> io::Result<()> {
        if let Some((media_type, data)) = picture(part) {
            return writeln!(self.out, "<p><img alt=\"a picture\" src=\"data:{media_type};base64,{data}\"></p>");
        }
        let name = |text: &str| format!("<code>{}</code>", escaped(text, Layout::Line));
        match &part.body {
            PartBody::Text(text) => self.said("text", &text.text),
            PartBody::Reasoning(_) => self.said("text thought", &part_text(part)),
            PartBody::ToolCall(call) => {
                let end = if call.incomplete { " (the stream ended inside this call)" } else { "" };
                let summary = format!("calls {} <small>{}</small>{end}", name(&call.name), name(&call.id));
                match &call.input {
                    ToolInput::None => writeln!(self.out, "<p>{summary}</p>"),
                    input => self.code(&summary, &input_text(input)),
                }
            }
            PartBody::ToolResult(result) => {
                let failed = if result.is_error { " <strong>failed</strong>" } else { "" };
                let summary = format!("result{failed} <small>{}</small>", name(&result.call_id));
                let (text, parts) = output_of(&result.output);
                if parts.is_empty() {
                    return self.code(&summary, &text);
                }
                writeln!(self.out, "<p>{summary}</p>")?;
                parts.iter().try_for_each(|part| match &part.body {
                    PartBody::Text(text) => self.code("text", &text.text),
                    _ => self.part(part),
                })
            }
            _ => self.code("part", &part_text(part)),
        }
    }
}

impl<W: Write> Page for Html<W> {
    fn message(&mut self, message: &ProjectedMessage) -> io::Result<()> {
        let time = time_of(message);
        if is_boundary(message) {
            return writeln!(
                self.out,
                "<p class=\"compacted\">compacted <time datetime=\"{time}\">{time}</time>; the summary follows</p>"
            );
        }
        let role = message.role.name();
        let about = escaped(&about(message).join(" · "), Layout::Line);
        let id = self.name(*message.source_message_ids.first().unwrap_or(&message.id));
        writeln!(
            self.out,
            "<article class=\"{role}\" id=\"{id}\">\n<h2><a href=\"#{id}\">{role}</a> <small>{about} · \
             <time datetime=\"{time}\">{time}</time></small></h2>"
        )?;
        #[cfg(feature = "markdown")]
        {
            self.is_typed = message.role == Role::User;
        }
        message.content.iter().try_for_each(|part| self.part(part))?;
        if let Some(said) = message.said_in_fields() {
            let is_command = matches!(&*message.kind, Kind::BashExecution(_));
            self.code(if is_command { "a command of the user's" } else { "what it says" }, &said)?;
        }
        message.metadata.notes.iter().try_for_each(|note| self.note(note))?;
        writeln!(self.out, "</article>")
    }

    fn begin_branch(&mut self, said: &str) -> io::Result<()> {
        let name = escaped(&branch_name(said), Layout::Line);
        writeln!(self.out, "<details class=\"branch\"><summary>{name}</summary>")
    }

    fn end_branch(&mut self) -> io::Result<()> {
        writeln!(self.out, "</details>")
    }

    fn note(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "<p class=\"note\">{}</p>", escaped(text, Layout::Line))
    }

    fn finish(&mut self) -> io::Result<()> {
        write!(self.out, "</main>\n<script>{SCRIPT}</script>\n</body>\n</html>\n")?;
        self.out.flush()
    }
}
