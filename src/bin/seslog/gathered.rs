//! What `seslog stat` gathers, event by event: nothing of a session is held but what is open in it.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use serde::Serialize;
use seslog::event::{
    Amend, Body, Custom, Event, Kind, Message, PartBody, ToolOutput, ToolResult, Usage, Uuid, Value, apply_patch,
    decode,
};
use seslog::interop::part_text;
use seslog::log::{LogReader, RealFs};

use crate::verify::what;

/// A longer pause between two events is no time that was worked in.
pub(crate) const PAUSE_MAX: i64 = 5 * 60 * 1_000_000;
/// So many requests and messages are remembered, to count what is said again of one of them once.
const REMEMBERED: usize = 256;
/// So many calls may wait for their results; of more the oldest have none that could be told apart.
const OPEN_CALLS_MAX: usize = 4096;

/// What was gathered of a session, or of many.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Gathered {
    /// Bytes on the disk and how many there are, by kind of event; what is the log's own too.
    pub(crate) kinds: BTreeMap<String, Amount>,
    /// Messages by role, as a list counts them.
    pub(crate) roles: BTreeMap<&'static str, u64>,
    pub(crate) tools: BTreeMap<String, Tool>,
    pub(crate) tokens: Tokens,
    /// What each model made.
    pub(crate) models: BTreeMap<String, Made>,
    #[serde(skip)]
    pub(crate) first_at: Option<i64>,
    #[serde(skip)]
    pub(crate) last_at: Option<i64>,
    /// Time between events that are no more than five minutes apart.
    pub(crate) active_seconds: f64,
    pub(crate) compactions: u64,
    /// Messages that were taken back.
    pub(crate) taken_back: u64,
}

#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(crate) struct Amount {
    pub(crate) count: u64,
    pub(crate) bytes: u64,
}

#[derive(Debug, Clone, Copy, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Tool {
    pub(crate) calls: u64,
    pub(crate) results: u64,
    pub(crate) errors: u64,
    /// Bytes of text that the results give the model.
    pub(crate) result_bytes: u64,
    /// Between the call's event and the result's, all together, and of how many.
    pub(crate) seconds: f64,
    pub(crate) timed: u64,
}

/// Tokens as providers reported them, each request once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Tokens {
    pub(crate) requests: u64,
    pub(crate) input: u64,
    pub(crate) output: u64,
    pub(crate) cache_read: u64,
    pub(crate) cache_write: u64,
    pub(crate) reasoning: u64,
}

#[derive(Debug, Clone, Copy, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Made {
    pub(crate) messages: u64,
    pub(crate) input: u64,
    pub(crate) output: u64,
}

/// What is open while one log is gone through.
#[derive(Default)]
struct Reading<'a> {
    gathered: Gathered,
    calls: HashMap<String, (String, i64)>,
    order: VecDeque<String>,
    /// What was counted for a request, or for a message without one, the latest first.
    reported: VecDeque<Report>,
    /// Who made the last messages, the latest first.
    made: VecDeque<(Uuid, String)>,
    dead: HashSet<Uuid>,
    said: HashMap<Uuid, Said>,
    /// Where several sessions are gone through: what was reported in any of them, so that a fork's copy counts once.
    once: Option<&'a Once>,
    before: Option<i64>,
}

/// Who says a message, and whether it counts.
struct Said {
    role: &'static str,
    /// Its metadata leaves it to be seen.
    is_shown: bool,
    /// An application's own message says by itself whether it is displayed.
    display: Option<bool>,
}

impl Said {
    fn counts(&self) -> bool {
        self.is_shown && self.display != Some(false)
    }
}

/// What a provider said that a request cost.
struct Report {
    request: Option<String>,
    message: Uuid,
    model: Option<String>,
    tokens: Tokens,
}

/// The events of sessions that hang together by forks that reported what they cost.
pub(crate) type Once = Mutex<HashSet<Uuid>>;

/// Gathers one log; also what stands before damage, with what the damage is.
pub(crate) fn gather(path: &Path, once: Option<&Once>) -> (Gathered, Option<String>) {
    let mut reading = Reading { once, ..Reading::default() };
    let problem = reading.read(path).err();
    for (id, Said { role, .. }) in reading.said.iter().filter(|(_, said)| said.counts()) {
        if reading.dead.contains(id) {
            reading.gathered.taken_back += 1;
        } else {
            *reading.gathered.roles.entry(role).or_default() += 1;
        }
    }
    (reading.gathered, problem)
}

