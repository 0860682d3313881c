//! `seslog delete`: a session is removed, file and all.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use serde::Serialize;
use seslog::event::Uuid;
use seslog::session::{Listed, Store};

use crate::Context;
use crate::columns::size;
use crate::exit::{Exit, Outcome, Told};
use crate::held::{Holder, Locks};
use crate::output::{plural, tell};
use crate::sanitize::excerpt;
use crate::views::beside;

/// Delete a session for good
///
/// Removes its file, what the store's cache has of it, and the search index. Asks first on a terminal; elsewhere --yes must be
/// given. A session that somebody writes now, or that forks go back into, is left alone. `seslog export SESSION --format jsonl`
/// keeps a copy.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  seslog delete 0192 --yes")]
pub(crate) struct Args {
    /// The session: its id, the beginning of it, or a path
    session: String,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
    /// Also if forks need it: what they tell then begins where they were forked
    #[arg(long)]
    force: bool,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    session: Option<String>,
    path: String,
    bytes: u64,
    deleted: bool,
    /// Forks that lack their beginning now.
    forks: Vec<String>,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Outcome {
    let path = context.place.file(&args.session)?;
    let told = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => {
            Told::not_found("noSuchFile", format!("no file `{}`; `seslog list` shows the sessions", path.display()))
        }
        _ => Told::io(path.display(), &error),
    };
    let file = File::open(&path).map_err(told)?;
    let about = file.metadata().map_err(told)?;
    if !about.is_file() {
        return Err(Told::usage(format!("`{}` is no file", path.display())).into());
    }
    // Held until it is gone, so that no writer comes in between.
    if let Err(error) = fs2::FileExt::try_lock_exclusive(&file) {
        return Err(locked(&path, &error).into());
    }
    let store = beside(&path);
    let sessions = store.list()?;
    let listed = sessions.iter().find(|session| session.path.file_name() == path.file_name());
    let id = listed.and_then(|listed| listed.id);
    let forks: Vec<Uuid> =
        sessions.iter().filter(|other| id.is_some() && other.parent == id).filter_map(|other| other.id).collect();
    if !forks.is_empty() && !args.force {
        let who = match forks.as_slice() {
            [fork] => format!("the fork {fork} goes back into this session and would lose its"),
            all => format!("{} forks go back into this session ({}, …) and would lose their", all.len(), all[0]),
        };
        let message = format!("{who} beginning; --force deletes it all the same");
        return Err(Told { exit: Exit::Found, code: "needed", message }.into());
    }
    if !args.yes && !is_wanted(listed, &path, about.len())? {
        tell("nothing was deleted");
        return Ok(Exit::Found);
    }
    remove(&store, &path, id).map_err(told)?;
    drop(file);
    if !forks.is_empty() {
        let lack = if forks.len() == 1 { "lacks its" } else { "lack their" };
        tell(&format!("{} {lack} beginning now", plural(forks.len(), "fork")));
    }
    let out = &mut context.out;
    if out.json {
        let forks = forks.iter().map(Uuid::to_string).collect();
        let (session, path) = (id.map(|id| id.to_string()), path.display().to_string());
        out.document(&Document { session, path, bytes: about.len(), deleted: true, forks })?;
    } else {
        let name = id.map_or_else(|| excerpt(&path.display().to_string(), usize::MAX), |id| id.to_string());
        out.line(&format!("deleted: {name}, {}", size(about.len())))?;
    }
    Ok(Exit::Fine)
}

fn locked(path: &Path, error: &io::Error) -> Told {
    if error.kind() != fs2::lock_contended_error().kind() {
        return Told::io(format!("can't lock `{}`", path.display()), error);
    }
    let who = match Locks::now().holder(path, false) {
        Some(Holder::Process(process)) => format!("process {process}"),
        _ => "another process".to_owned(),
    };
    let message = format!("{who} writes `{}`; end it first", path.display());
    Told { exit: Exit::Io, code: "locked", message }
}

fn is_wanted(listed: Option<&Listed>, path: &Path, bytes: u64) -> Outcome<bool> {
    if !io::stdin().is_terminal() {
        return Err(Told::usage("there is no terminal to ask on; --yes deletes it").into());
    }
    const TITLE_CHARS: usize = 60;
    let title = listed.and_then(|listed| listed.title.as_deref().or(listed.cwd.as_deref())).unwrap_or_default();
    let name = excerpt(&path.file_stem().unwrap_or_default().to_string_lossy(), TITLE_CHARS);
    let mut stderr = io::stderr();
    write!(stderr, "Delete {name} ({}) {}? [y/N] ", size(bytes), excerpt(title, TITLE_CHARS))?;
    stderr.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// The file, and what caches hold of it; the directory's entry is gone for good afterwards.
fn remove(store: &Store, path: &Path, id: Option<Uuid>) -> io::Result<()> {
    std::fs::remove_file(path)?;
    #[cfg(unix)]
    File::open(store.dir())?.sync_all()?;
    let cache = store.dir().join(".cache");
    for entry in std::fs::read_dir(&cache).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with("search.db") {
            std::fs::remove_file(entry.path())?;
        }
    }
    if let Some(id) = id {
        store.forget(id).map_err(io::Error::other)?;
    }
    Ok(())
}
