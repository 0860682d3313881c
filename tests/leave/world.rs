//! A store to import into, and the samples of all formats.

use std::collections::BTreeMap;
use std::path::Path;

use seslog::event::Uuid;
use seslog::interop::{Agent, WriteReport, claude_code, codex, pi, write_as};
use seslog::log::RealFs;
use seslog::session::{History, Session, SessionOptions, SessionReader, State, Store};

pub(crate) const AGENTS: [(Agent, &str); 3] =
    [(Agent::ClaudeCode, "claude-code"), (Agent::Codex, "codex"), (Agent::Pi, "pi")];

/// The sample files of an agent, by name.
pub(crate) fn samples(of: Agent) -> BTreeMap<String, Vec<u8>> {
    let (_, dir) = AGENTS.into_iter().find(|(agent, _)| *agent == of).unwrap();
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(dir);
    let files = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|kind| kind == "jsonl"));
    files.map(|path| (path.file_stem().unwrap().to_string_lossy().into_owned(), std::fs::read(path).unwrap())).collect()
}

/// A directory with a store in it.
pub(crate) struct World {
    pub(crate) store: Store,
    _dir: Option<tempfile::TempDir>,
}

impl World {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        Self { store: Store::at(dir.path(), SessionOptions::default()), _dir: Some(dir) }
    }

    /// A store that is there already.
    pub(crate) fn of(store: Store) -> Self {
        Self { store, _dir: None }
    }

    /// A session's whole story.
    pub(crate) fn history(&self, session: &Session) -> History {
        session.sync().unwrap();
        let reader = SessionReader::open(session.path(), RealFs::shared()).unwrap();
        self.store.history(&reader).unwrap()
    }

    /// The session that a file of this agent's makes.
    pub(crate) fn import(&self, agent: Agent, bytes: &[u8]) -> Session {
        let open = |name: Option<&str>| {
            let id = name.and_then(|name| Uuid::try_parse(name).ok());
            match id {
                Some(id) => self.store.open_or_create(id).unwrap(),
                None => self.store.create().unwrap(),
            }
        };
        let refused = match agent {
            Agent::ClaudeCode => {
                let read = claude_code::read(bytes, &claude_code::Options::default()).unwrap();
                let session = open(read.session_id.as_deref());
                let report = read.feed(&session, "key").unwrap().0;
                (session, report.refused)
            }
            Agent::Codex => {
                let read = codex::read(bytes, &codex::Options::default()).unwrap();
                let session = open(read.session_id.as_deref());
                let report = read.feed(&session, "key").unwrap().0;
                (session, report.refused)
            }
            _ => {
                let read = pi::read(bytes, &pi::Options::default()).unwrap();
                let session = open(read.session_id.as_deref());
                let report = read.feed(&session, "key").unwrap().0;
                (session, report.refused)
            }
        };
        assert_eq!(refused.1, []);
        refused.0
    }

    /// The session as a file of this agent's.
    pub(crate) fn export(&self, session: &Session, agent: Agent) -> (Vec<u8>, WriteReport) {
        session.sync().unwrap();
        let reader = SessionReader::open(session.path(), RealFs::shared()).unwrap();
        let history = self.store.history(&reader).unwrap();
        let mut out = Vec::new();
        let report = write_as(agent, &reader, &history, &mut out).unwrap();
        (out, report)
    }
}

pub(crate) fn whole(session: &Session) -> State {
    session.whole_state().unwrap()
}

/// The names of what differs.
pub(crate) fn named(report: &WriteReport) -> Vec<&'static str> {
    report.differences.iter().map(|difference| difference.what).collect()
}