impl Reading<'_> {
    fn read(&mut self, path: &Path) -> Result<(), String> {
        let (log, report) = LogReader::open(RealFs::shared(), path).map_err(|error| error.to_string())?;
        let page = Amount { count: 1, bytes: seslog::log::format::HEADER_PAGE_LEN };
        self.gathered.kinds.insert("log: header".to_owned(), page);
        for frame in log.frames(0) {
            let frame = frame.map_err(|error| error.to_string())?;
            let bytes = frame.head().total_len();
            if frame.frame_type().is_own() {
                self.amount(&format!("log: {}", format!("{:?}", frame.frame_type()).to_lowercase()), bytes);
                continue;
            }
            match decode(frame.payload()) {
                Ok(event) => {
                    self.amount(&what(&event), bytes);
                    self.take(&event);
                }
                Err(error) => return Err(format!("the event at byte {}: {error}", frame.offset())),
            }
        }
        report.damage.first().map_or(Ok(()), |damage| Err(damage.to_string()))
    }

    fn amount(&mut self, kind: &str, bytes: u64) {
        if !self.gathered.kinds.contains_key(kind) {
            self.gathered.kinds.insert(kind.to_owned(), Amount::default());
        }
        let amount = self.gathered.kinds.get_mut(kind).expect("it was put in");
        (amount.count, amount.bytes) = (amount.count + 1, amount.bytes + bytes);
    }

    fn take(&mut self, event: &Event) {
        // Where no time was known an import has put none in.
        if event.at > 0 {
            self.time(event.at);
        }
        // As a list has it: neither a title nor another program's own events.
        if !matches!(event.body, Body::SessionMeta(_) | Body::Extension(_)) {
            let (gathered, at) = (&mut self.gathered, event.at);
            gathered.first_at = Some(gathered.first_at.map_or(at, |first| first.min(at)));
            gathered.last_at = Some(gathered.last_at.map_or(at, |last| last.max(at)));
        }
        match &event.body {
            Body::Message(message) => self.message(event, message),
            Body::Tombstone(tombstone) => self.dead.extend(tombstone.targets.iter().copied()),
            Body::Amend(amend) => {
                self.shown(amend);
                if let Some((_, usage)) = amend.patch.iter().find(|(name, _)| name == "usage")
                    && self.is_first(event.id)
                {
                    let tokens = tokens_of(usage);
                    let made = self.made.iter().find(|(made, _)| *made == amend.target);
                    let model = made.map(|(_, model)| model.clone());
                    self.report(Report { request: None, message: amend.target, model, tokens });
                }
            }
            _ => {}
        }
    }

    /// Whether no other session has reported the same, as a fork and what it was forked from do.
    fn is_first(&self, id: Uuid) -> bool {
        self.once.is_none_or(|once| once.lock().unwrap_or_else(PoisonError::into_inner).insert(id))
    }

    /// A message may be hidden or shown later. A field of a patch takes the old one's place whole, so a message that has nothing
    /// else of this one tells what becomes of it.
    fn shown(&mut self, amend: &Amend) {
        let has = |field: &str| amend.patch.iter().any(|(name, _)| name == field);
        let Some(said) = self.said.get_mut(&amend.target).filter(|_| has("metadata") || has("display")) else { return };
        let mut message = Message::user("");
        if let Some(display) = said.display {
            message.kind = Kind::Custom(Custom { custom_type: String::new(), display, details: None });
        }
        let Ok(amended) = apply_patch(&message, &amend.patch) else { return };
        if has("metadata") {
            said.is_shown = is_shown(&amended);
        }
        if let Kind::Custom(custom) = &amended.kind {
            said.display = Some(custom.display);
        }
    }

    fn time(&mut self, at: i64) {
        let gathered = &mut self.gathered;
        let gap = self.before.map_or(0, |before| at.saturating_sub(before));
        gathered.active_seconds += if (0..=PAUSE_MAX).contains(&gap) { gap as f64 / 1e6 } else { 0.0 };
        self.before = Some(at);
    }

    fn message(&mut self, event: &Event, message: &Message) {
        let gathered = &mut self.gathered;
        match &message.kind {
            // No one's message: the mark of a compaction.
            Kind::CompactBoundary(_) => gathered.compactions += 1,
            Kind::CompactSummary(_) => {}
            kind if message.takes_part() => {
                let display = if let Kind::Custom(custom) = kind { Some(custom.display) } else { None };
                let said = Said { role: message.role.name(), is_shown: is_shown(message), display };
                self.said.insert(event.id, said);
            }
            _ => {}
        }
        let gathered = &mut self.gathered;
        if let Some(model) = &message.model {
            gathered.models.entry(model.clone()).or_default().messages += 1;
            // What it cost may be told later.
            self.made.push_front((event.id, model.clone()));
            self.made.truncate(REMEMBERED);
        }
        if let Some(usage) = &message.usage
            && self.is_first(event.id)
        {
            let (request, model) = (message.request_id.clone(), message.model.clone());
            self.report(Report { request, message: event.id, model, tokens: usage.into() });
        }
        for part in &message.content {
            match &part.body {
                PartBody::ToolCall(call) => {
                    self.gathered.tools.entry(call.name.clone()).or_default().calls += 1;
                    self.order.push_back(call.id.clone());
                    self.calls.insert(call.id.clone(), (call.name.clone(), event.at));
                    if self.order.len() > OPEN_CALLS_MAX
                        && let Some(oldest) = self.order.pop_front()
                    {
                        self.calls.remove(&oldest);
                    }
                }
                PartBody::ToolResult(result) => self.result(result, event.at),
                _ => {}
            }
        }
    }

    fn result(&mut self, result: &ToolResult, at: i64) {
        let call = self.calls.remove(&result.call_id);
        let name = call.as_ref().map(|(name, _)| name).or(result.name.as_ref());
        let tool = self.gathered.tools.entry(name.cloned().unwrap_or_else(|| "(no call)".to_owned())).or_default();
        tool.results += 1;
        tool.errors += u64::from(result.is_error);
        tool.result_bytes += match &result.output {
            ToolOutput::Text(text) => text.len() as u64,
            ToolOutput::Parts(parts) => parts.iter().map(|part| part_text(part).len() as u64).sum(),
        };
        if let Some(waited) = call.and_then(|(_, began)| at.checked_sub(began)).filter(|waited| *waited >= 0) {
            tool.seconds += waited as f64 / 1e6;
            tool.timed += 1;
        }
    }

    /// What is said again of the same request or message counts once, as said last.
    fn report(&mut self, report: Report) {
        let is_same = |known: &Report| {
            known.message == report.message || report.request.is_some() && known.request == report.request
        };
        let known = self.reported.iter().position(is_same);
        let known = known.and_then(|place| self.reported.remove(place));
        let old = known.as_ref().map_or_else(Tokens::default, |known| known.tokens);
        let (known_request, known_model) = known.map_or((None, None), |known| (known.request, known.model));
        let report =
            Report { request: report.request.or(known_request), model: report.model.or(known_model), ..report };
        if let Some(model) = &report.model {
            let made = self.gathered.models.entry(model.clone()).or_default();
            made.input = made.input.saturating_add(report.tokens.input).saturating_sub(old.input);
            made.output = made.output.saturating_add(report.tokens.output).saturating_sub(old.output);
        }
        self.gathered.tokens.less(old);
        self.gathered.tokens.add(report.tokens);
        self.reported.truncate(REMEMBERED - 1);
        self.reported.push_front(report);
    }
}

