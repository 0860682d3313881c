//! `seslog verify`: every frame of a session's file, what was set aside, what is damaged, and whether each chain is
//! whole.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::path::Path;

use anstyle::AnsiColor;
use serde::Serialize;
use seslog::event::{Body, Event, Uuid, decode};
use seslog::log::{
    self, Cause, DamageKind, Frame, FrameHead, FrameStatus, FrameType, LogReader, RealFs, Survey, SurveyFrame, Verdict,
    survey_with,
};
use seslog::session::{Entry, Gathering, State};

use crate::Context;
use crate::cure::{has_whole_records, saving};
use crate::exit::{Exit, Outcome};
use crate::output::{Output, tell};
use crate::sanitize::{Layout, excerpt, visible};

/// Look at every frame of a session
///
/// Reads the whole file and changes nothing. Exits with 1 if what had been durable is damaged; bytes that had never
/// been durable and were set aside are no fault.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  seslog verify 0192\n  seslog verify 0192 --summary\n  seslog verify ./copy.seslog --json"
)]
pub(crate) struct Args {
    /// The session: its id, the beginning of it, or a path
    #[arg(value_name = "SESSION|FILE")]
    session: OsString,
    /// Leave the frames out: only what was set aside, what is damaged, the chains and the verdict
    #[arg(long)]
    summary: bool,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    /// None if the file's header is lost.
    session: Option<String>,
    path: String,
    /// `clean`, `recovered` or `damaged`, as in a list.
    open: &'static str,
    size: u64,
    durable_end: Option<u64>,
    zero_bytes: u64,
    clean_close: Option<bool>,
    frame_count: usize,
    /// How many frames there are of each state.
    states: BTreeMap<&'static str, usize>,
    frames: Vec<Row>,
    set_aside: Vec<SetAside>,
    damage: Vec<Damage>,
    /// How many records the log had counted that are gone; none if nothing behind the damage counts them.
    lost_records: Option<u64>,
    /// Which of the lost events are known by name.
    lost_events: Vec<String>,
    chains: Vec<Chain>,
    /// Kept messages that a boundary names and the log does not hold.
    missing_kept: Vec<String>,
}

/// One whole frame.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    offset: u64,
    len: u64,
    #[serde(rename = "type")]
    frame_type: String,
    /// `accepted`, `setAside`, `incomplete` (of half a batch), `doubtful` (of half a batch or behind it), `orphan` (behind
    /// damage) or `displaced` (whole, but bytes before it were put in or taken out).
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
    /// `tornTail`, `unsyncedHole` or `incompleteBatch`.
    cause: &'static str,
    events: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Damage {
    offset: u64,
    len: u64,
    /// `header`, `frame`, `chain`, `batch`, `missing`, `payload` or `event`.
    kind: &'static str,
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
    let mut read = Read::default();
    let survey = survey_with(RealFs::shared(), &path, &mut |frame| read.take_in(frame))?;
    // Of a file that is not clean each frame's state had to be known before its event counts for anything.
    if survey.verdict != Verdict::Clean {
        read = Read::again(&survey)?;
    }
    let mut damage: Vec<Damage> = survey.damage.iter().map(Damage::of).collect();
    let mut document = Document {
        session: survey.header.map(|header| header.log_id.to_string()),
        path: path.display().to_string(),
        open: "clean",
        size: survey.size,
        durable_end: None,
        zero_bytes: survey.zero_bytes,
        clean_close: None,
        frame_count: survey.frames.len(),
        states: BTreeMap::new(),
        frames: Vec::new(),
        set_aside: survey.set_aside.iter().map(SetAside::of).collect(),
        damage: Vec::new(),
        lost_records: None,
        lost_events: Vec::new(),
        chains: Vec::new(),
        missing_kept: Vec::new(),
    };
    for frame in &survey.frames {
        *document.states.entry(state_name(frame.status)).or_default() += 1;
        document.frames.push(row(frame, read.said.remove(&frame.at), &mut damage));
    }
    if survey.header.is_some() {
        let (log, report) = LogReader::open(RealFs::shared(), &path)?;
        document.durable_end = Some(log.durable_end());
        document.clean_close = Some(report.clean_close);
    }
    let lost = survey.lost_records()?;
    document.lost_records = lost.count;
    document.lost_events = lost.ids.iter().map(Uuid::to_string).collect();
    let state = read.gathering.into_state();
    document.chains = chains(&state, &survey);
    document.missing_kept = missing_kept(&state).iter().map(Uuid::to_string).collect();
    damage.sort_by_key(|damage| damage.offset);
    document.damage = damage;
    let is_sound = document.damage.is_empty() && document.missing_kept.is_empty();
    document.open = match (is_sound, document.set_aside.is_empty()) {
        (false, _) => "damaged",
        (true, false) => "recovered",
        (true, true) => "clean",
    };
    if args.summary {
        document.frames.clear();
    }
    if context.out.json {
        context.out.document(&document)?;
    } else {
        human(&document, has_whole_records(&survey), &mut context.out)?;
    }
    Ok(if is_sound { Exit::Fine } else { Exit::Found })
}

