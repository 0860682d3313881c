//! The store that a case plays in.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value as Json;
use seslog::context::Config;
use seslog::log::{Durability, LogError, LogOptions};
use seslog::projection::{Diagnostic, Options, ProjectedMessage, View, project};
use seslog::session::{
    Clock, Opened, ResumeReport, Session, SessionError, SessionOptions, SessionReader, State, Store,
};

use seslog::wire::MediaLimits;

use super::case::Case;
use super::disk_double::{DiskDouble, disk_double};
use super::draft::{Made, append};
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
    /// Folders beside it, for what is salvaged.
    pub outside: Vec<tempfile::TempDir>,
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
        let (disk, clock) = (disk_double(), Arc::new(CaseClock::default()));
        // No MARK is to come by itself while a slow machine runs the case.
        let log = LogOptions::default().window(Duration::from_secs(3600));
        let options = SessionOptions { fs: disk.clone(), clock: clock.clone(), log };
        let store = Store::at(dir.path().join("store"), options);
        Self {
            case,
            _dir: dir,
            store,
            outside: Vec::new(),
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
        look.config = config(&self.case);
        look.limits = limits(&self.case);
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
            config: self.config.clone(),
            options: self.options.clone(),
            limits: self.limits,
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
        config: Config::default(),
        options,
        limits: None,
    }
}

/// What the case says of prompt assembly.
fn config(case: &Case) -> Config {
    let mut config = Config::default();
    let groups = case.given["context"]["keep_last_groups"].as_u64();
    config.truncate.keep_last_groups = groups.map(|groups| usize::try_from(groups).unwrap());
    config
}

/// Limits on pictures that the case sets; those that it does not name hold nothing back.
fn limits(case: &Case) -> Option<MediaLimits> {
    let limits = case.given["context"].get("limits")?;
    let number = |name: &str| limits[name].as_u64().unwrap();
    Some(MediaLimits {
        image_side_max: number("image_max_px"),
        many_images_above: usize::try_from(number("many_images_above")).unwrap(),
        many_image_side_max: number("many_image_max_px"),
        images_max: usize::try_from(number("max_images")).unwrap(),
        image_bytes_max: u64::MAX,
        inline_bytes_max: u64::MAX,
    })
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
