//! Records to messages. What has no place of ours stays in the message's extra fields, under its own name.

use super::parts::{PROVIDER, parts, take_text};
use super::record::{ANSWER_OF, Record, Type, take};
use crate::event::{
    Attachment, CompactSummary, Fields, HookPhase, INTERRUPTED, INTERRUPTED_FOR_TOOL_USE, Kind, Message, Part,
    PartBody, Progress, Role, Source, StopReason, SystemEvent, Trigger, Usage, Value,
};
use crate::interop::fields::{field, put};
use crate::interop::time::micros;

/// What must be known of the file around a record.
#[derive(Debug, Clone, Copy)]
pub(super) struct Around<'a> {
    /// The session that the file is of; a record of another one keeps its name.
    pub(super) session: Option<&'a str>,
    /// A sub-agent's own file, whose line is the main one here.
    pub(super) agents_own: bool,
    /// The record is the last of its answer: what the answer cost is counted here.
    pub(super) counts: bool,
    /// What the event hangs on. A record that names another parent keeps that name.
    pub(super) parent: Option<&'a str>,
}

/// Fields that every record has, whatever it is; what else a system record has is what it tells of.
const ENVELOPE: [&str; 20] = [
    "parentUuid",
    LOST_PARENT,
    "logicalParentUuid",
    "sessionId",
    "session_id",
    "timestamp",
    "cwd",
    "version",
    "gitBranch",
    "userType",
    "entrypoint",
    "isSidechain",
    "agentId",
    "isMeta",
    "slug",
    "teamName",
    "agentName",
    "forkedFrom",
    "sessionKind",
    "attributionAgent",
];

/// The parent that a record named where it was not in the file, of one that hangs on another since it was written by us: so
/// it is known again.
pub(super) const LOST_PARENT: &str = "lostParentUuid";

/// Makes the message of a record, and says when it happened.
pub(super) fn convert(record: Record, around: Around<'_>) -> (Option<i64>, Message) {
    let mut fields = record.fields;
    let mut message = match record.kind {
        Type::User => user(&mut fields),
        Type::Assistant => assistant(&mut fields, around.counts),
        Type::System => system(&mut fields),
        Type::Attachment => attachment(&mut fields),
        Type::Progress => progress(&mut fields),
        Type::Other => other(&mut fields),
    };
    message.metadata.meta = record.is_meta;
    if record.is_meta && message.metadata.source == Some(Source::User) {
        message.metadata.source = Some(Source::Runtime);
    }
    if record.sidechain {
        message.metadata.sidechain = !around.agents_own;
        message.metadata.run_id = take_text(&mut fields, "agentId");
    }
    message.metadata.agent_name = take_text(&mut fields, "agentName");
    let (at, mut message) = envelope(message, fields, around, record.sidechain);
    // Else nobody could tell it from a system record that tells of the same.
    if let (Type::Other, Kind::SystemEvent(told)) = (record.kind, &message.kind) {
        let kind = told.subtype.clone();
        message.extra.push(("type".to_owned(), kind.into()));
    }
    (at, message)
}

/// Takes out of the fields what every record has; the rest stays with the message.
fn envelope(mut message: Message, mut fields: Fields, around: Around<'_>, sidechain: bool) -> (Option<i64>, Message) {
    drop_if(&mut fields, "isSidechain", |value| value.as_bool() == Some(sidechain && !around.agents_own));
    drop_if(&mut fields, "isMeta", |value| value.as_bool() == Some(message.metadata.meta));
    drop_if(&mut fields, "sessionId", |value| value.as_text().is_some() && value.as_text() == around.session);
    drop_parent(&mut fields, around.parent);
    for name in ["type", "uuid"] {
        take(&mut fields, name);
    }
    let at = field(&fields, "timestamp").and_then(Value::as_text).and_then(micros);
    if at.is_some() {
        take(&mut fields, "timestamp");
    }
    message.extra = fields;
    (at, message)
}

/// A parent that is null, or the one that the event has, says nothing more.
fn drop_parent(fields: &mut Fields, parent: Option<&str>) {
    if let Some(lost) = take(fields, LOST_PARENT) {
        put(fields, "parentUuid", lost);
    }
    drop_if(fields, "parentUuid", |named| {
        *named == Value::Null || (named.as_text().is_some() && named.as_text() == parent)
    });
}

