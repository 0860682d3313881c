//! The store that a case plays in.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use seslog::event::SessionMeta;
use seslog::interop::{import_events, read_events};
use seslog::log::{Durability, LogError, LogOptions};
use seslog::projection::{Diagnostic, Options, ProjectedMessage, View, project};
use seslog::session::{
    Clock, Opened, ResumeReport, Session, SessionError, SessionOptions, SessionReader, State, Store,
};

use super::case::{Case, filled, list};
use super::disk::{self, extent};
use super::disk_double::DiskDouble;
use super::draft::{Made, append, record};
use super::expect::needs_assembly;
use super::look::{Look, log_events};
use super::names::Names;
use super::other::{self, Told};

/// One session of the store.
#[derive(Debug, Default)]
pub struct Member {
    pub path: PathBuf,
    pub names: Names,
    pub session: Option<Session>,
    /// Each open, in order.
    pub opens: Vec<OneOpen>,
    /// How many events a case has told it; gives the next one its time.
    pub told: i64,
}

/// One open and what it found.
#[derive(Debug)]
pub struct OneOpen {
    pub outcome: String,
    pub report: Option<ResumeReport>,
    /// Words of the events that could be read then.
    pub events: Vec<String>,
    pub bytes_read: u64,
    pub took: Duration,
}

/// The word for the session that a case with one session speaks of.
pub const MAIN: &str = "the session";

/// The store and all that happened in it.
#[derive(Debug)]
pub struct World {
    pub case: Case,
    /// Holds the folder of the store until the case is over.
    _dir: tempfile::TempDir,
    pub store: Store,
    pub disk: Arc<DiskDouble>,
    pub members: BTreeMap<String, Member>,
    /// What a step of that event or name gave.
    pub results: HashMap<String, String>,
    pub processes: HashMap<String, Told>,
    pub first_process: Option<other::Writer>,
    /// Steps that changed bytes of the main session's file.
    pub changed_by: Vec<String>,
    /// Steps that were left out, since the library can't do them yet.
    pub skipped: Vec<String>,
    /// What whoever read the events in had to say of them.
    pub said_at_import: Vec<Diagnostic>,
    /// The model's view just before the first close.
    pub model_before_close: Option<Vec<ProjectedMessage>>,
    /// The events that were told, by word, where the case asks for them again.
    pub told: HashMap<String, Json>,
    /// The main session's file as the last append left it, where the case asks for it.
    pub base: Option<Vec<u8>>,
    /// The main session's file before a fork.
    pub before_fork: Option<Vec<u8>>,
    /// Mode and path of every file and folder, at each look.
    pub modes: Vec<(String, PathBuf)>,
    pub grep_hits: Option<usize>,
    /// Every file of the store and its bytes, as the damage left them.
    pub files_after_damage: BTreeMap<PathBuf, Vec<u8>>,
    clock: Arc<CaseClock>,
}

#[derive(Debug, Default)]
struct CaseClock {
    now: AtomicI64,
    randoms: AtomicU64,
}

impl Clock for CaseClock {
    fn now(&self) -> i64 {
        self.now.load(Ordering::Relaxed)
    }

    fn random(&self) -> u64 {
        self.randoms.fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::Relaxed)
    }
}