/// Whether a message's metadata leaves it to be seen where messages are counted.
fn is_shown(message: &Message) -> bool {
    let flags = &message.metadata;
    !flags.meta && flags.visible_in_transcript && !flags.sidechain
}

impl Gathered {
    /// Adds what was gathered elsewhere.
    pub(crate) fn add(&mut self, other: Self) {
        for (kind, amount) in other.kinds {
            let known = self.kinds.entry(kind).or_default();
            (known.count, known.bytes) = (known.count + amount.count, known.bytes + amount.bytes);
        }
        for (role, count) in other.roles {
            *self.roles.entry(role).or_default() += count;
        }
        for (name, tool) in other.tools {
            let known = self.tools.entry(name).or_default();
            known.calls += tool.calls;
            known.results += tool.results;
            known.errors += tool.errors;
            known.result_bytes += tool.result_bytes;
            known.seconds += tool.seconds;
            known.timed += tool.timed;
        }
        self.tokens.add(other.tokens);
        for (model, made) in other.models {
            let known = self.models.entry(model).or_default();
            known.messages += made.messages;
            known.input += made.input;
            known.output += made.output;
        }
        self.first_at = [self.first_at, other.first_at].into_iter().flatten().min();
        self.last_at = [self.last_at, other.last_at].into_iter().flatten().max();
        self.active_seconds += other.active_seconds;
        self.compactions += other.compactions;
        self.taken_back += other.taken_back;
    }
}

impl Tokens {
    fn add(&mut self, other: Self) {
        self.requests += other.requests;
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.reasoning = self.reasoning.saturating_add(other.reasoning);
    }

    fn less(&mut self, other: Self) {
        self.requests = self.requests.saturating_sub(other.requests);
        self.input = self.input.saturating_sub(other.input);
        self.output = self.output.saturating_sub(other.output);
        self.cache_read = self.cache_read.saturating_sub(other.cache_read);
        self.cache_write = self.cache_write.saturating_sub(other.cache_write);
        self.reasoning = self.reasoning.saturating_sub(other.reasoning);
    }
}

impl From<&Usage> for Tokens {
    fn from(usage: &Usage) -> Self {
        Self {
            requests: 1,
            input: usage.input,
            output: usage.output,
            cache_read: usage.cache_read.unwrap_or(0),
            cache_write: usage.cache_write.unwrap_or(0),
            reasoning: usage.reasoning.unwrap_or(0),
        }
    }
}

/// Usage as a patch has it.
fn tokens_of(usage: &Value) -> Tokens {
    let Value::Map(fields) = usage else { return Tokens { requests: 1, ..Tokens::default() } };
    let count = |wanted: &str| match fields.iter().find(|(name, _)| name == wanted) {
        Some((_, Value::Int(count))) => u64::try_from(*count).unwrap_or(0),
        Some((_, Value::UInt(count))) => *count,
        _ => 0,
    };
    Tokens {
        requests: 1,
        input: count("input"),
        output: count("output"),
        cache_read: count("cache_read"),
        cache_write: count("cache_write"),
        reasoning: count("reasoning"),
    }
}
