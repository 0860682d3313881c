//! One file into the store: what it holds, which session that is, and what was found.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, IsTerminal, Read};
use std::path::Path;

use seslog::event::{Uuid, Value, foreign_id};
use seslog::interop::claude_code;
use seslog::interop::codex;
use seslog::interop::pi;
use seslog::interop::{BadLine, FaultyLine, ImportReport, SessionHead, import_events, read_events};
use seslog::log::ParentLink;
use seslog::session::{Session, SessionError, Store};

use super::agents::SubAgent;
use super::document::Document;
use super::packed::unpacked;
use super::{Args, Format, own};
use crate::exit::{Failure, Outcome, Told};
use crate::output::tell;

/// The file and what it is called.
struct Source {
    input: Box<dyn BufRead>,
    /// Its full path; none: standard input.
    path: Option<String>,
}

/// Imports one file, or standard input. `option` names the store in a command that is shown.
pub(super) fn import(file: &Path, args: &Args, store: &Store, option: &str) -> Outcome<Document> {
    let mut document = import_any(file, args, store)?;
    let faulty = document.faulty_lines().unwrap_or_default().iter().map(bad_line).collect::<Vec<_>>();
    document.report.bad_lines.extend(faulty);
    document.old_losses = document.has_losses() && document.is_as_before(file);
    let kept = document.report.leaf_kept.as_ref();
    document.rewind = kept.map(|kept| format!("seslog rewind {} --to {}{option}", document.session, kept.imported));
    Ok(document)
}

/// What an agent's reader says of a line, as it is said of any file.
fn bad_line(faulty: &FaultyLine) -> BadLine {
    BadLine {
        line: usize::try_from(faulty.line).unwrap_or(usize::MAX),
        offset: faulty.offset,
        field: None,
        expected: "one JSON object".to_owned(),
        found: faulty.cause.clone(),
        recovered: faulty.salvaged,
    }
}

fn import_any(file: &Path, args: &Args, store: &Store) -> Outcome<Document> {
    if args.format == Format::Seslog || (args.format == Format::Auto && own::is_own(file)) {
        return own::import(file, args, store);
    }
    let mut source = Source::open(file)?;
    let unmarked = |input| unpacked(input).and_then(unmarked);
    source.input = unmarked(source.input).map_err(|error| Told::io("can't read the file", &error))?;
    let (format, input) = match args.format {
        Format::Auto => detect(source.input)?,
        given => (given, source.input),
    };
    source.input = input;
    match format {
        Format::ClaudeCode => claude(args, source, store),
        Format::Codex => codex(args, source, store),
        Format::Pi => pi(args, source, store),
        Format::Auto | Format::Events | Format::Seslog => events(args, source, store),
    }
}

impl Source {
    fn open(file: &Path) -> Outcome<Self> {
        if file.as_os_str() == "-" {
            if io::stdin().is_terminal() {
                tell("reading from the terminal; Ctrl-D ends it");
            }
            let input = Ending { input: io::stdin(), has_ended: false };
            return Ok(Self { input: Box::new(BufReader::new(input)), path: None });
        }
        let failed = |error: io::Error| Told::reading(file, &error);
        let opened = File::open(file).map_err(failed)?;
        let path = std::fs::canonicalize(file).map_err(failed)?.display().to_string();
        Ok(Self { input: Box::new(BufReader::new(opened)), path: Some(path) })
    }
}

/// An input that has ended once it has ended: a terminal would begin anew.
struct Ending<R> {
    input: R,
    has_ended: bool,
}

impl<R: Read> Read for Ending<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.has_ended || buffer.is_empty() {
            return Ok(0);
        }
        let count = self.input.read(buffer)?;
        self.has_ended = count == 0;
        Ok(count)
    }
}

/// The input with blanks in the place of a byte order mark, so that what is told of bytes stays true.
fn unmarked(mut input: Box<dyn BufRead>) -> io::Result<Box<dyn BufRead>> {
    const MARK: [u8; 3] = [0xef, 0xbb, 0xbf];
    let mut first = Vec::new();
    input.by_ref().take(MARK.len() as u64).read_to_end(&mut first)?;
    if first == MARK {
        first.fill(b' ');
    }
    Ok(Box::new(Cursor::new(first).chain(input)))
}

/// Whether a session that a person named held a conversation, none of which is in the file that names another one.
fn is_mixed(args: &Args, own: Option<Uuid>, document: &Document) -> bool {
    let is_other = own.is_some_and(|own| own.to_string() != document.session);
    let report = &document.report;
    args.session.is_some() && is_other && !document.created && report.known == 0 && report.written > 0
}

