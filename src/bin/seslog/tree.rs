//! `seslog tree`: the branches of a session, drawn.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;

use anstyle::{AnsiColor, Style};
use serde::Serialize;
use seslog::event::{Body, Kind, Message, PartBody, Uuid};
use seslog::interop::part_text;
use seslog::log::{LogError, LogReader, ParentLink, RealFs};
use seslog::projection::said_in_fields;
use seslog::session::{Counts, DamagedRange, Entry, Listed, SessionError, SessionReader, State};
use unicode_width::UnicodeWidthStr;

use crate::Context;
use crate::columns::cut;
use crate::exit::{Exit, Outcome};
use crate::glyphs::Glyphs;
use crate::output::{Output, plural};
use crate::sanitize::{Layout, excerpt, visible};
use crate::short_ids::ShortIds;
use crate::tree_shape::{Line, Node, lines};
use crate::views::{beside, history, tell_of};

/// Characters of a message that are shown.
const EXCERPT_CHARS: usize = 40;
/// Cells of it that are shown however narrow the terminal is.
const SAID_MIN: usize = 16;

/// Draw the branches of a session
///
/// One line where branches part, one where each of them ends, one for each compaction, label and fork; it tells how many messages
/// come before it in its column, and what the first and the last of them say. The current branch goes on in its column,
/// others are set in. The ids are as short as they can be where an EVENT is asked for.
///
/// Results that hang beside the chain, as parallel calls leave them, are counted as "1 result beside" and no branch; with --all
/// each has a line of its own, with ○, and the views show it behind its call all the same.
///
/// ● is on the current branch, ○ on another one, × taken back, ◇ a compaction. Where the locale is not UTF-8: * o x =
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  seslog tree 0192
  seslog tree 0192 --all               a line for each message
  seslog show 0192 --branch 0192f3     read one of the branches
  seslog rewind 0192 --to 0192f3       go on there")]
pub(crate) struct Args {
    /// The session: its id, the beginning of it, or a path
    session: OsString,
    /// A line for each message
    #[arg(long)]
    all: bool,
}

/// What goes for the whole session.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Fork {
    session: String,
    title: Option<String>,
    /// The event of this session that it goes on from.
    at: Uuid,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ForkedFrom {
    session: Uuid,
    event: Uuid,
    /// Whether that session is in the store.
    found: bool,
}

/// A line as JSON has it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct LineDocument<'a> {
    id: Uuid,
    /// The message of the line that it hangs on.
    parent: Option<Uuid>,
    role: Option<&'static str>,
    semantic_type: Option<&'static str>,
    /// The first message of the line.
    first: Uuid,
    messages: usize,
    taken_back: usize,
    results_beside: usize,
    branches: usize,
    current: bool,
    leaf: bool,
    label: Option<&'a str>,
    forks: Vec<&'a str>,
    excerpt: String,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Outcome {
    let reader = context.place.read(&args.session)?;
    let mut damage = reader.report().damage.clone();
    let state = whole(&reader, &mut damage)?;
    tell_of(None, &mut damage, reader.path());
    let forks = forks_of(&reader)?;
    let tree = Tree::of(&state, &forks, args.all);
    let out = &mut context.out;
    if out.json {
        tree.document(&reader, &damage, &forks, out)?;
    } else {
        tree.human(&reader, &forks, out)?;
    }
    Ok(if damage.is_empty() { Exit::Fine } else { Exit::Found })
}

/// The session's own events, or what can be read of them.
fn whole(reader: &SessionReader, damage: &mut Vec<DamagedRange>) -> Outcome<State> {
    match reader.whole_state() {
        Ok(state) => Ok(state),
        Err(SessionError::Log(LogError::Damaged { .. })) => {
            let history = history(reader, None)?;
            damage.extend(history.damage);
            Ok(history.state)
        }
        Err(error) => Err(error.into()),
    }
}

