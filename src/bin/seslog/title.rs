//! `seslog title`: what a list calls a session.

use std::ffi::OsString;

use serde::Serialize;
use seslog::event::SessionMeta;
use seslog::log::Durability;

use crate::exit::{Exit, Outcome};
use crate::output::tell;
use crate::sanitize::{Layout, visible};
use crate::{Context, written};

/// Show or set a session's title
///
/// Labels, folder, model and agent stay as they are (`seslog meta` changes those).
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  seslog title 0192\n  seslog title 0192 The parser, second try\n  seslog title 0192 --clear"
)]
pub(crate) struct Args {
    /// The session: its id, the beginning of it, or a path
    session: OsString,
    /// The new title; all words are one
    #[arg(value_name = "TEXT")]
    text: Vec<String>,
    /// Take the title away
    #[arg(long, conflicts_with = "text")]
    clear: bool,
}

#[derive(Debug, Serialize)]
struct Document {
    session: String,
    title: Option<String>,
    changed: bool,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Outcome {
    if args.text.is_empty() && !args.clear {
        return show(args, context);
    }
    let session = context.place.write(&args.session)?;
    let text = args.text.join(" ").trim().to_owned();
    let old = session.with_state(|state| state.meta().title.clone())?;
    if old.as_deref().unwrap_or_default() == text {
        let why = if text.is_empty() { "it has no title" } else { "that is its title already" };
        return written::nothing(session, why, context);
    }
    let what = if text.is_empty() { "title taken away".to_owned() } else { format!("title is now `{text}`") };
    let change = SessionMeta { title: Some(text), ..SessionMeta::default() };
    let appended = session.set_meta(change, Durability::Sync)?;
    written::finish(session, appended, &what, context)
}

fn show(args: &Args, context: &mut Context) -> Outcome {
    let reader = context.place.read(&args.session)?;
    let title = reader.state().meta().title.clone();
    let out = &mut context.out;
    if out.json {
        out.document(&Document { session: reader.id().to_string(), title, changed: false })?;
    } else if let Some(title) = title {
        out.line(&visible(&title, Layout::Line))?;
    } else {
        let (session, store) = context.place.to_paste(reader.id(), reader.path());
        tell(&format!("it has no title; `seslog title {session} TEXT{store}` gives it one"));
    }
    Ok(Exit::Fine)
}
