//! What a command that erases something says in the end.

use std::path::{Path, PathBuf};

use serde::Serialize;
use seslog::session::EraseReport;

use crate::Context;
use crate::cure::{quoted, with_cure};
use crate::exit::{Exit, Outcome};
use crate::output::{plural, tell};

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    dry_run: bool,
    #[serde(flatten)]
    report: &'a EraseReport,
}

/// Shows what was erased, and tells of all that was not.
pub(crate) fn show(report: &EraseReport, dry_run: bool, context: &mut Context) -> Outcome<()> {
    let out = &mut context.out;
    if out.json {
        out.document(&Document { dry_run, report })?;
    } else {
        out.field("session", &report.session.to_string())?;
        let verb = if dry_run { "would change" } else { "changed" };
        let (changed, all) = (report.changed.len(), report.events);
        let matches = match usize::try_from(report.matches).unwrap_or(usize::MAX) {
            0 => String::new(),
            matches => format!(", {}", plural(matches, "match")),
        };
        out.field(verb, &format!("{changed} of {all} events{matches}"))?;
        for id in &report.changed {
            out.field("event", &id.to_string())?;
        }
        if report.signatures_dropped > 0 {
            let count = report.signatures_dropped;
            out.field(
                "dropped",
                &format!(
                    "{} and encrypted forms of what was changed",
                    plural(usize::try_from(count).unwrap_or(usize::MAX), "signature")
                ),
            )?;
        }
        if report.media_dropped > 0 {
            out.field("dropped", &format!("the bytes of {} pictures and files", report.media_dropped))?;
        }
        match report.bytes_after {
            Some(after) => out.field("bytes", &format!("{}, now {after}", report.bytes_before))?,
            None => out.field("bytes", &format!("{}; the file is as it was", report.bytes_before))?,
        }
    }
    tell_of_the_rest(report);
    Ok(())
}

/// Copies of the session as it was when it was damaged (`seslog salvage --in-place` keeps them): nothing is taken out of those.
pub(crate) fn damaged_copies(path: &Path) -> Vec<PathBuf> {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return Vec::new() };
    let beside = std::fs::read_dir(path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new(".")));
    let found = beside.into_iter().flatten().flatten().map(|entry| entry.path());
    let is_copy = |path: &PathBuf| {
        let rest = path.file_name().and_then(|found| found.to_str()?.strip_prefix(name)?.strip_prefix(".damaged"));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    let mut copies: Vec<PathBuf> = found.filter(is_copy).collect();
    copies.sort();
    copies
}

/// Says which of those are there.
pub(crate) fn tell_of_copies(copies: &[PathBuf]) {
    for copy in copies {
        tell(&format!(
            "a damaged copy of the session is kept, with all that it held; `rm {}` removes it",
            quoted(copy)
        ));
    }
}

/// What is still there, on standard error too: nobody should take it for gone.
pub(crate) fn tell_of_the_rest(report: &EraseReport) {
    for left in &report.left {
        let (field, matches, first) = (&left.field, left.matches, left.first);
        let (some, stay) = match matches {
            1 => ("1 match".to_owned(), "stays"),
            _ => (format!("{matches} matches"), "stay"),
        };
        tell(&format!("{some} in `{field}` {stay}, since other things hang on it (first in {first})"));
    }
    for other in &report.elsewhere {
        let (session, path) = (other.session, other.path.display());
        match &other.problem {
            Some(problem) => {
                let problem = with_cure(problem, &other.path);
                tell(&format!("session {session} (`{path}`) could not be looked through: {problem}"));
            }
            None => {
                let events = other.events;
                tell(&format!(
                    "session {session} shares events with this one and holds the same in {events} of them; it was not changed: \
                     the same command with its id takes it out there"
                ));
            }
        }
    }
    if report.sealed > 0 && !report.changed.is_empty() {
        tell(&format!("{} encrypted texts and pictures stay; nobody looked into them", report.sealed));
    }
    if report.old_file_named {
        tell("the old file still has another name (a hard link) and all that it held; find and remove it");
    }
    tell_of_copies(&damaged_copies(&report.path));
    if let Some(problem) = &report.cache_left {
        tell(&format!("the store's cache may still tell of it: {problem}; remove the store's `.cache`"));
    }
}

/// What was to go is known to be still there, or may be in what could not be looked through.
pub(crate) fn stays(report: &EraseReport) -> bool {
    !report.left.is_empty()
        || !report.elsewhere.is_empty()
        || report.old_file_named
        || !damaged_copies(&report.path).is_empty()
}

/// How the command ends.
pub(crate) fn exit(report: &EraseReport) -> Exit {
    if report.cache_left.is_some() { Exit::Io } else { Exit::Fine }
}
