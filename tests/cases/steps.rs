//! Does the steps of a case, one after the other.

use std::io::ErrorKind;
use std::path::PathBuf;

use serde_json::Value as Json;
use seslog::log::Durability;
use seslog::session::{Session, Vacuum};

use super::case::{list, strings};
use super::disk;
use super::disk_double::Room;
use super::not_yet::is_left_out;
use super::other;
use super::world::{MAIN, Member, OneOpen, World, error_by_sense};

impl World {
    pub fn do_steps(&mut self) {
        if self.case.has_step("kill_first_process") {
            self.start_first_process();
        }
        let watched = self.case.expect.get("file_unchanged_by").map(strings).unwrap_or_default();
        for step in self.case.steps() {
            let name = step["do"].as_str().unwrap().to_owned();
            if is_left_out(&format!("steps.{name}")) {
                self.skipped.push(name);
                continue;
            }
            let before = watched.contains(&name).then(|| std::fs::read(&self.member(MAIN).path).unwrap());
            self.do_step(&name, &step);
            if before.is_some_and(|before| before != std::fs::read(&self.member(MAIN).path).unwrap()) {
                self.changed_by.push(name);
            }
        }
    }

    fn do_step(&mut self, name: &str, step: &Json) {
        let text = |key: &str| step[key].as_str().unwrap_or_else(|| panic!("{step}: {key}"));
        match name {
            "close" => self.close(MAIN),
            "reopen" => {
                self.close(MAIN);
                self.open(MAIN);
            }
            "kill" => {
                let member = self.member_mut(MAIN);
                disk::kill(member.session.take().unwrap_or_else(|| panic!("{step}: nobody to kill")));
                for one in list(&step["damage"]) {
                    disk::damage(&member.path, &member.names, one);
                }
            }
            "append" => {
                let outcome = self.append_step(&step["event"]);
                assert_eq!(outcome, "ok", "{step}");
            }
            "try_append" => drop(self.append_step(&step["event"])),
            "append_to" => {
                let outcome = self.tell(text("session"), &step["event"], false, Durability::Sync);
                assert_eq!(outcome, "ok", "{step}");
            }
            "compact" => {
                let mut event = step.clone();
                let fields = event.as_object_mut().unwrap();
                fields.remove("do");
                fields.insert("type".to_owned(), "compaction".into());
                let outcome = self.append_step(&event);
                assert_eq!(outcome, "ok", "{step}");
            }
            "rewind" => {
                let to = step["to"].as_str().map(|word| self.member(MAIN).names.id(word));
                let session = self.session(MAIN);
                session.rewind(to, Durability::Sync).map(drop).unwrap();
            }
            "tombstone" => {
                let names = &self.member(MAIN).names;
                let targets: Vec<_> = strings(&step["targets"]).iter().map(|word| names.id(word)).collect();
                let reason = step["reason"].as_str();
                self.session(MAIN).tombstone(&targets, reason, Durability::Sync).map(drop).unwrap();
            }
            "rewrite_without_tombstoned" => self.rewrite_without_tombstoned(),
            "fork" => self.fork(text("at"), text("as")),
            "salvage" => self.salvage(step["session"].as_str()),
            // Its outcome is looked at when everything is over; here it must not fail.
            "list" => drop(self.store.list().unwrap()),
            "open" => self.open_by_id(text("session")),
            "open_in_other_process" | "open_reader_in_other_process" => {
                let told = other::open(&self.member(MAIN).path, name == "open_in_other_process");
                self.processes.insert(text("as").to_owned(), told);
            }
            "kill_first_process" => self.first_process.take().unwrap().kill(),
            "fail_write" => {
                let room = match &step["after_bytes"] {
                    Json::String(half) if half == "half_frame" => Room::HalfOfTheNextWrite,
                    bytes => Room::Bytes(usize::try_from(bytes.as_u64().unwrap()).unwrap()),
                };
                self.disk.fail_write(room, errno(text("errno")));
            }
            "fail_sync" => self.disk.fail_sync(errno(text("errno"))),
            "clear_faults" => self.disk.clear_faults(),
            "check_modes" => self.check_modes(),
            "grep_store" => {
                let spared = step["except_session"].as_str().map(|name| self.member(name).path.clone());
                let files = disk::files(self.store.dir()).into_iter().filter(|path| Some(path) != spared.as_ref());
                self.grep_hits = Some(files.filter(|path| disk::holds(path, text("text"))).count());
            }
            other => panic!("the harness has no step {other}"),
        }
    }

    fn session(&self, name: &str) -> &seslog::session::Session {
        self.member(name).session.as_ref().unwrap_or_else(|| panic!("{name} is not open"))
    }

