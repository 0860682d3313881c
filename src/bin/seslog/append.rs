//! `seslog append`: neutral events on standard input, receipts on standard output.

use std::collections::HashSet;
use std::ffi::OsString;
use std::io::{self, BufReader, ErrorKind, IsTerminal, Write};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use serde::Serialize;
use seslog::event::{Amend, Body, Event, Fields, Head, Message, Prune, Tombstone, Unknown, Uuid, apply_patch};
use seslog::interop::{Incoming, IncomingBody, IncomingParent, LineError, read_events};
use seslog::log::{Durability, Receipt};
use seslog::session::{Compaction, NewEvent, Parent, Session, SessionError};

use crate::exit::{Exit, Failure, Outcome, Told};
use crate::foreign::{Names, NewId};
use crate::output::{VERSION, plural, tell};
use crate::sanitize::terminal_safe_json;
use crate::store::Making;
use crate::{Context, ErrorFields};

/// Append events from standard input
///
/// One neutral JSON event a line in, one receipt a line out, in the same order, each as soon as it holds:
///
///   {"version":1,"id":"0192…","originalId":"m1","durable":true,"known":false}
///
/// An event without `id` gets one, without `parentId` it hangs on the current leaf, without `at` it happens now. An
/// event that is there already, with the same content, is not written again: its receipt says `known`. A compaction's receipt also names its `summary`
/// and the messages `kept`.
///
/// A line that can't be taken gives {"version":1,"line":7,"error":{"code":"…","message":"…"}} in its place, and the next one is
/// read. Exits with 1 if there was such a line, with 3 if reading or writing failed; what has a receipt is safe. Where nobody reads
/// the receipts any more, the events are written all the same, and it says so. If none of the lines can be taken, the session that
/// --new has made is removed again.
#[derive(Debug, clap::Args)]
#[command(
    group = clap::ArgGroup::new("where").required(true),
    after_help = "Examples:\n  echo '{\"type\":\"message\",\"role\":\"user\",\"kind\":\"user_input\",\"content\":\"hi\"}' | seslog append --new\n  seslog append 0192 --durability sync < events.jsonl"
)]
pub(crate) struct Args {
    /// The session: its id, the beginning of it, or a path
    #[arg(group = "where")]
    session: Option<OsString>,
    /// Make a new session; the first line out names it: {"version":1,"session":"0192…"}
    #[arg(long, group = "where")]
    new: bool,
    /// What an event survives once its receipt is out
    #[arg(long, value_enum, default_value_t, value_name = "LEVEL")]
    durability: Level,
    #[command(flatten)]
    making: Making,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum Level {
    /// A power cut; each event is synced by itself
    Sync,
    /// A power cut; one sync serves all events that wait
    #[default]
    Group,
    /// The end of the process, not of the power (`durable` is false until a later sync)
    Os,
}

impl From<Level> for Durability {
    fn from(level: Level) -> Self {
        match level {
            Level::Sync => Self::Sync,
            Level::Group => Self::Group,
            Level::Os => Self::Os,
        }
    }
}

/// One line out, in the order of the lines in.
#[derive(Debug)]
enum Reply {
    Session(Uuid),
    Written { line: usize, written: Written },
    Refused { line: usize, told: Told },
}

/// An event that is in the file.
#[derive(Debug)]
struct Written {
    id: Uuid,
    original_id: Option<String>,
    known: bool,
    compaction: Option<WrittenCompaction>,
    receipt: Receipt,
}

#[derive(Debug)]
struct WrittenCompaction {
    summary: Option<Uuid>,
    kept: Vec<Uuid>,
}

#[derive(Debug, Serialize)]
struct SessionLine {
    version: u32,
    session: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ReceiptLine {
    version: u32,
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    original_id: Option<String>,
    durable: bool,
    known: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<Vec<String>>,
}

#[derive(Debug, Serialize)]
struct ErrorLine<'a> {
    version: u32,
    line: usize,
    error: ErrorFields<'a>,
}

/// So many events may wait for their receipts to be printed.
const WAITING_MAX: usize = 4096;

pub(crate) fn run(args: &Args, context: &mut Context) -> Outcome {
    let level = args.durability;
    let (replies, waiting) = sync_channel(WAITING_MAX);
    // A thread of its own waits for the receipts, so that events are appended meanwhile and share their syncs.
    let printer = thread::Builder::new().spawn(move || print(&waiting, level));
    let printer = printer.map_err(|error| Told::io("can't start the thread that prints the receipts", &error))?;
    let session = match &args.session {
        Some(_) if args.making.compress => {
            return Err(Told::usage("--compress is for a session that is made, with --new").into());
        }
        Some(name) => context.place.write(name)?,
        None => context.place.store_with(args.making.options())?.create()?,
    };
    if args.new {
        // Should nobody listen any more, the first receipt finds out.
        _ = replies.send(Reply::Session(session.id()));
    }
    let mut names = Names::of(&session);
    let mut strange = HashSet::new();
    let (mut taken, mut refused) = (false, false);
    if io::stdin().is_terminal() {
        tell("type events, one JSON object a line, then Ctrl-D; `seslog append --help` has an example");
    }
    for item in read_events(BufReader::new(io::stdin())) {
        let reply = match item {
            Ok((line, incoming)) => {
                if let IncomingBody::Unknown(unknown) = &incoming.body
                    && strange.insert((unknown.event_type.clone(), unknown.kind.clone()))
                {
                    tell(&strange_type(line, unknown));
                }
                match append(&session, &mut names, incoming, level.into()) {
                    Ok(written) => {
                        if let Some(name) = &written.original_id {
                            names.note(&NewId::Foreign(name.clone()), written.id);
                        }
                        Reply::Written { line, written }
                    }
                    Err(Failure::Told(told)) => Reply::Refused { line, told },
                    Err(Failure::PipeClosed) => break,
                }
            }
            Err(error) => {
                let told = Told { exit: Exit::Found, code: "badLine", message: bad_line(&error) };
                Reply::Refused { line: error.line, told }
            }
        };
        match &reply {
            Reply::Refused { told, .. } if told.exit != Exit::Io => refused = true,
            // Where writing fails, what was written is not known.
            _ => taken = true,
        }
        let is_end = match &reply {
            Reply::Refused { told, .. } if told.exit == Exit::Io => {
                // No later line can be written either; who reads no receipts has to hear of it too.
                tell(&told.message);
                true
            }
            _ => false,
        };
        if replies.send(reply).is_err() || is_end {
            break;
        }
    }
    drop(replies);
    let printed = printer.join().unwrap_or_else(|_| Err(Told::usage("the thread that prints receipts failed").into()));
    if args.new && refused && !taken {
        // While it is held, so that nobody else has begun to write to it.
        match std::fs::remove_file(session.path()) {
            Ok(()) => tell("no line could be taken, so the new session was removed again"),
            Err(error) => tell(&format!("no line could be taken; the new session stays, and is empty: {error}")),
        }
    }
    if args.new && !refused && !taken {
        let id = session.id();
        tell(&format!(
            "no event came in, so session {id} is empty; `seslog append {id}{}` goes on in it",
            context.place.as_option()
        ));
    }
    // What was acknowledged is safe whether or not the end can be marked.
    let closed = session.close();
    let exit = printed?;
    if exit != Exit::Io {
        closed?;
    }
    Ok(exit)
}

/// What is wrong with a line, and where that is written down.
fn bad_line(error: &LineError) -> String {
    let usual = match error.field.as_deref() {
        Some("kind") => "; the usual ones are user_input, assistant_text, tool_call and tool_result",
        Some("type") => "; a message's is `message`",
        Some("role") => "; the roles are system, user, assistant and tool",
        _ => "",
    };
    let more = if error.field.is_some() { "; FORMAT.md, section 14, has all fields" } else { "" };
    // Where it stands is counted from the beginning of the input, not of the line.
    let (byte, clear) = (format!(", byte {}:", error.offset), format!(" (byte {} of the input):", error.offset));
    format!("{}{usual}{more}", error.to_string().replacen(&byte, &clear, 1))
}

/// What is said, once for each, of a type that may be a newer version's, or a slip of the pen.
fn strange_type(line: usize, unknown: &Unknown) -> String {
    let of_kind = unknown.kind.as_ref().map_or_else(String::new, |kind| format!(" of kind `{kind}`"));
    let event_type = &unknown.event_type;
    let role = unknown.fields.iter().find(|(name, _)| name == "role").and_then(|(_, role)| role.as_text());
    let role = role.map_or_else(String::new, |role| format!(" and role `{role}`"));
    format!(
        "line {line}: no `{event_type}`{of_kind}{role} is known here; it is kept as it is, and only the debug view shows it"
    )
}

/// Prints what happened to each line, each as soon as it is true. Whoever reads the receipts may go: what comes in is written
/// all the same, and what would have been read of a failure is told.
fn print(waiting: &Receiver<Reply>, level: Level) -> Outcome {
    let mut exit = Exit::Fine;
    let mut out = io::stdout().lock();
    // Events that hold, since nobody reads that they do.
    let mut unread: Option<usize> = None;
    for reply in waiting {
        // What is to be told where nobody reads it; what keeps all lines from being written is told where it happens.
        let (mut taken, mut failure) = (false, None);
        let json = match reply {
            Reply::Session(id) => json(&SessionLine { version: VERSION, session: id.to_string() })?,
            Reply::Written { line, written } => match settle(written, level) {
                Ok(receipt) => {
                    taken = true;
                    json(&receipt)?
                }
                Err(told) => {
                    exit = exit.max(told.exit);
                    let json = json(&ErrorLine { version: VERSION, line, error: (&told).into() })?;
                    failure = Some((line, told));
                    json
                }
            },
            Reply::Refused { line, told } => {
                exit = exit.max(if told.exit == Exit::Io { Exit::Io } else { Exit::Found });
                let json = json(&ErrorLine { version: VERSION, line, error: (&told).into() })?;
                failure = Some((line, told)).filter(|(_, told)| told.exit != Exit::Io);
                json
            }
        };
        if unread.is_none() {
            match writeln!(out, "{}", terminal_safe_json(&json)).and_then(|()| out.flush()) {
                Err(error) if error.kind() == ErrorKind::BrokenPipe => unread = Some(0),
                other => {
                    other?;
                    continue;
                }
            }
        }
        unread = unread.map(|count| count + usize::from(taken));
        if let Some((line, told)) = failure {
            tell(&format!("line {line}: {}", told.message));
        }
    }
    if let Some(count @ 1..) = unread {
        tell(&format!("nobody reads the receipts any more; {} without one", were_taken(count)));
    }
    Ok(exit)
}

fn were_taken(count: usize) -> String {
    format!("{} {} taken", plural(count, "event"), if count == 1 { "was" } else { "were" })
}

fn json(line: &impl Serialize) -> Outcome<String> {
    serde_json::to_string(line).map_err(|error| Told::io("can't write JSON", &error.into()).into())
}

/// Waits until the event is as safe as was asked for, and says what is true then.
fn settle(written: Written, level: Level) -> Result<ReceiptLine, Told> {
    let Written { id, original_id, known, compaction, receipt } = written;
    let durable = match level {
        Level::Os => receipt.is_durable(),
        Level::Sync | Level::Group => {
            receipt.wait()?;
            true
        }
    };
    let (summary, kept) = match compaction {
        Some(compaction) => (compaction.summary, Some(compaction.kept)),
        None => (None, None),
    };
    Ok(ReceiptLine {
        version: VERSION,
        id: id.to_string(),
        original_id,
        durable,
        known,
        summary: summary.map(|id| id.to_string()),
        kept: kept.map(|ids| ids.iter().map(Uuid::to_string).collect()),
    })
}

/// Appends one record, its names resolved.
fn append(session: &Session, names: &mut Names<'_>, incoming: Incoming, durability: Durability) -> Outcome<Written> {
    let Incoming { id, original_id, parent, placed: _, at, body, extra } = incoming;
    let name = NewId::of(id);
    let original_id = original_id.or_else(|| name.original().cloned());
    let parent = match parent {
        IncomingParent::Leaf => Parent::Leaf,
        IncomingParent::Root => Parent::Root,
        IncomingParent::Id(parent) => Parent::Of(names.find(&parent)?.ok_or_else(|| unknown_parent(&parent))?),
    };
    let body = match body {
        IncomingBody::Compaction {
            summary_id,
            summary_original_id,
            summary_at: _,
            summary_off_chain: _,
            summary,
            keep,
            trigger,
            boundary_extra,
        } => {
            // The summary happens with its boundary, and all fields of such a line belong to the boundary's message.
            let summary_name = match NewId::of(summary_id) {
                // Two events, and the line has one name for both.
                same if same == name => NewId::Own,
                other => other,
            };
            let original_summary_id = summary_original_id.or_else(|| summary_name.original().cloned());
            let mut compaction = Compaction::with_message(*summary)
                .keep(names.need_all(&keep)?)
                .original_ids(original_id.clone(), original_summary_id)
                .boundary_fields(boundary_extra);
            if let Some(at) = at {
                compaction = compaction.at(at);
            }
            if let Some(trigger) = trigger {
                compaction = compaction.trigger(trigger);
            }
            let named = NamedCompaction { name, summary_name, original_id, compaction };
            return compact(session, names, named, durability);
        }
        IncomingBody::Message(message) => Body::Message(message),
        IncomingBody::Tombstone { targets, reason } => {
            Body::Tombstone(Tombstone { targets: names.need_all(&targets)?, reason })
        }
        IncomingBody::Amend { target, patch } => {
            let target = names.need(&target)?;
            check_patch(session, target, &patch)?;
            Body::Amend(Amend { target, patch })
        }
        IncomingBody::Prune { targets } => Body::Prune(Prune { targets: names.need_all(&targets)? }),
        IncomingBody::Head { leaf } => Body::Head(Head { leaf: leaf.map(|leaf| names.need(&leaf)).transpose()? }),
        IncomingBody::ToolStarted(started) => Body::ToolStarted(started),
        IncomingBody::SessionMeta(meta) => Body::SessionMeta(meta),
        IncomingBody::Extension(extension) => Body::Extension(extension),
        IncomingBody::Unknown(unknown) => Body::Unknown(unknown),
        _ => return Err(Told::usage("this program is older than the library that reads the event").into()),
    };
    let mut draft = NewEvent::new(body).with_parent(parent);
    (draft.at, draft.original_id, draft.extra) = (at, original_id, extra);
    let mut nth = 1;
    loop {
        let mut draft = draft.clone();
        draft.id = names.id(&name, nth);
        let original_id = draft.original_id.clone();
        match session.append(draft, durability) {
            Ok(appended) => {
                names.note(&name, appended.id);
                let (id, known, receipt) = (appended.id, appended.known, appended.receipt);
                return Ok(Written { id, original_id, known, compaction: None, receipt });
            }
            // As in an import: another event of the same foreign id gets an id of its own.
            Err(SessionError::DuplicateId { .. }) if matches!(name, NewId::Foreign(_)) => nth += 1,
            Err(error) => return Err(error.into()),
        }
    }
}

fn unknown_parent(name: &str) -> Told {
    let cure = "append that one first, or leave `parentId` out to hang the event on the leaf";
    Told::not_found("unknownParent", format!("no earlier event has the id `{name}`, which `parentId` names; {cure}"))
}

fn check_patch(session: &Session, target: Uuid, patch: &Fields) -> Outcome<()> {
    match session.event(target)?.as_ref().and_then(Event::message) {
        Some(message) => match apply_patch(message, patch) {
            Ok(_) => Ok(()),
            Err(error) => Err(SessionError::Event(error).into()),
        },
        None => {
            Err(Told { code: "refused", ..Told::usage(format!("{target} is no message, so it can't be amended")) }
                .into())
        }
    }
}

/// A compaction with the names of its boundary and its summary.
struct NamedCompaction {
    name: NewId,
    summary_name: NewId,
    original_id: Option<String>,
    compaction: Compaction,
}

/// Compacts; a compaction that is there already with the same summary is not made again.
fn compact(
    session: &Session,
    names: &mut Names<'_>,
    named: NamedCompaction,
    durability: Durability,
) -> Outcome<Written> {
    let NamedCompaction { name, summary_name, original_id, compaction } = named;
    let mut nth = 1;
    loop {
        let (id, summary_id) = (names.id(&name, nth), names.id(&summary_name, nth));
        if let Some(id) = id
            && let Some(known) = known_compaction(session, id, compaction.summary())?
        {
            let receipt = session.log().receipt();
            names.note(&name, id);
            return Ok(Written { id, original_id, known: true, compaction: Some(known), receipt });
        }
        match session.compact(compaction.clone().with_ids(id, summary_id), durability) {
            Ok(done) => {
                names.note(&name, done.boundary);
                names.note(&summary_name, done.summary);
                let compaction = Some(WrittenCompaction { summary: Some(done.summary), kept: done.kept });
                return Ok(Written { id: done.boundary, original_id, known: false, compaction, receipt: done.receipt });
            }
            Err(SessionError::DuplicateId { .. })
                if matches!(name, NewId::Foreign(_)) && !matches!(summary_name, NewId::Given(_)) =>
            {
                nth += 1;
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// The compaction of this boundary, if it is there with this summary.
fn known_compaction(session: &Session, id: Uuid, summary: &Message) -> Outcome<Option<WrittenCompaction>> {
    let Some(boundary) = session.event(id)?.and_then(|event| event.boundary().cloned()) else { return Ok(None) };
    let state = session.whole_state()?;
    let known = state.entry(id).and_then(|entry| state.compaction_partner(entry));
    let same = known.and_then(|entry| entry.event.message()).is_some_and(|m| m.joined_text() == summary.joined_text());
    let kept = boundary.keep.iter().map(|kept| kept.id).collect();
    Ok(same.then(|| WrittenCompaction { summary: known.map(|entry| entry.event.id), kept }))
}
