//! Many files into the store: found below directories, imported by as many threads as there are processors.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use serde::Serialize;
use seslog::event::Uuid;
use seslog::interop::Agent;
use seslog::session::{EXTENSION, Store};

use super::agents::{self, Child, Links};
use super::document::Document;
use super::one;
use super::told::entries;
use super::{Args, Format, own};
use crate::agent_home::AgentHome;
use crate::cure::quoted;
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
    /// Messages of these sessions now, of all branches, counted as `stat` and `list` count them.
    messages: u64,
    /// Events, and those of them that were written and those that were known.
    read: usize,
    written: usize,
    known: usize,
    /// Lines that could not be read as they stand.
    bad_lines: usize,
    /// Records that could not be stored.
    refused: usize,
    /// Places that were repaired, and the files with such places.
    repaired: usize,
    repaired_files: Vec<RepairedFile>,
    /// Sub-agents: those linked to the call that started them, and those that could not be placed.
    sub_agents: Links,
    /// Agents' files that are still to be linked.
    #[serde(skip)]
    children: Vec<Child>,
    /// Sessions that had gone on by themselves, whose leaf stayed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    leaves_kept: Vec<KeptLeaf>,
    /// Sessions whose messages came after what goes on from them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    came_late: Vec<CameLate>,
    /// What went wrong, file by file.
    problems: Vec<Problem>,
    /// What names the store in a command that is shown.
    #[serde(skip)]
    option: String,
}

/// A session of which messages stand beside what goes on from them.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct CameLate {
    file: String,
    session: String,
    messages: usize,
}

/// A session whose leaf stayed, though its file brought more.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct KeptLeaf {
    file: String,
    session: String,
    leaf: Option<Uuid>,
    imported: Uuid,
    rewind: String,
}

/// A file in which something was repaired.
#[derive(Debug, Serialize)]
struct RepairedFile {
    file: String,
    places: usize,
}

/// What went wrong with one file.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Problem {
    file: String,
    code: &'static str,
    message: String,
    /// It was so when the file was imported before, and nothing of it is new.
    is_old: bool,
}

