//! Messages of a view as a person reads them.

use std::collections::{BTreeMap, HashSet};

use anstyle::{AnsiColor, Style};
use seslog::event::{Kind, PartBody, Role, Uuid};
use seslog::interop::{input_text, part_text};
use seslog::projection::{ProjectedMessage, View};
use seslog::session::BranchPoint;

use crate::agents;
use crate::exit::Outcome;
use crate::output::Output;
use crate::sanitize::{Layout, visible};
use crate::time::local;

/// Lines of a tool's result that are shown; one more is shown too, rather than a line that says it is left out.
const LINES_SHOWN: usize = 10;
/// Characters of one line of a tool's result that are shown.
const LINE_CHARS_SHOWN: usize = 2_000;
/// A call of more characters has each field of its input in a line of its own.
const CALL_CHARS_SHOWN: usize = 100;
/// Leaves of other branches that are named at one place.
const LEAVES_SHOWN: usize = 8;

/// Writes the messages of one view.
#[derive(Debug)]
pub(crate) struct Renderer {
    /// Long results are shown whole.
    full: bool,
    /// Messages since the last compaction, and those that it kept.
    window: usize,
    /// Messages of which a piece was counted: the ui view has several pieces of one.
    counted: HashSet<Uuid>,
    /// The sessions of the agents that calls started.
    agents: BTreeMap<String, agents::Sessions>,
}

impl Renderer {
    pub(crate) fn new(full: bool) -> Self {
        Self { full, window: 0, counted: HashSet::new(), agents: BTreeMap::new() }
    }

    /// Names the session of an agent at the call that started it.
    pub(crate) fn with_agents(self, agents: BTreeMap<String, agents::Sessions>) -> Self {
        Self { agents, ..self }
    }

    /// One message: a heading, and its parts below. A boundary is a rule across the page.
    pub(crate) fn message(&mut self, message: &ProjectedMessage, out: &mut Output) -> Outcome<()> {
        let is_story = matches!(message.view, View::Transcript | View::Ui | View::Export);
        if let Kind::CompactBoundary(boundary) = &*message.kind
            && is_story
        {
            let compacted = self.window.saturating_sub(boundary.keep.len());
            self.window = boundary.keep.len();
            return compaction(compacted, message, out);
        }
        let is_counted = message.view != View::Ui || self.counted.insert(first_source(message));
        self.window += usize::from(is_counted && message.kind.takes_part());
        heading(message, out)?;
        let long = |text: &str, out: &mut Output| if self.full { block(text, out) } else { folded(text, out) };
        for part in &message.content {
            match &part.body {
                PartBody::ToolResult(_) => long(&part_text(part), out)?,
                PartBody::ToolCall(call) if part_text(part).chars().count() > CALL_CHARS_SHOWN => {
                    let end = if call.incomplete { " (the stream ended inside this call)" } else { "" };
                    block(&format!("calls {} [{}]{end}", call.name, call.id), out)?;
                    long(&input_text(&call.input), out)?;
                }
                _ => block(&part_text(part), out)?,
            }
            let started = part.as_tool_call().and_then(|call| self.agents.get(&call.id));
            for session in started.map(agents::Sessions::names).unwrap_or_default() {
                block(&agents::note(session), out)?;
            }
        }
        // The ui view has several pieces of one message; it is said once.
        if let Some(said) = message.said_in_fields().filter(|_| is_counted) {
            long(&said, out)?;
        }
        for note in &message.metadata.notes {
            block(&format!("({note})"), out)?;
        }
        out.line("")
    }
}

fn first_source(message: &ProjectedMessage) -> Uuid {
    message.source_message_ids.first().copied().unwrap_or(message.id)
}

/// Where other branches leave the chain: at the message above, or elsewhere.
pub(crate) fn branch_point(point: &BranchPoint, elsewhere: bool, out: &mut Output) -> Outcome<()> {
    let count = point.leaves.len();
    let from = match point.at {
        None => "the beginning".to_owned(),
        Some(at) if elsewhere => at.to_string(),
        Some(_) => "here".to_owned(),
    };
    let branches = if count == 1 { "branch" } else { "branches" };
    let what = format!("{count} other {branches} from {from}");
    let leaves: Vec<String> = point.leaves.iter().take(LEAVES_SHOWN).map(Uuid::to_string).collect();
    let more = if count > LEAVES_SHOWN { ", …" } else { "" };
    let line = format!("◇ {what}: {}{more}", leaves.join(", "));
    let line = out.paint(AnsiColor::Blue.on_default(), &line);
    out.line(&line)?;
    out.line("")
}

fn compaction(compacted: usize, message: &ProjectedMessage, out: &mut Output) -> Outcome<()> {
    let what = match compacted {
        0 => String::new(),
        1 => "1 message, ".to_owned(),
        _ => format!("{compacted} messages, "),
    };
    let rule = out.paint(Style::new().bold(), &format!("── compacted: {what}summary below ──"));
    let about = format!("{} · {}", local(message.at), first_source(message));
    let about = out.paint(Style::new().dimmed(), &about);
    out.line(&format!("{rule} {about}"))?;
    out.line("")
}

fn heading(message: &ProjectedMessage, out: &mut Output) -> Outcome<()> {
    let colour = match message.role {
        Role::System => AnsiColor::Yellow,
        Role::User => AnsiColor::Green,
        Role::Assistant => AnsiColor::Cyan,
        Role::Tool => AnsiColor::Magenta,
    };
    let role = out.paint(colour.on_default().bold(), message.role.name());
    let mut about = vec![message.semantic_type().to_owned(), local(message.at)];
    // The ui view's ids are its own; a name that other commands take is an event's.
    about.extend(message.source_message_ids.first().map(ToString::to_string));
    let flags = &message.metadata;
    let words = [
        (flags.hidden_from_model, "not for the model"),
        (flags.hidden_from_transcript, "not for a person"),
        (flags.truncated, "cut"),
        (flags.compacted, "cleared for the model"),
        (flags.synthetic, "synthetic"),
    ];
    about.extend(words.iter().filter(|(holds, _)| *holds).map(|(_, word)| (*word).to_owned()));
    let about = out.paint(Style::new().dimmed(), &about.join(" · "));
    out.line(&format!("{role} {about}"))
}

/// A text of a session, each line set in.
fn block(text: &str, out: &mut Output) -> Outcome<()> {
    for line in visible(text, Layout::Block).lines() {
        out.line(format!("  {line}").trim_end())?;
    }
    Ok(())
}

/// The same, but of a long one the beginning only, and how much is left.
fn folded(text: &str, out: &mut Output) -> Outcome<()> {
    let count = text.lines().count();
    let shown = if count > LINES_SHOWN + 1 { LINES_SHOWN } else { count };
    for line in text.lines().take(shown) {
        match line.char_indices().nth(LINE_CHARS_SHOWN) {
            None => block(if line.is_empty() { "\n" } else { line }, out)?,
            Some((at, _)) => {
                block(&line[..at], out)?;
                note(&format!("… {} more characters; --full shows them", line[at..].chars().count()), out)?;
            }
        }
    }
    if count > shown {
        note(&format!("… {} more lines; --full shows them", count - shown), out)?;
    }
    Ok(())
}

fn note(text: &str, out: &mut Output) -> Outcome<()> {
    let text = out.paint(Style::new().dimmed(), text);
    out.line(&format!("  {text}"))
}
