//! `seslog prune`: old tool results become a stub for the model.

use std::ffi::OsString;

use seslog::event::Uuid;
use seslog::log::Durability;
use seslog::session::State;

use crate::exit::Outcome;
use crate::output::tell;
use crate::{Context, names, written};

/// Make old tool results a stub in what the model sees
///
/// They stay whole everywhere else. Messages without results, and those that are stubs already, are left alone.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  seslog prune 0192 --target 0192f3 --target 0192f4")]
pub(crate) struct Args {
    /// The session: its id, the beginning of it, or a path
    session: OsString,
    /// A message that holds results: its id, the beginning of it, or its original id; may be given more than once
    #[arg(long, required = true, num_args = 1.., value_name = "EVENT")]
    target: Vec<String>,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Outcome {
    let session = context.place.write(&args.session)?;
    let mut targets = names::events(session.log(), &args.target)?;
    let state = session.whole_state()?;
    let left: Vec<(Uuid, &str)> = targets.iter().filter_map(|id| Some((*id, why_not(&state, *id)?))).collect();
    if left.len() == targets.len() {
        let why = left.iter().map(|(id, why)| format!("{id} {why}")).collect::<Vec<_>>().join("; ");
        return written::nothing(session, &why, context);
    }
    for (id, why) in &left {
        tell(&format!("{id} {why}: left alone"));
    }
    targets.retain(|id| left.iter().all(|(other, _)| other != id));
    let appended = session.prune(&targets, Durability::Sync)?;
    written::finish(session, appended, "pruned", context)
}

/// Why pruning this would change nothing. What is no message is refused elsewhere.
fn why_not(state: &State, id: Uuid) -> Option<&'static str> {
    let entry = state.entry(id)?;
    let message = entry.event.message()?;
    match () {
        () if !entry.is_living() => Some("was taken back"),
        () if message.results().next().is_none() => Some("holds no results"),
        () if entry.pruned_at.is_some() => Some("is pruned already"),
        () => None,
    }
}
