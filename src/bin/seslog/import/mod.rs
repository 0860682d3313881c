//! `seslog import`: sessions of other agents, or neutral events, into the store.

mod agents;
mod document;
mod home;
mod one;
mod own;
mod packed;
mod told;

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::Context;
use crate::exit::{Exit, Outcome, Told};
use crate::output::tell;
use crate::store::Making;

/// Import sessions of other agents, or neutral events
///
/// Also sessions of Seslog's own (`.seslog`): of another store, or a copy. One that the store does not have is taken in as it
/// stands, of another what is missing is added. A directory means every session file in it and below; `--all` means those of Claude Code, Codex and pi where these
/// programs keep them. What is no session file is passed over, and one that can't be read stops no other.
///
/// Importing the same file again adds nothing; of a file that has grown the new records are added. What was redacted or
/// vacuumed away meanwhile stays away; a session that was deleted comes back. Exits with 1 if a line could not be read as it
/// stands or a record could not be stored; all the others are there then. Lines that are no better when a file is imported again,
/// in which nothing is new, are told and make no 1.
///
/// The session's id is the one that the file names, if that is a UUID; else it is made of the file's name of the
/// session, or of its full path, always the same. Standard input that names none becomes a new session.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  seslog import --all\n  seslog import ~/.claude/projects\n  seslog import ~/.claude/projects/x/y.jsonl\n  seslog import ~/.codex/sessions/2026/07/21/rollout-x.jsonl\n  seslog import ~/.pi/agent/sessions/--x--/y.jsonl\n  seslog import ~/whole.seslog\n  seslog import - --format events < session.jsonl"
)]
pub(crate) struct Args {
    /// The file or directory; `-` is standard input
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    file: Option<PathBuf>,
    /// Every session of Claude Code, Codex and pi that is where these programs keep them
    #[arg(long, conflicts_with = "session")]
    all: bool,
    /// What the file holds
    #[arg(long, value_enum, default_value_t)]
    format: Format,
    /// The session to import into [default: as the file names it]
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Of Claude Code and pi: a record whose parent is not in the file begins anew, as the agent itself reads it; else it
    /// goes on from the record before it
    #[arg(long)]
    strict_parents: bool,
    #[command(flatten)]
    making: Making,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Format {
    /// What the first lines look like
    #[default]
    Auto,
    /// A transcript of Claude Code
    ClaudeCode,
    /// A rollout of Codex
    Codex,
    /// A session file of the pi coding agent
    Pi,
    /// Neutral events, as `append` takes them
    Events,
    /// A session's file of Seslog's own: of another store, or saved by `salvage`
    Seslog,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Outcome {
    let store = context.place.store_with(args.making.options())?;
    let option = context.place.as_option();
    let out = &mut context.out;
    let Some(file) = args.file.as_deref().filter(|file| !is_directory(file)) else {
        let roots = match &args.file {
            Some(directory) if args.session.is_none() => vec![directory.clone()],
            Some(_) => return Err(Told::usage("--session is for one file; a directory holds many sessions").into()),
            None => home::known_places()?,
        };
        let report = home::import(&roots, args, (&store, &option), !out.json)?;
        if out.json {
            out.document(&report)?;
        } else {
            report.human(out)?;
        }
        return Ok(if report.has_new_losses() { Exit::Found } else { Exit::Fine });
    };
    let mut document = one::import(file, args, &store, &option)?;
    if let Some(agent) = document.agent.take() {
        let child = agents::Child { file: file.display().to_string(), session: document.session.clone(), agent };
        document.sub_agents = Some(agents::link(vec![child], &store));
    }
    if out.json {
        out.document(&document)?;
    } else {
        told::human(&document, out)?;
    }
    if document.old_losses {
        tell("what is set aside was so when the file was imported before, and nothing in it is new");
    }
    Ok(if document.has_new_losses() { Exit::Found } else { Exit::Fine })
}

/// Where the agents keep their sessions here, as far as they are there.
pub(crate) fn known_places() -> Vec<PathBuf> {
    home::known_places().unwrap_or_default()
}

fn is_directory(file: &Path) -> bool {
    file.as_os_str() != "-" && file.is_dir()
}
