//! The command line: `seslog`.
//!
//! Standard output is data, standard error is talk. `--json` gives one document (`append`: one line a receipt) with
//! a `version`; that is the stable interface, the text for people is not.

#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod agent_home;
mod agents;
mod append;
mod beside;
mod columns;
mod compact;
mod completing;
mod completions;
mod cure;
mod delete;
mod demo;
mod demo_agent;
mod diff;
mod diff_align;
mod doctor;
mod erased;
mod exit;
mod explain;
mod export;
mod foreign;
mod fork;
mod gathered;
mod glyphs;
mod held;
mod import;
mod list;
mod man;
mod meta;
mod names;
mod output;
mod pager;
mod payload;
mod progress;
mod prune;
mod redact;
mod refused;
mod render;
mod resume;
mod rewind;
mod rules;
mod salvage;
mod sanitize;
mod scan_secrets;
#[cfg(feature = "search")]
mod search;
mod secrets;
mod short_ids;
mod show;
mod stat;
mod store;
mod tail;
mod time;
mod title;
mod tombstone;
mod transcript;
mod tree;
mod tree_shape;
mod vacuum;
mod verify;
mod views;
mod whose;
mod written;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use serde::Serialize;

use exit::{Exit, Failure, Outcome, Told};
use output::{Output, When};
use pager::Pager;
use store::Place;

/// Keeps the sessions of AI agents in append-only, crash-safe logs.
#[derive(Debug, Parser)]
#[command(name = "seslog", version, max_term_width = 100, after_help = HELP)]
struct Cli {
    /// The directory of the sessions [default: $SESLOG_HOME, else `seslog` in the data directory]
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "DIR")]
    store: Option<PathBuf>,
    /// One JSON document on standard output
    #[arg(long, global = true, help_heading = GLOBAL)]
    json: bool,
    /// When to use colour
    #[arg(long, global = true, help_heading = GLOBAL, value_enum, default_value_t, value_name = "WHEN")]
    color: When,
    #[command(subcommand)]
    command: Command,
}

/// Stands above the options that every command takes, so that they are not among its own.
const GLOBAL: &str = "Options of every command";

const HELP: &str = "\
SESSION is a session's id, the beginning of one that fits no other, or a path.
EVENT is an event's id, the beginning of one, or the id that it had where it was imported from.

Examples:
  seslog demo                                     see a killed agent resume
  seslog import --all                             take in the sessions of Claude Code, Codex and pi
  seslog list --since 2d                          what is there
  seslog search lamp rotation                     which message said that
  seslog show 0192 --view transcript              read one
  seslog tail 0192 -f                             watch one grow
  seslog tree 0192                                draw its branches
  seslog explain 0192 0192f3                      why a message is in a view or not
  seslog resume 0192                              what a resume finds
  seslog payload 0192 --provider ai-sdk           what the model is sent next
  seslog verify 0192                              look at every frame
  seslog doctor                                   is the store in order
  seslog export 0192 --format html -o page.html   a page to read or to send
  seslog scan-secrets                             keys that should not be there, and how to get rid of them

Environment:
  SESLOG_HOME           the directory of the sessions, where --store names none
  CLAUDE_CONFIG_DIR, CODEX_HOME   where these agents keep sessions [default: ~/.claude, ~/.codex]
  SESLOG_PAGER, PAGER   what shows long output on a terminal; `cat` for none [default: less]
  NO_COLOR, CLICOLOR_FORCE, TERM=dumb   whether there is colour, where --color does not say

Exit codes:
  0  done (a torn tail that was set aside is no fault)
  1  damage, a difference or a secret was found, what was named was not, or an export was refused
  2  wrong use
  3  reading or writing failed, or another process writes the session";

#[derive(Debug, Subcommand)]
enum Command {
    List(list::Args),
    Demo(demo::Args),
    Import(import::Args),
    Append(append::Args),
    Show(show::Args),
    Tail(tail::Args),
    Tree(tree::Args),
    Diff(diff::Args),
    #[cfg(feature = "search")]
    Search(search::Args),
    Explain(explain::Args),
    Export(export::Args),
    Resume(resume::Args),
    Payload(payload::Args),
    Verify(verify::Args),
    Rewind(rewind::Args),
    Fork(fork::Args),
    Salvage(salvage::Args),
    Compact(compact::Args),
    Tombstone(tombstone::Args),
    Prune(prune::Args),
    Redact(redact::Args),
    Vacuum(vacuum::Args),
    ScanSecrets(scan_secrets::Args),
    Stat(stat::Args),
    Doctor(doctor::Args),
    Meta(meta::Args),
    Title(title::Args),
    Delete(delete::Args),
    Completions(completions::Args),
    Man(man::Args),
    #[command(hide = true)]
    DemoAgent(demo_agent::Args),
    #[command(hide = true, name = "__sessions")]
    Completing(completing::Args),
}

