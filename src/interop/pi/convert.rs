//! Entries to messages. What has no place of ours stays in the message's extra fields, under its own name.

use std::collections::HashSet;

use super::entry::{Entry, Named, Type};
use super::fields::{take, take_count, take_flag, take_if, take_int, take_text};
use super::parts::{Maker, output, parts};
use crate::event::{
    BashExecution, BranchSummary, Custom, Fields, Kind, Message, NO_CONTENT, Part, PartBody, Role, Source, StopReason,
    SystemEvent, ToolResult, Trigger, Usage, Value,
};
use crate::interop::fields::field;
use crate::interop::time::micros;

/// What must be known of the file around an entry.
#[derive(Debug, Clone, Copy)]
pub(super) struct Around<'a> {
    /// The entry that it hangs on. One that names another keeps that name.
    pub(super) parent: Option<&'a str>,
    /// The ids of all calls that have a result.
    pub(super) answered: &'a HashSet<String>,
}

/// When an entry happened, µs since the epoch: its own time, or its message's.
pub(super) fn time_of(entry: &Entry) -> Option<i64> {
    let in_message =
        || entry.in_message("timestamp").and_then(Value::as_i64).and_then(|millis| millis.checked_mul(1000));
    entry.text("timestamp").and_then(micros).or_else(in_message)
}

/// Makes the message of an entry that is one, or that tells of a change.
pub(super) fn convert(entry: Entry, around: Around<'_>) -> Message {
    let (kind, is_broken_off, named_so) = (entry.kind, entry.is_broken_off(), entry.entry_type().to_owned());
    let usable = is_usable(&entry, around.answered);
    let has_summary = entry.summary().is_some_and(|summary| !summary.is_empty());
    let mut fields = envelope(&entry.id, &entry.parent, entry.fields, around);
    let mut inner = match take_if(&mut fields, "message", |value| matches!(value, Value::Map(_))) {
        Some(Value::Map(inner)) => inner,
        _ => Fields::new(),
    };
    // An entry of its own has the fields itself that else stand in the message.
    let is_stored = !inner.is_empty();
    let said = if is_stored { &mut inner } else { &mut fields };
    let mut message = match kind {
        Type::User => {
            let content = take(said, "content").unwrap_or_default();
            // A text may stand alone or in a list, which a mark keeps.
            if content.as_list().is_some() {
                said.push(("content".to_owned(), Value::List(Vec::new())));
            }
            let mut message = message(Role::User, Kind::UserInput, parts(content, Maker::default()));
            message.metadata.source = Some(Source::User);
            message
        }
        Type::Assistant => assistant(said, is_broken_off.then_some(around.answered)),
        Type::ToolResult => tool_result(said),
        Type::Bash => bash(said),
        Type::Custom => custom(said),
        Type::BranchSummary => branch_summary(said),
        Type::StoredSummary => stored_summary(said),
        Type::System => system(said),
        _ => told(said, named_so),
    };
    message.metadata.eligible_for_model_context =
        (kind != Type::Assistant || usable) && (kind != Type::BranchSummary || has_summary);
    if is_stored {
        take(&mut inner, "role");
    }
    if !inner.is_empty() {
        fields.push(("message".to_owned(), Value::Map(inner)));
    }
    message.extra = fields;
    message
}

/// Whether a turn that was broken off carries anything that can be sent: a text, or a call that has a result. The
/// program's interfaces to providers (seen in 0.73 and 1.6) send none of them at all.
pub(super) fn is_usable(entry: &Entry, answered: &HashSet<String>) -> bool {
    !entry.is_broken_off() || entry.says_something() || entry.calls.iter().any(|call| answered.contains(call))
}

/// Takes out of the fields what every entry has; the rest stays.
fn envelope(id: &str, named: &Named, mut fields: Fields, around: Around<'_>) -> Fields {
    take(&mut fields, "type");
    take_if(&mut fields, "id", |value| value.as_text() == Some(id));
    let says_nothing = match named {
        Named::Root => around.parent.is_none(),
        Named::Id(named) => around.parent == Some(named),
        Named::Nothing => false,
    };
    if says_nothing {
        take(&mut fields, "parentId");
    }
    take_if(&mut fields, "timestamp", |value| value.as_text().and_then(micros).is_some());
    fields
}