fn drop_if(fields: &mut Fields, name: &str, says_nothing: impl FnOnce(&Value) -> bool) {
    if field(fields, name).is_some_and(says_nothing) {
        take(fields, name);
    }
}

/// A message with its content as it came: an empty one stays empty, views repair.
fn message(role: Role, kind: Kind, content: Vec<Part>) -> Message {
    let mut message = Message::new(role, kind, Vec::new());
    message.content = content;
    message
}

/// Takes the content out of a record's message; what else the message says stays under its own name.
fn take_content(fields: &mut Fields, role: &str, provider: Option<&str>) -> Vec<Part> {
    let Some((_, Value::Map(inner))) = fields.iter_mut().find(|(name, _)| name == "message") else {
        return Vec::new();
    };
    let content = take(inner, "content").unwrap_or_default();
    drop_if(inner, "role", |value| value.as_text() == Some(role));
    drop_if(inner, "type", |value| value.as_text() == Some("message"));
    if inner.is_empty() {
        take(fields, "message");
    }
    parts(content, provider)
}

fn user(fields: &mut Fields) -> Message {
    let mut content = take_content(fields, "user", None);
    let results = content.iter().filter(|part| part.as_tool_result().is_some()).count();
    if results == 0 {
        let mut message = message(Role::User, Kind::UserInput, content);
        let origin = take_some(fields, "origin");
        let by_runtime = field(fields, "promptSource").and_then(Value::as_text) == Some("system")
            || origin.as_ref().is_some_and(is_notice);
        message.metadata.source = Some(if by_runtime { Source::Runtime } else { Source::User });
        message.metadata.origin = origin;
        message.metadata.permission_mode = take_text(fields, "permissionMode");
        let text = message.joined_text();
        if [INTERRUPTED, INTERRUPTED_FOR_TOOL_USE].contains(&text.trim()) {
            message.metadata.synthetic = true;
            message.metadata.source = Some(Source::Runtime);
        }
        return message;
    }
    // With several results, whose copy it is isn't said: then it stays with the event.
    if results == 1
        && let Some(PartBody::ToolResult(result)) =
            content.iter_mut().map(|part| &mut part.body).find(|body| matches!(body, PartBody::ToolResult(_)))
    {
        result.raw = take_some(fields, "toolUseResult");
    }
    let mut message = message(Role::Tool, Kind::ToolResult, content);
    message.metadata.source = Some(Source::Tool);
    message.metadata.source_tool_assistant_id = take_text(fields, "sourceToolAssistantUUID");
    message.metadata.origin = take_some(fields, "origin");
    message.metadata.permission_mode = take_text(fields, "permissionMode");
    message
}

/// Whether an input's origin is a task of the runtime's and no person.
fn is_notice(origin: &Value) -> bool {
    origin.get("kind").and_then(Value::as_text).is_some_and(|kind| kind != "human")
}

fn assistant(fields: &mut Fields, counts: bool) -> Message {
    let flagged = take_flag(fields, "isApiErrorMessage");
    let inner = |fields: &Fields, name: &str| -> Option<Value> {
        field(fields, "message").and_then(|message| message.get(name)).cloned()
    };
    let placeholder = inner(fields, "model").as_ref().and_then(Value::as_text) == Some("<synthetic>");
    let synthetic = placeholder || flagged == Some(true);
    let aborted = field(fields, "isAbortedMidStream").and_then(Value::as_bool) == Some(true);
    let mut answer = Answer::default();
    if let Some((_, Value::Map(inner))) = fields.iter_mut().find(|(name, _)| name == "message") {
        answer = Answer::take(inner, counts, aborted);
    }
    let content = take_content(fields, "assistant", (!synthetic).then_some(PROVIDER));
    let has = |is: fn(&PartBody) -> bool| content.iter().any(|part| is(&part.body));
    let kind = if has(|body| matches!(body, PartBody::ToolCall(_))) {
        Kind::ToolCall
    } else if !has(|body| matches!(body, PartBody::Text(_))) && has(|body| matches!(body, PartBody::Reasoning(_))) {
        Kind::AssistantReasoning
    } else {
        Kind::AssistantText
    };
    let mut message = message(Role::Assistant, kind, content);
    message.provider = (!synthetic).then(|| PROVIDER.to_owned());
    message.model = answer.model;
    message.message_id = take_text(fields, ANSWER_OF).or(answer.id);
    message.usage = answer.usage;
    message.stop_reason = answer.stop_reason;
    message.request_id = take_text(fields, "requestId");
    message.metadata.synthetic = synthetic;
    message.metadata.eligible_for_model_context = flagged != Some(true);
    message.metadata.source = synthetic.then_some(Source::Runtime);
    message
}

