//! `seslog diff`: what two points of a session, or of two sessions, show differently.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::time::{Duration, Instant};

use anstyle::{AnsiColor, Style};
use serde::Serialize;
use seslog::event::Uuid;
use seslog::interop::part_text;
use seslog::projection::{Options, ProjectedMessage, View};
use similar::{ChangeTag, TextDiff};

use crate::Context;
use crate::diff_align::{Step, align};
use crate::exit::{Exit, Failure, Outcome, Told};
use crate::output::Output;
use crate::sanitize::excerpt;
use crate::show::For;
use crate::views::{Look, Looked, look};

/// Lines of a message that are shown, and of what was changed in one.
const LINES_SHOWN: usize = 3;
const CHANGED_LINES_SHOWN: usize = 40;
/// Characters of a line that are shown.
const LINE_CHARS: usize = 160;
/// Lines around a change.
const AROUND: usize = 2;
/// All texts together are compared for so long; what is left then is told less finely.
const TIME_MAX: Duration = Duration::from_secs(5);

/// Show what the model sees differently at two points of a session, or of two
///
/// A and B are events: each stands for the session as it was once that event was in, so the last event of a branch stands for
/// that branch. SESSION:EVENT is one of another session, as after a fork, and SESSION: that session as it is now. Messages
/// are the same if they come from the same events: what only A shows is marked -, what only B shows +, and what both show
/// but not alike (a result that was cleared or shortened, a text that was amended) ~, with its changed lines.
///
/// Exits with 0 if both show the same, with 1 if not.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  seslog diff 0192 0192f3 0192f7              two branches by their last messages (seslog tree shows them)
  seslog diff 0192 0192f3                     an earlier point, and now
  seslog diff 0192 0192f3 0193a1:0193c2       a session and its fork
  seslog diff 0192 0192f3 0192f7 --view transcript --json")]
pub(crate) struct Args {
    /// The session: its id, the beginning of it, or a path
    session: OsString,
    /// One point
    #[arg(value_name = "A")]
    a: String,
    /// The other [default: the session as it is now]
    #[arg(value_name = "B")]
    b: Option<String>,
    /// For whom
    #[arg(long, value_enum, default_value_t = For::Model)]
    view: For,
    /// Show texts whole
    #[arg(long)]
    full: bool,
}

#[derive(Debug, Serialize)]
struct Side {
    session: Uuid,
    at: Option<Uuid>,
    messages: usize,
}

/// A difference as JSON has it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Change<'a> {
    what: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    index_a: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    index_b: Option<usize>,
    /// It stands elsewhere among those that both have.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    moved: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    a: Option<&'a ProjectedMessage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    b: Option<&'a ProjectedMessage>,
    /// The changed lines of its text, as in a unified diff.
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Outcome {
    let a = point(args, &args.a, context)?;
    let b = match &args.b {
        Some(name) => point(args, name, context)?,
        None => at(args, &args.session, "", context)?,
    };
    let compared = Compared::of(&a.projection.messages, &b.projection.messages);
    let out = &mut context.out;
    if out.json {
        document(args.view.view(), &compared, &a, &b, out)?;
    } else {
        human(&compared, &a, &b, args.full, out)?;
    }
    Ok(if compared.same() { a.exit().max(b.exit()) } else { Exit::Found })
}

/// One of the two: an event of the session, or of another one.
fn point(args: &Args, name: &str, context: &Context) -> Outcome<Looked> {
    // A path, or an id that an event had elsewhere, may hold a colon too.
    let other = name.match_indices(':').map(|(place, _)| (&name[..place], &name[place + 1..]));
    match other
        .into_iter()
        .find(|(session, _)| !session.is_empty() && context.place.file(session).is_ok_and(|f| f.is_file()))
    {
        Some((session, event)) => at(args, session.as_ref(), event, context),
        None if name.is_empty() => {
            Err(Told::usage("an event has no empty name; SESSION: is a session as it is now").into())
        }
        None => at(args, &args.session, name, context).map_err(|failure| cure(failure, name, context)),
    }
}

/// A session at an event; as it is now where none is named.
fn at(args: &Args, session: &OsStr, event: &str, context: &Context) -> Outcome<Looked> {
    let at = Some(event).filter(|event| !event.is_empty());
    look(session, &Look { at, branch: None, view: args.view.view(), options: &Options::default() }, context)
}

/// What to do if neither an event nor a session is named so.
fn cure(failure: Failure, name: &str, context: &Context) -> Failure {
    match failure {
        Failure::Told(told)
            if told.code == "noSuchEvent" && context.place.file(name).is_ok_and(|file| file.is_file()) =>
        {
            let message = format!("{}; as a session, as it is now, it is `{name}:`", told.message);
            Failure::Told(Told { message, ..told })
        }
        Failure::Told(told) if told.code == "noSuchEvent" && name.contains(':') => {
            let message = format!("{}, and no session before the colon", told.message);
            Failure::Told(Told { message, ..told })
        }
        other => other,
    }
}

