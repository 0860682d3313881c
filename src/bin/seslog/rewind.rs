//! `seslog rewind`: move the current leaf.

use std::ffi::OsString;

use seslog::log::Durability;

use crate::exit::Outcome;
use crate::output::tell;
use crate::{Context, names, written};

/// Go back to an earlier message, or to another branch
///
/// What was left stays a branch: rewinding to its leaf, which is told, undoes this.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("where").required(true), after_help = "Examples:\n  seslog rewind 0192 --to 0192f3\n  seslog rewind 0192 --to-start")]
pub(crate) struct Args {
    /// The session: its id, the beginning of it, or a path
    session: OsString,
    /// The new leaf: its id, the beginning of it, or its original id
    #[arg(long, value_name = "EVENT", group = "where")]
    to: Option<String>,
    /// Before the first message
    #[arg(long, group = "where")]
    to_start: bool,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Outcome {
    let session = context.place.write(&args.session)?;
    let to = args.to.as_ref().map(|name| names::event(session.log(), name)).transpose()?;
    let before = session.with_state(|state| state.leaf().map(|leaf| leaf.event.id))?;
    if before == to {
        let why = to.map_or_else(|| "it is at the start".to_owned(), |to| format!("{to} is the current leaf"));
        return written::nothing(session, &why, context);
    }
    if let Some(to) = to
        && session.whole_state()?.entry(to).is_some_and(|entry| !entry.is_living())
    {
        tell(&format!("{to} was taken back: no view of the session as it is now shows it"));
    }
    let appended = session.rewind(to, Durability::Sync)?;
    let what = to.map_or_else(|| "rewound to the start".to_owned(), |to| format!("rewound to {to}"));
    let (name, store) = context.place.to_paste(session.id(), session.path());
    let exit = written::finish_with(session, appended, &what, Some(written::Left { leaf_before: before }), context)?;
    let back = before.map_or_else(|| "--to-start".to_owned(), |leaf| format!("--to {leaf}"));
    tell(&format!("`seslog rewind {name} {back}{store}` goes back to where it was"));
    Ok(exit)
}
