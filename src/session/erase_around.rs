//! What lies around a session and may hold what was erased in it: the store's caches, and sessions that share events with it.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use super::erase_match::Taker;
use super::erase_plan::Plan;
use super::error::SessionError;
use super::file_name::id_in;
use crate::event::Uuid;
use crate::log::{Fs, LogError, LogReader, read_info};

/// Another session, a fork or a parent near or far, that holds the same as what was erased. It was not changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Elsewhere {
    /// The session's id.
    pub session: Uuid,
    /// Its file.
    #[serde(serialize_with = "super::shown::path")]
    pub path: PathBuf,
    /// Events in it that hold what was erased.
    pub events: u64,
    /// Why it could not be looked through, or not to its end.
    pub problem: Option<String>,
}

/// The sessions in these directories that hang together with this one by forks, and of which the plan would change something.
pub(super) fn elsewhere(
    fs: &Arc<dyn Fs>,
    path: &Path,
    dirs: &[PathBuf],
    session: Uuid,
    parent: Option<Uuid>,
    plan: &Plan,
) -> Result<Vec<Elsewhere>, SessionError> {
    let mut names = Vec::new();
    for dir in dirs {
        let entries = fs.list_dir(dir).map_err(|source| LogError::io(dir, "list the directory", 0, source))?;
        names.extend(entries.into_iter().filter_map(|entry| Some((dir, entry.name.into_string().ok()?))));
    }
    let mut files: HashMap<Uuid, PathBuf> = HashMap::new();
    let mut links: HashMap<Uuid, Vec<Uuid>> = HashMap::new();
    let mut found = Vec::new();
    let mut link = |a: Uuid, b: Uuid| {
        links.entry(a).or_default().push(b);
        links.entry(b).or_default().push(a);
    };
    parent.into_iter().for_each(|parent| link(session, parent));
    for (dir, name) in names {
        let (Some(named), other) = (id_in(&name), dir.join(&name)) else { continue };
        if other == path {
            continue;
        }
        match read_info(&**fs, &other) {
            Ok(info) => {
                info.parent.into_iter().for_each(|parent| link(info.log_id, parent.log));
                files.insert(info.log_id, other);
            }
            // Whether it hangs together with this one, nobody can tell.
            Err(error) => {
                found.push(Elsewhere { session: named, path: other, events: 0, problem: Some(error.to_string()) })
            }
        }
    }
    let mut seen = HashSet::from([session]);
    let mut to_see = vec![session];
    while let Some(at) = to_see.pop() {
        let beside = links.get(&at).into_iter().flatten().copied().filter(|id| seen.insert(*id));
        to_see.extend(beside.collect::<Vec<_>>());
    }
    for id in seen.into_iter().filter(|id| *id != session) {
        let Some(path) = files.remove(&id) else { continue };
        let (events, problem) = look(fs, &path, plan);
        if events > 0 || problem.is_some() {
            found.push(Elsewhere { session: id, path, events, problem: problem.map(|error| error.to_string()) });
        }
    }
    found.sort_by_key(|one| one.session);
    Ok(found)
}

/// How many events of a session the plan would change.
fn look(fs: &Arc<dyn Fs>, path: &Path, plan: &Plan) -> (u64, Option<SessionError>) {
    let mut events = 0;
    let mut through = || -> Result<(), SessionError> {
        let (log, _) = LogReader::open(fs.clone(), path)?;
        let mut taker = Taker::new(&plan.patterns);
        for frame in log.frames(0) {
            let frame = frame?;
            if !frame.frame_type().is_own() {
                events += u64::from(plan.apply(&log, &frame, &mut taker)?.changed);
            }
        }
        Ok(())
    };
    let problem = through().err();
    (events, problem)
}
