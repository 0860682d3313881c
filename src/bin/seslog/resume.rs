//! `seslog resume`: what a resume of the session finds.

use anstyle::{AnsiColor, Style};
use seslog::session::{CallState, OpenCall, Opened, ResumeReport};

use crate::Context;
use crate::exit::{Exit, Outcome};
use crate::output::Output;
use crate::sanitize::{Layout, excerpt, visible};

/// Show what a resume of a session finds
///
/// Reads only: it says what a writer would set aside and changes nothing. Exits with 1 if the session is damaged.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  seslog resume 0192 --json")]
pub(crate) struct Args {
    /// The session: its id, the beginning of it, or a path
    session: String,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Outcome {
    let reader = context.place.read(&args.session)?;
    let report = reader.report();
    if context.out.json {
        context.out.document(report)?;
    } else {
        human(report, &mut context.out)?;
    }
    Ok(if report.open == Opened::Damaged { Exit::Found } else { Exit::Fine })
}

/// The report as people read it.
pub(crate) fn human(report: &ResumeReport, out: &mut Output) -> Outcome<()> {
    out.field("session", &report.session.to_string())?;
    out.field("file", &report.path.display().to_string())?;
    let state = match report.open {
        Opened::Clean => "clean".to_owned(),
        Opened::Damaged => out.paint(
            AnsiColor::Red.on_default(),
            "damaged: it can be read, not written; `seslog salvage` saves what is whole",
        ),
        _ => out.paint(AnsiColor::Yellow.on_default(), "recovered: what had never been durable is set aside"),
    };
    let name = out.paint(Style::new().bold(), "state     ");
    out.line(&format!("{name} {state}"))?;
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