/// Kept messages, and changes of them, that a boundary names and the session does not hold.
fn missing_kept(state: &State) -> Vec<Uuid> {
    let boundaries =
        state.entries().iter().filter(|entry| entry.is_living()).filter_map(|entry| entry.event.boundary());
    let kept = boundaries.flat_map(|boundary| boundary.keep.iter().chain(&boundary.carried));
    let named = kept.flat_map(|kept| std::iter::once(kept.id).chain(kept.changed.iter().map(|change| change.id)));
    let mut missing: Vec<Uuid> = named.filter(|id| state.entry(*id).is_none()).collect();
    missing.sort_unstable();
    missing.dedup();
    missing
}

impl SetAside {
    fn of(range: &log::SetAside) -> Self {
        let cause = match range.cause {
            Cause::UnsyncedHole => "unsyncedHole",
            Cause::IncompleteBatch => "incompleteBatch",
            _ => "tornTail",
        };
        let events = range.ids.iter().map(Uuid::to_string).collect();
        Self { offset: range.offset, len: range.len, cause, events }
    }
}

impl Damage {
    fn of(damage: &log::Damage) -> Self {
        let (expected, found) = (damage.expected.clone(), damage.found.clone());
        let kind = match damage.kind {
            DamageKind::Header => "header",
            DamageKind::Chain => "chain",
            DamageKind::Batch => "batch",
            DamageKind::Missing => "missing",
            DamageKind::Payload => "payload",
            _ => "frame",
        };
        Self { offset: damage.offset, len: damage.len, kind, expected, found }
    }
}

fn state_name(status: FrameStatus) -> &'static str {
    match status {
        FrameStatus::Accepted => "accepted",
        FrameStatus::SetAside => "setAside",
        FrameStatus::Incomplete => "incomplete",
        FrameStatus::Displaced => "displaced",
        FrameStatus::Doubtful => "doubtful",
        _ => "orphan",
    }
}

/// What was read of a session's records, each once.
#[derive(Default)]
struct Read {
    /// By where its frame stands: what a record says, or why it can't be read.
    said: HashMap<u64, Result<Said, String>>,
    gathering: Gathering,
}

/// What a row shows of an event.
struct Said {
    what: String,
    original_id: Option<String>,
}

impl Read {
    fn take_in(&mut self, frame: &Frame) {
        self.take(frame, frame.offset(), true);
    }

    /// All records that a survey has found, read once more.
    fn again(survey: &Survey) -> Outcome<Self> {
        let mut read = Self::default();
        for frame in survey.frames.iter().filter(|frame| holds_event(&frame.head)) {
            read.take(&survey.load(frame)?, frame.at, frame.status.counts());
        }
        Ok(read)
    }

    fn take(&mut self, frame: &Frame, at: u64, counts: bool) {
        if !holds_event(frame.head()) {
            return;
        }
        let said = match decode(frame.payload()) {
            Ok(event) => {
                let said = Said { what: what(&event), original_id: event.original_id.clone() };
                if counts {
                    self.gathering.add(event, frame.head(), at);
                }
                Ok(said)
            }
            Err(error) => Err(error.to_string()),
        };
        self.said.insert(at, said);
    }
}