impl World {
    pub fn new(case: Case) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let (disk, clock) = (DiskDouble::new(), Arc::new(CaseClock::default()));
        // No MARK is to come by itself while a slow machine runs the case.
        let log = LogOptions::default().window(Duration::from_secs(3600));
        let options = SessionOptions { fs: disk.clone(), clock: clock.clone(), log };
        let store = Store::at(dir.path().join("store"), options);
        Self {
            case,
            _dir: dir,
            store,
            disk,
            members: BTreeMap::new(),
            results: HashMap::new(),
            processes: HashMap::new(),
            first_process: None,
            changed_by: Vec::new(),
            skipped: Vec::new(),
            said_at_import: Vec::new(),
            model_before_close: None,
            told: HashMap::new(),
            base: None,
            before_fork: None,
            modes: Vec::new(),
            grep_hits: None,
            files_after_damage: BTreeMap::new(),
            clock,
        }
    }

    /// Makes the sessions, kills and damages them.
    pub fn build(&mut self) {
        if let Some(sessions) = self.case.given["store"]["sessions"].as_object().cloned() {
            return self.build_store(&sessions);
        }
        self.create(MAIN);
        let by_session = self.case.given.get("clock").is_some();
        let raw = match self.case.given["via"].as_str() {
            None | Some("append") => false,
            Some("raw") => true,
            Some(other) => panic!("via {other}"),
        };
        let events: Vec<(u64, Json)> = self.case.events().into_iter().map(|(n, event)| (n, event.clone())).collect();
        let mut lines = Vec::new();
        for (times, event) in events {
            for number in 0..times {
                let event = self.with_also(filled(&event, number));
                if raw {
                    lines.push(event.to_string());
                    continue;
                }
                // A sync for each of thousands would take minutes; the last one makes all of them durable.
                let durability = if number + 1 < times { Durability::Os } else { Durability::Sync };
                let outcome = self.tell(MAIN, &event, by_session, durability);
                assert_eq!(outcome, "ok", "{event}");
            }
        }
        lines.extend(self.case.list("importJson").iter().map(|line| line.as_str().unwrap().to_owned()));
        if !lines.is_empty() {
            self.import(&lines);
        }
        if self.case.expect.contains_key("fuzz") {
            self.base = Some(std::fs::read(&self.member(MAIN).path).unwrap());
        }
        let damage = self.case.list("damage").to_vec();
        if !damage.is_empty() {
            let member = self.members.get_mut(MAIN).unwrap();
            disk::kill(member.session.take().unwrap());
            for one in &damage {
                disk::damage(&member.path, &member.names, one);
            }
        }
    }

    fn build_store(&mut self, sessions: &serde_json::Map<String, Json>) {
        for (name, given) in sessions {
            self.create(name);
            if let Some(cwd) = given["cwd"].as_str() {
                let meta = SessionMeta { cwd: Some(cwd.to_owned()), ..SessionMeta::default() };
                drop(self.member(name).session.as_ref().unwrap().set_meta(meta, Durability::Sync).unwrap());
            }
            for event in list(&given["events"]) {
                assert_eq!(self.tell(name, event, false, Durability::Sync), "ok", "{event}");
            }
            disk::kill(self.member_mut(name).session.take().unwrap());
        }
        let damage = list(&self.case.given["store"]["damage"]).to_vec();
        for one in &damage {
            match one["op"].as_str().unwrap() {
                // There is no catalogue: everything that is there is a session's own file.
                "delete_catalogue" => assert_eq!(disk::files(self.store.dir()).len(), sessions.len()),
                "stray_file" => {
                    let name =
                        one["name"].as_str().unwrap().replace("of-the-same-extension", seslog::session::EXTENSION);
                    std::fs::write(self.store.dir().join(name), one["bytes"].as_str().unwrap()).unwrap();
                }
                _ => {
                    let member = self.member(one["session"].as_str().unwrap());
                    disk::damage(&member.path, &member.names, one);
                }
            }
        }
        let files = disk::files(self.store.dir());
        self.files_after_damage = files.into_iter().map(|path| (path.clone(), std::fs::read(path).unwrap())).collect();
    }

    fn create(&mut self, name: &str) {
        let session = self.store.create().unwrap();
        let member = Member { path: session.path().to_owned(), session: Some(session), ..Member::default() };
        self.members.insert(name.to_owned(), member);
    }

    pub fn member(&self, name: &str) -> &Member {
        self.members.get(name).unwrap_or_else(|| panic!("there is no session {name}"))
    }

    pub fn member_mut(&mut self, name: &str) -> &mut Member {
        self.members.get_mut(name).unwrap_or_else(|| panic!("there is no session {name}"))
    }

    /// Appends an event; returns `ok` or the error by sense.
    pub fn tell(&mut self, name: &str, event: &Json, by_session: bool, durability: Durability) -> String {
        self.remember(event);
        let clock = self.clock.clone();
        let member = self.member_mut(name);
        member.told += 1;
        let at = event["at"].as_i64().unwrap_or((member.told - 1) * 1000);
        clock.now.store(at, Ordering::Relaxed);
        let made = if by_session { Made::BySession } else { Made::ByCase { at } };
        let Some(session) = &member.session else {
            return member.opens.last().map_or_else(|| "error:Closed".to_owned(), |open| open.outcome.clone());
        };
        append(session, &mut member.names, event, made, durability)
            .map_or_else(|e| error_by_sense(&e), |_| "ok".to_owned())
    }

    /// Puts lines into the main session through the import, which takes what the append would refuse.
    fn import(&mut self, lines: &[String]) {
        for line in lines {
            self.remember(&serde_json::from_str(line).unwrap_or_default());
        }
        let member = self.members.get_mut(MAIN).unwrap();
        let session = member.session.as_ref().unwrap();
        let report = import_events(session, &self.case.id, read_events(lines.join("\n").as_bytes())).unwrap();
        assert_eq!((report.read, report.refused.len(), report.bad_lines.len()), (lines.len(), 0, 0), "{report:#?}");
        member.told = i64::try_from(lines.len()).unwrap();
        for event in log_events(session.log()) {
            if let Some(word) = &event.original_id {
                member.names.learn(word, event.id);
            }
        }
        let renamed = report.renamed.iter().map(|renamed| ("duplicate_id", renamed.event.parse().unwrap()));
        self.said_at_import.extend(renamed.map(|(code, id)| Diagnostic::new(code, [id], "other content has its id")));
        // The report counts what was replaced; which line it was in, a look at each one tells.
        if report.replaced_surrogates + report.replaced_bytes > 0 {
            let is_lossy = |line: &&String| {
                let mut reader = read_events(line.as_bytes());
                reader.by_ref().for_each(drop);
                !reader.lossy().is_none()
            };
            let words = lines.iter().filter(is_lossy).filter_map(|line| record(line).id);
            let ids = words.map(|word| member.names.id(&word));
            self.said_at_import.extend(ids.map(|id| Diagnostic::new("invalid_unicode_replaced", [id], "half a pair")));
        }
    }

    fn remember(&mut self, event: &Json) {
        let wanted = list(self.case.expect.get("round_trip").unwrap_or(&Json::Null));
        if wanted.contains(&event["id"]) {
            self.told.insert(event["id"].as_str().unwrap().to_owned(), event.clone());
        }
    }

    /// What stands under `also`: a text with the bytes of a whole frame, put behind an event's output.
    fn with_also(&self, mut event: Json) -> Json {
        let also = &self.case.given["also"];
        if also.is_null() || event["id"] != also["in_event"] {
            return event;
        }
        assert_eq!(also["encoded_as"], "latin-1");
        let member = self.member(MAIN);
        let id = member.names.id(also["append_text_part_with_bytes_of_frame"].as_str().unwrap());
        let extent = extent(&member.path, id);
        let bytes = &std::fs::read(&member.path).unwrap()[extent.from..extent.to];
        let text: String = bytes.iter().copied().map(char::from).collect();
        let output = event["content"][0]["output"].as_array_mut().expect("an output of parts");
        output.push(json!({"type": "text", "text": text}));
        event
    }

    /// Opens a session for writing and notes what came of it.
    pub fn open(&mut self, name: &str) {
        let options = self.store.options().clone();
        let member = self.member_mut(name);
        let start = Instant::now();
        let opened = Session::open(&member.path, options.clone());
        let took = start.elapsed();
        let mut one = OneOpen { outcome: String::new(), report: None, events: Vec::new(), bytes_read: 0, took };
        match opened {
            Ok(session) => {
                one.bytes_read = session.log().io().bytes_read;
                one.outcome = outcome(session.report()).to_owned();
                one.report = Some(session.report().clone());
                member.session = Some(session);
            }
            Err(error) => {
                one.outcome = match &error {
                    SessionError::Log(LogError::Damaged { .. }) => "corrupt".to_owned(),
                    _ => error_by_sense(&error),
                };
            }
        }
        // Whoever can't write it reads it.
        if let Ok(reader) = SessionReader::open(&member.path, options.fs) {
            one.events = log_events(reader.log()).iter().filter_map(|event| member.names.word_of(event)).collect();
            if one.outcome == "corrupt" {
                assert_eq!(outcome(reader.report()), "corrupt", "writer and reader do not agree");
            }
            one.report.get_or_insert_with(|| reader.report().clone());
        }
        member.opens.push(one);
    }

    /// Closes a session that is open. After a fault a close may fail.
    pub fn close(&mut self, name: &str) {
        let is_main = name == MAIN;
        let Some(session) = self.member_mut(name).session.take() else { return };
        if is_main && self.model_before_close.is_none() {
            let model = session.with_state(|state| project(state, View::Model, &Options::default()));
            self.model_before_close = model.ok().map(|model| model.messages);
        }
        let had_fault = self.results.values().any(|result| result.starts_with("error:"));
        let closed = session.close();
        assert!(closed.is_ok() || had_fault, "{closed:?}");
    }

    /// What is there to be seen of a session now.
    pub fn look(&self, name: &str) -> Look {
        let member = self.member(name);
        let mut look = look(&self.store, &member.path, member.names.clone(), member.opens.last(), self.options());
        look.said_at_import.clone_from(&self.said_at_import);
        look.needs_assembly = needs_assembly(&self.case);
        look
    }

    /// What was to be seen at the event of this word.
    pub fn look_at(&self, now: &Look, word: &str) -> Look {
        let reader = SessionReader::open(&self.member(MAIN).path, self.disk.clone()).unwrap();
        let state = reader.at(now.names.id(word)).unwrap();
        Look { whole: state.clone(), state, names: now.names.clone(), events: now.events.clone(), ..now.bare() }
    }

    /// What is to be seen of a copy of the main session.
    pub fn look_at_file(&self, path: &Path, report: ResumeReport) -> Look {
        let names = self.member(MAIN).names.clone();
        let mut look = look(&self.store, path, names, None, self.options());
        look.opened = Some(outcome(&report).to_owned());
        look.report = Some(report);
        look
    }

    /// A file with these bytes, in a folder of its own.
    pub fn file_of(&self, bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(self.member(MAIN).path.file_name().unwrap());
        std::fs::write(&path, bytes).unwrap();
        (dir, path)
    }

    /// A copy of the main session's file as it is now.
    pub fn copy_of_main(&self) -> (tempfile::TempDir, PathBuf) {
        self.file_of(&std::fs::read(&self.member(MAIN).path).unwrap())
    }

    /// Checks that a branch ends at this word, and that one can go there.
    pub fn branch(&self, look: &Look, word: &str) {
        let leaf = look.names.id(word);
        let branches = look.whole.branches();
        assert!(branches.contains(&leaf), "{word} is no leaf of {:?}", look.names.words(branches));
        let (_dir, path) = self.copy_of_main();
        let session = Session::open(&path, self.store.options().clone()).unwrap();
        drop(session.rewind(Some(leaf), Durability::Sync).unwrap());
        assert_eq!(session.with_state(|state| state.leaf().map(|entry| entry.event.id)).unwrap(), Some(leaf));
    }

    /// Tells the case's events to a new session through the append; returns what the first refusal was.
    pub fn first_refusal_by_append(&self) -> String {
        let dir = tempfile::tempdir().unwrap();
        let session = Session::create(&dir.path().join("again"), self.store.options().clone()).unwrap();
        let mut names = Names::default();
        for (_, event) in self.case.events() {
            let outcome = append(&session, &mut names, event, Made::ByCase { at: 0 }, Durability::Os);
            if let Err(error) = outcome {
                return error_by_sense(&error);
            }
        }
        "ok".to_owned()
    }

    /// The options of the views that the case gives as context.
    pub fn options(&self) -> Options {
        let mut options = Options::default();
        let limit = self.case.given["context"]["tool_result_soft_limit_chars"].as_u64();
        options.tool_result_soft_limit_chars = limit.map(|limit| usize::try_from(limit).unwrap());
        options
    }
}

