//! `seslog stat`: what a session, or the whole store, is made of.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anstyle::Style;
use serde::Serialize;
use seslog::event::Uuid;
use seslog::session::Listed;

use crate::Context;
use crate::columns::{cell, size};
use crate::cure::not_to_its_end;
use crate::exit::{Exit, Outcome};
use crate::gathered::{Amount, Gathered, Once, Tool, gather};
use crate::output::{Output, plural, tell};
use crate::time::{local, rfc3339, span};
use crate::views::beside;

/// Tell what a session, or the whole store, is made of
///
/// Bytes on the disk by kind of event, messages by role (as `list` counts them: all branches, what was taken back aside), tools
/// with their errors and the time until their results, tokens as the providers reported them (each request once; what no message
/// carries, as that of a request that gave none, is not in it), models, and the time that was worked in: pauses of more than five minutes do not count. All else in the file counts, what was taken back too.
/// Over the whole store the tokens that a fork has copied count once; its other numbers are of each file. Exits with 1 if a session
/// could be read up to its damage only.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  seslog stat 0192\n  seslog stat                 the whole store\n  seslog stat --json"
)]
pub(crate) struct Args {
    /// The session: its id, the beginning of it, or a path [default: all of the store]
    session: Option<OsString>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    /// None for the whole store.
    session: Option<String>,
    sessions: usize,
    /// Bytes of the files.
    bytes: u64,
    /// None where damage keeps them from being counted.
    messages: Option<u64>,
    branches: Option<u64>,
    /// Sessions that were forked: from this one, or in the store.
    forks: usize,
    first_at: Option<String>,
    last_at: Option<String>,
    #[serde(flatten)]
    gathered: Gathered,
    unread: Vec<Unread>,
}