#[derive(Default)]
struct Answer {
    id: Option<String>,
    model: Option<String>,
    usage: Option<Usage>,
    stop_reason: StopReason,
}

impl Answer {
    fn take(inner: &mut Fields, counts: bool, aborted: bool) -> Self {
        let stop_reason = match take_text(inner, "stop_reason") {
            Some(reason) => StopReason::Said(reason),
            // Null stands in whole answers too and is no sign of an open stream.
            None if aborted => StopReason::StreamOpen,
            None => StopReason::NotSaid,
        };
        // The same numbers stand in every record of an answer; the last has the whole output.
        let usage = if counts { take(inner, "usage").and_then(usage) } else { None };
        Self { id: take_text(inner, "id"), model: take_text(inner, "model"), usage, stop_reason }
    }
}

fn usage(value: Value) -> Option<Usage> {
    let Value::Map(mut fields) = value else { return None };
    let mut count = |name: &str| -> Option<u64> {
        let value = field(&fields, name)?.as_i64().and_then(|value| u64::try_from(value).ok())?;
        take(&mut fields, name);
        Some(value)
    };
    let input = count("input_tokens").unwrap_or(0);
    let output = count("output_tokens").unwrap_or(0);
    let cache_read = count("cache_read_input_tokens");
    let cache_write = count("cache_creation_input_tokens");
    Some(Usage { input, output, cache_read, cache_write, reasoning: None, total: None, extra: fields })
}

/// Takes a value out; null is none.
fn take_some(fields: &mut Fields, name: &str) -> Option<Value> {
    take(fields, name).filter(|value| *value != Value::Null)
}

fn take_flag(fields: &mut Fields, name: &str) -> Option<bool> {
    let value = field(fields, name)?.as_bool()?;
    take(fields, name);
    Some(value)
}

fn system(fields: &mut Fields) -> Message {
    let subtype = take_text(fields, "subtype").unwrap_or_default();
    told(fields, subtype)
}

/// A type of later versions: something that the runtime tells.
fn other(fields: &mut Fields) -> Message {
    let subtype = take_text(fields, "type").unwrap_or_default();
    told(fields, subtype)
}

fn told(fields: &mut Fields, subtype: String) -> Message {
    let content = take_text(fields, "content").map(Part::text);
    let level = take_text(fields, "level");
    let tool_use_id = take_text(fields, "toolUseID");
    let told: fn(&(String, Value)) -> bool =
        |(name, _)| !ENVELOPE.contains(&name.as_str()) && name != "type" && name != "uuid";
    let (data, rest): (Fields, Fields) = std::mem::take(fields).into_iter().partition(told);
    *fields = rest;
    let data = (!data.is_empty()).then_some(Value::Map(data));
    let event = SystemEvent { subtype, level, tool_use_id, hook_event: None, data };
    let mut message = message(Role::System, Kind::SystemEvent(event), content.into_iter().collect());
    message.metadata.source = Some(Source::System);
    message
}

fn attachment(fields: &mut Fields) -> Message {
    let raw = take_some(fields, "attachment");
    let text = |name: &str| raw.as_ref().and_then(|raw| raw.get(name)).and_then(Value::as_text).map(str::to_owned);
    let attachment_type = text("type").unwrap_or_default();
    if attachment_type == "queued_command"
        && let Some(Value::Map(mut inner)) = raw.clone()
        && let Some(prompt @ (Value::Text(_) | Value::List(_))) = take(&mut inner, "prompt")
    {
        let by_runtime =
            text("commandMode").is_some_and(|mode| mode != "prompt") || field(&inner, "origin").is_some_and(is_notice);
        let mut message = message(Role::User, Kind::UserInput, parts(prompt, None));
        message.metadata.source = Some(if by_runtime { Source::Runtime } else { Source::User });
        message.metadata.origin = take_some(&mut inner, "origin");
        fields.push(("attachment".to_owned(), Value::Map(inner)));
        return message;
    }
    let source = if attachment_type.starts_with("hook_") { Source::Hook } else { Source::Runtime };
    let kind = Attachment {
        tool_use_id: text("toolUseID"),
        hook_event: text("hookEvent").as_deref().and_then(hook_phase),
        attachment: raw,
    };
    let mut message = message(Role::User, Kind::Attachment(kind), Vec::new());
    message.metadata.source = Some(source);
    message
}

