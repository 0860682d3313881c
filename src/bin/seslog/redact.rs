//! `seslog redact`: take something out of a session for good.

use std::ffi::OsString;

use seslog::session::{Redaction, Session, SessionOptions};

use crate::exit::{Exit, Outcome, Told};
use crate::output::tell;
use crate::{Context, erased, names};

/// Take something out of a session for good
///
/// The session's file is written anew with `[redacted]` in the place of each match, checked, and put in the place of the old
/// one. Ids, order and everything else stay. Searched is every text: what was said, tools' input and output, JSON, titles,
/// folders; also where it stands escaped. What stays is told: matches in ids, and forks and parents that hold the same.
/// Out of reach are backups, snapshots, and the files that the session was imported from. Exits with 1 if nothing matches, or if
/// some of it stays: in ids, in a fork or parent (also one that could not be looked through), or in a hard link of the old file.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  seslog redact 0192 --literal 's3cret pass phrase' --dry-run
  seslog redact 0192 --pattern 'sk-[A-Za-z0-9_-]{20,}'
  seslog redact 0192 --event 0192f3                  all that this event says
  seslog scan-secrets                                what there may be to redact")]
pub(crate) struct Args {
    /// The session: its id, the beginning of it, or a path
    session: OsString,
    /// What matches this regular expression; may be given more than once
    #[arg(long, value_name = "REGEX", allow_hyphen_values = true)]
    pattern: Vec<String>,
    /// This text, letter by letter; may be given more than once. A shell may keep it in its history, unlike what a pattern fits
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    literal: Vec<String>,
    /// All that this event says: its id, the beginning of it, or its original id; may be given more than once
    #[arg(long, value_name = "EVENT")]
    event: Vec<String>,
    /// Only say what would be taken out
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Outcome {
    if args.pattern.is_empty() && args.literal.is_empty() && args.event.is_empty() {
        return Err(Told::usage("nothing is named that is to go; give --pattern, --literal or --event").into());
    }
    let path = context.place.file(&args.session)?;
    let mut redaction = Redaction::new();
    for pattern in &args.pattern {
        redaction = redaction.pattern(pattern)?;
    }
    for literal in &args.literal {
        redaction = redaction.literal(literal)?;
    }
    if !args.event.is_empty() {
        let (log, _) = context.place.log(&args.session)?;
        for id in names::events(&log, &args.event)? {
            redaction = redaction.event(id);
        }
    }
    let options = SessionOptions::default();
    let report = match args.dry_run {
        true => Session::would_redact(&path, &redaction, &options)?,
        false => Session::redact(&path, &redaction, &options)?,
    };
    erased::show(&report, args.dry_run, context)?;
    if args.literal.iter().any(|literal| report.session.to_string().contains(literal.as_str())) {
        tell("the session's own id has this text in it and stays as it is");
    }
    if report.changed.is_empty() {
        tell("nothing matched; the session is as it was");
        return Ok(Exit::Found);
    }
    Ok(erased::exit(&report).max(if erased::stays(&report) { Exit::Found } else { Exit::Fine }))
}