impl Look {
    /// Nothing but what the case says of views.
    fn bare(&self) -> Self {
        Self {
            names: Names::default(),
            events: Vec::new(),
            state: State::new(),
            whole: State::new(),
            opened: None,
            report: None,
            said_at_import: Vec::new(),
            needs_assembly: self.needs_assembly,
            options: self.options.clone(),
        }
    }
}

/// What is there to be seen of the session in this file.
pub fn look(store: &Store, path: &Path, names: Names, open: Option<&OneOpen>, options: Options) -> Look {
    let reader = SessionReader::open(path, store.options().fs.clone()).unwrap();
    let whole = store.history(&reader).unwrap();
    assert_eq!(whole.missing_parent, None);
    Look {
        names,
        events: log_events(reader.log()),
        state: reader.state().clone(),
        whole: whole.state,
        opened: open.map(|open| open.outcome.clone()),
        report: open.map_or_else(|| Some(reader.report().clone()), |open| open.report.clone()),
        said_at_import: Vec::new(),
        needs_assembly: false,
        options,
    }
}

fn outcome(report: &ResumeReport) -> &'static str {
    match report.open {
        Opened::Clean => "clean",
        Opened::Recovered => "recovered",
        Opened::Damaged => "corrupt",
        other => panic!("{other:?} is new to the harness"),
    }
}

/// An error's name as the cases write it: by its sense, not by its variant.
pub fn error_by_sense(error: &SessionError) -> String {
    let sense = match error {
        SessionError::Log(LogError::Io { .. } | LogError::Full { .. }) => "Io",
        SessionError::Log(LogError::Poisoned { .. }) => "Poisoned",
        SessionError::Log(LogError::Locked { .. }) => "Locked",
        SessionError::Log(LogError::Damaged { .. }) => "Damaged",
        SessionError::Log(LogError::NotALog { .. }) => "NotALog",
        SessionError::Log(LogError::NotFound { .. }) | SessionError::NoSuchSession { .. } => "NotFound",
        SessionError::UnknownParent { .. } => "UnknownParent",
        SessionError::NoSuchEvent { .. } => "UnknownEvent",
        SessionError::DuplicateId { .. } => "DuplicateId",
        SessionError::Refused { .. } => "Refused",
        other => panic!("{other:?} is new to the harness"),
    };
    format!("error:{sense}")
}