/// Looks at the first lines, and gives the whole input back.
fn detect(mut input: Box<dyn BufRead>) -> Outcome<(Format, Box<dyn BufRead>)> {
    const LINES_MAX: usize = 64;
    const BYTES_MAX: u64 = 16 << 20;
    let mut seen = Vec::new();
    let mut found = None;
    for _ in 0..LINES_MAX {
        let start = seen.len();
        let failed = |error: io::Error| Told::io("can't read the file", &error);
        let len = input.by_ref().take(BYTES_MAX).read_until(b'\n', &mut seen).map_err(failed)?;
        found = format_of(&seen[start..]);
        if len == 0 || found.is_some() {
            break;
        }
    }
    match found {
        Some(format) => Ok((format, Box::new(Cursor::new(seen).chain(input)))),
        None if codex::may_be_early(&seen) => Ok((Format::Codex, Box::new(Cursor::new(seen).chain(input)))),
        None if seen.starts_with(&own::MAGIC) => Err(own::not_from_a_pipe().into()),
        None if seen.iter().all(u8::is_ascii_whitespace) => {
            Err(Told::not_found("empty", "the file is empty; there is nothing to import").into())
        }
        None => {
            let message = "the first lines are of no known format; name it with --format";
            Err(Told { code: "unknownFormat", ..Told::usage(message) }.into())
        }
    }
}

fn format_of(line: &[u8]) -> Option<Format> {
    const OURS: [&str; 10] = [
        "session",
        "message",
        "compaction",
        "tombstone",
        "amend",
        "prune",
        "head",
        "tool_started",
        "meta",
        "extension",
    ];
    let (value, _) = Value::parse_json(line).ok()?;
    let has = |name| value.get(name).is_some();
    if ["sessionId", "parentUuid", "uuid", "leafUuid"].into_iter().any(has) {
        return Some(Format::ClaudeCode);
    }
    if codex::is_record(&value) {
        return Some(Format::Codex);
    }
    let name = value.get("type")?.as_text()?;
    if is_of_pi(&value, name) {
        return Some(Format::Pi);
    }
    OURS.contains(&name).then_some(Format::Events)
}

/// Whether a line is pi's: its records have a time that is text, and what a message says stands in an object.
fn is_of_pi(value: &Value, name: &str) -> bool {
    const THEIRS: [&str; 6] =
        ["compaction", "model_change", "thinking_level_change", "branch_summary", "custom_message", "session_info"];
    let is_text = |name| value.get(name).and_then(Value::as_text).is_some();
    let is_theirs = match name {
        "session" => is_text("id") && (is_text("cwd") || value.get("version").is_some()),
        "message" => value.get("message").and_then(|message| message.get("role")).is_some(),
        _ => THEIRS.contains(&name),
    };
    is_text("timestamp") && value.get("at").is_none() && is_theirs
}

/// The session that is imported into, and whether it is new.
fn target(args: &Args, store: &Store, id: Option<Uuid>) -> Outcome<(Session, bool)> {
    if let Some(name) = &args.session {
        return match (store.open(name), Uuid::try_parse(name)) {
            (Err(SessionError::NoSuchSession { .. }), Ok(id)) => Ok((store.open_or_create(id)?, true)),
            (other, _) => Ok((other?, false)),
        };
    }
    let Some(id) = id else { return Ok((store.create()?, true)) };
    told_if_new(store.open_or_create(id)?)
}

/// The session, and whether nothing is in it yet. (To look for its file first would cost a look at the whole directory.)
fn told_if_new(session: Session) -> Outcome<(Session, bool)> {
    let is_new = session.with_state(|state| state.entries().is_empty())?;
    Ok((session, is_new))
}

/// The id for a session that the file calls so, or for a file that does not call it anything.
fn session_id(format: &str, name: Option<&str>, path: Option<&str>) -> Option<Uuid> {
    match (name, path) {
        (Some(name), _) => Some(Uuid::try_parse(name).unwrap_or_else(|_| foreign_id(format, "session", name, 1))),
        (None, Some(path)) => Some(foreign_id(format, "path", path, 1)),
        (None, None) => None,
    }
}

fn sub_agent(format: &'static str, parent: String, name: String) -> SubAgent {
    SubAgent { format, parent, name, call: None, agent_above: None, is_linked: false }
}

fn events(args: &Args, source: Source, store: &Store) -> Outcome<Document> {
    let mut reader = read_events(source.input);
    let name = reader.head().and_then(|head| head.id.clone());
    let parent = reader.head().and_then(parent_of);
    let id = session_id("events", name.as_deref(), source.path.as_deref());
    let (session, created) = match (id, parent) {
        (Some(id), Some(parent)) if args.session.is_none() => told_if_new(store.open_or_create_fork(id, parent)?)?,
        _ => target(args, store, id)?,
    };
    let is_named = reader.head().is_some();
    let report = import_events(&session, &session.id().to_string(), reader)?;
    if created && !is_named && report.read == 0 && session.with_state(|state| state.entries().is_empty())? {
        // An empty list of events is an empty session; what holds none is no list of events.
        let path = session.path().to_owned();
        session.close()?;
        std::fs::remove_file(&path).map_err(|error| Told::io(format!("can't remove `{}`", path.display()), &error))?;
        let bad = report.bad_lines.first();
        let why = bad.map(|bad| format!("; line {}: expected {}, found {}", bad.line, bad.expected, bad.found));
        let message = format!("the file holds no record of a session{}", why.unwrap_or_default());
        return Err(Told::not_found("empty", message).into());
    }
    let document = finish(session, Format::Events, created, report)?;
    Ok(Document { mixed: is_mixed(args, id.filter(|_| name.is_some()), &document), ..document })
}

