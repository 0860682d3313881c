//! `seslog fork`: a new session that goes on from an event of another.

use std::collections::BTreeMap;
use std::ffi::OsString;

use serde::Serialize;
use seslog::event::Uuid;

use crate::exit::{Exit, Outcome};
use crate::output::tell;
use crate::store::Making;
use crate::{Context, names};

/// Make a new session that goes on from an event of this one
///
/// This one is not touched. The new one holds the messages that the model sees there and a link to what came before. It is
/// compressed if this one is.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  seslog fork 0192 --at 0192f3")]
pub(crate) struct Args {
    /// The session: its id, the beginning of it, or a path
    session: OsString,
    /// The event to go on from: its id, the beginning of it, or its original id
    #[arg(long, value_name = "EVENT")]
    at: String,
    #[command(flatten)]
    making: Making,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    session: String,
    path: String,
    parent: String,
    at: String,
    /// The id that the event had where it came from.
    original_ids: BTreeMap<Uuid, String>,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Outcome {
    let parent = context.place.read(&args.session)?;
    let at = names::event(parent.log(), &args.at)?;
    let forked = context.place.store_with(args.making.options())?.fork_from(&parent, at)?;
    let document = Document {
        session: forked.id().to_string(),
        path: forked.path().display().to_string(),
        parent: parent.id().to_string(),
        at: at.to_string(),
        original_ids: parent.event(at)?.and_then(|event| Some((at, event.original_id?))).into_iter().collect(),
    };
    forked.close()?;
    let out = &mut context.out;
    if out.json {
        out.document(&document)?;
    } else {
        out.line(&format!("{} goes on from event {at} of {}", document.session, document.parent))?;
    }
    let (session, store) = (&document.session, context.place.as_option());
    tell(&format!("`seslog show {session}{store}` reads it, `seslog append {session}{store}` goes on in it"));
    Ok(Exit::Fine)
}
