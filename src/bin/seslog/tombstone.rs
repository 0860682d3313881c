//! `seslog tombstone`: take messages back.

use std::ffi::OsString;

use seslog::event::Uuid;
use seslog::log::Durability;

use crate::exit::Outcome;
use crate::output::tell;
use crate::{Context, names, written};

/// Take messages back, on every branch, from now on
///
/// Nothing is erased: views leave the messages out, earlier points still show them. Aimed at a compaction's boundary
/// or summary it takes back the whole compaction.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  seslog tombstone 0192 --target 0192f3 --reason 'typed in the wrong window'")]
pub(crate) struct Args {
    /// The session: its id, the beginning of it, or a path
    session: OsString,
    /// A message: its id, the beginning of it, or its original id; may be given more than once
    #[arg(long, required = true, num_args = 1.., value_name = "EVENT")]
    target: Vec<String>,
    /// Why
    #[arg(long)]
    reason: Option<String>,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Outcome {
    let session = context.place.write(&args.session)?;
    let mut targets = names::events(session.log(), &args.target)?;
    let state = session.whole_state()?;
    let (gone, left): (Vec<Uuid>, Vec<Uuid>) =
        targets.iter().partition(|id| state.entry(**id).is_some_and(|entry| !entry.is_living()));
    if left.is_empty() {
        let ids = gone.iter().map(Uuid::to_string).collect::<Vec<_>>().join(", ");
        return written::nothing(session, &format!("taken back already: {ids}"), context);
    }
    for id in gone {
        tell(&format!("{id} was taken back already: left alone"));
    }
    targets = left;
    let appended = session.tombstone(&targets, args.reason.as_deref(), Durability::Sync)?;
    let id = session.id();
    let first = targets.first().copied();
    let exit = written::finish(session, appended, "taken back", context)?;
    if let Some(at) = first {
        tell(&format!("nothing undoes this; `seslog show {id} --at {at}{}` still shows it", context.place.as_option()));
    }
    Ok(exit)
}