/// The sessions of the store that were forked from this one.
fn forks_of(reader: &SessionReader) -> Outcome<Vec<Fork>> {
    let listed = beside(reader.path()).list()?;
    let forks = listed.into_iter().filter(|listed| listed.parent == Some(reader.id()));
    let fork = |listed: Listed| {
        // One that went away, or can't be read, since it was listed is none.
        let (log, _) = LogReader::open(RealFs::shared(), &listed.path).ok()?;
        let ParentLink { event, .. } = log.info().parent?;
        Some(Fork { session: log.info().log_id.to_string(), title: listed.title, at: event })
    };
    let mut forks: Vec<Fork> = forks.filter_map(fork).collect();
    forks.sort_by(|one, other| one.session.cmp(&other.session));
    Ok(forks)
}

/// A session's messages, laid out.
struct Tree<'a> {
    state: &'a State,
    /// The messages that take part in the chain: their entries.
    entries: Vec<&'a Entry>,
    lines: Vec<Line>,
    leaf: Option<usize>,
    labels: HashMap<usize, &'a str>,
    /// The forks that go on from a message: their numbers.
    forks: HashMap<usize, Vec<usize>>,
    counts: Counts,
}

impl<'a> Tree<'a> {
    fn of(state: &'a State, forks: &[Fork], all: bool) -> Self {
        let entries: Vec<&Entry> = state.entries().iter().filter(|entry| entry.takes_part()).collect();
        let numbers: HashMap<Uuid, usize> =
            entries.iter().enumerate().map(|(number, entry)| (entry.event.id, number)).collect();
        let number_of = |entry: &Entry| numbers.get(&entry.event.id).copied();
        let labels = labels(state, &numbers);
        let mut forks_at: HashMap<usize, Vec<usize>> = HashMap::new();
        for (number, fork) in forks.iter().enumerate() {
            let entry = state.entry(fork.at);
            let at = entry.and_then(|entry| if entry.takes_part() { Some(entry) } else { state.anchor(entry) });
            if let Some(at) = at.and_then(number_of) {
                forks_at.entry(at).or_default().push(number);
            }
        }
        let node = |(number, entry): (usize, &&Entry)| Node {
            parent: state.anchor(entry).and_then(number_of),
            counts: entry.event.message().is_some_and(Message::is_said),
            living: entry.is_living(),
            says: !is_only_results(entry),
            stops: is_summary(entry) || labels.contains_key(&number) || forks_at.contains_key(&number),
        };
        let nodes: Vec<Node> = entries.iter().enumerate().map(node).collect();
        let leaf = state.leaf().and_then(number_of);
        let lines = lines(&nodes, leaf, all);
        Self { state, entries, lines, leaf, labels, forks: forks_at, counts: state.counts() }
    }

    fn document(
        &self,
        reader: &SessionReader,
        damage: &[DamagedRange],
        forks: &[Fork],
        out: &mut Output,
    ) -> Outcome<()> {
        let mut document = out.open_document()?;
        document.field("session", &reader.id())?;
        document.field("title", &self.state.meta().title)?;
        document.field("forkedFrom", &forked_from(reader))?;
        document.field("forks", &forks)?;
        document.field("leaf", &self.leaf.map(|leaf| self.entries[leaf].event.id))?;
        document.field("messages", &self.counts.messages)?;
        document.field("branches", &self.counts.branches)?;
        document.field("damage", &damage)?;
        document.list("lines", self.lines.iter().map(|line| Ok(self.line_document(line, forks))))?;
        document.close()
    }

    fn line_document<'b>(&'b self, line: &Line, forks: &'b [Fork]) -> LineDocument<'b> {
        let entry = self.entries[line.at];
        let message = entry.event.message();
        LineDocument {
            id: entry.event.id,
            parent: line.above.map(|above| self.entries[self.lines[above].at].event.id),
            role: message.map(|message| message.role.name()),
            semantic_type: message.map(|message| message.kind.name()),
            first: self.entries[line.first].event.id,
            messages: line.messages,
            taken_back: line.taken_back,
            results_beside: line.beside,
            branches: line.branches,
            current: line.live,
            leaf: self.leaf == Some(line.at),
            label: self.labels.get(&line.at).copied(),
            forks: self.forks_at(line, forks).map(|fork| fork.session.as_str()).collect(),
            excerpt: text(entry),
        }
    }

