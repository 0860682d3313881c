//! `seslog export`: a session for other programs and other people.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use seslog::event::{Body, Event, Kind, Uuid};
use seslog::interop::page::{Branches, Html, Markdown, Page, PageHead, first_words};
use seslog::interop::{Agent, ExportError, WriteReport, write_as, write_events, write_events_with};
use seslog::projection::{Redact, TranscriptStream};
use seslog::session::{Clock as _, SessionReader, SystemClock};

use crate::Context;
use crate::agent_home::AgentHome;
use crate::exit::{Exit, Failure, Outcome, Told};
use crate::output::{has_room, plural, tell};
use crate::rules::{Events, Redacting, Watched, redacted};
use crate::sanitize::terminal_safe_json;
use crate::time::{self, End, local, rfc3339_seconds};
use crate::views::{beside, history, tell_of};

/// Write a session out for other programs or other people
///
/// `jsonl` is lossless: every event, one a line; `seslog import` makes the same session of it. `markdown` and `html` are
/// the transcript for reading, other branches included; the HTML file needs nothing but itself and loads nothing.
///
/// `claude-code`, `codex` and `pi` are files with which these programs go on. Put the file where the program looks for it,
/// which is said when it is written: Claude Code below ~/.claude or CLAUDE_CONFIG_DIR, Codex below ~/.codex or CODEX_HOME, pi below
/// ~/.pi/agent. A session that came from that program gets its own ids and records back. What the format can't say is named.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  seslog export 0192 > session.jsonl
  seslog export 0192 -o session.html                      a page, by the name of the file
  seslog export 0192 --format html --redact 'sk-[A-Za-z0-9_-]+' -o session.html
  seslog export 0192 --format codex --output rollout.jsonl
  seslog export 0192 --format jsonl | seslog --store elsewhere import -")]
pub(crate) struct Args {
    /// The session: its id, the beginning of it, or a path
    session: OsString,
    /// As what [default: what the file's name ends with: .html, .md, .jsonl; else jsonl]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Into this file, which must not be there yet [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write over the file if it is there
    #[arg(long, requires = "output")]
    force: bool,
    /// Take out what matches this regular expression, `[redacted]` in its place; may be given more than once. JSON lines keep
    /// matches in ids, and say so. To take it out of the session itself: `seslog redact`
    #[arg(long, value_name = "PATTERN", allow_hyphen_values = true)]
    redact: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Format {
    /// Neutral JSON lines: everything, for `seslog import`
    Jsonl,
    /// The transcript as Markdown
    Markdown,
    /// The transcript as one HTML page
    Html,
    /// A transcript of Claude Code: `claude --resume ID`
    ClaudeCode,
    /// A rollout of Codex: `codex resume ID`
    Codex,
    /// A session file of the pi coding agent: `pi --session ID`
    Pi,
}

impl Format {
    /// The one that is named, or the one that the file's name says. A name that says another thing is not guessed about.
    fn chosen(args: &Args) -> Outcome<Self> {
        let Some(path) = args.output.as_deref().filter(|_| args.format.is_none()) else {
            return Ok(args.format.unwrap_or(Self::Jsonl));
        };
        let end = path.extension().map(|end| end.to_string_lossy().to_lowercase());
        match end.as_deref() {
            None | Some("jsonl" | "ndjson") => Ok(Self::Jsonl),
            Some("md" | "markdown") => Ok(Self::Markdown),
            Some("html" | "htm") => Ok(Self::Html),
            Some(end) => {
                let message = format!(
                    "`{}`: `.{end}` does not say as what; --format does (jsonl, markdown, html, claude-code, codex, pi)",
                    path.display()
                );
                Err(Told::usage(message).into())
            }
        }
    }

    /// The agent whose file it is.
    fn agent(self) -> Option<Agent> {
        match self {
            Self::ClaudeCode => Some(Agent::ClaudeCode),
            Self::Codex => Some(Agent::Codex),
            Self::Pi => Some(Agent::Pi),
            Self::Jsonl | Self::Markdown | Self::Html => None,
        }
    }