fn holds_event(head: &FrameHead) -> bool {
    !head.frame_type.is_own() && !matches!(head.frame_type, FrameType::Other(_))
}

fn row(frame: &SurveyFrame, said: Option<Result<Said, String>>, damage: &mut Vec<Damage>) -> Row {
    let head = &frame.head;
    let mut row = Row {
        offset: frame.at,
        len: head.total_len(),
        frame_type: match head.frame_type {
            FrameType::Other(number) => format!("type {number}"),
            known => format!("{known:?}").to_lowercase(),
        },
        state: state_name(frame.status),
        event: None,
        what: None,
        original_id: None,
    };
    if !holds_event(head) {
        return row;
    }
    row.event = Some(head.id.to_string());
    match said {
        Some(Ok(said)) => {
            row.what = Some(said.what);
            row.original_id = said.original_id;
        }
        Some(Err(error)) if frame.status.counts() => damage.push(Damage {
            offset: frame.at,
            len: row.len,
            kind: "event",
            expected: "a readable event".to_owned(),
            found: error,
        }),
        Some(Err(_)) | None => {}
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

fn chains(state: &State, survey: &Survey) -> Vec<Chain> {
    let forked = survey.header.is_some_and(|header| header.parent.is_some());
    // The place of a parent that was there, for those that begin a chain only.
    let had_parent = |id: Uuid| survey.frames.iter().any(|frame| frame.head.id == id && frame.head.parent_off != 0);
    let chain = |leaf: &Uuid| {
        let mut at: &Entry = state.entry(*leaf)?;
        while let Some(parent) = state.anchor(at).filter(|_| !(at.is_boundary() && at.is_living())) {
            at = parent;
        }
        let begins_at = match () {
            () if at.is_boundary() && at.is_living() => "boundary",
            () if state.is_root(at) => "root",
            () if forked && !had_parent(at.event.id) => "parentSession",
            () => "missing",
        };
        let (leaf, event) = (leaf.to_string(), at.event.id.to_string());
        Some(Chain { leaf, whole: begins_at != "missing", begins_at, event })
    };
    state.branches().iter().filter_map(chain).collect()
}

fn human(document: &Document, saves: bool, out: &mut Output) -> Outcome<()> {
    const WHAT_CHARS: usize = 40;
    for frame in &document.frames {
        let event = frame.event.as_deref().unwrap_or_default();
        let what = excerpt(frame.what.as_deref().unwrap_or_default(), WHAT_CHARS);
        let original = frame.original_id.as_ref().map_or_else(String::new, |id| format!(" [{id}]"));
        let original = visible(&original, Layout::Line).into_owned();
        let (offset, len, frame_type, state) = (frame.offset, frame.len, &frame.frame_type, frame.state);
        let line = format!("{offset:>10} {len:>8}  {frame_type:<8} {state:<10} {event:<36} {what}{original}");
        out.line(line.trim_end())?;
    }
    for range in &document.set_aside {
        let (offset, len, cause) = (range.offset, range.len, &range.cause);
        out.line(&format!("{offset:>10} {len:>8}  set aside, never durable: {cause}"))?;
        for event in &range.events {
            out.line(&format!("{:>31}{event}", ""))?;
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
    if let Some(lost) = document.lost_records.filter(|lost| *lost > 0) {
        out.line(&format!("lost: {lost} of the records that the log had counted"))?;
    }
    for id in &document.lost_events {
        out.line(&format!("lost: {id}"))?;
    }
    for id in &document.missing_kept {
        out.line(&format!("missing: a boundary keeps {id}, which is not in the log"))?;
    }
    let (frames, size) = (document.frame_count, document.size);
    let durable = document.durable_end.map_or_else(String::new, |end| format!(", durable up to {end}"));
    out.line(&format!("{}: {frames} frames, {size} bytes{durable}", document.open))?;
    if document.open == "damaged" {
        match saves {
            true => tell(&saving(Path::new(&document.path))),
            false => tell("no record in it is whole, so nothing can be saved; bring back a copy"),
        }
    }
    Ok(())
}
