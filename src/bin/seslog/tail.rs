//! `seslog tail`: the end of a session, and what is written to it from now on.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use serde::Serialize;
use seslog::event::{Amend, Body, Event, Kind, Message, PartBody, Uuid, apply_patch, decode, to_json};
use seslog::interop::part_text;
use seslog::log::{LogError, RealFs, Verdict, survey};
use seslog::projection::{ProjectedMessage, Shared, View};
use seslog::session::{Entry, Growth, SessionError, State, Tail};

use crate::Context;
use crate::cure::saving;
use crate::exit::{Exit, Outcome, Told};
use crate::output::{Output, VERSION, tell};
use crate::render::Renderer;
use crate::sanitize::{Layout, excerpt, visible};

/// Between two looks at the file. A look costs one `stat` while nothing is written.
const PAUSE: Duration = Duration::from_millis(20);
/// Characters of a changed message that are shown: its end, which is what a stream has added.
const END_CHARS: usize = 100;

/// Show the end of a session, and follow it
///
/// The events of the file in its order, whatever branch they are on, from the last N messages on. At first messages are
/// shown as they stand; what comes later is shown as it comes. With --json: one line an event, as it was written:
///
///   {"version":1,"session":"0192…","event":{…}}
///
/// With -f it looks at the file 50 times a second, and what another process writes is shown within a tenth of a second. It goes
/// on until it is stopped: when the session is rewound or compacted, when another program opens it, and when
/// its file is replaced (a redaction does that: it says so, and goes on behind the event shown last; with --json by
/// {"version":1,"session":"0192…","notice":"replaced","behind":"0192…"}). It ends quietly, with 0, when nobody reads its
/// output any more, and by the signal of Ctrl-C, which shells give as 130. It ends with 1 if the session is removed, its file
/// becomes another session's, or it is damaged; what is whole is shown then.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  seslog tail 0192                     the last ten messages
  seslog tail 0192 -f                  and what comes
  seslog tail 0192 -n 0 -f --json      every event from now on, one JSON document a line")]
pub(crate) struct Args {
    /// The session: its id, the beginning of it, or a path
    session: OsString,
    /// Go on with what is written from now on
    #[arg(long, short)]
    follow: bool,
    /// So many messages first
    #[arg(long, short = 'n', default_value_t = 10, value_name = "N")]
    messages: usize,
}

#[derive(Debug, Serialize)]
struct Notice {
    session: String,
    notice: &'static str,
    behind: Option<Uuid>,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Outcome {
    let path = context.place.file(&args.session)?;
    let out = &mut context.out;
    let mut first = Vec::new();
    let opened = Tail::open(&path, RealFs::shared(), args.messages)
        .and_then(|mut tail| Ok((tail.look(|event| first.push(event))?, tail)));
    let (growth, mut tail) = match opened {
        // Nobody writes it until it is mended.
        Ok((_, tail)) if tail.report().verdict == Verdict::Damaged => return whole_end(&path, args, out),
        Ok(opened) => opened,
        Err(error) if is_damage(&error) => return whole_end(&path, args, out),
        Err(error) => return Err(ended(error).into()),
    };
    let (mut growth, mut failed) = (Ok(growth), None);
    let mut printer = Printer { session: tail.id(), renderer: Renderer::new(false) };
    printer.beginning(first, out)?;
    let mut exit = Exit::Fine;
    loop {
        out.flush()?;
        if let Some(failure) = failed.take() {
            return Err(failure);
        }
        match growth {
            Ok(Growth::Replaced { behind }) => replaced(tail.id(), behind, out)?,
            Ok(_) => {}
            Err(error) => return Err(ended(error).into()),
        }
        if tail.report().verdict == Verdict::Damaged && exit == Exit::Fine {
            exit = Exit::Found;
            tell(&format!("the session is damaged; what lies before the damage is shown, {}", saving(&path)));
        }
        if !args.follow {
            return Ok(exit);
        }
        if !matches!(growth, Ok(Growth::Replaced { .. })) {
            out.pause(PAUSE)?;
        }
        growth = tail.look(|event| failed = failed.take().or_else(|| printer.event(event, out).err()));
    }
}

/// Bytes that had been durable are not whole.
fn is_damage(error: &SessionError) -> bool {
    matches!(error, SessionError::Log(LogError::NoFrame { .. } | LogError::Damaged { .. }))
}

/// The end of a session in which there is damage: the last messages of all that is whole, before and behind it.
fn whole_end(path: &Path, args: &Args, out: &mut Output) -> Outcome {
    let survey = survey(RealFs::shared(), path)?;
    let (mut events, mut left) = (Vec::new(), args.messages);
    for frame in survey.frames.iter().rev().filter(|frame| frame.status.counts() && !frame.head.frame_type.is_own()) {
        // What can't be read is told by `verify`.
        let Ok(event) = decode(survey.load(frame)?.payload()) else { continue };
        if event.message().is_some() {
            if left == 0 {
                break;
            }
            left -= 1;
        }
        events.push(event);
    }
    events.reverse();
    let session = survey.header.map(|header| header.log_id).unwrap_or_default();
    Printer { session, renderer: Renderer::new(false) }.beginning(events, out)?;
    out.flush()?;
    for damage in &survey.damage {
        tell(&format!("damaged {damage}"));
    }
    let more = if args.follow { "; it can be followed once that is done" } else { "" };
    tell(&format!("what is whole before and behind the damage is shown, {}{more}", saving(path)));
    Ok(Exit::Found)
}

/// Says that the file is another one now.
fn replaced(session: Uuid, behind: Option<Uuid>, out: &mut Output) -> Outcome<()> {
    if out.json {
        out.document(&Notice { session: session.to_string(), notice: "replaced", behind })?;
    }
    match behind {
        Some(id) => tell(&format!("the session's file was replaced; it goes on behind event {id}")),
        None => {
            tell("the session's file was replaced, and holds none of the events that were shown; from its beginning:")
        }
    }
    Ok(())
}

/// Why it can't go on.
fn ended(error: SessionError) -> Told {
    match error {
        SessionError::Log(LogError::NotFound { path, .. }) => {
            let path = path.display();
            Told::not_found("removed", format!("the session was removed: there is no `{path}` any more"))
        }
        SessionError::Log(LogError::Replaced { path, found, .. }) => {
            let path = path.display();
            Told::not_found("replaced", format!("`{path}` is {found} now; `seslog list` shows what is there"))
        }
        other => other.into(),
    }
}

struct Printer {
    session: Uuid,
    renderer: Renderer,
}

impl Printer {
    /// The events that are there already; for people each message as it stands.
    fn beginning(&mut self, events: Vec<Event>, out: &mut Output) -> Outcome<()> {
        if out.json {
            return events.into_iter().try_for_each(|event| self.event(event, out));
        }
        let mut state = State::new();
        for (index, event) in events.into_iter().enumerate() {
            state.push(event, index as u64 + 1);
        }
        for entry in state.entries() {
            let is_seen = |ids: &[Uuid]| ids.iter().all(|&id| state.entry(id).is_some());
            let is_told = match &entry.event.body {
                Body::Amend(amend) => is_seen(&[amend.target]),
                Body::Tombstone(tombstone) => is_seen(&tombstone.targets),
                Body::Prune(prune) => is_seen(&prune.targets),
                _ => false,
            };
            if !is_told {
                self.entry(entry, out)?;
            }
        }
        Ok(())
    }