    /// What is counted.
    fn counted(self) -> &'static str {
        match self {
            Self::Jsonl => "events",
            Self::Markdown | Self::Html => "messages",
            Self::ClaudeCode | Self::Codex | Self::Pi => "records",
        }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    session: String,
    format: Format,
    path: String,
    /// Events of an export to JSON lines, records of one for an agent, messages of the others.
    written: u64,
    /// Of a file for an agent: where it belongs, and what it says otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<ForAgent>,
}

/// A file for an agent.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ForAgent {
    /// The directory below which its program looks, as far as one is known.
    home: Option<String>,
    #[serde(flatten)]
    report: WriteReport,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Outcome {
    if context.out.json && args.output.is_none() {
        return Err(Told::usage("with --json the export needs --output FILE; standard output is the document").into());
    }
    if let Some(path) = args.output.as_deref() {
        has_room(path)?;
    }
    if let Some(path) = args.output.as_deref().filter(|_| !args.force) {
        refuse_if_there(path)?;
    }
    let format = Format::chosen(args)?;
    if !args.redact.is_empty() && format.agent().is_some() {
        return Err(
            Told::usage("--redact is for jsonl, markdown and html; `seslog redact` a fork for other formats").into()
        );
    }
    let patterns = Watched::patterns(&args.redact)?;
    let reader = context.place.read(&args.session)?;
    let (written, exit, agent) = match &args.output {
        Some(path) => into_file(&reader, (format, args.force), &patterns, path)?,
        None => export(&reader, format, &patterns, BufWriter::new(io::stdout().lock()))?,
    };
    patterns.tell_of_the_idle();
    if let Some(path) = &args.output {
        let session = reader.id().to_string();
        let path = path.display().to_string();
        let document = Document { session, format, path, written, agent };
        if context.out.json {
            context.out.document(&document)?;
        } else {
            let what = format.counted();
            context.out.field("written", &format!("{written} {what} to {}", document.path))?;
        }
    }
    Ok(exit)
}

fn refuse_if_there(path: &Path) -> Outcome<()> {
    if path.exists() {
        let message = format!("`{}` is there already; --force writes over it", path.display());
        return Err(Told { code: "exists", ..Told::usage(message) }.into());
    }
    Ok(())
}

/// Writes a file beside its place and puts it there once it is whole.
fn into_file(
    reader: &SessionReader,
    (format, force): (Format, bool),
    patterns: &Watched,
    path: &Path,
) -> Outcome<Exported> {
    let failed = |error: io::Error| Failure::from(named(path, &error));
    if path.symlink_metadata().is_ok_and(|about| !about.is_file()) {
        return Err(Told::usage(format!("`{}` is no file; nothing is written over it", path.display())).into());
    }
    // A name that nobody can have put there before.
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", SystemClock.random()));
    let temporary = path.with_file_name(name);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(&temporary).map_err(failed)?;
    let done = export(reader, format, patterns, BufWriter::new(Named { out: &file, path })).and_then(|done| {
        file.sync_all().map_err(failed)?;
        if force {
            std::fs::rename(&temporary, path).map_err(failed)?;
        } else {
            // Unlike a rename it replaces nothing that has come meanwhile. Where there are no links a rename has to do.
            match std::fs::hard_link(&temporary, path) {
                Ok(()) => std::fs::remove_file(&temporary).map_err(failed)?,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(failed(error)),
                Err(_) => std::fs::rename(&temporary, path).map_err(failed)?,
            }
        }
        Ok(done)
    });
    if done.is_err() {
        _ = std::fs::remove_file(&temporary);
    }
    done
}

/// How much was written, with what the command ends, and what an agent's file says otherwise.
type Exported = (u64, Exit, Option<ForAgent>);

fn export(reader: &SessionReader, format: Format, patterns: &Watched, out: impl Write) -> Outcome<Exported> {
    let whole = |(written, exit)| (written, exit, None);
    if let Some(agent) = format.agent() {
        return for_agent(reader, agent, out);
    }
    // A page without a rule is what it is anyway.
    let rules: Vec<Arc<dyn Redact>> = match patterns.is_empty() {
        true => Vec::new(),
        false => vec![Arc::new(patterns.clone())],
    };
    Ok(whole(match format {
        Format::Jsonl => {
            if reader.info().parent.is_some() {
                tell("this session is a fork; what came before it is in the one that its first line names");
            }
            let mut lines = SafeLines { out, line: Vec::new() };
            if patterns.is_empty() {
                return Ok(whole((write_events(reader, &mut lines)?, Exit::Fine)));
            }
            let mut events = Events::new(patterns)?;
            let written = write_events_with(reader, &mut lines, |event| events.change(event))?;
            events.tell_of_what_is_left();
            (written, Exit::Fine)
        }
        Format::Html => {
            page(reader, &rules, |head| Ok(Html::new(out, head)?.with_markdown().with_rules(rules.clone())))?
        }
        _ => page(reader, &rules, |head| Ok(Markdown::new(out, head)?.with_rules(rules.clone())))?,
    }))
}

/// Writes the whole story as a file of an agent's, and says what differs.
fn for_agent(reader: &SessionReader, agent: Agent, out: impl Write) -> Outcome<Exported> {
    let story = history(reader, None)?;
    let mut damage = story.damage.clone();
    damage.extend_from_slice(&reader.report().damage);
    tell_of(story.missing_parent, &mut damage, reader.path());
    let mut report = write_as(agent, reader, &story, &mut SafeLines { out, line: Vec::new() })?;
    if agent == Agent::Codex {
        report.place = in_local_time(&report).unwrap_or(report.place);
    }
    for difference in &report.differences {
        tell(&format!(
            "{}: {} ({}, first {})",
            difference.what,
            difference.text,
            plural(difference.count, "time"),
            difference.first
        ));
    }
    if report.records > 0 && story.state.history().is_empty() {
        tell("no message is on the current branch, so the file has none; `seslog tree` shows the others");
    }
    let AgentHome { dir, shown } = AgentHome::of(agent);
    match &report.resume {
        Some(resume) => tell(&format!("put it at {shown}/{}, then: {resume}", report.place)),
        None => tell(&format!(
            "put it at {shown}/{}: it is a sub-agent's, which the program shows beside session {}",
            report.place, report.session
        )),
    }
    if let Some(dir) = &dir {
        tell_of_the_place(&dir.join(&report.place));
    }
    let exit = if damage.is_empty() { Exit::Fine } else { Exit::Found };
    let home = dir.map(|dir| dir.display().to_string());
    Ok((report.records as u64, exit, Some(ForAgent { home, report })))
}

/// The place of a rollout with the time where the person is, as Codex names its files; the library knows no zone.
fn in_local_time(report: &WriteReport) -> Option<String> {
    let (_, file) = report.place.rsplit_once('/')?;
    let stamp = file.strip_prefix("rollout-")?.strip_suffix(&format!("-{}.jsonl", report.session))?;
    let (day, time) = stamp.split_once('T')?;
    let at = time::named(&format!("{day}T{}Z", time.replace('-', ":")), End::First).ok()?;
    let local = local(at);
    let (day, time) = local.split_once(' ')?;
    let (folders, time) = (day.replace('-', "/"), time.replace(':', "-"));
    Some(format!("sessions/{folders}/rollout-{day}T{time}-{}.jsonl", report.session))
}

/// Says whether a file lies already where this one belongs: the agent's own, mostly, which may hold more than is written here.
fn tell_of_the_place(path: &Path) {
    if path.symlink_metadata().is_ok() {
        tell(&format!(
            "`{}` is there already and may hold what this has not: keep a copy before this takes its place, or export a \
             `seslog fork`, which has an id of its own",
            path.display()
        ));
    } else if !path.parent().is_none_or(Path::is_dir) {
        tell("its directory is not there yet; `mkdir -p` makes it");
    }
}

/// Writes the transcript, read from the log message by message; a session with other branches is held in memory for them.
fn page<P: Page>(
    reader: &SessionReader,
    rules: &[Arc<dyn Redact>],
    begin: impl FnOnce(&PageHead) -> io::Result<P>,
) -> Outcome<(u64, Exit)> {
    let mut page = Redacting::new(begin(&head(reader, rules))?, rules);
    let store = beside(reader.path());
    let mut story = store.story(reader.log())?;
    let mut damage = story.damage().to_vec();
    damage.extend_from_slice(&reader.report().damage);
    tell_of(story.missing_parent(), &mut damage, reader.path());
    if let Some(first) = damage.iter().find(|damage| !damage.is_of_header()) {
        page.note(&format!("Only a part of the session is in this page: {}.", first.what))?;
    }
    let points = story.branch_points()?;
    let state = if points.is_empty() { None } else { Some(history(reader, None)?.state) };
    let mut branches = state.as_ref().map(|state| Branches::new(state, &points));
    if story.missing_parent().is_some() {
        page.note("The session that this one was forked from is gone; the story begins at the fork.")?;
    }
    let mut write = |at: Option<Uuid>, page: &mut Redacting<'_, P>| match &mut branches {
        Some(branches) => branches.write(at, page),
        None => Ok(0),
    };
    let mut written = write(None, &mut page)?;
    let mut stream = TranscriptStream::new(&mut story);
    loop {
        let message = stream.next().transpose()?;
        for hidden in stream.take_diagnostics().hidden_message_ids {
            written += write(Some(hidden), &mut page)?;
        }
        let Some(message) = message else { break };
        page.message(&message)?;
        written += 1;
        for id in &message.source_message_ids {
            written += write(Some(*id), &mut page)?;
        }
    }
    if let Some(branches) = &mut branches {
        written += branches.rest(&mut page)?;
    }
    for damage in &damage {
        page.note(&format!("Damaged: {}. What lies behind is not in this page.", damage.what))?;
    }
    page.finish()?;
    Ok((written, if damage.is_empty() { Exit::Fine } else { Exit::Found }))
}