fn progress(fields: &mut Fields) -> Message {
    let data = take_some(fields, "data");
    let hook_event = data.as_ref().and_then(|data| data.get("hookEvent")).and_then(Value::as_text);
    let kind = Progress {
        tool_use_id: take_text(fields, "toolUseID"),
        parent_tool_use_id: take_text(fields, "parentToolUseID"),
        hook_event: hook_event.and_then(hook_phase),
        data,
    };
    let mut message = message(Role::System, Kind::Progress(kind), Vec::new());
    message.metadata.source = Some(Source::Runtime);
    message
}

/// Before or after a call; hooks that belong to no call have no phase.
fn hook_phase(event: &str) -> Option<HookPhase> {
    match event {
        "PreToolUse" => Some(HookPhase::Pre),
        "PostToolUse" | "PostToolUseFailure" => Some(HookPhase::Post),
        _ => None,
    }
}

/// A compaction of a boundary, where there is one, and its summary.
#[derive(Debug)]
pub(super) struct ConvertedCompaction {
    pub(super) at: Option<i64>,
    pub(super) summary_at: Option<i64>,
    pub(super) summary: Message,
    pub(super) trigger: Option<Trigger>,
    /// What else the boundary says, as a patch of its message.
    pub(super) boundary: Fields,
}

/// Makes one compaction of a boundary and its summary.
pub(super) fn convert_compaction(boundary: Option<Record>, summary: Record, around: Around<'_>) -> ConvertedCompaction {
    let sidechain = summary.sidechain;
    let of_summary = Around { parent: boundary.as_ref().map(|boundary| boundary.uuid.as_str()), ..around };
    let mut fields = summary.fields;
    let content = take_content(&mut fields, "user", None);
    take(&mut fields, "isCompactSummary");
    let (summary_at, mut summary) =
        envelope(message(Role::User, Kind::UserInput, content), fields, of_summary, sidechain);
    let mut of_boundary = boundary.map(|record| record.fields).unwrap_or_default();
    let metadata = |name: &str| {
        let metadata = field(&of_boundary, "compactMetadata");
        metadata.and_then(|metadata| metadata.get(name)).cloned()
    };
    let trigger = metadata("trigger").as_ref().and_then(Value::as_text).map(|trigger| match trigger {
        "auto" => Trigger::Auto,
        "manual" => Trigger::Manual,
        other => Trigger::Other(other.to_owned()),
    });
    let tokens_before =
        metadata("preTokens").as_ref().and_then(Value::as_i64).and_then(|count| u64::try_from(count).ok());
    summary.kind = Kind::CompactSummary(CompactSummary { tokens_before });
    summary.metadata.source = Some(Source::Runtime);
    let mut at = summary_at;
    if !of_boundary.is_empty() {
        drop_if(&mut of_boundary, "isSidechain", |value| value.as_bool() == Some(sidechain && !around.agents_own));
        drop_if(&mut of_boundary, "sessionId", |value| value.as_text() == around.session);
        drop_parent(&mut of_boundary, around.parent);
        for name in ["type", "uuid", "subtype"] {
            take(&mut of_boundary, name);
        }
        let own = field(&of_boundary, "timestamp").and_then(Value::as_text).and_then(micros);
        if own.is_some() {
            take(&mut of_boundary, "timestamp");
        }
        at = own.or(at);
    }
    ConvertedCompaction { at, summary_at, summary, trigger, boundary: as_patch(of_boundary) }
}

/// A patch changes fields of ours that it names: what a record calls by such a name goes into an object of its own.
fn as_patch(fields: Fields) -> Fields {
    const OURS: [&str; 14] = [
        "id",
        "role",
        "kind",
        "type",
        "parent",
        "parent_id",
        "provider",
        "model",
        "request_id",
        "message_id",
        "usage",
        "stop_reason",
        "metadata",
        "keep",
    ];
    let is_ours = |(name, value): &(String, Value)| match name.as_str() {
        "content" => value.as_text().is_none(),
        "trigger" => true,
        other => OURS.contains(&other),
    };
    let (ours, mut patch): (Fields, Fields) = fields.into_iter().partition(is_ours);
    if !ours.is_empty() {
        patch.push(("raw".to_owned(), Value::Map(ours)));
    }
    patch
}