/// Where the agents keep their sessions, as far as they are there.
pub(super) fn known_places() -> Outcome<Vec<PathBuf>> {
    let home = |agent| {
        let none = || Told::usage("no home directory is known; name the directory of the sessions");
        AgentHome::of(agent).dir.ok_or_else(none)
    };
    let codex = home(Agent::Codex)?;
    let places = [
        home(Agent::ClaudeCode)?.join("projects"),
        codex.join("sessions"),
        codex.join("archived_sessions"),
        home(Agent::Pi)?.join("sessions"),
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
pub(super) fn import(roots: &[PathBuf], args: &Args, (store, option): (&Store, &str), tells: bool) -> Outcome<Report> {
    let mut report = Report { option: option.to_owned(), ..Report::default() };
    let mut files = Vec::new();
    for root in roots {
        find(root, &mut files, &mut report);
    }
    // The store itself may lie below.
    files.retain(|file| !own::is_in(&file.path.canonicalize().unwrap_or_default(), store));
    files.sort_by(|a, b| a.path.cmp(&b.path));
    report.files = files.len();
    let bytes = files.iter().map(|file| file.len).sum();
    let mut progress = Progress::new("files", files.len(), bytes, tells);
    let (mut sessions, mut again) = (HashMap::new(), Vec::new());
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        let (sender, results) = mpsc::channel();
        let (next, all) = (&next, &files);
        let run = move |sender: mpsc::Sender<_>| {
            while let Some(index) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|index| *index < all.len()) {
                if sender.send((index, one::import(&all[index].path, args, store, option))).is_err() {
                    break;
                }
            }
        };
        let mut working = 0;
        for _ in 0..thread::available_parallelism().map_or(1, usize::from).min(all.len()) {
            let sender = sender.clone();
            working += usize::from(thread::Builder::new().spawn_scoped(scope, move || run(sender)).is_ok());
        }
        if working == 0 {
            // There is no thread to be had: all is done before any of it is told.
            run(sender.clone());
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
        report.add(
            &files[index].path,
            one::import(&files[index].path, args, store, option),
            args.format,
            &mut sessions,
        );
        progress.done(files[index].len);
        progress.show();
    }
    progress.clear();
    report.sessions = sessions.len();
    report.messages = sessions.values().sum();
    report.sub_agents = agents::link(std::mem::take(&mut report.children), store);
    report.problems.sort_by(|a, b| a.file.cmp(&b.file));
    report.came_late.sort_by(|a, b| a.file.cmp(&b.file));
    report.leaves_kept.sort_by(|a, b| a.file.cmp(&b.file));
    report.repaired_files.sort_by(|a, b| a.file.cmp(&b.file));
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

/// Lines of JSON, of which Codex's first form was one object; or a session of Seslog's own.
fn is_session_file(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    name.ends_with(".jsonl")
        || name.ends_with(".jsonl.zst")
        || (name.starts_with("rollout-") && name.ends_with(".json"))
        || name.ends_with(&format!(".{EXTENSION}"))
}

impl Report {
    fn add(&mut self, path: &Path, outcome: Outcome<Document>, format: Format, sessions: &mut HashMap<String, u64>) {
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
        self.read += document.report.read;
        self.written += document.report.written;
        self.known += document.report.known;
        self.bad_lines += document.bad_line_count();
        self.refused += document.report.refused.len();
        // Of a file that brings nothing new they were told and counted before.
        let repaired = if document.report.written > 0 { document.report.repairs.len() } else { 0 };
        self.repaired += repaired;
        if repaired > 0 {
            self.repaired_files.push(RepairedFile { file: path.display().to_string(), places: repaired });
        }
        if let Some((kept, rewind)) = document.report.leaf_kept.as_ref().zip(document.rewind.clone()) {
            let (file, session) = (path.display().to_string(), document.session.clone());
            let (leaf, imported) = (kept.leaf, kept.imported);
            self.leaves_kept.push(KeptLeaf { file, session, leaf, imported, rewind });
        }
        if document.report.came_late > 0 {
            let (file, session) = (path.display().to_string(), document.session.clone());
            self.came_late.push(CameLate { file, session, messages: document.report.came_late });
        }
        if document.has_losses() {
            let (file, is_old) = (path.display().to_string(), document.old_losses);
            self.problems.push(Problem {
                file,
                code: "losses",
                message: losses(&document, path, &self.option),
                is_old,
            });
        }
        if let Some(agent) = document.agent {
            let (file, session) = (path.display().to_string(), document.session.clone());
            self.children.push(Child { file, session, agent });
        }
        sessions.insert(document.session, document.report.messages);
    }

    fn failure(&mut self, path: &Path, told: Told) {
        self.failed += 1;
        let (file, is_old) = (path.display().to_string(), false);
        self.problems.push(Problem { file, code: told.code, message: told.message, is_old });
    }

    /// Whether something is not in the store that should be, and that was not so before.
    pub(super) fn has_new_losses(&self) -> bool {
        self.problems.iter().any(|problem| !problem.is_old)
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
            let (places, files) = (plural(self.repaired, "place"), plural(self.repaired_files.len(), "file"));
            out.field("repaired", &format!("{places} in {files}; `seslog import FILE` shows them:"))?;
            let files = self.repaired_files.iter();
            entries("", files.map(|file| (0, format!("{}: {}", file.file, file.places))), out)?;
        }
        if !self.leaves_kept.is_empty() {
            let sessions = plural(self.leaves_kept.len(), "session");
            let what = "that had gone on by themselves; what came is another branch, and this goes to its end:";
            out.field("leaf stays", &format!("in {sessions} {what}"))?;
            entries("", self.leaves_kept.iter().map(|kept| (0, format!("`{}`", kept.rewind))), out)?;
        }
        for late in &self.came_late {
            let what = super::told::came_late(late.messages, &late.session);
            out.field("came late", &format!("{}: {what}", late.file))?;
        }
        self.sub_agents.human(out)?;
        let (old, new): (Vec<&Problem>, Vec<&Problem>) = self.problems.iter().partition(|problem| problem.is_old);
        let told = |problem: &&Problem| (0, format!("{}: {}", problem.file, problem.message));
        entries("trouble", new.iter().map(told), out)?;
        if !old.is_empty() {
            let files = plural(old.len(), "file");
            out.field("as before", &format!("{files} in which nothing is new, and some still can't be read:"))?;
            entries("", old.iter().map(told), out)?;
        }
        Ok(())
    }
}

/// What of a file is not in the store.
fn losses(document: &Document, path: &Path, option: &str) -> String {
    if let Some(salvage) = &document.salvage {
        let (lost, kept) = (plural(salvage.lost.len(), "place"), salvage.kept);
        return format!("it is damaged in {lost}; the {kept} events that are whole were taken in");
    }
    let told = |count: usize, what: &str, could_not: &str| {
        (count > 0).then(|| format!("{} could not be {could_not}", plural(count, what)))
    };
    let bad = told(document.bad_line_count(), "line", "read as written");
    let refused = told(document.report.refused.len(), "record", "stored");
    let losses: Vec<String> = bad.into_iter().chain(refused).collect();
    format!("{}; `seslog import {}{option}` shows them", losses.join(", "), quoted(path))
}