    /// Appends to the main session, wherever its writer lives, and notes the outcome under the event's word.
    fn append_step(&mut self, event: &Json) -> String {
        let outcome = match &mut self.first_process {
            Some(process) => {
                let member = self.members.get_mut(MAIN).unwrap();
                let outcome = process.append(&other::with_ids(event, &member.names));
                if let Some(word) = event["id"].as_str() {
                    member.names.learn(word, super::names::fixed(word));
                }
                outcome
            }
            None => self.tell(MAIN, event, false, Durability::Sync),
        };
        if let Some(word) = event["id"].as_str() {
            self.results.insert(word.to_owned(), outcome.clone());
        }
        outcome
    }

    /// The writer moves to a process that can be killed.
    fn start_first_process(&mut self) {
        disk::kill(self.member_mut(MAIN).session.take().unwrap());
        let mut process = other::Writer::start(&self.member(MAIN).path);
        process.wait_until_open();
        self.first_process = Some(process);
    }

    /// Writes the main session anew, and makes sure that the report names each fork that holds what is gone.
    fn rewrite_without_tombstoned(&mut self) {
        self.close(MAIN);
        let path = self.member(MAIN).path.clone();
        let is_fork = |session: &Session| session.info().parent.is_some();
        let forks = self.members.values().filter(|member| member.session.as_ref().is_some_and(is_fork));
        let mut forks: Vec<PathBuf> = forks.map(|fork| fork.path.clone()).collect();
        let vacuum = Vacuum::new().tombstoned(true);
        let report = self.store.vacuum(path.to_str().unwrap(), vacuum).unwrap();
        assert!(report.rewritten, "{report:?}");
        let mut named: Vec<PathBuf> = report.elsewhere.iter().map(|one| one.path.clone()).collect();
        forks.sort();
        named.sort();
        assert_eq!(named, forks, "{report:?}");
        self.open(MAIN);
    }

    fn fork(&mut self, at: &str, name: &str) {
        self.before_fork = Some(std::fs::read(&self.member(MAIN).path).unwrap());
        let parent = self.member(MAIN);
        let forked = self.store.fork(parent.path.to_str().unwrap(), parent.names.id(at));
        let outcome = forked.as_ref().map_or_else(error_by_sense, |_| "ok".to_owned());
        self.results.insert(name.to_owned(), outcome);
        let Ok(session) = forked else { return };
        let parent = self.member(MAIN);
        let member = Member {
            path: session.path().to_owned(),
            names: parent.names.clone(),
            told: parent.told,
            session: Some(session),
            ..Member::default()
        };
        self.members.insert(name.to_owned(), member);
    }

    /// Salvages a session into a file outside of the store, and opens that under the name `salvage`, or `salvage_X`.
    fn salvage(&mut self, session: Option<&str>) {
        let outside = tempfile::tempdir().unwrap();
        let target = outside.path().join("salvaged.seslog");
        let source = self.member(session.unwrap_or(MAIN));
        let member = Member { path: target.clone(), names: source.names.clone(), ..Member::default() };
        drop(Session::salvage(&source.path, &target, self.store.options()).unwrap());
        let name = session.map_or_else(|| "salvage".to_owned(), |session| format!("salvage_{session}"));
        self.members.insert(name.clone(), member);
        self.outside.push(outside);
        self.open(&name);
    }

    /// Opens a session by its id alone, as whoever has lost the folder's name would.
    fn open_by_id(&mut self, name: &str) {
        let path = self.member(name).path.clone();
        let id = path.file_stem().unwrap().to_str().unwrap().to_owned();
        assert_eq!(self.store.resolve(&id).unwrap(), path);
        self.open(name);
    }

    fn check_modes(&mut self) {
        let store = self.store.dir().to_owned();
        let paths = disk::folders(&store).into_iter().chain(disk::files(&store));
        let modes: Vec<(String, PathBuf)> =
            paths.filter_map(|path| disk::mode(&path).map(|mode| (mode, path))).collect();
        self.modes.extend(modes);
    }

    /// Closes all and opens each session once more: what a case left open has to look the same from the outside.
    pub fn reopen_members(&mut self) {
        let names: Vec<String> = self.members.keys().cloned().collect();
        for name in names {
            if name != MAIN && self.member(&name).session.is_some() {
                self.close(&name);
                self.open(&name);
            }
        }
    }

    /// The last open of the main session, and the first one.
    pub fn last_open(&self) -> &OneOpen {
        self.member(MAIN).opens.last().expect("the session was opened")
    }

    pub fn first_open(&self) -> &OneOpen {
        self.member(MAIN).opens.first().expect("the session was opened")
    }
}

fn errno(name: &str) -> ErrorKind {
    match name {
        "ENOSPC" => ErrorKind::StorageFull,
        "EDQUOT" => ErrorKind::QuotaExceeded,
        "EIO" => ErrorKind::Other,
        other => panic!("the disk double knows no {other}"),
    }
}
