//! `seslog explain`: why an event is in a view or not.

use std::collections::BTreeMap;
use std::ffi::OsString;

use anstyle::{AnsiColor, Style};
use serde::Serialize;
use seslog::event::{Message, Uuid};
use seslog::projection::{Explanation, InView, Options, Origin, Related, explain};
use seslog::session::State;

use crate::Context;
use crate::exit::{Exit, Outcome, Told};
use crate::names;
use crate::output::Output;
use crate::sanitize::{Layout, visible};
use crate::views::{history, tell_of};

/// Explain why an event is in a view or not
///
/// For each view: in or out and why, as which of its messages, and from which events these were made. The number of a
/// message is its place in the view's `messages`, from 0. The view `export` is that of `seslog show --view export`; the pages
/// that `seslog export` writes have the transcript, with the other branches.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  seslog explain 0192 0192f3 --json")]
pub(crate) struct Args {
    /// The session: its id, the beginning of it, or a path
    session: OsString,
    /// The event: its id, the beginning of it, the id that it had where it came from, that of a call in it, or an id of
    /// the ui view
    event: String,
    /// As it was once this event was in
    #[arg(long, value_name = "EVENT")]
    at: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    session: String,
    at: Option<Uuid>,
    explanation: &'a Explanation,
    /// The ids that the events in it had where they came from.
    original_ids: BTreeMap<Uuid, &'a str>,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Outcome {
    let reader = context.place.read(&args.session)?;
    let at = args.at.as_deref().map(|name| names::event(reader.log(), name)).transpose()?;
    let told = history(&reader, at)?;
    let mut damage = reader.report().damage.clone();
    damage.extend(told.damage);
    tell_of(told.missing_parent, &mut damage, reader.path());
    let state = &told.state;
    let id = id_of(state, &args.event)?;
    let explanation =
        explain(state, id, &Options::default()).map_err(|error| Told::not_found("noSuchEvent", error.to_string()))?;
    if context.out.json {
        let original_ids = originals(state, &explanation);
        context.out.document(&Document {
            session: reader.id().to_string(),
            at,
            explanation: &explanation,
            original_ids,
        })?;
    } else {
        human(&explanation, &mut context.out)?;
    }
    Ok(if damage.is_empty() { Exit::Fine } else { Exit::Found })
}

/// The event of this name, the latest with a call of this id, or an id of the ui view's, which no event has.
fn id_of(state: &State, name: &str) -> Outcome<Uuid> {
    match names::event_in(state, name) {
        Ok(id) => Ok(id),
        Err(error) => match calling(state, name) {
            Some(id) => Ok(id),
            None => Uuid::try_parse(name).map_err(|_| error),
        },
    }
}

fn calling(state: &State, call_id: &str) -> Option<Uuid> {
    let calls = |message: &Message| {
        message.content.iter().filter_map(|part| part.as_tool_call()).any(|call| call.id == call_id)
    };
    let mut entries = state.entries().iter().rev();
    entries.find(|entry| entry.event.message().is_some_and(calls)).map(|entry| entry.event.id)
}

fn originals<'a>(state: &'a State, explanation: &Explanation) -> BTreeMap<Uuid, &'a str> {
    let placed = &explanation.placed;
    let mut named: Vec<Uuid> =
        [Some(explanation.id), placed.branch, placed.named_parent, placed.hung_on].into_iter().flatten().collect();
    named.extend(explanation.related.iter().map(|related| related.id));
    for view in &explanation.views {
        named.extend(view.from.iter().map(|from| from.id));
        named.extend(view.reasons.iter().flat_map(|reason| &reason.ids));
    }
    named.into_iter().filter_map(|id| Some((id, state.entry(id)?.event.original_id.as_deref()?))).collect()
}

fn human(explanation: &Explanation, out: &mut Output) -> Outcome<()> {
    out.field("event", &explanation.id.to_string())?;
    if let Some(original) = &explanation.original_id {
        out.field("original", original)?;
    }
    out.field("what", explanation.kind.unwrap_or(&explanation.event_type))?;
    let placed = &explanation.placed;
    let chain = match (placed.on_chain, placed.branch) {
        (true, _) => "on the current chain".to_owned(),
        (false, Some(leaf)) => format!("on the branch that ends at {leaf}"),
        (false, None) => "on no branch".to_owned(),
    };
    out.field("place", &format!("event {} of the file, {chain}", placed.index))?;
    let hung_on = placed.hung_on.map_or_else(|| "nothing".to_owned(), |id| id.to_string());
    out.field(
        "hangs on",
        &match &placed.why_hung_there {
            Some(why) => format!("{hung_on}: {why}"),
            None => hung_on,
        },
    )?;
    for related in &explanation.related {
        out.field(word(related.what), &named(related))?;
    }
    out.line("")?;
    explanation.views.iter().try_for_each(|view| in_view(view, out))?;
    let note =
        "(`export` is `seslog show --view export`; the pages of `seslog export` have the transcript, its jsonl all)";
    let note = out.paint(Style::new().dimmed(), note);
    out.line(&note)
}

fn in_view(view: &InView, out: &mut Output) -> Outcome<()> {
    let name = out.paint(Style::new().bold(), &format!("{:<10}", view.view.name()));
    let shown = match view.shown {
        true => out.paint(AnsiColor::Green.on_default(), "in"),
        false => out.paint(AnsiColor::Red.on_default(), "out"),
    };
    let as_which: Vec<String> = view
        .messages
        .iter()
        .map(|message| format!("{} ({}, {})", message.index, message.role, message.semantic_type))
        .collect();
    let as_which = if as_which.is_empty() { String::new() } else { format!(" as message {}", as_which.join(", ")) };
    out.line(&format!("{name} {shown}{as_which}"))?;
    for reason in &view.reasons {
        let call = reason.call.as_ref().map_or_else(String::new, |call| format!(" [{call}]"));
        let reason = format!("{}{call}: {}", reason.code, reason.reason);
        out.line(&format!("    {}", visible(&reason, Layout::Line)))?;
    }
    // What all views are made from stands above.
    for from in view.from.iter().filter(|from| matches!(from.what, Origin::Boundary | Origin::Message)) {
        out.line(&format!("    {} {}", word(from.what), visible(&named(from), Layout::Line)))?;
    }
    Ok(())
}

fn named(related: &Related) -> String {
    let call = related.call.as_ref().map_or_else(String::new, |call| format!(" [{call}]"));
    format!("{}{call}", related.id)
}

fn word(what: Origin) -> &'static str {
    match what {
        Origin::Itself => "itself",
        Origin::Message => "message",
        Origin::Tombstone => "tombstone",
        Origin::Prune => "prune",
        Origin::Amend => "amend",
        Origin::RefusedAmend => "misfit",
        Origin::Call => "call",
        Origin::Result => "result",
        Origin::Started => "started",
        Origin::Approval => "approval",
        Origin::Hook => "hook",
        Origin::Boundary => "boundary",
        Origin::Compaction => "compaction",
        Origin::Target => "target",
        _ => "change",
    }
}
