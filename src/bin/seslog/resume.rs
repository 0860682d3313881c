//! `seslog resume`: what a resume of the session finds.

use std::ffi::OsString;
use std::path::Path;

use anstyle::{AnsiColor, Style};
use serde::Serialize;
use seslog::session::{CallState, OpenCall, Opened, ResumeReport};

use crate::Context;
use crate::cure::{quoted, saving};
use crate::exit::{Exit, Outcome};
use crate::output::Output;
use crate::sanitize::{Layout, excerpt, visible};

/// Show what a resume of a session finds
///
/// Reads only: it says what a writer would set aside and changes nothing. What it reads is the window: the compaction that
/// counts, what that kept, and everything since. What lies before is not looked at (`seslog verify` does); that it is damaged
/// is told where a `seslog list` has met it in the file as it is now, once that was left alone for two seconds. Exits with 1 if the
/// session is damaged.
///
/// It resumes nothing by itself: an agent that keeps its sessions here does, and `seslog append` goes on in one.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  seslog resume 0192 --json")]
pub(crate) struct Args {
    /// The session: its id, the beginning of it, or a path
    session: OsString,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    #[serde(flatten)]
    report: &'a ResumeReport,
    /// From this byte on everything was read; what lies before was not, but what the boundary keeps.
    checked_from: u64,
    /// What the last list has met in front of it; none: nothing that it knows of.
    damaged_before: Option<String>,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Outcome {
    let reader = context.place.read(&args.session)?;
    let report = reader.report();
    let damaged_before = damaged_before(report, context);
    let is_damaged = report.open == Opened::Damaged || damaged_before.is_some();
    if context.out.json {
        let checked_from = report.replay_start;
        context.out.document(&Document { report, checked_from, damaged_before })?;
    } else {
        human(report, damaged_before.as_deref(), &mut context.out)?;
    }
    Ok(if is_damaged { Exit::Found } else { Exit::Fine })
}

/// What the list knows of damage in front of the window, which a resume does not read.
fn damaged_before(report: &ResumeReport, context: &Context) -> Option<String> {
    if report.open == Opened::Damaged || report.replay_start == 0 {
        return None;
    }
    let store = context.place.store().ok()?;
    // Elsewhere nothing was listed; and a list must not leave a cache there.
    let canonical = |path: &Path| path.canonicalize().ok();
    let is_there = canonical(report.path.parent()?)? == canonical(store.dir())?;
    let listed = if is_there { store.list().ok()? } else { Vec::new() };
    let session = listed.into_iter().find(|session| session.path.file_name() == report.path.file_name())?;
    (session.open == Opened::Damaged).then(|| session.problem.unwrap_or_else(|| "it can't be read whole".to_owned()))
}

/// The report as people read it.
pub(crate) fn human(report: &ResumeReport, damaged_before: Option<&str>, out: &mut Output) -> Outcome<()> {
    out.field("session", &report.session.to_string())?;
    out.field("file", &report.path.display().to_string())?;
    let start = report.replay_start;
    let state = match report.open {
        Opened::Damaged => {
            let text = format!("damaged: it can be read, not written; {}", saving(&report.path));
            out.paint(AnsiColor::Red.on_default(), &text)
        }
        _ if damaged_before.is_some() => {
            let text = format!("damaged before byte {start}; from there on it is whole, and can be gone on with");
            out.paint(AnsiColor::Red.on_default(), &text)
        }
        Opened::Clean if start == 0 => "clean".to_owned(),
        Opened::Clean => format!("clean from byte {start} on; `seslog verify` looks at what lies before, too"),
        _ => out.paint(AnsiColor::Yellow.on_default(), "recovered: what had never been durable is set aside"),
    };
    let name = out.paint(Style::new().bold(), "state     ");
    out.line(&format!("{name} {state}"))?;
    if let Some(problem) = damaged_before {
        out.line(&format!("    {}", visible(problem, Layout::Line)))?;
        out.line(&format!("    `seslog verify {}` shows all of it, {}", quoted(&report.path), saving(&report.path)))?;
    }
    for range in &report.set_aside {
        out.line(&format!("    set aside: {} bytes at byte {} ({})", range.len, range.offset, range.cause))?;
        for id in &range.events {
            out.line(&format!("        event {id}"))?;
        }
    }
    for damage in &report.damage {
        out.line(&format!("    damaged {}", visible(&damage.what, Layout::Line)))?;
    }
    if report.zero_bytes > 0 {
        out.line(&format!("    {} zero bytes behind the end; they are harmless", report.zero_bytes))?;
    }
    let from = match report.boundary {
        Some(boundary) => format!("from the boundary {boundary} at byte {}", report.replay_start),
        None => "from the start".to_owned(),
    };
    out.field("replayed", &format!("{} events {from}", report.events_replayed))?;
    out.field("leaf", &report.leaf.map_or_else(|| "none".to_owned(), |leaf| leaf.to_string()))?;
    out.field("last turn", if report.last_turn_interrupted { "interrupted" } else { "complete" })?;
    for call in report.dangling_calls.iter().chain(&report.incomplete_calls) {
        out.field("open call", &open_call(call))?;
    }
    for missing in &report.missing_parents {
        let instead = missing.hung_on.map_or_else(|| "nothing".to_owned(), |id| id.to_string());
        out.field("repaired", &format!("{} named the parent {}, hangs on {instead}", missing.event, missing.named))?;
    }
    for id in &report.missing_kept {
        out.field("missing", &format!("the boundary keeps {id}, which is not in the log"))?;
    }
    Ok(())
}

/// A call without a result, in one line.
fn open_call(call: &OpenCall) -> String {
    const NAME_CHARS: usize = 80;
    let state = match call.state {
        CallState::WaitingForApproval => "waits for approval; it did not run",
        CallState::Denied => "was denied; it must not run",
        CallState::ApprovedNotStarted => "was approved; no start of it is recorded",
        CallState::StartedOutcomeUnknown => "was started; whether it had its effect is unknown",
        CallState::NotStarted => "has no start on record: it did not run, if its agent records starts",
        CallState::Incomplete => "is incomplete: the stream ended inside it; it must not run",
        _ => "has no result",
    };
    let key = call.idempotency_key.as_ref().map_or_else(String::new, |key| format!(" (ask by key {key})"));
    format!("{} [{}] {state}{key}", excerpt(&call.name, NAME_CHARS), call.call_id)
}
