//! `seslog list`: the sessions of the store, from their headers and ends, or the catalogue that remembers those.

use anstyle::{AnsiColor, Style};
use serde::Serialize;
use seslog::session::{Listed, Opened};

use crate::Context;
use crate::exit::{Exit, Outcome};
use crate::sanitize::excerpt;
use crate::time::{rfc3339, rfc3339_seconds};

/// List the sessions, the last written first
///
/// Reads header and end of each session that is new, has changed or was not closed; what the last list has seen of the
/// others is in the store's cache. Exits with 1 if one of those that are shown is damaged.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  seslog list --json\n  seslog list --limit 50")]
pub(crate) struct Args {
    /// Show the N sessions that were written last. Where the directory is as the last list has left it, no other is looked
    /// at, and one that another program has written into in place is noticed by the next whole list only
    #[arg(short = 'n', long, value_name = "N")]
    limit: Option<usize>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    store: String,
    sessions: Vec<Row>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    id: Option<String>,
    path: String,
    open: Opened,
    problem: Option<String>,
    bytes: u64,
    records: u64,
    created_at: String,
    last_event: Option<String>,
    last_original_id: Option<String>,
    last_at: Option<String>,
    title: Option<String>,
    tags: Vec<String>,
    cwd: Option<String>,
    model: Option<String>,
    agent: Option<String>,
    parent: Option<String>,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Outcome {
    let store = context.place.store()?;
    let sessions = match args.limit {
        Some(count) => store.newest(count)?.sessions,
        None => store.list()?,
    };
    let out = &mut context.out;
    if out.json {
        let store = store.dir().display().to_string();
        out.document(&Document { store, sessions: sessions.iter().map(Row::of).collect() })?;
    } else if sessions.is_empty() {
        out.line(&format!("no sessions in {}", excerpt(&store.dir().display().to_string(), usize::MAX)))?;
    } else {
        let heading = format!("{:<36}  {:<20}  {:>11}  {:<9}  TITLE OR FOLDER", "ID", "LAST", "BYTES", "STATE");
        let heading = out.paint(Style::new().bold(), &heading);
        out.line(&heading)?;
        for session in &sessions {
            let line = human(session, |style, text| out.paint(style, text));
            out.line(&line)?;
        }
    }
    let damaged = sessions.iter().any(|session| session.open == Opened::Damaged);
    Ok(if damaged { Exit::Found } else { Exit::Fine })
}

fn human(session: &Listed, paint: impl Fn(Style, &str) -> String) -> String {
    const TITLE_CHARS: usize = 60;
    let id = session.id.map(|id| id.to_string()).unwrap_or_default();
    let last = session.last_at.map(rfc3339_seconds).unwrap_or_default();
    let bytes = session.bytes;
    let state = match session.open {
        Opened::Clean => format!("{:<9}", "clean"),
        Opened::Damaged => paint(AnsiColor::Red.on_default(), &format!("{:<9}", "damaged")),
        _ => paint(AnsiColor::Yellow.on_default(), &format!("{:<9}", "recovered")),
    };
    let title = session.title.as_deref().or(session.cwd.as_deref()).unwrap_or_default();
    let mut line = format!("{id:<36}  {last:<20}  {bytes:>11}  {state}  {}", excerpt(title, TITLE_CHARS));
    if let Some(parent) = session.parent {
        line.push_str(&format!(" (fork of {parent})"));
    }
    if let Some(problem) = &session.problem {
        line.push_str(&format!("\n    {}", excerpt(problem, usize::MAX)));
    }
    line.trim_end().to_owned()
}

impl Row {
    fn of(session: &Listed) -> Self {
        Self {
            id: session.id.map(|id| id.to_string()),
            path: session.path.display().to_string(),
            open: session.open,
            problem: session.problem.clone(),
            bytes: session.bytes,
            records: session.records,
            created_at: rfc3339(session.created_at),
            last_event: session.last_event.map(|id| id.to_string()),
            last_original_id: session.last_original_id.clone(),
            last_at: session.last_at.map(rfc3339),
            title: session.title.clone(),
            tags: session.tags.clone(),
            cwd: session.cwd.clone(),
            model: session.model.clone(),
            agent: session.agent.clone(),
            parent: session.parent.map(|id| id.to_string()),
        }
    }
}
