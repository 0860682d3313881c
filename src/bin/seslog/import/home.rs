//! Many files into the store: found below directories, imported by as many threads as there are processors.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use serde::Serialize;
use seslog::session::Store;

use super::agents::{self, Child, Links};
use super::one::{self, Document};
use super::told::entries;
use super::{Args, Format};
use crate::exit::{Failure, Outcome, Told};
use crate::output::{Output, plural};
use crate::progress::Progress;

/// A session file that was found, and its length in bytes.
struct Found {
    path: PathBuf,
    len: u64,
}

/// What was done with all files.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Report {
    /// Session files that were found.
    files: usize,
    /// Those of them that were imported.
    imported: usize,
    /// Those that hold no session of a known format, or nothing.
    passed_over: usize,
    /// Those that could not be imported.
    failed: usize,
    /// Sessions that they make, and those of them that were not there before.
    sessions: usize,
    created: usize,
    /// Messages in the files of agents, on all branches.
    messages: usize,
    /// Events, and those of them that were written and those that were known.
    read: usize,
    written: usize,
    known: usize,
    /// Lines that could not be read as they stand.
    bad_lines: usize,
    /// Records that could not be stored.
    refused: usize,
    /// Places that were repaired.
    repaired: usize,
    /// Sub-agents: those linked to the call that started them, and those that could not be placed.
    sub_agents: Links,
    /// Agents' files that are still to be linked.
    #[serde(skip)]
    children: Vec<Child>,
    /// What went wrong, file by file.
    problems: Vec<Problem>,
}

/// What went wrong with one file.
#[derive(Debug, Serialize)]
struct Problem {
    file: String,
    code: &'static str,
    message: String,
}

/// Where the agents keep their sessions, as far as they are there.
pub(super) fn known_places() -> Outcome<Vec<PathBuf>> {
    let home = etcetera::home_dir();
    let home = home.map_err(|_| Told::usage("no home directory is known; name the directory of the sessions"))?;
    let dir = |variable: &str, usual: &str| match std::env::var_os(variable).filter(|dir| !dir.is_empty()) {
        Some(dir) => PathBuf::from(dir),
        None => home.join(usual),
    };
    let codex = dir("CODEX_HOME", ".codex");
    let places = [
        dir("CLAUDE_CONFIG_DIR", ".claude").join("projects"),
        codex.join("sessions"),
        codex.join("archived_sessions"),
        home.join(".pi/agent/sessions"),
    ];
    let (there, missing): (Vec<_>, Vec<_>) = places.into_iter().partition(|place| place.is_dir());
    if there.is_empty() {
        let places: Vec<String> = missing.iter().map(|place| place.display().to_string()).collect();
        let message = format!(
            "no agent has kept sessions here: there is none of {}; `seslog import DIR` takes another folder",
            places.join(", ")
        );
        return Err(Told::not_found("noSessions", message).into());
    }
    Ok(there)
}

