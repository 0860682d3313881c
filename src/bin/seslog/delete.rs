//! `seslog delete`: a session is removed, file and all.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use seslog::event::Uuid;
use seslog::log::{LogError, RealFs, survey};
use seslog::session::{EXTENSION, Listed, Session, Store};

use crate::Context;
use crate::columns::size;
use crate::erased::{damaged_copies, tell_of_copies};
use crate::exit::{Exit, Outcome, Told};
use crate::import::known_places;
use crate::output::{plural, tell};
use crate::sanitize::excerpt;
use crate::scan_secrets::is_copy;
use crate::views::beside;

/// Delete a session for good
///
/// Removes its file, what a killed program left of it, and the store's caches, which the next list and search make anew. Asks first on a terminal; elsewhere --yes must be
/// given. A session that somebody writes now, or that forks go back into, is left alone. `seslog export SESSION --format jsonl`
/// keeps a copy. The file of an agent that it was imported from stays, and the next import of that makes it again: it says where
/// such a file lies.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  seslog delete 0192 --yes")]
pub(crate) struct Args {
    /// The session: its id, the beginning of it, or a path
    session: OsString,
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
    /// Files of agents from which an import makes it again.
    sources: Vec<String>,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Outcome {
    let path = context.place.file(&args.session)?;
    let bytes = length(&path)?;
    need_ours(&path)?;
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
    if !args.yes && !is_wanted(&store, &path, bytes)? {
        tell("nothing was deleted");
        return Ok(Exit::Found);
    }
    let deleted = Session::delete(&path, store.options())?;
    if deleted.file_named {
        tell("the file still has another name (a hard link) and all that it held; find and remove it");
    }
    let copies = damaged_copies(&path);
    tell_of_copies(&copies);
    if let Some(problem) = &deleted.cache_left {
        tell(&format!("the store's cache may still tell of it: {problem}; remove the store's `.cache`"));
    }
    if !forks.is_empty() {
        let lack = if forks.len() == 1 { "lacks its" } else { "lack their" };
        tell(&format!("{} {lack} beginning now", plural(forks.len(), "fork")));
    }
    let sources = id.map_or_else(Vec::new, sources);
    tell_of_sources(&sources, listed);
    let out = &mut context.out;
    if out.json {
        let sources = sources.iter().map(|source| source.display().to_string()).collect();
        let forks = forks.iter().map(Uuid::to_string).collect();
        let (session, path) = (id.map(|id| id.to_string()), path.display().to_string());
        out.document(&Document { session, path, bytes: deleted.bytes, deleted: true, forks, sources })?;
    } else {
        // A file that is named for another session is not the one that this id names.
        let named = id.filter(|id| path.file_stem().is_some_and(|stem| stem.to_string_lossy() == id.to_string()));
        let name = named.map_or_else(|| excerpt(&path.display().to_string(), usize::MAX), |id| id.to_string());
        out.line(&format!("deleted: {name}, {}", size(deleted.bytes)))?;
    }
    Ok(match (&deleted.cache_left, deleted.file_named || !copies.is_empty()) {
        (Some(_), _) => Exit::Io,
        (None, true) => Exit::Found,
        (None, false) => Exit::Fine,
    })
}

/// Files of agents, where these keep them, that are named for this session.
fn sources(id: Uuid) -> Vec<PathBuf> {
    let id = id.to_string();
    let (mut dirs, mut found) = (known_places(), Vec::new());
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => dirs.push(entry.path()),
                Ok(kind) if kind.is_file() && entry.file_name().to_string_lossy().contains(&id) => {
                    found.push(entry.path());
                }
                _ => {}
            }
        }
    }
    found.sort();
    found
}

/// An import makes the session again: no list of what was deleted is kept.
fn tell_of_sources(sources: &[PathBuf], listed: Option<&Listed>) {
    for source in sources {
        let source = source.display();
        tell(&format!("`{source}` is still there, and `seslog import --all` makes the session of it again"));
    }
    // Events with ids of another program's came from a file.
    if sources.is_empty() && listed.is_some_and(|listed| listed.last_original_id.is_some()) {
        tell("an import of the file that it came from makes the session again");
    }
}

/// How long the file is, if it is one and no link. It is not opened for that: to open a pipe may wait for ever.
fn length(path: &Path) -> Outcome<u64> {
    let about = std::fs::symlink_metadata(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            Told::not_found("noSuchFile", format!("no file `{}`; `seslog list` shows the sessions", path.display()))
        }
        _ => Told::io(path.display(), &error),
    })?;
    if about.is_symlink() {
        let message =
            format!("`{}` is a link and holds nothing itself; delete the file that it leads to", path.display());
        return Err(Told::usage(message).into());
    }
    match about.is_file() {
        true => Ok(about.len()),
        false => Err(Told::usage(format!("`{}` is no file; give a session", path.display())).into()),
    }
}

/// That the file is a session's: it is named like one or like what a salvage has kept, however damaged, or there is
/// something of one in it.
fn need_ours(path: &Path) -> Outcome<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_named = path.extension().is_some_and(|extension| extension == EXTENSION) || is_copy(path);
    match survey(RealFs::shared(), path) {
        Err(LogError::NotALog { .. }) if !is_named => {
            let message = format!("`{name}` is no session, and nothing was deleted; `seslog list` shows the sessions");
            Err(Told::not_found("notASession", message).into())
        }
        Err(error @ LogError::Io { .. }) if !is_named => Err(error.into()),
        _ => Ok(()),
    }
}

fn is_wanted(store: &Store, path: &Path, bytes: u64) -> Outcome<bool> {
    if !io::stdin().is_terminal() {
        return Err(Told::usage("there is no terminal to ask on; --yes deletes it").into());
    }
    const TITLE_CHARS: usize = 60;
    // First words come with a list that has counted.
    let counted = store.counted(None)?.sessions;
    let listed = counted.iter().find(|session| session.path.file_name() == path.file_name());
    let title = listed.and_then(|listed| {
        let known = [&listed.title, &listed.first_words, &listed.cwd];
        known.into_iter().find_map(|text| text.as_deref())
    });
    let title = title.unwrap_or_default();
    let name = excerpt(&path.file_stem().unwrap_or_default().to_string_lossy(), TITLE_CHARS);
    let mut stderr = io::stderr();
    let title = if title.is_empty() { String::new() } else { format!(" “{}”", excerpt(title, TITLE_CHARS)) };
    write!(stderr, "Delete {name} ({}){title}? [y/N] ", size(bytes))?;
    stderr.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