struct Compared<'a> {
    a: &'a [ProjectedMessage],
    b: &'a [ProjectedMessage],
    /// With whether what both have is alike.
    steps: Vec<(Step, bool)>,
    /// So many at the beginning are the same.
    common: usize,
    until: Instant,
}

impl<'a> Compared<'a> {
    fn of(a: &'a [ProjectedMessage], b: &'a [ProjectedMessage]) -> Self {
        let alike = |step: Step| match step {
            Step::Both(at_a, at_b) | Step::Moved(at_a, at_b) => is_alike(&a[at_a], &b[at_b]),
            Step::OnlyA(_) | Step::OnlyB(_) => false,
        };
        let steps: Vec<(Step, bool)> = align(&keys(a), &keys(b)).into_iter().map(|step| (step, alike(step))).collect();
        let is_common = |(place, (step, alike)): &(usize, &(Step, bool))| *alike && *step == Step::Both(*place, *place);
        let common = steps.iter().enumerate().take_while(is_common).count();
        Self { a, b, steps, common, until: Instant::now() + TIME_MAX }
    }

    fn same(&self) -> bool {
        self.common == self.steps.len()
    }

    /// The changed lines of two texts, with those around them.
    fn changed_lines(&self, a: &str, b: &str) -> Vec<(ChangeTag, String)> {
        let left = self.until.saturating_duration_since(Instant::now());
        let diff = TextDiff::configure().timeout(left).diff_lines(a, b);
        let mut lines = Vec::new();
        for group in diff.grouped_ops(AROUND) {
            if !lines.is_empty() {
                lines.push((ChangeTag::Equal, "…".to_owned()));
            }
            for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
                lines.push((change.tag(), change.value().trim_end_matches(['\n', '\r']).to_owned()));
            }
        }
        lines
    }
}

/// What the messages come from. One that comes from the same as another before it is counted.
fn keys(messages: &[ProjectedMessage]) -> Vec<(&[Uuid], &'static str, usize)> {
    let mut counts: HashMap<&[Uuid], usize> = HashMap::new();
    messages
        .iter()
        .map(|message| {
            let ids = message.source_message_ids.as_slice();
            // What no event records has its kind for a name.
            let made = if ids.is_empty() { message.semantic_type() } else { "" };
            let count = counts.entry(ids).or_default();
            *count += 1;
            (ids, made, *count)
        })
        .collect()
}

/// Whether whom the view is for sees the same.
fn is_alike(a: &ProjectedMessage, b: &ProjectedMessage) -> bool {
    if (a.role, &a.content) == (b.role, &b.content) && *a.kind == *b.kind {
        return true;
    }
    // What the JSON of the view leaves out is not seen; the flags say what other views do.
    let seen = |message: &ProjectedMessage| {
        let mut json = serde_json::to_value(message).unwrap_or_default();
        json.as_object_mut().map(|fields| fields.remove("metadata"));
        json
    };
    seen(a) == seen(b)
}

/// What a message says, in lines.
fn text(message: &ProjectedMessage) -> String {
    let mut texts: Vec<String> = message.content.iter().map(|part| part_text(part)).collect();
    texts.extend(message.said_in_fields());
    texts.join("\n")
}

fn document(view: View, compared: &Compared<'_>, a: &Looked, b: &Looked, out: &mut Output) -> Outcome<()> {
    let side = |looked: &Looked| Side {
        session: looked.reader.id(),
        at: looked.at,
        messages: looked.projection.messages.len(),
    };
    let mut document = out.open_document()?;
    document.field("view", &view)?;
    document.field("a", &side(a))?;
    document.field("b", &side(b))?;
    document.field("same", &compared.same())?;
    document.field("common", &compared.common)?;
    document.list("changes", compared.steps.iter().filter_map(|step| change(compared, *step)).map(Ok))?;
    document.close()
}

fn change<'a>(compared: &Compared<'a>, (step, alike): (Step, bool)) -> Option<Change<'a>> {
    let (what, index_a, index_b, moved) = match step {
        Step::Both(..) if alike => return None,
        Step::Both(a, b) => ("changed", Some(a), Some(b), false),
        Step::Moved(a, b) => (if alike { "moved" } else { "changed" }, Some(a), Some(b), true),
        Step::OnlyA(a) => ("onlyA", Some(a), None, false),
        Step::OnlyB(b) => ("onlyB", None, Some(b), false),
    };
    let (a, b) = (index_a.map(|index| &compared.a[index]), index_b.map(|index| &compared.b[index]));
    let diff = a.zip(b).filter(|_| !alike).map(|(a, b)| {
        let sign = |tag| match tag {
            ChangeTag::Equal => ' ',
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
        };
        let lines = compared.changed_lines(&text(a), &text(b));
        lines.iter().map(|(tag, line)| format!("{}{line}\n", sign(*tag))).collect()
    });
    Some(Change { what, index_a, index_b, moved, a, b, diff })
}