/// A message with its content as it came: an empty one stays empty, views repair.
fn message(role: Role, kind: Kind, content: Vec<Part>) -> Message {
    let mut message = Message::new(role, kind, Vec::new());
    message.content = content;
    message
}

fn assistant(said: &mut Fields, broken_off: Option<&HashSet<String>>) -> Message {
    let content = take(said, "content").unwrap_or_default();
    let api = field(said, "api").and_then(Value::as_text);
    let content = parts(content, Maker { api, broken_off });
    let has = |is: fn(&PartBody) -> bool| content.iter().any(|part| is(&part.body));
    let kind = if has(|body| matches!(body, PartBody::ToolCall(_))) {
        Kind::ToolCall
    } else if !has(|body| matches!(body, PartBody::Text(_))) && has(|body| matches!(body, PartBody::Reasoning(_))) {
        Kind::AssistantReasoning
    } else {
        Kind::AssistantText
    };
    let mut message = message(Role::Assistant, kind, content);
    message.provider = take_text(said, "provider");
    message.model = take_text(said, "model");
    message.usage = take_usage(said);
    message.stop_reason = take_text(said, "stopReason").map_or(StopReason::NotSaid, StopReason::Said);
    message
}

fn take_usage(said: &mut Fields) -> Option<Usage> {
    // The format demands one. Where no request was counted, all in it is zero; the field stays as it came.
    let is_known = |value: &Value| {
        let mut counts = value.as_map().unwrap_or_default().iter().filter_map(|(_, count)| count.as_i64());
        counts.any(|count| count != 0)
    };
    let Value::Map(mut fields) = take_if(said, "usage", |value| matches!(value, Value::Map(_)) && is_known(value))?
    else {
        return None;
    };
    Some(Usage {
        input: take_count(&mut fields, "input").unwrap_or(0),
        output: take_count(&mut fields, "output").unwrap_or(0),
        cache_read: take_count(&mut fields, "cacheRead"),
        cache_write: take_count(&mut fields, "cacheWrite"),
        reasoning: take_count(&mut fields, "reasoning"),
        total: take_count(&mut fields, "totalTokens"),
        extra: fields,
    })
}

fn tool_result(said: &mut Fields) -> Message {
    let result = ToolResult {
        call_id: take_text(said, "toolCallId").unwrap_or_default(),
        name: take_text(said, "toolName"),
        output: output(take(said, "content").unwrap_or_default()),
        is_error: take_flag(said, "isError").unwrap_or(false),
        raw: take(said, "details"),
    };
    let mut message = message(Role::Tool, Kind::ToolResult, vec![Part::new(PartBody::ToolResult(result))]);
    message.metadata.source = Some(Source::Tool);
    message
}

fn bash(said: &mut Fields) -> Message {
    let execution = BashExecution {
        command: take_text(said, "command").unwrap_or_default(),
        output: take_text(said, "output").unwrap_or_default(),
        exit_code: take_int(said, "exitCode"),
        cancelled: take_flag(said, "cancelled").unwrap_or(false),
        truncated: take_flag(said, "truncated").unwrap_or(false),
        exclude_from_context: take_flag(said, "excludeFromContext").unwrap_or(false),
        full_output_path: take_text(said, "fullOutputPath"),
    };
    message(Role::User, Kind::BashExecution(execution), Vec::new())
}

fn custom(said: &mut Fields) -> Message {
    let content = parts(take(said, "content").unwrap_or_default(), Maker::default());
    let kind = Custom {
        custom_type: take_text(said, "customType").unwrap_or_default(),
        display: take_flag(said, "display").unwrap_or(true),
        details: take(said, "details"),
    };
    message(Role::User, Kind::Custom(kind), content)
}

