//! `seslog meta`: what a list of sessions shows.

use std::ffi::OsString;

use seslog::event::SessionMeta;
use seslog::log::Durability;

use crate::exit::{Outcome, Told};
use crate::{Context, written};

/// Change what a list of sessions shows of this one
///
/// What is not given keeps its value; an empty text clears one.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  seslog meta 0192 --title 'Parser' --tag rust --tag parser")]
pub(crate) struct Args {
    /// The session: its id, the beginning of it, or a path
    session: OsString,
    /// A title
    #[arg(long)]
    title: Option<String>,
    /// A label; all given ones replace the old ones
    #[arg(long, value_name = "LABEL")]
    tag: Vec<String>,
    /// The folder that the agent works in
    #[arg(long, value_name = "DIR")]
    cwd: Option<String>,
    /// The model
    #[arg(long)]
    model: Option<String>,
    /// The agent
    #[arg(long)]
    agent: Option<String>,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Outcome {
    let change = SessionMeta {
        title: args.title.clone(),
        // An empty one clears them; beside others it is no label.
        tags: match args.tag.iter().filter(|tag| !tag.is_empty()).cloned().collect::<Vec<_>>() {
            labels if labels.is_empty() => args.tag.clone(),
            labels => labels,
        },
        cwd: args.cwd.clone(),
        model: args.model.clone(),
        agent: args.agent.clone(),
        extra: Vec::new(),
    };
    if change.is_empty() {
        return Err(Told::usage("nothing to change; give --title, --tag, --cwd, --model or --agent").into());
    }
    let session = context.place.write(&args.session)?;
    let appended = session.set_meta(change, Durability::Sync)?;
    written::finish(session, appended, "changed", context)
}