    fn forks_at<'b>(&'b self, line: &Line, forks: &'b [Fork]) -> impl Iterator<Item = &'b Fork> {
        self.forks.get(&line.at).into_iter().flatten().map(|&number| &forks[number])
    }

    fn human(&self, reader: &SessionReader, forks: &[Fork], out: &mut Output) -> Outcome<()> {
        let glyphs = Glyphs::of_locale();
        let title = self.state.meta().title.as_deref().map_or_else(String::new, |title| format!("  {}", quoted(title)));
        let number = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
        let Counts { messages, branches, .. } = self.counts;
        let counts = format!("{}, {}", plural(number(messages), "message"), plural(number(branches), "branch"));
        let id = reader.id().to_string();
        let room = out.width.map(|width| width.saturating_sub(id.len() + counts.len() + 2));
        let title = room.filter(|room| title.width() > *room).map(|room| cut(&title, room)).unwrap_or(title);
        let id = out.paint(Style::new().bold(), &id);
        out.line(&format!("{id}{title}  {counts}"))?;
        if let Some(from) = forked_from(reader) {
            let gone = if from.found { "" } else { ", which is not here" };
            out.line(&format!("forked from {} at {}{gone}", from.session, from.event))?;
        }
        let placed: HashSet<usize> = self.forks.values().flatten().copied().collect();
        for fork in (0..forks.len()).filter(|number| !placed.contains(number)).map(|number| &forks[number]) {
            out.line(&format!("{} {}, at {}", glyphs.fork, fork_words(fork), fork.at))?;
        }
        let ids = ShortIds::of(self.state.entries().iter().map(|entry| entry.event.id));
        for line in &self.lines {
            let text = self.line(line, &ids, glyphs, out);
            out.line(&text)?;
            for fork in self.forks_at(line, forks) {
                let on = if line.branches > 0 { glyphs.past } else { "  " };
                let columns = format!("{}{on}", glyphs.past.repeat(line.depth));
                let room = out.width.map_or(usize::MAX, |width| width.saturating_sub(columns.width()));
                let fork = cut(&format!("{} {}", glyphs.fork, fork_words(fork)), room);
                out.line(&format!("{columns}{}", out.paint(AnsiColor::Blue.on_default(), &fork)))?;
            }
        }
        Ok(())
    }

    fn line(&self, line: &Line, ids: &ShortIds, glyphs: Glyphs, out: &Output) -> String {
        let entry = self.entries[line.at];
        let columns = match line.is_side {
            true => glyphs.past.repeat(line.depth.saturating_sub(1)) + glyphs.side,
            false => glyphs.past.repeat(line.depth),
        };
        let (sign, style) = match (is_summary(entry), entry.is_living(), line.live) {
            (_, false, _) => (glyphs.dead, AnsiColor::Red.on_default()),
            (true, ..) => (glyphs.compaction, Style::new().bold()),
            (_, _, true) => (glyphs.live, AnsiColor::Green.on_default().bold()),
            _ => (glyphs.other, AnsiColor::Cyan.on_default()),
        };
        let sign = out.paint(style, sign);
        let short = ids.short(entry.event.id);
        let id = out.paint(Style::new().dimmed(), &short);
        let mut words = Vec::new();
        if line.at != line.first {
            words.push(plural(line.messages, "message"));
        }
        if line.taken_back > 0 {
            words.push(if line.messages == 1 {
                "taken back".into()
            } else {
                format!("{} taken back", line.taken_back)
            });
        }
        if line.beside > 0 {
            words.push(format!("{} beside", plural(line.beside, "result")));
        }
        let words = if words.is_empty() { String::new() } else { format!("{}: ", words.join(", ")) };
        let first = (line.first != line.at).then(|| self.entries[line.first]).filter(|first| !is_compaction(first));
        let first = first.map_or_else(String::new, |first| format!("{} {} ", said(first), glyphs.to));
        let label = self.labels.get(&line.at).map(|label| format!(" [{}]", excerpt(label, EXCERPT_CHARS)));
        let label = label.unwrap_or_default();
        let here = if self.leaf == Some(line.at) { format!(" {}", glyphs.here) } else { String::new() };
        let mut said = format!("{words}{first}{}", said(entry));
        if let Some(width) = out.width {
            let beside = [&columns, &short, &label, &here].map(|text| text.width()).iter().sum::<usize>() + 3;
            said = cut(&said, width.saturating_sub(beside).max(SAID_MIN));
        }
        let label = out.paint(AnsiColor::Yellow.on_default(), &label);
        let here = out.paint(AnsiColor::Green.on_default().bold(), &here);
        format!("{columns}{sign} {id} {said}{label}{here}")
    }
}