/// What the session was forked from, as an export of it says.
fn parent_of(head: &SessionHead) -> Option<ParentLink> {
    let id = |wanted: &str| {
        let value = head.extra.iter().find(|(name, _)| name == wanted).and_then(|(_, value)| value.as_text())?;
        Uuid::try_parse(value).ok()
    };
    Some(ParentLink { log: id("forkedFrom")?, event: id("forkedAt")? })
}

fn claude(args: &Args, source: Source, store: &Store) -> Outcome<Document> {
    let options = claude_code::Options { strict_parents: args.strict_parents, ..claude_code::Options::default() };
    let read = claude_code::read(source.input, &options).map_err(|error| Told::io("can't read the file", &error))?;
    if read.report.transcript_records == 0 {
        return Err(nothing_in_it(read.report.records, &read.report.bad_line_details));
    }
    // A sub-agent's own file names the session that it worked for; it is a session of its own.
    let name = match (&read.session_id, &read.agent_id) {
        (Some(name), Some(agent)) => Some(format!("{name}/{agent}")),
        (name, _) => name.clone(),
    };
    let own = session_id("claude-code", name.as_deref(), source.path.as_deref());
    let (session, created) = target(args, store, own)?;
    let key = name.unwrap_or_else(|| session.id().to_string());
    let agent = read.session_id.clone().zip(read.agent_id.clone());
    let mut agent = agent.map(|(parent, name)| sub_agent(claude_code::FORMAT, parent, name));
    let (report, found) = read.feed(&session, &key)?;
    if let Some(agent) = &mut agent {
        agent.is_linked = session.with_state(|state| SubAgent::is_linked_in(state.meta()))?;
        agent.read_meta(Path::new(source.path.as_deref().unwrap_or_default()));
    }
    let document = finish(session, Format::ClaudeCode, created, report)?;
    Ok(Document { mixed: is_mixed(args, own, &document), claude_code: Some(found), agent, ..document })
}

fn codex(args: &Args, source: Source, store: &Store) -> Outcome<Document> {
    let read = codex::read(source.input, &codex::Options::default());
    let read = read.map_err(|error| Told::io("can't read the file", &error))?;
    if read.session_id.is_none() && read.report.messages == 0 {
        return Err(nothing_in_it(read.report.records, &read.report.bad_line_details));
    }
    let name = read.session_id.clone();
    let own = session_id(codex::FORMAT, name.as_deref(), source.path.as_deref());
    let (session, created) = target(args, store, own)?;
    let key = name.unwrap_or_else(|| session.id().to_string());
    let agent = read.parent_thread.clone().zip(read.session_id.clone());
    let mut agent = agent.map(|(parent, name)| sub_agent(codex::FORMAT, parent, name));
    let (report, found) = read.feed(&session, &key)?;
    if let Some(agent) = &mut agent {
        agent.is_linked = session.with_state(|state| SubAgent::is_linked_in(state.meta()))?;
    }
    let document = finish(session, Format::Codex, created, report)?;
    Ok(Document { mixed: is_mixed(args, own, &document), codex: Some(found), agent, ..document })
}

fn pi(args: &Args, source: Source, store: &Store) -> Outcome<Document> {
    let options = pi::Options { strict_parents: args.strict_parents, ..pi::Options::default() };
    let read = pi::read(source.input, &options).map_err(|error| Told::io("can't read the file", &error))?;
    if read.session_id.is_none() && read.report.messages == 0 {
        return Err(nothing_in_it(read.report.records, &read.report.bad_line_details));
    }
    let name = read.session_id.clone();
    let own = session_id(pi::FORMAT, name.as_deref(), source.path.as_deref());
    let (session, created) = target(args, store, own)?;
    let key = name.unwrap_or_else(|| session.id().to_string());
    let (report, found) = read.feed(&session, &key)?;
    let document = finish(session, Format::Pi, created, report)?;
    Ok(Document { mixed: is_mixed(args, own, &document), pi: Some(found), ..document })
}

/// A file of which nothing is the format's: no session is made of it.
fn nothing_in_it(records: usize, bad: &[FaultyLine]) -> Failure {
    let message = match (records, bad.first()) {
        (0, None) => "the file holds no record of a session".to_owned(),
        (0, Some(bad)) => format!("the file holds no record of a session; line {}: {}", bad.line, bad.cause),
        _ => format!("none of the {records} records of the file is of a conversation in this format; see --format"),
    };
    Told::not_found("empty", message).into()
}

fn finish(session: Session, format: Format, created: bool, report: ImportReport) -> Outcome<Document> {
    let (id, path) = (session.id().to_string(), session.path().display().to_string());
    session.close()?;
    Ok(Document::new(id, path, format, created, report))
}
