//! `seslog verify`: every frame of a session's file, what was set aside, what is damaged, and whether each chain is
//! whole.

use anstyle::AnsiColor;
use serde::Serialize;
use seslog::event::{Body, Event, Uuid, decode};
use seslog::log::{Frame, FrameType, LogError, LogReader, OpenReport, RealFs};
use seslog::session::{Entry, SessionError, SessionReader, State};

use crate::Context;
use crate::exit::{Exit, Outcome};
use crate::output::Output;
use crate::sanitize::{Layout, excerpt, visible};

/// Look at every frame of a session
///
/// Reads the whole file and changes nothing. Exits with 1 if what had been durable is damaged; bytes that had never
/// been durable and were set aside are no fault.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  seslog verify 0192\n  seslog verify ./copy.seslog --json")]
pub(crate) struct Args {
    /// The session: its id, the beginning of it, or a path
    #[arg(value_name = "SESSION|FILE")]
    session: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    session: String,
    path: String,
    verdict: &'static str,
    end: u64,
    durable_end: u64,
    zero_bytes: u64,
    clean_close: bool,
    frames: Vec<Row>,
    set_aside: Vec<SetAside>,
    damage: Vec<Damage>,
    chains: Vec<Chain>,
}

/// One frame.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    offset: u64,
    len: u64,
    #[serde(rename = "type")]
    frame_type: String,
    /// `accepted`, or `setAside` for a record whose header can still be read in such a range.
    state: &'static str,
    event: Option<String>,
    /// The event's type; of a message its kind.
    what: Option<String>,
    original_id: Option<String>,
}