#[derive(Debug, Serialize)]
struct Unread {
    path: String,
    problem: String,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Outcome {
    let (document, gathered_at) = match &args.session {
        Some(name) => one(name, context)?,
        None => all(context)?,
    };
    let out = &mut context.out;
    if out.json {
        out.document(&document)?;
    } else {
        human(&document, gathered_at, out)?;
    }
    for unread in &document.unread {
        tell(&not_to_its_end(&unread.problem, Path::new(&unread.path), "read"));
    }
    Ok(if document.unread.is_empty() { Exit::Fine } else { Exit::Found })
}

/// So many kinds are shown to people.
const KINDS_SHOWN: usize = 24;

/// When the conversation began and when it went on last, as a list tells it.
type Between = (Option<i64>, Option<i64>);

fn one(name: &OsStr, context: &Context) -> Outcome<(Document, Between)> {
    let path = context.place.file(name)?;
    // Whether it is one at all is told by its error.
    drop(context.place.log(name)?);
    let store = beside(&path);
    let listed = store.look(&path);
    let forks = store.list()?.iter().filter(|other| listed.id.is_some() && other.parent == listed.id).count();
    let (gathered, problem) = gather(&path, None);
    let unread = problem.map(|problem| Unread { path: path.display().to_string(), problem });
    let session = listed.id.map(|id| id.to_string());
    let counts = (listed.messages, listed.branches);
    // What a list can't tell of a damaged session is told of what is whole.
    let between = (listed.first_at.or(gathered.first_at), listed.last_at.or(gathered.last_at));
    Ok(document(session, vec![path], (counts, between), forks, gathered, unread.into_iter().collect()))
}

fn all(context: &Context) -> Outcome<(Document, Between)> {
    let sessions = context.place.store()?.counted(None)?.sessions;
    let whole: Mutex<(Gathered, Vec<Unread>)> = Mutex::default();
    let next = AtomicUsize::new(0);
    let parents: HashSet<Uuid> = sessions.iter().filter_map(|session| session.parent).collect();
    let has_copies = |session: &Listed| session.parent.is_some() || session.id.is_some_and(|id| parents.contains(&id));
    let once = Once::default();
    let run = || {
        while let Some(session) = sessions.get(next.fetch_add(1, Ordering::Relaxed)) {
            let (gathered, problem) = gather(&session.path, has_copies(session).then_some(&once));
            let mut whole = whole.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            whole.0.add(gathered);
            whole.1.extend(problem.map(|problem| Unread { path: session.path.display().to_string(), problem }));
        }
    };
    thread::scope(|scope| {
        for _ in 1..thread::available_parallelism().map_or(1, usize::from).min(sessions.len()) {
            // Where there is no thread to be had, the others do the work.
            let _ = thread::Builder::new().spawn_scoped(scope, run);
        }
        run();
    });
    let (gathered, mut unread) = whole.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    unread.sort_by(|a, b| a.path.cmp(&b.path));
    let messages = sessions.iter().map(|session| session.messages).sum();
    let branches = sessions.iter().map(|session| session.branches).sum();
    let forks = sessions.iter().filter(|session| session.parent.is_some()).count();
    let first = sessions.iter().filter_map(|session| session.first_at).min();
    let last = sessions.iter().filter_map(|session| session.last_at).max();
    let between = (first.or(gathered.first_at), last.or(gathered.last_at));
    let paths = sessions.into_iter().map(|session| session.path).collect();
    Ok(document(None, paths, ((messages, branches), between), forks, gathered, unread))
}

fn document(
    session: Option<String>,
    paths: Vec<PathBuf>,
    ((messages, branches), between): ((Option<u64>, Option<u64>), Between),
    forks: usize,
    gathered: Gathered,
    unread: Vec<Unread>,
) -> (Document, Between) {
    let bytes = paths.iter().filter_map(|path| Some(std::fs::metadata(path).ok()?.len())).sum();
    let (first_at, last_at) = (between.0.and_then(rfc3339), between.1.and_then(rfc3339));
    let sessions = paths.len();
    (Document { session, sessions, bytes, messages, branches, forks, first_at, last_at, gathered, unread }, between)
}

fn human(document: &Document, (first, last): Between, out: &mut Output) -> Outcome<()> {
    let gathered = &document.gathered;
    match &document.session {
        Some(session) => out.field("session", session)?,
        None => out.field("sessions", &document.sessions.to_string())?,
    }
    out.field("size", &size(document.bytes))?;
    if let (Some(first), Some(last)) = (first, last) {
        out.field("from", &format!("{} to {}", local(first), local(last)))?;
        out.field("worked", &format!("{} (pauses of more than 5 min left out)", seconds(gathered.active_seconds)))?;
    }
    let mut counts = vec![plural(document.forks, "fork"), plural(number(gathered.compactions), "compaction")];
    counts.extend(
        (gathered.taken_back > 0).then(|| format!("{} taken back", plural(number(gathered.taken_back), "message"))),
    );
    counts.extend(document.branches.map(|branches| plural(number(branches), "branch")));
    counts.reverse();
    out.field("has", &counts.join(", "))?;
    let roles: Vec<String> = gathered.roles.iter().map(|(role, count)| format!("{count} {role}")).collect();
    let all = document.messages.map(|count| format!("{count}: ")).unwrap_or_default();
    out.field("messages", &if roles.is_empty() { "none".to_owned() } else { all + &roles.join(", ") })?;
    let tokens = gathered.tokens;
    if tokens.requests > 0 {
        let (input, output, requests) = (tokens.input, tokens.output, plural(number(tokens.requests), "request"));
        let cache = format!("{} read from and {} written to caches", tokens.cache_read, tokens.cache_write);
        out.field("tokens", &format!("{input} in, {output} out, {cache}, {requests}"))?;
    }
    let models: Vec<[String; 4]> = gathered
        .models
        .iter()
        .map(|(name, made)| [name.clone(), made.messages.to_string(), made.input.to_string(), made.output.to_string()])
        .collect();
    table(["MODEL", "MESSAGES", "TOKENS IN", "OUT"], &models, out)?;
    let mut tools: Vec<(&String, &Tool)> = gathered.tools.iter().collect();
    tools.sort_by_key(|(name, tool)| (std::cmp::Reverse(tool.calls), *name));
    let tools: Vec<[String; 5]> = tools
        .into_iter()
        .map(|(name, tool)| {
            let mean = if tool.timed > 0 { seconds(tool.seconds / tool.timed as f64) } else { String::new() };
            [name.clone(), tool.calls.to_string(), tool.errors.to_string(), size(tool.result_bytes), mean]
        })
        .collect();
    table(["TOOL", "CALLS", "ERRORS", "RESULTS", "MEAN TIME"], &tools, out)?;
    let mut kinds: Vec<(&String, &Amount)> = gathered.kinds.iter().collect();
    kinds.sort_by_key(|(name, amount)| (std::cmp::Reverse(amount.bytes), *name));
    let kinds: Vec<[String; 3]> =
        kinds.into_iter().map(|(name, amount)| [name.clone(), amount.count.to_string(), size(amount.bytes)]).collect();
    let shown = kinds.len().min(KINDS_SHOWN);
    table(["KIND", "COUNT", "ON DISK"], &kinds[..shown], out)?;
    if shown < kinds.len() {
        tell(&format!("{} smaller kinds are left out; --json has all", kinds.len() - shown));
    }
    Ok(())
}

fn number(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

fn seconds(seconds: f64) -> String {
    span((seconds * 1e6) as i64)
}

/// A table whose first column is a name that may come from a session.
fn table<const N: usize>(heads: [&str; N], rows: &[[String; N]], out: &mut Output) -> Outcome<()> {
    const NAME_WIDTH: usize = 40;
    const NAME_MIN: usize = 12;
    const NUMBER_WIDTH: usize = 11;
    if rows.is_empty() {
        return Ok(());
    }
    out.line("")?;
    let width = out.width.unwrap_or(usize::MAX);
    let numbers = match width < NAME_MIN + (N - 1) * (NUMBER_WIDTH + 1) {
        true => rows.iter().chain([&heads.map(str::to_owned)]).flat_map(|row| &row[1..]).map(String::len).max(),
        false => None,
    };
    let numbers = numbers.unwrap_or(NUMBER_WIDTH);
    let name = width.saturating_sub((N - 1) * (numbers + 1)).clamp(NAME_MIN, NAME_WIDTH);
    let line = |cells: [&str; N]| {
        let cells = cells.iter().enumerate().map(|(place, text)| match place {
            0 => cell(text, name, false),
            _ => cell(text, numbers, true),
        });
        cells.collect::<Vec<_>>().join(" ").trim_end().to_owned()
    };
    let heading = out.paint(Style::new().bold(), &line(heads));
    out.line(&heading)?;
    rows.iter().try_for_each(|row| out.line(&line(std::array::from_fn(|place| row[place].as_str()))))
}
