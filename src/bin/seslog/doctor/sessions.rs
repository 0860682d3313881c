//! The sessions of a store, and the cache that tells of them.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use seslog::event::Uuid;
use seslog::log::{LogReader, RealFs};
use seslog::session::{CatalogueFound, CatalogueKept, EXTENSION, ListReport, Listed, Opened, Store};

use super::Check;
use super::place::files_in;
use crate::cure::{quoted, saves_nothing};
use crate::exit::Outcome;
use crate::held::{Holder, Locks};

impl Check {
    /// Looks at all sessions; how many there are, and their bytes.
    pub(super) fn sessions(&mut self, store: &Store) -> Outcome<(usize, u64)> {
        let listing = store.counted(None)?;
        self.catalogue(&listing.report);
        let locks = Locks::now();
        let ids: HashSet<Uuid> = listing.sessions.iter().filter_map(|session| session.id).collect();
        let mut by_id: HashMap<Uuid, Vec<&PathBuf>> = HashMap::new();
        for session in &listing.sessions {
            if session.open != Opened::Damaged || session.bytes > 0 {
                session.id.into_iter().for_each(|id| by_id.entry(id).or_default().push(&session.path));
            }
        }
        let strangers = strangers(&self.dir);
        for (path, id) in &strangers {
            id.iter().for_each(|id| by_id.entry(*id).or_default().push(path));
        }
        for session in &listing.sessions {
            let is_twice = session.id.and_then(|id| by_id.get(&id)).is_some_and(|same| same.len() > 1);
            self.session(session, &ids, &locks, is_twice);
        }
        self.strangers(&strangers, &ids);
        self.kept_damaged(&listing.sessions);
        let mut twice: Vec<(&Uuid, &Vec<&PathBuf>)> = by_id.iter().filter(|(_, same)| same.len() > 1).collect();
        twice.sort_by_key(|(id, _)| **id);
        for (id, same) in twice {
            self.twice(*id, same);
        }
        let bytes = listing.sessions.iter().filter_map(|session| Some(std::fs::metadata(&session.path).ok()?.len()));
        Ok((listing.sessions.len(), bytes.sum()))
    }

    /// Files that no list looks at, since they are not named for a session, and the session in each.
    fn strangers(&mut self, strangers: &[(PathBuf, Option<Uuid>)], ids: &HashSet<Uuid>) {
        for (path, id) in strangers {
            match id {
                Some(id) if ids.contains(id) => {}
                Some(id) => {
                    let what = format!("it holds the session {id}, and no list looks at a file of this name");
                    let target = quoted(&self.dir.join(format!("{id}.{EXTENSION}")));
                    self.fault("wrongName", path, what, format!("`mv -n {} {target}`", quoted(path)));
                }
                None => {
                    let what = "it is named like a session, and holds none that can be read";
                    self.fault("notASession", path, what, "move it out of the store");
                }
            }
        }
    }

    /// Several files with one session in them.
    fn twice(&mut self, id: Uuid, same: &[&PathBuf]) {
        let file = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let names: Vec<String> = same.iter().map(|path| file(path)).collect();
        let what = format!("{} files hold the same session, {id}: {}", same.len(), names.join(", "));
        let next: Vec<String> = same
            .iter()
            .filter(|path| name_of(path) != id.to_string())
            .map(|path| {
                let path = quoted(path);
                format!("`seslog import {path}{}` adds what the session lacks, then `rm {path}`", self.option)
            })
            .collect();
        self.fault("sameSessionTwice", same[0], what, next.join("; "));
    }

    fn catalogue(&mut self, report: &ListReport) {
        let path = self.dir.join(".cache").join("catalogue");
        let what = match &report.found {
            CatalogueFound::Damaged => "the cache of the list was not whole".to_owned(),
            CatalogueFound::Unreadable(why) => format!("the cache of the list can't be read: {why}"),
            // None yet, one of another version, or one that is behind: the list that was just made has seen to that.
            _ => String::new(),
        };
        let is_mended = matches!(report.kept, CatalogueKept::Written | CatalogueKept::Removed);
        if !what.is_empty() {
            let cache = self.dir.join(".cache");
            let is_dir = cache.symlink_metadata().is_ok_and(|found| found.is_dir());
            let is_file = path.symlink_metadata().is_ok_and(|found| found.is_file());
            // It is only a cache. But what somebody else has put in its place is left to its owner, and so is all behind a link.
            let is_ours = is_dir && is_file && report.found == CatalogueFound::Damaged;
            let next = match (is_dir, is_file) {
                (true, true) if is_ours => {
                    format!("`seslog doctor --fix{}` removes it, and the next list makes it anew", self.option)
                }
                (true, true) => "look at who owns it; until then each list reads all sessions".to_owned(),
                (true, false) => format!("it is no file of Seslog's: `rm -r {}` takes it away", quoted(&path)),
                (false, _) => format!("it is no directory of Seslog's: `rm {}` takes it away", quoted(&cache)),
            };
            self.fault("cache", &path, what, next);
            let outcome = match self.fix && is_ours && !is_mended {
                true => std::fs::remove_file(&path).map(|()| true),
                false => Ok(is_mended),
            };
            if let Some(last) = self.findings.last_mut() {
                match outcome {
                    Ok(fixed) => last.fixed = fixed,
                    Err(error) => last.what.push_str(&format!("; it could not be removed: {error}")),
                }
            }
        }
        // What is in its place is told of already.
        if let CatalogueKept::Failed(why) = &report.kept
            && !matches!(report.found, CatalogueFound::Unreadable(_))
        {
            let next = "look at who owns the directory; until then each list reads all sessions";
            self.fault("cacheNotWritten", &path, format!("the cache of the list can't be written: {why}"), next);
        }
    }