impl Command {
    /// Whether a person reads what it writes, from the beginning to the end.
    fn is_read(&self) -> bool {
        match self {
            Self::List(_)
            | Self::Show(_)
            | Self::Tree(_)
            | Self::Diff(_)
            | Self::Explain(_)
            | Self::Resume(_)
            | Self::Stat(_) => true,
            #[cfg(feature = "search")]
            Self::Search(_) => true,
            _ => false,
        }
    }
}

/// What every command gets.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) place: Place,
    pub(crate) out: Output,
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return refused::refuse(error),
    };
    let mut context = Context { place: Place { given: cli.store }, out: Output::new(cli.json, cli.color) };
    let pager = if !cli.json && cli.command.is_read() { Pager::start() } else { None };
    let outcome = run(cli.command, &mut context).and_then(|exit| match context.out.flush() {
        // It has done all that it was asked for; who does not read to the end changes nothing in that.
        Ok(()) | Err(Failure::PipeClosed) => Ok(exit),
        Err(failure) => Err(failure),
    });
    if !pager.is_none_or(Pager::end) {
        output::tell("the pager could not be run, so nothing was shown; SESLOG_PAGER=cat shows it without one");
        return Exit::Io.into();
    }
    match outcome {
        Ok(exit) => exit.into(),
        Err(Failure::PipeClosed) => Exit::Fine.into(),
        Err(Failure::Told(told)) => {
            report(&told, &mut context.out);
            told.exit.into()
        }
    }
}

fn run(command: Command, context: &mut Context) -> Outcome {
    match command {
        Command::List(args) => list::run(&args, context),
        Command::Append(args) => append::run(&args, context),
        Command::Import(args) => import::run(&args, context),
        Command::Demo(args) => demo::run(&args, context),
        Command::DemoAgent(args) => demo_agent::run(&args, context),
        Command::Resume(args) => resume::run(&args, context),
        Command::Show(args) => show::run(&args, context),
        Command::Tree(args) => tree::run(&args, context),
        Command::Diff(args) => diff::run(&args, context),
        Command::Tail(args) => tail::run(&args, context),
        #[cfg(feature = "search")]
        Command::Search(args) => search::run(&args, context),
        Command::Explain(args) => explain::run(&args, context),
        Command::Export(args) => export::run(&args, context),
        Command::Payload(args) => payload::run(&args, context),
        Command::Verify(args) => verify::run(&args, context),
        Command::Rewind(args) => rewind::run(&args, context),
        Command::Fork(args) => fork::run(&args, context),
        Command::Salvage(args) => salvage::run(&args, context),
        Command::Compact(args) => compact::run(&args, context),
        Command::Tombstone(args) => tombstone::run(&args, context),
        Command::Prune(args) => prune::run(&args, context),
        Command::Redact(args) => redact::run(&args, context),
        Command::Vacuum(args) => vacuum::run(&args, context),
        Command::ScanSecrets(args) => scan_secrets::run(&args, context),
        Command::Stat(args) => stat::run(&args, context),
        Command::Doctor(args) => doctor::run(&args, context),
        Command::Meta(args) => meta::run(&args, context),
        Command::Title(args) => title::run(&args, context),
        Command::Delete(args) => delete::run(&args, context),
        Command::Completions(args) => completions::run(&args, context),
        Command::Completing(args) => completing::run(&args, context),
        Command::Man(args) => man::run(&args, context),
    }
}

/// An error document, as it stands on standard output with `--json`.
#[derive(Debug, Serialize)]
struct ErrorDocument<'a> {
    error: ErrorFields<'a>,
}

/// What is said of an error in JSON.
#[derive(Debug, Serialize)]
pub(crate) struct ErrorFields<'a> {
    code: &'a str,
    message: &'a str,
}

impl<'a> From<&'a Told> for ErrorFields<'a> {
    fn from(told: &'a Told) -> Self {
        Self { code: told.code, message: &told.message }
    }
}

fn report(told: &Told, out: &mut Output) {
    output::tell(&told.message);
    if out.json {
        // A pipe that is closed needs no error, and the failure is told on standard error already.
        _ = write_error(told, out);
    }
}

fn write_error(told: &Told, out: &mut Output) -> Outcome<()> {
    out.document(&ErrorDocument { error: told.into() })?;
    out.flush()
}