/// Where the session was forked from.
fn forked_from(reader: &SessionReader) -> Option<ForkedFrom> {
    let ParentLink { log, event } = reader.info().parent?;
    let found = beside(reader.path()).resolve(&log.to_string()).is_ok();
    Some(ForkedFrom { session: log, event, found })
}

/// The labels that hold, by the number of their message: a program's own events, which name the message by the id that it had
/// there.
fn labels<'a>(state: &'a State, numbers: &HashMap<Uuid, usize>) -> HashMap<usize, &'a str> {
    let mut named: HashMap<&str, usize> = HashMap::new();
    let mut labels = HashMap::new();
    for entry in state.entries() {
        if let (Some(original), Some(&number)) = (&entry.event.original_id, numbers.get(&entry.event.id)) {
            named.insert(original, number);
        }
        let Body::Extension(extension) = &entry.event.body else { continue };
        if extension.name != "label" && !extension.name.ends_with(".label") {
            continue;
        }
        let text = |name| extension.payload.get(name).and_then(|value| value.as_text());
        let Some(target) = text("targetId") else { continue };
        let own = Uuid::try_parse(target).ok().and_then(|id| numbers.get(&id));
        let Some(&number) = own.or_else(|| named.get(target)) else { continue };
        match text("label").filter(|label| !label.is_empty()) {
            Some(label) => labels.insert(number, label),
            None => labels.remove(&number),
        };
    }
    labels
}

fn is_compaction(entry: &Entry) -> bool {
    entry.is_boundary() || is_summary(entry)
}

fn is_summary(entry: &Entry) -> bool {
    entry.event.message().is_some_and(|message| matches!(message.kind, Kind::CompactSummary(_)))
}

fn is_only_results(entry: &Entry) -> bool {
    let is_result = |body: &PartBody| matches!(body, PartBody::ToolResult(_) | PartBody::ToolApprovalResponse(_));
    let parts = entry.event.message().map_or(&[][..], |message| &message.content);
    !parts.is_empty() && parts.iter().all(|part| is_result(&part.body))
}

/// Who says it, and its beginning.
fn said(entry: &Entry) -> String {
    let Some(message) = entry.event.message() else { return "an event of an unknown kind".to_owned() };
    let text = text(entry);
    let who = if is_summary(entry) { "compacted" } else { message.role.name() };
    match text.is_empty() {
        true => format!("{who} ({})", visible(message.kind.name(), Layout::Line)),
        false => format!("{who} {}", quoted(&text)),
    }
}

/// The beginning of its text, in one line.
fn text(entry: &Entry) -> String {
    let Some(message) = entry.event.message() else { return String::new() };
    let parts = message.content.iter().filter(|part| !matches!(part.body, PartBody::Reasoning(_)));
    let text = parts.map(part_text).find(|text| !text.trim().is_empty());
    // Fields that say nothing in words come as JSON, which the kind's name says better.
    let in_words = || said_in_fields(&message.kind, &message.content).filter(|text| !text.starts_with('{'));
    let text = text.or_else(in_words).unwrap_or_default();
    let begin: String = text.trim_start().chars().take(4 * EXCERPT_CHARS).collect();
    let words: Vec<&str> = begin.split_whitespace().collect();
    let line = words.join(" ");
    let mut short: String = line.chars().take(EXCERPT_CHARS).collect();
    if short.len() < line.len() || begin.len() < text.trim().len() {
        short.push('…');
    }
    short
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", visible(text, Layout::Line))
}

fn fork_words(fork: &Fork) -> String {
    let title = fork.title.as_deref().map_or_else(String::new, |title| format!(" {}", quoted(title)));
    format!("forked: {}{title}", fork.session)
}