fn head(reader: &SessionReader, rules: &[Arc<dyn Redact>]) -> PageHead {
    let meta = reader.state().meta();
    let said = said_first(reader);
    let title = match (&meta.title, &said) {
        (Some(title), _) => redacted(rules, title.clone()),
        (None, Some((_, said))) => first_words(&redacted(rules, said.clone())),
        (None, None) => String::new(),
    };
    let title = if title.is_empty() { format!("Session {}", reader.id()) } else { title };
    let mut head = PageHead::new(title);
    if let Some((begun, _)) = said {
        // As a list tells it.
        let is_aside = |event: &Event| matches!(event.body, Body::SessionMeta(_) | Body::Extension(_));
        let last = reader.state().entries().iter().rfind(|entry| !is_aside(&entry.event));
        let last = last.map_or(begun, |entry| entry.event.at.max(begun));
        head = head.with("held", format!("{} to {}", rfc3339_seconds(begun), rfc3339_seconds(last)));
    }
    let mut head = head
        .with("session", reader.id().to_string())
        .with("in the store since", rfc3339_seconds(reader.info().created_at));
    for (name, value) in [("agent", &meta.agent), ("model", &meta.model), ("directory", &meta.cwd)] {
        if let Some(value) = value {
            head = head.with(name, redacted(rules, value.clone()));
        }
    }
    head
}

