//! `seslog prune`: old tool results become a stub for the model.

use seslog::log::Durability;

use crate::exit::Outcome;
use crate::{Context, names, written};

/// Make old tool results a stub in what the model sees
///
/// They stay whole everywhere else.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  seslog prune 0192 --target 0192f3 --target 0192f4")]
pub(crate) struct Args {
    /// The session: its id, the beginning of it, or a path
    session: String,
    /// A message that holds results: its id, the beginning of it, or its original id; may be given more than once
    #[arg(long, required = true, num_args = 1.., value_name = "EVENT")]
    target: Vec<String>,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Outcome {
    let session = context.place.write(&args.session)?;
    let targets = names::events(session.log(), &args.target)?;
    let appended = session.prune(&targets, Durability::Sync)?;
    written::finish(session, appended, "pruned", context)
}
