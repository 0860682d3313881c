//! What a list of sessions shows of this one: each field's last word.

use super::item::text;
use crate::event::{Fields, SessionMeta, Value};
use crate::interop::limits::{WORD_LEN_MAX, word};
use crate::projection::{BRANCH_SUMMARY_PREFIX, COMPACT_SUMMARY_PREFIX};

/// The longest title that is made of what was said, in characters.
const TITLE_LEN_MAX: usize = 120;

/// Stands before what a person asked, where an editor put its own state in front.
const REQUEST_MARK: &str = "## My request for Codex:";

/// The metadata of a file.
#[derive(Debug, Default)]
pub(super) struct Folded {
    /// The session that the file is of: the first one that it names.
    pub(super) id: Option<String>,
    pub(super) forked_from: Option<String>,
    pub(super) parent: Option<String>,
    pub(super) provider: Option<String>,
    pub(super) model: Option<String>,
    /// Sessions named, one for each record that does.
    pub(super) count: usize,
    cwd: Option<String>,
    name: Option<String>,
    said_first: Option<String>,
    agent: Option<String>,
    other: Fields,
    /// The last line that changed any of it.
    changed_at: u64,
}

/// Fields of a session that its meta keeps, and the names that they have there.
const KEPT: [(&str, &str); 8] = [
    ("cli_version", "version"),
    ("originator", "originator"),
    ("source", "source"),
    ("thread_source", "threadSource"),
    ("model_provider", "modelProvider"),
    ("agent_role", "agentRole"),
    ("agent_path", "agentPath"),
    ("history_mode", "historyMode"),
];

impl Folded {
    /// Takes what a record says of its session. Only the first one says whose session it is: others are of the
    /// session that was forked from, or the same again at each resume.
    pub(super) fn session(&mut self, line: u64, payload: &Value) {
        self.count += 1;
        let id = text(payload, "id");
        if self.count > 1 && id != self.id.as_deref() {
            return;
        }
        if self.id.is_none() {
            self.id = id.map(|id| word(id).to_owned());
        }
        let mut is_new = set(&mut self.cwd, text(payload, "cwd"));
        is_new |= set(&mut self.forked_from, text(payload, "forked_from_id"));
        is_new |= set(&mut self.parent, text(payload, "parent_thread_id").or_else(|| spawned_by(payload)));
        is_new |= set(&mut self.agent, text(payload, "agent_nickname"));
        is_new |= set(&mut self.provider, text(payload, "model_provider"));
        for (name, ours) in KEPT {
            is_new |= self.keep(ours, payload.get(name));
        }
        is_new |= self.keep("gitBranch", payload.get("git").and_then(|git| git.get("branch")));
        let forked_from = self.forked_from.clone().map(Value::Text);
        is_new |= self.keep("forkedFrom", forked_from.as_ref());
        let parent = self.parent.clone().map(Value::Text);
        is_new |= self.keep("parentThread", parent.as_ref());
        self.note(is_new, line);
    }

    /// Takes the settings of a turn.
    pub(super) fn settings(&mut self, line: u64, payload: &Value) {
        let mut is_new = set(&mut self.cwd, text(payload, "cwd"));
        is_new |= set(&mut self.model, text(payload, "model"));
        self.note(is_new, line);
    }

    /// A name was given.
    pub(super) fn named(&mut self, line: u64, payload: &Value) {
        let name = text(payload, "thread_name").or_else(|| text(payload, "name"));
        let is_new = set(&mut self.name, name.filter(|name| !name.trim().is_empty()));
        self.note(is_new, line);
    }

    /// A person said this.
    pub(super) fn said<'t>(&mut self, line: u64, texts: impl Iterator<Item = &'t str>) {
        if self.said_first.is_none() {
            // A summary that stands as the user's text is nobody's request.
            let is_summary =
                |text: &&str| [COMPACT_SUMMARY_PREFIX, BRANCH_SUMMARY_PREFIX].iter().any(|of| text.starts_with(of));
            self.said_first = texts.filter(|text| !is_summary(text)).find_map(title_of);
            self.note(self.said_first.is_some(), line);
        }
    }

    fn keep(&mut self, name: &str, value: Option<&Value>) -> bool {
        let value = match value {
            None | Some(Value::Null) => return false,
            Some(Value::Text(text)) => Value::from(word(text)),
            // What is longer stands in the record only.
            Some(other) if serde_json::to_string(other).is_ok_and(|json| json.len() > WORD_LEN_MAX) => return false,
            Some(other) => other.clone(),
        };
        match self.other.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) if *old == value => return false,
            Some((_, old)) => *old = value,
            None => self.other.push((name.to_owned(), value)),
        }
        true
    }

    fn note(&mut self, is_new: bool, line: u64) {
        if is_new {
            self.changed_at = line;
        }
    }

    /// The name that the session was given, or else what was said first.
    pub(super) fn title(&self) -> Option<&str> {
        self.name.as_deref().or(self.said_first.as_deref())
    }

    /// All of it as a session's meta, and the line that said the last new word.
    pub(super) fn session_meta(&self) -> Option<(u64, SessionMeta)> {
        let meta = SessionMeta {
            title: self.title().map(str::to_owned),
            tags: Vec::new(),
            cwd: self.cwd.clone(),
            model: self.model.clone(),
            // Where no agent is named, the program is the agent: so a list tells whose session it was.
            agent: self.agent.clone().or_else(|| Some(super::FORMAT.to_owned())),
            extra: self.other.clone(),
        };
        (self.changed_at > 0).then_some((self.changed_at, meta))
    }
}

/// The session whose agent started this one, as some versions say it.
fn spawned_by(payload: &Value) -> Option<&str> {
    let agent = payload.get("source")?.get("subagent")?;
    let spawn = agent.get("thread_spawn").unwrap_or(agent);
    text(spawn, "parent_thread_id")
}

/// The first line of what a person asked.
fn title_of(text: &str) -> Option<String> {
    let asked = text.split_once(REQUEST_MARK).map_or(text, |(_, asked)| asked);
    let is_asked = |line: &&str| !line.is_empty() && !line.starts_with("<image") && !line.starts_with("</image");
    let line = asked.lines().map(str::trim).find(is_asked)?;
    Some(line.chars().take(TITLE_LEN_MAX).collect())
}

/// Whether the word is a new one; then it holds.
fn set(old: &mut Option<String>, new: Option<&str>) -> bool {
    let new = new.map(word);
    let is_new = new.is_some() && old.as_deref() != new;
    if is_new {
        *old = new.map(str::to_owned);
    }
    is_new
}