fn human(compared: &Compared<'_>, a: &Looked, b: &Looked, full: bool, out: &mut Output) -> Outcome<()> {
    for (sign, looked) in [("---", a), ("+++", b)] {
        let at = looked.at.map_or_else(|| "as it is now".to_owned(), |at| format!("at {at}"));
        let line = format!("{sign} {} {at}: {}", looked.reader.id(), messages(looked.projection.messages.len()));
        let line = out.paint(Style::new().bold(), &line);
        out.line(&line)?;
    }
    let mut same = 0;
    for &(step, alike) in &compared.steps {
        if alike && matches!(step, Step::Both(..)) {
            same += 1;
            continue;
        }
        told_same(std::mem::take(&mut same), out)?;
        match step {
            Step::OnlyA(at) => one("-", AnsiColor::Red, &compared.a[at], full, out)?,
            Step::OnlyB(at) => one("+", AnsiColor::Green, &compared.b[at], full, out)?,
            Step::Both(at_a, at_b) | Step::Moved(at_a, at_b) => {
                let (a, b) = (&compared.a[at_a], &compared.b[at_b]);
                let moved = if matches!(step, Step::Moved(..)) { " · stands elsewhere" } else { "" };
                heading("~", AnsiColor::Yellow, b, moved, out)?;
                if !alike {
                    both(compared, a, b, full, out)?;
                }
            }
        }
    }
    told_same(same, out)
}

fn messages(count: usize) -> String {
    if count == 1 { "1 message".to_owned() } else { format!("{count} messages") }
}

fn told_same(count: usize, out: &mut Output) -> Outcome<()> {
    if count == 0 {
        return Ok(());
    }
    let line = out.paint(Style::new().dimmed(), &format!("  {} the same", messages(count)));
    out.line(&line)
}

fn heading(sign: &str, colour: AnsiColor, message: &ProjectedMessage, more: &str, out: &mut Output) -> Outcome<()> {
    let id = message.source_message_ids.first().map_or_else(String::new, |id| format!(" · {id}"));
    let role = out.paint(colour.on_default().bold(), &format!("{sign} {}", message.role.name()));
    let about = out.paint(Style::new().dimmed(), &format!("{}{id}{more}", message.semantic_type()));
    out.line(&format!("{role} {about}"))
}

/// A message that only one of both shows.
fn one(sign: &str, colour: AnsiColor, message: &ProjectedMessage, full: bool, out: &mut Output) -> Outcome<()> {
    heading(sign, colour, message, "", out)?;
    let text = text(message);
    let (count, most) = (text.lines().count(), if full { usize::MAX } else { LINES_SHOWN });
    for line in text.lines().take(most) {
        colored(sign, colour.on_default(), line, full, out)?;
    }
    told_more(count.saturating_sub(most), out)
}

/// What differs in a message that both show.
fn both(
    compared: &Compared<'_>,
    a: &ProjectedMessage,
    b: &ProjectedMessage,
    full: bool,
    out: &mut Output,
) -> Outcome<()> {
    let lines = compared.changed_lines(&text(a), &text(b));
    if lines.is_empty() {
        return out.line("    its text is the same; --json shows what differs beside it");
    }
    let most = if full { usize::MAX } else { CHANGED_LINES_SHOWN };
    for (tag, line) in lines.iter().take(most) {
        match tag {
            ChangeTag::Delete => colored("-", AnsiColor::Red.on_default(), line, full, out)?,
            ChangeTag::Insert => colored("+", AnsiColor::Green.on_default(), line, full, out)?,
            ChangeTag::Equal => colored(" ", Style::new(), line, full, out)?,
        }
    }
    told_more(lines.len().saturating_sub(most), out)
}

fn colored(sign: &str, style: Style, line: &str, full: bool, out: &mut Output) -> Outcome<()> {
    let line = excerpt(line, if full { usize::MAX } else { LINE_CHARS });
    let line = out.paint(style, &format!("  {sign} {line}"));
    out.line(line.trim_end())
}

fn told_more(count: usize, out: &mut Output) -> Outcome<()> {
    if count == 0 {
        return Ok(());
    }
    let lines = if count == 1 { "line" } else { "lines" };
    let line = out.paint(Style::new().dimmed(), &format!("    … {count} more {lines}; --full shows them"));
    out.line(&line)
}
