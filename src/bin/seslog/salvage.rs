//! `seslog salvage`: everything whole of a damaged session, in a new file.

use std::path::PathBuf;

use seslog::session::Session;

use crate::Context;
use crate::exit::{Exit, Outcome};
use crate::store::Making;

/// Copy everything whole of a damaged session into a new file
///
/// The damaged file is only read. The new one has the same session id and opens and resumes; what is gone is told, and
/// what hung on it hangs on the nearest earlier message that is there. Exits with 1 if something is gone.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  seslog salvage 0192 -o ~/whole.seslog")]
pub(crate) struct Args {
    /// The session: its id, the beginning of it, or a path
    session: String,
    /// The new file; one that is there already is not touched
    #[arg(long, short, value_name = "NEW")]
    output: PathBuf,
    #[command(flatten)]
    making: Making,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Outcome {
    let source = context.place.file(&args.session)?;
    let report = Session::salvage(&source, &args.output, &args.making.options())?;
    let gone = !report.lost.is_empty() || !report.unreadable.is_empty();
    let out = &mut context.out;
    if out.json {
        out.document(&report)?;
    } else {
        out.field("session", &report.session.to_string())?;
        out.field("file", &report.target.display().to_string())?;
        out.field("kept", &format!("{} events", report.kept))?;
        for lost in &report.lost {
            out.field("lost", &format!("{} bytes: {}", lost.len, lost.what))?;
        }
        if let Some(lost) = report.lost_records.filter(|lost| *lost > 0) {
            out.field("lost", &format!("{lost} of the records that the log had counted"))?;
        }
        for id in &report.lost_events {
            out.field("lost", &id.to_string())?;
        }
        for aside in &report.set_aside {
            out.field("set aside", &format!("{} bytes at byte {} ({})", aside.len, aside.offset, aside.cause))?;
        }
        for id in &report.incomplete {
            out.field("left out", &format!("{id}, of a batch that is not whole"))?;
        }
        for id in &report.doubtful {
            out.field("doubtful", &format!("{id} is in, though it may be of a batch that is not whole"))?;
        }
        for offset in &report.unreadable {
            out.field("unreadable", &format!("the record at byte {offset}"))?;
        }
        for hung in &report.hung_anew {
            let on = hung.hung_on.map_or_else(|| "nothing".to_owned(), |id| id.to_string());
            out.field("repaired", &format!("{} named {}, hangs on {on}", hung.event, hung.named))?;
        }
        for id in &report.missing_kept {
            out.field("missing", &format!("{id}, which a compaction had kept"))?;
        }
        for moved in &report.heads_moved {
            let to = moved.hung_on.map_or_else(|| "nothing".to_owned(), |id| id.to_string());
            out.field("repaired", &format!("{} moved the leaf to {}, moves it to {to}", moved.event, moved.named))?;
        }
        for id in &report.heads_left_out {
            out.field("left out", &format!("a move of the leaf to {id}, which is gone"))?;
        }
    }
    Ok(if gone { Exit::Found } else { Exit::Fine })
}
