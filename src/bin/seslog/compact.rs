//! `seslog compact`: a summary in the place of what came before.

use std::ffi::OsString;
use std::io::Read;
use std::path::PathBuf;

use serde::Serialize;
use seslog::event::{Trigger, Uuid};
use seslog::log::Durability;
use seslog::session::Compaction;

use crate::exit::{Exit, Outcome, Told};
use crate::output::tell;
use crate::{Context, names, written};

/// Put a summary in the place of what came before
///
/// The model then sees the summary, the kept messages and what follows. Nothing is erased: a tombstone of the boundary takes
/// the compaction back. Calls and their results are kept together, and open calls always.
#[derive(Debug, clap::Args)]
#[command(
    group = clap::ArgGroup::new("text").required(true),
    after_help = "Examples:\n  seslog compact 0192 --summary 'The parser is done; tests are left.' --keep-from 0192f3
  seslog show 0192 --view compact | your-model | seslog compact 0192 --summary-file -"
)]
pub(crate) struct Args {
    /// The session: its id, the beginning of it, or a path
    session: OsString,
    /// The summary
    #[arg(long, value_name = "TEXT", group = "text")]
    summary: Option<String>,
    /// The summary from a file; `-` for standard input
    #[arg(long, value_name = "FILE", group = "text")]
    summary_file: Option<PathBuf>,
    /// Keep the current chain from this message on
    #[arg(long, value_name = "EVENT", conflicts_with = "keep")]
    keep_from: Option<String>,
    /// Keep this message; may be given more than once
    #[arg(long, num_args = 1.., value_name = "EVENT")]
    keep: Vec<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    session: String,
    boundary: String,
    summary: String,
    kept: Vec<String>,
    kept_too: Vec<String>,
    durable: bool,
    changed: bool,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Outcome {
    let summary = summary(args)?;
    let session = context.place.write(&args.session)?;
    if session.with_state(|state| state.leaf().is_none())? {
        return written::nothing(session, "there are no messages before the current point", context);
    }
    let mut compaction = Compaction::new(&summary).trigger(Trigger::Manual);
    compaction = match &args.keep_from {
        Some(name) => compaction.keep_from(names::event(session.log(), name)?),
        None => compaction.keep(names::events(session.log(), &args.keep)?),
    };
    let done = session.compact(compaction, Durability::Sync)?;
    let texts = |ids: &[Uuid]| ids.iter().map(Uuid::to_string).collect();
    let document = Document {
        session: session.id().to_string(),
        boundary: done.boundary.to_string(),
        summary: done.summary.to_string(),
        kept: texts(&done.kept),
        kept_too: texts(&done.kept_too),
        durable: true,
        changed: true,
    };
    let (name, store) = context.place.to_paste(session.id(), session.path());
    session.close()?;
    let out = &mut context.out;
    if out.json {
        out.document(&document)?;
    } else {
        let (kept, too) = (document.kept.len(), document.kept_too.len());
        out.line(&format!("compacted: boundary {}, summary {}", document.boundary, document.summary))?;
        let messages = if kept == 1 { "message" } else { "messages" };
        let too = match too {
            0 => String::new(),
            too => format!(", {too} not asked for: results and calls that belong to kept ones, and open calls"),
        };
        out.line(&format!("{kept} {messages} kept{too}"))?;
    }
    let boundary = &document.boundary;
    tell(&format!("`seslog tombstone {name} --target {boundary}{store}` takes the compaction back"));
    Ok(Exit::Fine)
}

fn summary(args: &Args) -> Outcome<String> {
    let Some(file) = &args.summary_file else { return Ok(args.summary.clone().unwrap_or_default()) };
    let mut text = String::new();
    let read = match file.as_os_str() == "-" {
        true => std::io::stdin().read_to_string(&mut text).map(drop),
        false => std::fs::read_to_string(file).map(|read| text = read),
    };
    read.map_err(|error| Told::reading(file, &error))?;
    match text.trim() {
        "" => Err(Told::usage(format!("there is no summary in `{}`", file.display())).into()),
        text => Ok(text.to_owned()),
    }
}