/// Imports all session files below these directories. What one of them holds stops no other.
pub(super) fn import(roots: &[PathBuf], args: &Args, store: &Store, tells: bool) -> Outcome<Report> {
    let mut report = Report::default();
    let mut files = Vec::new();
    for root in roots {
        find(root, &mut files, &mut report);
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    report.files = files.len();
    let bytes = files.iter().map(|file| file.len).sum();
    let mut progress = Progress::new("files", files.len(), bytes, tells);
    let (mut sessions, mut again) = (HashSet::new(), Vec::new());
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        let (sender, results) = mpsc::channel();
        for _ in 0..thread::available_parallelism().map_or(1, usize::from).min(files.len()) {
            let (sender, next, files) = (sender.clone(), &next, &files);
            scope.spawn(move || {
                while let Some(index) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|index| *index < files.len())
                {
                    if sender.send((index, one::import(&files[index].path, args, store))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        loop {
            match results.recv_timeout(Progress::EVERY) {
                // Two files of one session may meet; the later one comes again when all others are done.
                Ok((index, Err(Failure::Told(told)))) if told.code == "locked" => again.push(index),
                Ok((index, outcome)) => {
                    progress.done(files[index].len);
                    report.add(&files[index].path, outcome, args.format, &mut sessions);
                }
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
            }
            progress.show();
        }
    });
    for index in again {
        report.add(&files[index].path, one::import(&files[index].path, args, store), args.format, &mut sessions);
        progress.done(files[index].len);
        progress.show();
    }
    progress.clear();
    report.sessions = sessions.len();
    report.sub_agents = agents::link(std::mem::take(&mut report.children), store);
    report.problems.sort_by(|a, b| a.file.cmp(&b.file));
    Ok(report)
}

/// The session files below a directory, by their names. Links are not followed: a file is found once.
fn find(dir: &Path, files: &mut Vec<Found>, report: &mut Report) {
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) => return report.failure(dir, Told::io(format!("can't list `{}`", dir.display()), &error)),
    };
    for entry in entries {
        let found = entry.and_then(|entry| Ok((entry.path(), entry.file_type()?, entry.metadata()?)));
        match found {
            Ok((path, kind, _)) if kind.is_dir() => find(&path, files, report),
            Ok((path, kind, about)) if kind.is_file() && is_session_file(&path) => {
                files.push(Found { path, len: about.len() });
            }
            Ok(_) => {}
            Err(error) => report.failure(dir, Told::io(format!("can't list `{}`", dir.display()), &error)),
        }
    }
}

/// Lines of JSON; Codex's first form was one object.
fn is_session_file(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    name.ends_with(".jsonl")
        || name.ends_with(".jsonl.zst")
        || (name.starts_with("rollout-") && name.ends_with(".json"))
}

impl Report {
    fn add(&mut self, path: &Path, outcome: Outcome<Document>, format: Format, sessions: &mut HashSet<String>) {
        let document = match outcome {
            Ok(document) => document,
            Err(Failure::Told(told)) => {
                let is_none = told.code == "empty" || (format == Format::Auto && told.code == "unknownFormat");
                self.passed_over += usize::from(is_none);
                if !is_none {
                    self.failure(path, told);
                }
                return;
            }
            Err(Failure::PipeClosed) => return,
        };
        self.imported += 1;
        self.created += usize::from(document.created);
        self.messages += document.message_count();
        self.read += document.report.read;
        self.written += document.report.written;
        self.known += document.report.known;
        self.bad_lines += document.bad_line_count();
        self.refused += document.report.refused.len();
        self.repaired += document.report.repairs.len();
        if document.has_losses() {
            let (bad, refused) = (document.bad_line_count(), document.report.refused.len());
            let message = format!("{bad} lines could not be read as they stand, {refused} records not be stored");
            self.problems.push(Problem { file: path.display().to_string(), code: "losses", message });
        }
        if let Some(agent) = document.agent {
            let (file, session) = (path.display().to_string(), document.session.clone());
            self.children.push(Child { file, session, agent });
        }
        sessions.insert(document.session);
    }

    fn failure(&mut self, path: &Path, told: Told) {
        self.failed += 1;
        self.problems.push(Problem { file: path.display().to_string(), code: told.code, message: told.message });
    }

    /// Whether something is not in the store that should be.
    pub(super) fn has_losses(&self) -> bool {
        !self.problems.is_empty()
    }

    pub(super) fn human(&self, out: &mut Output) -> Outcome<()> {
        let passed = match self.passed_over {
            0 => String::new(),
            count => format!(", {count} without a session passed over"),
        };
        out.field("files", &format!("{} of {}{passed}", self.imported, self.files))?;
        out.field("sessions", &format!("{}, {} of them new", self.sessions, self.created))?;
        out.field("messages", &self.messages.to_string())?;
        out.field("written", &format!("{} of {} events, {} known", self.written, self.read, self.known))?;
        if self.repaired > 0 {
            out.field(
                "repaired",
                &format!("{}; import one file by itself to see them", plural(self.repaired, "place")),
            )?;
        }
        self.sub_agents.human(out)?;
        let problems = self.problems.iter().map(|problem| (0, format!("{}: {}", problem.file, problem.message)));
        entries("trouble", problems, out)
    }
}