#[derive(Debug, Serialize)]
struct SetAside {
    offset: u64,
    len: u64,
    cause: String,
    events: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Damage {
    offset: u64,
    len: u64,
    expected: String,
    found: String,
}

/// What a branch's chain begins with.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Chain {
    leaf: String,
    /// It leads to its boundary, to a root, or on into the session that this one was forked from.
    whole: bool,
    /// `boundary`, `root`, `parentSession` or `missing`.
    begins_at: &'static str,
    event: String,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Outcome {
    let path = context.place.file(&args.session)?;
    let (log, report) = LogReader::open(RealFs::shared(), &path)?;
    let mut document = Document {
        session: log.info().log_id.to_string(),
        path: path.display().to_string(),
        verdict: "clean",
        end: report.end,
        durable_end: report.durable_end,
        zero_bytes: report.zero_bytes,
        clean_close: report.clean_close,
        frames: Vec::new(),
        set_aside: Vec::new(),
        damage: Vec::new(),
        chains: Vec::new(),
    };
    note_report(&report, &mut document);
    for frame in log.frames(0) {
        match frame {
            Ok(frame) => document.frames.push(row(&frame, &mut document.damage)),
            Err(LogError::Damaged { report, .. }) => note_report(&report, &mut document),
            Err(error) => return Err(error.into()),
        }
    }
    match SessionReader::open(&path, RealFs::shared()).and_then(|session| session.whole_state().map(|s| (session, s))) {
        Ok((session, state)) => document.chains = chains(&state, session.info().parent.map(|parent| parent.event)),
        Err(SessionError::Unreadable { offset, source, .. }) => document.damage.push(Damage {
            offset,
            len: 0,
            expected: "a readable event".to_owned(),
            found: source.to_string(),
        }),
        Err(SessionError::Log(LogError::Damaged { report, .. })) => note_report(&report, &mut document),
        Err(error) => return Err(error.into()),
    }
    document.damage.sort_by_key(|damage| damage.offset);
    document.damage.dedup_by(|a, b| (a.offset, &a.expected) == (b.offset, &b.expected));
    document.verdict = match (document.damage.is_empty(), document.set_aside.is_empty()) {
        (false, _) => "damaged",
        (true, false) => "recovered",
        (true, true) => "clean",
    };
    if context.out.json {
        context.out.document(&document)?;
    } else {
        human(&document, &mut context.out)?;
    }
    Ok(if document.damage.is_empty() { Exit::Fine } else { Exit::Found })
}

fn note_report(report: &OpenReport, document: &mut Document) {
    for range in &report.set_aside {
        document.set_aside.push(SetAside {
            offset: range.offset,
            len: range.len,
            cause: format!("{:?}", range.cause),
            events: range.ids.iter().map(Uuid::to_string).collect(),
        });
    }
    for damage in &report.damage {
        document.damage.push(Damage {
            offset: damage.offset,
            len: damage.len,
            expected: damage.expected.clone(),
            found: damage.found.clone(),
        });
    }
}

fn row(frame: &Frame, damage: &mut Vec<Damage>) -> Row {
    let mut row = Row {
        offset: frame.offset(),
        len: frame.head().total_len(),
        frame_type: format!("{:?}", frame.frame_type()).to_lowercase(),
        state: "accepted",
        event: None,
        what: None,
        original_id: None,
    };
    if frame.frame_type().is_own() || matches!(frame.frame_type(), FrameType::Other(_)) {
        return row;
    }
    row.event = Some(frame.id().to_string());
    match decode(frame.payload()) {
        Ok(event) => {
            row.what = Some(what(&event));
            row.original_id = event.original_id;
        }
        Err(error) => damage.push(Damage {
            offset: frame.offset(),
            len: row.len,
            expected: "a readable event".to_owned(),
            found: error.to_string(),
        }),
    }
    row
}

/// An event's type in one word; of a message its kind.
pub(crate) fn what(event: &Event) -> String {
    match &event.body {
        Body::Message(message) => message.kind.name().to_owned(),
        Body::Tombstone(_) => "tombstone".to_owned(),
        Body::Amend(_) => "amend".to_owned(),
        Body::Prune(_) => "prune".to_owned(),
        Body::Head(_) => "head".to_owned(),
        Body::ToolStarted(_) => "tool_started".to_owned(),
        Body::SessionMeta(_) => "meta".to_owned(),
        Body::Extension(extension) => format!("extension {}", extension.name),
        Body::Unknown(unknown) => unknown.kind.clone().unwrap_or_else(|| unknown.event_type.clone()),
        _ => "event".to_owned(),
    }
}

fn chains(state: &State, forked_at: Option<Uuid>) -> Vec<Chain> {
    let chain = |leaf: &Uuid| {
        let mut at: &Entry = state.entry(*leaf)?;
        while let Some(parent) = state.anchor(at).filter(|_| !(at.is_boundary() && at.is_living())) {
            at = parent;
        }
        let begins_at = match () {
            () if at.is_boundary() && at.is_living() => "boundary",
            () if state.is_root(at) => "root",
            () if forked_at.is_some() => "parentSession",
            () => "missing",
        };
        let (leaf, event) = (leaf.to_string(), at.event.id.to_string());
        Some(Chain { leaf, whole: begins_at != "missing", begins_at, event })
    };
    state.branches().iter().filter_map(chain).collect()
}

fn human(document: &Document, out: &mut Output) -> Outcome<()> {
    const WHAT_CHARS: usize = 40;
    for frame in &document.frames {
        let event = frame.event.as_deref().unwrap_or_default();
        let what = excerpt(frame.what.as_deref().unwrap_or_default(), WHAT_CHARS);
        let original = frame.original_id.as_ref().map_or_else(String::new, |id| format!(" [{id}]"));
        let original = visible(&original, Layout::Line).into_owned();
        let (offset, len, frame_type, state) = (frame.offset, frame.len, &frame.frame_type, frame.state);
        let line = format!("{offset:>10} {len:>8}  {frame_type:<8} {state:<8} {event:<36} {what}{original}");
        out.line(line.trim_end())?;
    }
    for range in &document.set_aside {
        let (offset, len, cause) = (range.offset, range.len, &range.cause);
        out.line(&format!("{offset:>10} {len:>8}  set aside, never durable: {cause}"))?;
        for event in &range.events {
            out.line(&format!("{:>29}{event}", ""))?;
        }
    }
    for damage in &document.damage {
        let text = format!("damaged: expected {}, found {}", damage.expected, damage.found);
        let text = out.paint(AnsiColor::Red.on_default(), &visible(&text, Layout::Line));
        out.line(&format!("{:>10} {:>8}  {text}", damage.offset, damage.len))?;
    }
    for chain in &document.chains {
        let (leaf, begins_at, event) = (&chain.leaf, chain.begins_at, &chain.event);
        out.line(&format!("chain of {leaf}: begins at {begins_at} {event}"))?;
    }
    let (frames, end, durable) = (document.frames.len(), document.end, document.durable_end);
    out.line(&format!("{}: {frames} frames, {end} bytes, durable up to {durable}", document.verdict))
}
