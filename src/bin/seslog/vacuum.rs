//! `seslog vacuum`: write a session anew without what counts for nothing any more.

use seslog::session::{Session, SessionOptions, Vacuum};

use crate::exit::Outcome;
use crate::output::tell;
use crate::{Context, erased};

/// Write a session anew without what counts for nothing any more
///
/// Bytes that a crash left behind, zeros and old look-up tables go; every event stays, with its id and place. With --tombstoned
/// the contents of messages that were taken back go for good, with --pruned the outputs of tool results that a model no longer
/// sees. The new file is checked event by event before it takes the old one's place. If there is nothing to gain, the file stays.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  seslog vacuum 0192
  seslog tombstone 0192 --target 0192f3 && seslog vacuum 0192 --tombstoned")]
pub(crate) struct Args {
    /// The session: its id, the beginning of it, or a path
    session: String,
    /// Take out the contents of messages that were taken back
    #[arg(long)]
    tombstoned: bool,
    /// Take out the outputs of tool results that were pruned
    #[arg(long)]
    pruned: bool,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Outcome {
    let path = context.place.file(&args.session)?;
    let vacuum = Vacuum::new().tombstoned(args.tombstoned).pruned(args.pruned);
    let report = Session::vacuum(&path, vacuum, &SessionOptions::default())?;
    erased::show(&report, false, context)?;
    if !report.rewritten {
        tell("nothing to leave out; the session is as it was");
    }
    Ok(erased::exit(&report))
}
