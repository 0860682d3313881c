//! Sub-agents are sessions of their own. Here each is linked to the call that started it: the agent's session names its
//! parent's call, and the parent names the agent's session by that call.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use serde::Serialize;
use seslog::event::{Body, Fields, Kind, SessionMeta, ToolOutput, Uuid, Value, foreign_id};
use seslog::log::Durability;
use seslog::session::{State, Store};

use crate::agents::SUB_AGENTS;
use crate::exit::{Failure, Outcome};

/// The call in the parent's session, in the meta of the agent's.
const PARENT_CALL: &str = "parentCall";

/// The longest file beside an agent's that is read, in bytes.
const META_LEN_MAX: u64 = 1 << 20;

/// An agent's own session, and what its file says of where it belongs.
#[derive(Debug, Clone)]
pub(super) struct SubAgent {
    pub(super) format: &'static str,
    /// What the file calls the session that it worked for.
    pub(super) parent: String,
    /// What that session calls the agent.
    pub(super) name: String,
    /// The call, and the agent above, as a file beside it names them.
    pub(super) call: Option<String>,
    pub(super) agent_above: Option<String>,
    /// The call is known already.
    pub(super) is_linked: bool,
}

impl SubAgent {
    /// Takes over what the file beside an agent's own says, if there is one.
    pub(super) fn read_meta(&mut self, file: &Path) {
        let beside = file.with_extension("meta.json");
        let is_small = std::fs::metadata(&beside).is_ok_and(|about| about.is_file() && about.len() <= META_LEN_MAX);
        let text = is_small.then(|| std::fs::read(&beside).ok()).flatten();
        let Some((meta, _)) = text.and_then(|text| Value::parse_json(&text).ok()) else { return };
        let word = |name: &str| meta.get(name).and_then(Value::as_text).map(str::to_owned);
        self.call = word("toolUseId");
        self.agent_above = word("parentAgentId");
    }

    /// Whether a session's meta names the call already.
    pub(super) fn is_linked_in(meta: &SessionMeta) -> bool {
        meta.extra.iter().any(|(name, _)| name == PARENT_CALL)
    }
}

/// An agent that was imported.
#[derive(Debug)]
pub(super) struct Child {
    pub(super) file: String,
    pub(super) session: String,
    pub(super) agent: SubAgent,
}

/// What became of the sub-agents.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Links {
    /// Those that are linked to the call that started them.
    pub(super) linked: usize,
    /// Those that are not, and why.
    pub(super) not_placed: Vec<NotPlaced>,
}

/// A sub-agent whose call is not known.
#[derive(Debug, Serialize)]
pub(super) struct NotPlaced {
    pub(super) file: String,
    pub(super) why: String,
}

/// Links agents to their calls. One that can't be linked stops no other.
pub(super) fn link(children: Vec<Child>, store: &Store) -> Links {
    let mut links = Links::default();
    let mut by_parent: BTreeMap<String, Vec<Child>> = BTreeMap::new();
    for child in children {
        if child.agent.is_linked {
            links.linked += 1;
            continue;
        }
        if child.agent.name.starts_with("acompact") {
            links
                .not_placed
                .push(NotPlaced { file: child.file, why: "it summed the session up; no call began it".into() });
            continue;
        }
        by_parent.entry(parent_of(&child.agent, store)).or_default().push(child);
    }
    for (parent, children) in by_parent {
        let missed: Vec<String> = children.iter().map(|child| child.file.clone()).collect();
        if let Err(failure) = link_to(&parent, children, store, &mut links) {
            let why = match failure {
                Failure::Told(told) => told.message,
                Failure::PipeClosed => return links,
            };
            links.not_placed.extend(missed.into_iter().map(|file| NotPlaced { file, why: why.clone() }));
        }
    }
    links.not_placed.sort_by(|a, b| a.file.cmp(&b.file));
    links
}

/// The session in the store that an agent worked for: another agent's, where that one is named.
fn parent_of(agent: &SubAgent, store: &Store) -> String {
    let above = agent.agent_above.as_ref().map(|above| parent_id(agent.format, &format!("{}/{above}", agent.parent)));
    let above = above.filter(|above| store.resolve(above).is_ok());
    above.unwrap_or_else(|| parent_id(agent.format, &agent.parent))
}

