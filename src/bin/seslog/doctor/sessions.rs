//! The sessions of a store, and the cache that tells of them.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use seslog::event::Uuid;
use seslog::log::{LogError, LogReader, RealFs};
use seslog::session::{CatalogueFound, CatalogueKept, ListReport, Listed, Opened, Store};

use super::Check;
use crate::exit::Outcome;
use crate::held::{Holder, Locks};

impl Check {
    /// Looks at all sessions; how many there are, and their bytes.
    pub(super) fn sessions(&mut self, store: &Store) -> Outcome<(usize, u64)> {
        let listing = store.counted(None)?;
        self.catalogue(&listing.report);
        let locks = Locks::now();
        let ids: HashSet<Uuid> = listing.sessions.iter().filter_map(|session| session.id).collect();
        let mut by_id: HashMap<Uuid, Vec<&Listed>> = HashMap::new();
        for session in &listing.sessions {
            if session.open != Opened::Damaged || session.bytes > 0 {
                session.id.into_iter().for_each(|id| by_id.entry(id).or_default().push(session));
            }
            self.session(session, &ids, &locks);
        }
        let mut twice: Vec<&Vec<&Listed>> = by_id.values().filter(|same| same.len() > 1).collect();
        twice.sort_by_key(|same| same[0].path.clone());
        for same in twice {
            let names: Vec<String> = same.iter().map(|session| name_of(&session.path)).collect();
            let what = format!("{} files hold the same session: {}", same.len(), names.join(", "));
            let next = "compare them (`seslog list`, `seslog show FILE`) and move all but one out of the store";
            self.fault("sameSessionTwice", &same[0].path, what, next);
        }
        let bytes = listing.sessions.iter().filter_map(|session| Some(std::fs::metadata(&session.path).ok()?.len()));
        Ok((listing.sessions.len(), bytes.sum()))
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
            self.fault("cache", &path, what, format!("remove `{}`; the next list makes it anew", path.display()));
            if let Some(last) = self.findings.last_mut() {
                last.fixed = is_mended;
            }
        }
        if let CatalogueKept::Failed(why) = &report.kept {
            let next = "look at who owns the directory; until then each list reads all sessions";
            self.fault("cacheNotWritten", &path, format!("the cache of the list can't be written: {why}"), next);
        }
    }

    fn session(&mut self, session: &Listed, ids: &HashSet<Uuid>, locks: &Locks) {
        let path = &session.path;
        let name = name_of(path);
        let holder = locks.holder(path, session.open == Opened::Recovered);
        match holder {
            Some(Holder::Process(process)) => self.note("open", path, format!("process {process} writes it now"), None),
            Some(Holder::Somebody) => self.note("open", path, "somebody writes it now", None),
            None => {}
        }
        match session.open {
            Opened::Damaged => {
                let problem = session.problem.clone().unwrap_or_else(|| "it can't be opened".to_owned());
                let next = match is_no_log(path) {
                    true => "nothing can be saved from it: bring back a copy, or move it out of the store".to_owned(),
                    false => {
                        format!("`seslog verify {name}` shows where, `seslog salvage {name} -o FILE` saves the rest")
                    }
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
        if let Some(id) = session.id.filter(|id| named.is_some_and(|named| named != *id)) {
            let what = format!("its name is not that of the session inside, {id}");
            self.fault("wrongName", path, what, format!("move it to `{id}.seslog`, if there is none of that name"));
        }
    }
}

/// Neither a header nor a single event is in the file, so that a salvage has nothing to go by.
fn is_no_log(path: &Path) -> bool {
    let is_none = |error: LogError| matches!(error, LogError::NotALog { .. });
    // Only without a header is every byte to be looked at.
    LogReader::open(RealFs::shared(), path).is_err_and(is_none)
        && seslog::log::survey(RealFs::shared(), path).is_err_and(is_none)
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
