//! `seslog import`: a session of another agent, or neutral events, into the store.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::PathBuf;

use anstyle::Style;
use serde::Serialize;
use seslog::event::{Uuid, Value, foreign_id};
use seslog::interop::claude_code::{self, ClaudeReport};
use seslog::interop::codex::{self, CodexReport};
use seslog::interop::pi::{self, PiReport};
use seslog::interop::{FaultyLine, ImportReport, import_events, read_events};
use seslog::session::{Session, SessionError, Store};

use crate::Context;
use crate::exit::{Exit, Outcome, Told};
use crate::output::Output;
use crate::sanitize::excerpt;
use crate::store::Making;

/// Import a session of another agent, or neutral events
///
/// Importing the same file again adds nothing; of a file that has grown the new records are added. Exits with 1 if a
/// line could not be read as it stands or a record could not be stored; all the others are there then.
///
/// The session's id is the one that the file names, if that is a UUID; else it is made of the file's name of the
/// session, or of its full path, always the same. Standard input that names none becomes a new session.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  seslog import ~/.claude/projects/x/y.jsonl\n  seslog import ~/.codex/sessions/2026/07/21/rollout-x.jsonl\n  seslog import ~/.pi/agent/sessions/--x--/y.jsonl\n  seslog import - --format events < session.jsonl"
)]
pub(crate) struct Args {
    /// The file; `-` is standard input
    file: PathBuf,
    /// What the file holds
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// The session to import into [default: as the file names it]
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// A record whose parent is not in the file begins anew, as the agent itself reads it; else it goes on from the
    /// record before it
    #[arg(long)]
    strict_parents: bool,
    #[command(flatten)]
    making: Making,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Format {
    /// What the first lines look like
    #[default]
    Auto,
    /// A transcript of Claude Code
    ClaudeCode,
    /// A rollout of Codex
    Codex,
    /// A session file of the pi coding agent
    Pi,
    /// Neutral events, as `append` takes them
    Events,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    session: String,
    path: String,
    format: Format,
    created: bool,
    #[serde(flatten)]
    report: ImportReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    claude_code: Option<ClaudeReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    codex: Option<CodexReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pi: Option<PiReport>,
}

/// The file and what it is called.
struct Source {
    input: Box<dyn BufRead>,
    /// Its full path; none: standard input.
    path: Option<String>,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Outcome {
    let mut source = Source::open(args)?;
    let (format, input) = match args.format {
        Format::Auto => detect(source.input)?,
        given => (given, source.input),
    };
    source.input = input;
    let store = context.place.store_with(args.making.options())?;
    let document = match format {
        Format::ClaudeCode => claude(args, source, &store)?,
        Format::Codex => codex(args, source, &store)?,
        Format::Pi => pi(args, source, &store)?,
        Format::Auto | Format::Events => events(args, source, &store)?,
    };
    let has_losses = !document.report.bad_lines.is_empty() || !document.report.refused.is_empty();
    let out = &mut context.out;
    if out.json {
        out.document(&document)?;
    } else {
        human(&document, out)?;
    }
    let unread = faulty_lines(&document).is_some_and(|lines| !lines.is_empty());
    Ok(if has_losses || unread { Exit::Found } else { Exit::Fine })
}

impl Source {
    fn open(args: &Args) -> Outcome<Self> {
        if args.file.as_os_str() == "-" {
            return Ok(Self { input: Box::new(BufReader::new(io::stdin())), path: None });
        }
        let failed = |error: io::Error| Told::io(format!("can't read `{}`", args.file.display()), &error);
        let file = File::open(&args.file).map_err(failed)?;
        let path = std::fs::canonicalize(&args.file).map_err(failed)?.display().to_string();
        Ok(Self { input: Box::new(BufReader::new(file)), path: Some(path) })
    }
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
        None if seen.iter().all(u8::is_ascii_whitespace) => {
            Err(Told::not_found("empty", "the file is empty; there is nothing to import").into())
        }
        None => Err(Told::usage("the first lines are of no known format; name it with --format").into()),
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
    let is_there = store.resolve(&id.to_string()).is_ok();
    Ok((store.open_or_create(id)?, !is_there))
}

/// The id for a session that the file calls so, or for a file that does not call it anything.
fn session_id(format: &str, name: Option<&str>, path: Option<&str>) -> Option<Uuid> {
    match (name, path) {
        (Some(name), _) => Some(Uuid::try_parse(name).unwrap_or_else(|_| foreign_id(format, "session", name, 1))),
        (None, Some(path)) => Some(foreign_id(format, "path", path, 1)),
        (None, None) => None,
    }
}

fn events(args: &Args, source: Source, store: &Store) -> Outcome<Document> {
    let mut reader = read_events(source.input);
    let name = reader.head().and_then(|head| head.id.clone());
    let (session, created) = target(args, store, session_id("events", name.as_deref(), source.path.as_deref()))?;
    let report = import_events(&session, &session.id().to_string(), reader)?;
    finish(session, Format::Events, created, report)
}

fn claude(args: &Args, source: Source, store: &Store) -> Outcome<Document> {
    let options = claude_code::Options { strict_parents: args.strict_parents, ..claude_code::Options::default() };
    let read = claude_code::read(source.input, &options).map_err(|error| Told::io("can't read the file", &error))?;
    if read.report.records == 0 {
        return Err(Told::not_found("empty", "the file holds no record of a session").into());
    }
    // A sub-agent's own file names the session that it worked for; it is a session of its own.
    let name = match (&read.session_id, &read.agent_id) {
        (Some(name), Some(agent)) => Some(format!("{name}/{agent}")),
        (name, _) => name.clone(),
    };
    let (session, created) = target(args, store, session_id("claude-code", name.as_deref(), source.path.as_deref()))?;
    let key = name.unwrap_or_else(|| session.id().to_string());
    let (report, found) = read.feed(&session, &key)?;
    Ok(Document { claude_code: Some(found), ..finish(session, Format::ClaudeCode, created, report)? })
}

fn codex(args: &Args, source: Source, store: &Store) -> Outcome<Document> {
    let read = codex::read(source.input, &codex::Options::default());
    let read = read.map_err(|error| Told::io("can't read the file", &error))?;
    if read.report.records == 0 {
        return Err(Told::not_found("empty", "the file holds no record of a session").into());
    }
    let name = read.session_id.clone();
    let (session, created) = target(args, store, session_id(codex::FORMAT, name.as_deref(), source.path.as_deref()))?;
    let key = name.unwrap_or_else(|| session.id().to_string());
    let (report, found) = read.feed(&session, &key)?;
    Ok(Document { codex: Some(found), ..finish(session, Format::Codex, created, report)? })
}

fn pi(args: &Args, source: Source, store: &Store) -> Outcome<Document> {
    let options = pi::Options { strict_parents: args.strict_parents, ..pi::Options::default() };
    let read = pi::read(source.input, &options).map_err(|error| Told::io("can't read the file", &error))?;
    if read.report.records == 0 {
        return Err(Told::not_found("empty", "the file holds no record of a session").into());
    }
    let name = read.session_id.clone();
    let (session, created) = target(args, store, session_id(pi::FORMAT, name.as_deref(), source.path.as_deref()))?;
    let key = name.unwrap_or_else(|| session.id().to_string());
    let (report, found) = read.feed(&session, &key)?;
    Ok(Document { pi: Some(found), ..finish(session, Format::Pi, created, report)? })
}

fn finish(session: Session, format: Format, created: bool, report: ImportReport) -> Outcome<Document> {
    let document = Document {
        session: session.id().to_string(),
        path: session.path().display().to_string(),
        format,
        created,
        report,
        claude_code: None,
        codex: None,
        pi: None,
    };
    session.close()?;
    Ok(document)
}

/// What an agent's reader says of lines that are not one record; none: it was no agent's file.
fn faulty_lines(document: &Document) -> Option<&[FaultyLine]> {
    let claude = document.claude_code.as_ref().map(|found| &found.bad_line_details);
    let codex = document.codex.as_ref().map(|found| &found.bad_line_details);
    let pi = document.pi.as_ref().map(|found| &found.bad_line_details);
    claude.or(codex).or(pi).map(Vec::as_slice)
}

fn human(document: &Document, out: &mut Output) -> Outcome<()> {
    let report = &document.report;
    let made = if document.created { " (new)" } else { "" };
    out.field("session", &format!("{}{made}", document.session))?;
    out.field("file", &document.path)?;
    out.field("written", &format!("{} of {} events", report.written, report.read))?;
    out.field("known", &report.known.to_string())?;
    // Each kind of repair for itself, so that many of one kind don't hide the one of another.
    let mut reasons: Vec<_> = report.repairs.iter().map(|repair| repair.reason).collect();
    reasons.sort_unstable();
    reasons.dedup();
    for reason in reasons {
        let repairs = report.repairs.iter().filter(|repair| repair.reason == reason).map(|repair| {
            let named = repair.named.as_deref().unwrap_or("its call");
            let on = repair.hung_on.as_deref().unwrap_or("nothing");
            (repair.line, format!("{} named {named}, hangs on {on} ({reason})", repair.event))
        });
        entries("repaired", repairs, out)?;
    }
    let renamed = report.renamed.iter().map(|renamed| {
        let text = format!("`{}` for the {}. time, with other content: {}", renamed.id, renamed.nth, renamed.event);
        (renamed.line, text)
    });
    entries("renamed", renamed, out)?;
    let missing = report.missing.iter();
    let missing =
        missing.map(|missing| (missing.line, format!("`{}` in {}: no earlier record", missing.id, missing.field)));
    entries("missing", missing, out)?;
    let refused = report.refused.iter();
    let refused =
        refused.map(|refused| (refused.line, format!("{}: {}", refused.id.as_deref().unwrap_or("no id"), refused.why)));
    entries("set aside", refused, out)?;
    let bad = report.bad_lines.iter().map(|bad| {
        let saved = if bad.recovered > 0 { format!("; {} whole records saved", bad.recovered) } else { String::new() };
        (bad.line, format!("expected {}, found {}{saved}", bad.expected, bad.found))
    });
    entries("set aside", bad, out)?;
    if let Some(lines) = faulty_lines(document) {
        let bad = lines.iter().map(|bad| {
            let line = usize::try_from(bad.line).unwrap_or_default();
            (line, format!("{}; {} whole records saved", bad.cause, bad.salvaged))
        });
        entries("set aside", bad, out)?;
    }
    let codex = document.codex.iter().flat_map(|found| &found.unknown_types);
    for (name, count) in codex.chain(document.pi.iter().flat_map(|found| &found.unknown_types)) {
        out.field("unknown", &format!("{count} of type `{}`, kept as they stand", excerpt(name, 80)))?;
    }
    let replaced = report.replaced_surrogates + report.replaced_bytes;
    if replaced > 0 {
        out.field("replaced", &format!("{replaced} pieces of text that are no Unicode"))?;
    }
    Ok(())
}

/// The first of these things, each about one line, and how many more there are.
fn entries(name: &str, things: impl Iterator<Item = (usize, String)>, out: &mut Output) -> Outcome<()> {
    const SHOWN: usize = 10;
    let mut more = 0;
    for (index, (line, text)) in things.enumerate() {
        if index < SHOWN {
            entry(name, line, &text, out)?;
        } else {
            more += 1;
        }
    }
    if more > 0 {
        entry(name, 0, &format!("and {more} more like these; --json gives them all"), out)?;
    }
    Ok(())
}

/// One thing about one line.
fn entry(name: &str, line: usize, text: &str, out: &mut Output) -> Outcome<()> {
    const CHARS_MAX: usize = 400;
    let name = out.paint(Style::new().bold(), &format!("{name:<10}"));
    let line = if line > 0 { format!("line {line}: ") } else { String::new() };
    out.line(&format!("{name} {line}{}", excerpt(text, CHARS_MAX)))
}