/// A summary, stored raw: views put their marks around it.
fn summary(said: &mut Fields) -> Vec<Part> {
    take_text(said, "summary").filter(|text| !text.is_empty()).map(Part::text).into_iter().collect()
}

fn branch_summary(said: &mut Fields) -> Message {
    let content = summary(said);
    let kind = Kind::BranchSummary(BranchSummary { from_id: take_text(said, "fromId") });
    by_runtime(message(Role::User, kind, content))
}

/// A message that only looks like a compaction: it cuts nothing.
fn stored_summary(said: &mut Fields) -> Message {
    let content = summary(said);
    let kind = Custom { custom_type: "compactionSummary".to_owned(), display: true, details: None };
    by_runtime(message(Role::User, Kind::Custom(kind), content))
}

/// A patch of the system's prompt: what it says, section by section. The sections stay beside it as they came.
fn system(said: &mut Fields) -> Message {
    let mut content = parts(take(said, "content").unwrap_or_default(), Maker::default());
    let sections = field(said, "sections").and_then(Value::as_map).unwrap_or_default();
    content.extend(sections.iter().filter_map(|(_, text)| text.as_text()).map(Part::text));
    let mut message = message(Role::System, Kind::SystemNote, content);
    message.metadata.source = Some(Source::System);
    message
}

/// A change of model or of its thinking, and the cost of something else: for the screen.
fn told(said: &mut Fields, subtype: String) -> Message {
    let text = |name| field(said, name).and_then(Value::as_text);
    let words = match subtype.as_str() {
        "model_change" => text("provider").zip(text("modelId")).map(|(of, model)| format!("Model: {of}/{model}")),
        "thinking_level_change" => text("thinkingLevel").map(|level| format!("Thinking: {level}")),
        _ => None,
    };
    let usage = take_usage(said);
    let model = if usage.is_some() { (take_text(said, "provider"), take_text(said, "model")) } else { (None, None) };
    let data = std::mem::take(said);
    let data = (!data.is_empty()).then_some(Value::Map(data));
    let event = SystemEvent { subtype, data, ..SystemEvent::default() };
    let mut message = message(Role::System, Kind::SystemEvent(event), words.map(Part::text).into_iter().collect());
    (message.provider, message.model) = model;
    message.usage = usage;
    message.metadata.source = Some(Source::System);
    message
}

fn by_runtime(mut message: Message) -> Message {
    message.metadata.synthetic = true;
    message.metadata.source = Some(Source::Runtime);
    message
}

/// A compaction's summary, and what else it says as a patch of its boundary.
#[derive(Debug)]
pub(super) struct ConvertedCompaction {
    pub(super) summary: Message,
    pub(super) trigger: Option<Trigger>,
    pub(super) boundary: Fields,
    /// What stands for all patches of the system's prompt so far.
    pub(super) system: Option<Message>,
}

/// Makes the boundary and the summary of a compaction.
pub(super) fn convert_compaction(entry: Entry, around: Around<'_>) -> ConvertedCompaction {
    let mut fields = envelope(&entry.id, &entry.parent, entry.fields, around);
    let text = take_text(&mut fields, "summary").filter(|text| !text.trim().is_empty());
    let tokens_before = take_count(&mut fields, "tokensBefore");
    let summary = Message::compact_summary(text.unwrap_or_else(|| NO_CONTENT.to_owned()), tokens_before);
    let by_hook = field(&fields, "fromHook").and_then(Value::as_bool) == Some(true);
    let system = match field(&fields, "systemMessage") {
        Some(Value::Map(said)) => Some(system(&mut said.clone())),
        _ => None,
    };
    // A patch changes fields of ours that it names, so all of it stands in an object of its own.
    let boundary = match fields.is_empty() {
        true => Fields::new(),
        false => vec![("raw".to_owned(), Value::Map(fields))],
    };
    ConvertedCompaction { summary, trigger: by_hook.then(|| Trigger::Other("hook".to_owned())), boundary, system }
}
