//! `seslog vacuum`: write a session anew without what counts for nothing any more.

use std::ffi::OsString;

use seslog::event::REMOVED;
use seslog::session::{EraseReport, Session, SessionOptions, Vacuum};

use crate::exit::Outcome;
use crate::output::{Output, tell};
use crate::{Context, erased};

/// Write a session anew without what counts for nothing any more
///
/// Bytes that a crash left behind, zeros and old look-up tables go; every event stays, with its id and place. With --tombstoned
/// the contents of messages that were taken back go for good, with --pruned the outputs of tool results that a model no longer
/// sees; `[removed by vacuum]` stands in their place. To take out what may be read by nobody, see `seslog redact`. The new file is checked event by event before it takes the old one's place. If there is nothing to gain, the file stays.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  seslog vacuum 0192
  seslog tombstone 0192 --target 0192f3 && seslog vacuum 0192 --tombstoned")]
pub(crate) struct Args {
    /// The session: its id, the beginning of it, or a path
    session: OsString,
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
    if context.out.json {
        erased::show(&report, false, context)?;
    } else {
        human(&report, &mut context.out)?;
        erased::tell_of_the_rest(&report);
    }
    if !report.rewritten {
        tell("nothing to leave out; the session is as it was");
    }
    Ok(erased::exit(&report))
}

fn human(report: &EraseReport, out: &mut Output) -> Outcome<()> {
    out.field("session", &report.session.to_string())?;
    if !report.changed.is_empty() {
        let (changed, all) = (report.changed.len(), report.events);
        out.field("removed", &format!("the contents of {changed} of {all} events; `{REMOVED}` stands in their place"))?;
    }
    for id in &report.changed {
        out.field("event", &id.to_string())?;
    }
    let before = report.bytes_before;
    match report.bytes_after {
        Some(after) => {
            let gained = match before.checked_sub(after) {
                Some(less) => format!("{less} fewer"),
                None => format!("{} more", after - before),
            };
            out.field("bytes", &format!("{before}, now {after}: {gained}"))
        }
        None => out.field("bytes", &format!("{before}; the file is as it was")),
    }
}