/// When the conversation began, and what a person said first.
fn said_first(reader: &SessionReader) -> Option<(i64, String)> {
    let mut begun = None;
    for event in reader.events() {
        let event = event.ok()?;
        let Some(message) = event.message() else { continue };
        let begun = *begun.get_or_insert(event.at);
        let text = message.joined_text();
        if message.kind == Kind::UserInput && !message.metadata.meta && !text.trim().is_empty() {
            return Some((begun, text));
        }
    }
    begun.map(|begun| (begun, String::new()))
}

/// JSON lines in which no character is left that a terminal would act on: an escape means the same. They look the same in
/// a file.
struct SafeLines<W> {
    out: W,
    line: Vec<u8>,
}

impl<W: Write> Write for SafeLines<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                let line = String::from_utf8_lossy(&self.line);
                self.out.write_all(terminal_safe_json(line.trim_end_matches('\n')).as_bytes())?;
                self.out.write_all(b"\n")?;
                self.line.clear();
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// An output whose errors name it.
struct Named<'a, W> {
    out: W,
    path: &'a Path,
}

impl<W: Write> Write for Named<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes).map_err(|error| named(self.path, &error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush().map_err(|error| named(self.path, &error))
    }
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("`{}`: {error}", path.display()))
}

impl From<ExportError> for Failure {
    fn from(error: ExportError) -> Self {
        match error {
            ExportError::Output(error) => error.into(),
            ExportError::Session(error) => error.into(),
            other => Told { exit: Exit::Io, code: "io", message: other.to_string() }.into(),
        }
    }
}