fn link_to(parent: &str, children: Vec<Child>, store: &Store, links: &mut Links) -> Outcome<()> {
    let reader = store.read(parent)?;
    let state = reader.whole_state()?;
    let calls = Calls::of(&state);
    let old = state.meta().extra.iter().find(|(name, _)| name == SUB_AGENTS).and_then(|(_, value)| value.as_map());
    let mut named: Fields = old.unwrap_or_default().to_vec();
    let before = named.len();
    let mut placed = Vec::new();
    for child in children {
        let Some(call) = calls.that_started(&child.agent) else {
            links.not_placed.push(NotPlaced { file: child.file, why: format!("no call in session {parent} names it") });
            continue;
        };
        add_to(&mut named, &call, &child.session);
        placed.push((child, call));
    }
    if placed.is_empty() {
        return Ok(());
    }
    // The parent first: an agent whose session says that it is linked is not looked at again.
    if old.is_none_or(|old| old != named.as_slice()) || named.len() != before {
        say(store, parent, (SUB_AGENTS, Value::Map(named)))?;
    }
    for (child, call) in placed {
        say(store, &child.session, (PARENT_CALL, call.into()))?;
        links.linked += 1;
    }
    Ok(())
}

/// Names one more session by the call; several agents may be one call's.
fn add_to(named: &mut Fields, call: &str, session: &str) {
    let Some((_, known)) = named.iter_mut().find(|(known, _)| known == call) else {
        return named.push((call.to_owned(), session.into()));
    };
    let of_call: Vec<Value> = known.as_list().map_or_else(|| vec![known.clone()], <[Value]>::to_vec);
    if !of_call.iter().any(|known| known.as_text() == Some(session)) {
        *known = of_call.into_iter().chain([session.into()]).collect::<Vec<Value>>().into();
    }
}

/// Writes one word into a session's meta.
fn say(store: &Store, session: &str, (name, value): (&str, Value)) -> Outcome<()> {
    let session = store.open(session)?;
    let meta = SessionMeta { extra: vec![(name.to_owned(), value)], ..SessionMeta::default() };
    let _ = session.append(meta, Durability::Os)?;
    session.close()?;
    Ok(())
}

/// What a session says of the agents that its calls started.
#[derive(Default)]
struct Calls {
    /// The call by the agent's name.
    by_agent: HashMap<String, String>,
    /// All calls.
    all: HashMap<String, ()>,
    /// The call by the thread that it gave back, or that the program told of.
    by_thread: HashMap<Uuid, String>,
}

impl Calls {
    fn of(state: &State) -> Self {
        let mut calls = Self::default();
        let mut threads: Vec<(Uuid, String)> = Vec::new();
        for entry in state.entries() {
            match &entry.event.body {
                Body::Message(message) => {
                    calls.all.extend(message.calls().map(|call| (call.id.clone(), ())));
                    for result in message.results() {
                        let raw = result.raw.as_ref().and_then(|raw| raw.get("agentId")).and_then(Value::as_text);
                        calls.by_agent.extend(raw.map(|agent| (agent.to_owned(), result.call_id.clone())));
                        if let ToolOutput::Text(text) = &result.output {
                            threads.extend(ids_in(text).map(|id| (id, result.call_id.clone())));
                        }
                    }
                    if let Kind::Progress(progress) = &message.kind {
                        let agent =
                            progress.data.as_ref().and_then(|data| data.get("agentId")).and_then(Value::as_text);
                        calls.by_agent.extend(agent.map(str::to_owned).zip(progress.parent_tool_use_id.clone()));
                    }
                }
                Body::Extension(extension) if extension.name.starts_with("codex.event_msg/") => {
                    let payload = extension.payload.get("payload");
                    let call = payload.and_then(|payload| payload.get("call_id")).and_then(Value::as_text);
                    if let (Some(call), Some(payload)) = (call, payload) {
                        let text = serde_json::to_string(payload).unwrap_or_default();
                        threads.extend(ids_in(&text).map(|id| (id, call.to_owned())));
                    }
                }
                _ => {}
            }
        }
        for (thread, call) in threads {
            if calls.all.contains_key(&call) {
                calls.by_thread.entry(thread).or_insert(call);
            }
        }
        calls
    }

    fn that_started(&self, agent: &SubAgent) -> Option<String> {
        let named = agent.call.as_ref().filter(|call| self.all.contains_key(*call));
        let by_name = || self.by_agent.get(&agent.name).filter(|call| self.all.contains_key(*call));
        // Codex names a thread where it tells of its making: the first call that does is the one that made it.
        let is_thread = agent.format == seslog::interop::codex::FORMAT;
        let by_text = || self.by_thread.get(&Uuid::try_parse(&agent.name).ok().filter(|_| is_thread)?);
        named.or_else(by_name).or_else(by_text).cloned()
    }
}

/// The ids in a text, each a word of its own.
fn ids_in(text: &str) -> impl Iterator<Item = Uuid> {
    const LEN: usize = 36;
    let words = text.split(|c: char| !c.is_ascii_hexdigit() && c != '-');
    words.filter(|word| word.len() == LEN).filter_map(|word| Uuid::try_parse(word).ok())
}

/// The session's id in the store, of one that an agent's file calls so.
pub(super) fn parent_id(format: &str, name: &str) -> String {
    Uuid::try_parse(name).unwrap_or_else(|_| foreign_id(format, "session", name, 1)).to_string()
}