    fn session(&mut self, session: &Listed, ids: &HashSet<Uuid>, locks: &Locks, is_twice: bool) {
        let path = &session.path;
        let name = name_of(path);
        let holder = locks.holder(path, session.open == Opened::Recovered);
        match holder {
            Some(Holder::Process(process)) => self.note("open", path, format!("process {process} writes it now"), None),
            Some(Holder::Somebody) => self.note("open", path, "somebody writes it now", None),
            None => {}
        }
        match session.open {
            Opened::Damaged if is_dead_link(path) => {
                let next = format!("bring back what it leads to, or `rm {}` takes the link away", quoted(path));
                self.fault("damaged", path, "a link that leads nowhere", next);
            }
            Opened::Damaged => {
                let problem = session.problem.clone().unwrap_or_else(|| "it can't be opened".to_owned());
                let store = &self.option;
                let next = match saves_nothing(path) {
                    true => format!(
                        "nothing can be saved from it: bring back a copy, or `seslog delete {name} --yes{store}`, and \
                         `seslog import --all{store}` if an agent still has it"
                    ),
                    false => format!(
                        "`seslog verify {name}{store}` shows where, `seslog salvage {name} --in-place{store}` saves the rest"
                    ),
                };
                self.fault("damaged", path, damage(path, &problem), next);
            }
            Opened::Recovered if holder.is_none() => {
                let next = "nothing: the next program that writes it recovers it".to_owned();
                self.note("unclean", path, "it was not closed", Some(next));
            }
            _ => {}
        }
        if let Some(parent) = session.parent.filter(|parent| !ids.contains(parent)) {
            let what = format!("it was forked from {parent}, which is not in the store");
            let next = "bring that file back, or live with a story that begins at the fork";
            self.fault("missingParent", path, what, next);
        }
        let named: Option<Uuid> = path.file_stem().and_then(|stem| stem.to_str()?.parse().ok());
        if let Some(id) = session.id.filter(|id| !is_twice && named.is_some_and(|named| named != *id)) {
            let what = format!("its name is not that of the session inside, {id}");
            let target = quoted(&self.dir.join(format!("{id}.{EXTENSION}")));
            self.fault("wrongName", path, what, format!("`mv -n {} {target}`", quoted(path)));
        }
    }
}

/// A link to a file that is not there: no command that takes the session can do anything with it.
fn is_dead_link(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|about| about.is_symlink()) && !path.exists()
}

/// The files that are named like sessions' and not for one, with the session in each.
fn strangers(dir: &Path) -> Vec<(PathBuf, Option<Uuid>)> {
    let mut found = files_in(dir);
    found.retain(|path| {
        let is_named = path.file_stem().and_then(|stem| stem.to_str()?.parse::<Uuid>().ok()).is_some();
        // A link may lead to somebody else's.
        let is_file = path.symlink_metadata().is_ok_and(|about| about.is_file());
        is_file && !is_named && path.extension().is_some_and(|extension| extension == EXTENSION)
    });
    let id = |path: &Path| LogReader::open(RealFs::shared(), path).ok().map(|(log, _)| log.info().log_id);
    found
        .into_iter()
        .map(|path| {
            let id = id(&path);
            (path, id)
        })
        .collect()
}

fn name_of(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// What is wrong with a session's file, without what is said beside it.
fn damage(path: &Path, problem: &str) -> String {
    let beside = format!("`{}` is ", path.display());
    let what = problem.split("; open it for reading").next().unwrap_or(problem);
    what.strip_prefix(&beside).map_or_else(|| format!("damaged: {what}"), str::to_owned)
}