    /// An event as it comes.
    fn event(&mut self, event: Event, out: &mut Output) -> Outcome<()> {
        if out.json {
            let (session, event) = (self.session, to_json(&event));
            return out.json_line(&format!("{{\"version\":{VERSION},\"session\":\"{session}\",\"event\":{event}}}"));
        }
        let mut state = State::new();
        state.push(event, 0);
        state.entries().iter().try_for_each(|entry| self.entry(entry, out))
    }

    fn entry(&mut self, entry: &Entry, out: &mut Output) -> Outcome<()> {
        let event = &entry.event;
        match &event.body {
            Body::Message(message) if matches!(message.kind, Kind::CompactBoundary(_)) => {
                let rule = out.paint(Style::new().bold(), "── compacted: summary below ──");
                let id = out.paint(Style::new().dimmed(), &event.id.to_string());
                out.line(&format!("{rule} {id}"))?;
                out.line("")
            }
            Body::Message(message) => {
                let parts = Shared::parts_of(event).collect();
                let Some(mut shown) = ProjectedMessage::of(View::Debug, event, message.role, parts) else {
                    return Ok(());
                };
                shown.metadata.compacted = entry.pruned_at.is_some();
                if !entry.is_living() {
                    shown.metadata.notes.push("taken back".to_owned());
                }
                self.renderer.message(&shown, out)
            }
            body => {
                let line = out.paint(AnsiColor::Blue.on_default(), &format!("∙ {}", told(body)));
                let id = out.paint(Style::new().dimmed(), &event.id.to_string());
                out.line(&format!("{line} · {id}"))?;
                out.line("")
            }
        }
    }
}

/// What an event that is no message says, in one line that is safe to print.
fn told(body: &Body) -> String {
    let list = |ids: &[Uuid]| match ids {
        [one] => one.to_string(),
        [first, ..] => format!("{first} and {} more", ids.len() - 1),
        [] => "nothing".to_owned(),
    };
    match body {
        Body::Tombstone(tombstone) => {
            let reason = tombstone.reason.as_deref().map_or_else(String::new, |why| format!(": {}", short(why)));
            format!("takes back {}{reason}", list(&tombstone.targets))
        }
        Body::Amend(amend) => format!("changes {}{}", amend.target, new_text(amend)),
        Body::Prune(prune) => format!("clears for the model the results of {}", list(&prune.targets)),
        Body::Head(head) => match head.leaf {
            Some(leaf) => format!("goes to {leaf}"),
            None => "goes back to before the first message".to_owned(),
        },
        Body::ToolStarted(started) => format!("starts call [{}]", short(&started.call_id)),
        Body::SessionMeta(meta) => match &meta.title {
            Some(title) => format!("is called “{}”", short(title)),
            None => "session meta data".to_owned(),
        },
        Body::Extension(extension) => format!("extension `{}`", short(&extension.name)),
        Body::Unknown(unknown) => format!("event of the unknown type `{}`", short(&unknown.event_type)),
        _ => "event".to_owned(),
    }
}

fn short(text: &str) -> String {
    excerpt(text, END_CHARS)
}

/// What a message is changed to: the end of its text.
fn new_text(amend: &Amend) -> String {
    let fields: Vec<&str> = amend.patch.iter().map(|(name, _)| name.as_str()).collect();
    let blank = Message::assistant("");
    let Ok(message) = apply_patch(&blank, &amend.patch) else {
        return format!(" ({})", short(&fields.join(", ")));
    };
    let parts = message.content.iter().filter(|part| !matches!(part.body, PartBody::Reasoning(_)));
    let text = parts.map(part_text).collect::<Vec<_>>().join(" ");
    if text.is_empty() {
        return format!(" ({})", short(&fields.join(", ")));
    }
    let from = text.char_indices().rev().nth(END_CHARS - 1).map_or(0, |(at, _)| at);
    let more = if from > 0 { "…" } else { "" };
    format!(": {more}{}", visible(&text[from..], Layout::Line))
}
