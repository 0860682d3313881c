//! `seslog salvage`: everything whole of a damaged session, in a new file or in its place.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use seslog::session::{SalvageReport, Session};

use crate::Context;
use crate::cure::quoted;
use crate::exit::{Exit, Outcome};
use crate::output::{Output, has_room, plural, tell};
use crate::store::Making;

/// Save everything whole of a damaged session
///
/// With --in-place the session is mended where it lies: a file with everything whole takes the damaged one's place, which is
/// kept beside it (`ID.seslog.damaged`). With -o a new file is made elsewhere, and the damaged one is only read. Either has the
/// same session id and opens and resumes; what is gone is told, and what hung on it hangs on the nearest earlier message that is
/// there. Exits with 1 if something is gone.
#[derive(Debug, clap::Args)]
#[command(
    group = clap::ArgGroup::new("where").required(true),
    after_help = "Examples:\n  seslog salvage 0192 --in-place\n  seslog salvage 0192 -o ~/whole.seslog\n  seslog import ~/whole.seslog             into a store that does not have it"
)]
pub(crate) struct Args {
    /// The session: its id, the beginning of it, or a path
    session: OsString,
    /// Put the new file in the damaged one's place, and keep that beside it
    #[arg(long, group = "where")]
    in_place: bool,
    /// The new file; one that is there already is not touched
    #[arg(long, short, value_name = "NEW", group = "where")]
    output: Option<PathBuf>,
    #[command(flatten)]
    making: Making,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Outcome {
    let source = context.place.file(&args.session)?;
    if let Some(output) = &args.output {
        has_room(output)?;
    }
    let report = match &args.output {
        Some(output) => Session::salvage(&source, output, &args.making.options())?,
        None => Session::salvage_in_place(&source, &args.making.options())?,
    };
    let out = &mut context.out;
    if out.json {
        out.document(&report)?;
    } else {
        out.field("session", &report.session.to_string())?;
        out.field("file", &report.target.display().to_string())?;
        if let Some(backup) = &report.backup {
            out.field("damaged", &format!("kept as {}", backup.display()))?;
        }
        if report.owner_changed {
            out.field(
                "owner",
                "you, and only you: the damaged file's could not be given to the new one (chown, chmod as root)",
            )?;
        }
        out.field("kept", &plural(usize::try_from(report.kept).unwrap_or(usize::MAX), "event"))?;
        human(&report, out)?;
    }
    next(&report, context);
    Ok(if is_gone(&report) { Exit::Found } else { Exit::Fine })
}

/// What to do now.
fn next(report: &SalvageReport, context: &Context) {
    let store = context.place.as_option();
    if let Some(backup) = &report.backup {
        let backup = quoted(backup);
        return tell(&format!("the session goes on; once you miss nothing, `rm {backup}` removes the damaged file"));
    }
    let canonical = |path: &Path| path.canonicalize().ok();
    let is_in_store = context.place.store().is_ok_and(|store| {
        let dir = report.source.parent().and_then(canonical);
        dir.is_some() && dir == canonical(store.dir())
    });
    match is_in_store {
        true if !report.lost.is_empty() || is_gone(report) => tell(&format!(
            "the store still has the damaged file; `seslog salvage {} --in-place{store}` mends it there",
            report.session
        )),
        true => tell("nothing in the session is damaged; the new file is a copy"),
        false => tell(&format!("`seslog import {}{store}` takes it into the store", quoted(&report.target))),
    }
}

/// Whether something that had been durable is not in the new file.
pub(crate) fn is_gone(report: &SalvageReport) -> bool {
    // A header is written anew.
    report.lost.iter().any(|lost| !lost.is_of_header()) || !report.unreadable.is_empty()
}

/// Whether the new file is anything but a copy of the old one.
pub(crate) fn is_not_as_it_was(report: &SalvageReport) -> bool {
    let lists = [report.lost.len(), report.unreadable.len(), report.set_aside.len(), report.incomplete.len()];
    let changed = [report.doubtful.len(), report.hung_anew.len(), report.missing_kept.len(), report.heads_moved.len()];
    lists.iter().chain(&changed).sum::<usize>() + report.heads_left_out.len() > 0
}

/// What is gone, and what was changed for it.
pub(crate) fn human(report: &SalvageReport, out: &mut Output) -> Outcome<()> {
    let (headers, lost): (Vec<_>, Vec<_>) = report.lost.iter().partition(|lost| lost.is_of_header());
    for header in headers {
        out.field("header", &format!("written anew; it was damaged {}", header.what))?;
    }
    for lost in lost {
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
    Ok(())
}
