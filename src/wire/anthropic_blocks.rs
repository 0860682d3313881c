//! Blocks of Anthropic's own that go back whole: which they are, and what each must have.
//!
//! A block that the interface does not know, or that lacks something, makes it refuse the whole request. So only the
//! blocks of the two lists here go back, with no other fields than those they may have, and what a tool of the server's
//! was asked only together with what it answered. A `compaction` block never does: it must be the first of all and
//! belongs to another interface, and a body holds the history itself.

use serde::ser::{Serialize, Serializer};

use super::picture::PDF;
use super::target::{Opaque, Pair};
use super::text::is_blank;
use crate::event::{Role, Value};

/// A block written as it was recorded, but for what belongs to the request that it stood in: its cache mark, and
/// whether it is to be cited, which must be the same for all blocks of a request.
#[derive(Debug)]
pub(super) struct Whole<'a>(&'a [(String, Value)]);

const NOT_SENT: &[&str] = &["cache_control", "citations"];

impl<'a> Whole<'a> {
    /// The block, if it is an object.
    pub(super) fn of(value: &'a Value) -> Option<Self> {
        value.as_map().map(Self)
    }
}

impl Serialize for Whole<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().filter(|(name, _)| is_sent(name)).map(|(name, value)| (name, value)))
    }
}

fn is_sent(name: &str) -> bool {
    !NOT_SENT.contains(&name)
}

type Check = fn(&Value) -> bool;

/// What the model's messages may hold. All are halves of pairs.
const OF_THE_MODEL: &[(&str, Check)] = &[
    (ASKS, |block| {
        let is_name = |name: &Value| answer_of(name).is_some();
        is_whole(
            block,
            &[must("id", is_use_id), must("name", is_name), must("input", is_object), may("caller", is_caller)],
        )
    }),
    ("web_search_tool_result", |block| answers(block, is_web_search)),
    ("web_fetch_tool_result", |block| answers(block, is_web_fetch)),
    ("code_execution_tool_result", |block| answers(block, is_code_run)),
    ("bash_code_execution_tool_result", |block| answers(block, is_bash_run)),
    ("text_editor_code_execution_tool_result", |block| answers(block, is_edit)),
    ("tool_search_tool_result", |block| answers(block, is_tool_search)),
];

/// What the user's messages may hold. Pictures and documents that are inline or on the web are no blocks kept whole.
const OF_THE_USER: &[(&str, Check)] = &[
    ("container_upload", |block| is_whole(block, &[must("file_id", is_said)])),
    ("search_result", |block| {
        is_whole(block, &[must("source", is_said), must("title", is_said), must("content", is_texts)])
    }),
    ("document", |block| {
        let source = |source: &Value| is_plain_text(source) || is_in_blocks(source) || is_stored_file(source);
        is_whole(block, &[must("source", source), may("title", is_null_or_text), may("context", is_null_or_text)])
    }),
    ("image", |block| is_whole(block, &[must("source", is_stored_file)])),
];

/// The type of the block that asks a tool of the server's.
const ASKS: &str = "server_tool_use";

/// The tools of the server's, and the type of the block that answers each.
const ANSWERED_BY: &[(&str, &str)] = &[
    ("web_search", "web_search_tool_result"),
    ("web_fetch", "web_fetch_tool_result"),
    ("code_execution", "code_execution_tool_result"),
    ("bash_code_execution", "bash_code_execution_tool_result"),
    ("text_editor_code_execution", "text_editor_code_execution_tool_result"),
    ("tool_search_tool_regex", "tool_search_tool_result"),
    ("tool_search_tool_bm25", "tool_search_tool_result"),
];

/// Whether a block goes back into a message of this role.
pub(super) fn taken(block: &Value, role: Role) -> Opaque<'_> {
    let list = if role == Role::Assistant { OF_THE_MODEL } else { OF_THE_USER };
    let kind = block.get("type").and_then(Value::as_text);
    let Some((kind, check)) = list.iter().find(|(known, _)| Some(*known) == kind) else {
        return Opaque::No("Anthropic is not known to take back a block of this type in such a message");
    };
    if !check(block) {
        return Opaque::No("the block lacks something that Anthropic wants, or has what it is not known to take");
    }
    let text = |name| block.get(name).and_then(Value::as_text).unwrap_or_default();
    let within = block.get("caller").and_then(|caller| caller.get("tool_id")).and_then(Value::as_text);
    match (role, *kind) {
        (Role::Assistant, ASKS) => match block.get("name").and_then(answer_of) {
            Some(kind) => Opaque::Asks(Pair { id: text("id"), kind, within }),
            None => Opaque::No("Anthropic is not known to have such a tool"),
        },
        (Role::Assistant, kind) => Opaque::Answers(Pair { id: text("tool_use_id"), kind, within }),
        _ => Opaque::Alone,
    }
}

/// The type of the block that answers the tool of this name.
fn answer_of(name: &Value) -> Option<&'static str> {
    let name = name.as_text()?;
    ANSWERED_BY.iter().find(|(tool, _)| *tool == name).map(|(_, answer)| *answer)
}

/// A field that an object may have.
struct Field {
    name: &'static str,
    check: Check,
    is_needed: bool,
}

fn must(name: &'static str, check: Check) -> Field {
    Field { name, check, is_needed: true }
}

fn may(name: &'static str, check: Check) -> Field {
    Field { name, check, is_needed: false }
}

/// Whether a block that goes back has these fields beside its type, and no others that are sent.
fn is_whole(block: &Value, fields: &[Field]) -> bool {
    has(block, fields, is_sent)
}

/// Whether an object inside a block is of this type and has these fields and no others.
fn is(object: &Value, kind: &str, fields: &[Field]) -> bool {
    object.get("type").and_then(Value::as_text) == Some(kind) && has(object, fields, |_| true)
}

fn has(object: &Value, fields: &[Field], is_sent: fn(&str) -> bool) -> bool {
    let Value::Map(given) = object else { return false };
    let needed = fields.iter().filter(|field| field.is_needed).all(|field| object.get(field.name).is_some());
    let mut sent = given.iter().filter(|(name, _)| name != "type" && is_sent(name));
    needed && sent.all(|(name, value)| fields.iter().any(|field| field.name == name && (field.check)(value)))
}

/// What a tool of the server's answers: this, or the error of that tool.
fn answers(block: &Value, content: Check) -> bool {
    is_whole(block, &[must("tool_use_id", is_use_id), must("content", content), may("caller", is_caller)])
}

fn is_web_search(content: &Value) -> bool {
    let hit = |hit: &Value| {
        let fields = [
            must("encrypted_content", is_text),
            must("title", is_text),
            must("url", is_text),
            may("page_age", is_null_or_text),
        ];
        is(hit, "web_search_result", &fields)
    };
    let code = |code: &Value| is_word(code, &["max_uses_exceeded", "query_too_long", "request_too_large"]);
    is_list_of(content, hit) || is(content, "web_search_tool_result_error", &[must("error_code", code)])
}

fn is_web_fetch(content: &Value) -> bool {
    let document = |document: &Value| {
        let source = |source: &Value| is_plain_text(source) || is_inline_pdf(source);
        let fields = [
            must("source", source),
            may("title", is_null_or_text),
            may("context", is_null_or_text),
            may("citations", is_citing),
        ];
        is(document, "document", &fields)
    };
    let code = |code: &Value| {
        let own = [
            "url_too_long",
            "url_not_allowed",
            "url_not_in_prior_context",
            "url_not_accessible",
            "unsupported_content_type",
            "max_uses_exceeded",
            "content_too_large",
        ];
        is_word(code, &own)
    };
    let fields = [must("content", document), must("url", is_text), may("retrieved_at", is_null_or_text)];
    is(content, "web_fetch_result", &fields) || is(content, "web_fetch_tool_result_error", &[must("error_code", code)])
}

fn is_code_run(content: &Value) -> bool {
    let files = |files: &Value| is_list_of(files, |file| is_stored(file, "code_execution_output"));
    let fields =
        |out| [must("content", files), must("return_code", is_count), must("stderr", is_text), must(out, is_text)];
    let code = |code: &Value| is_word(code, &["execution_time_exceeded"]);
    is(content, "code_execution_result", &fields("stdout"))
        || is(content, "encrypted_code_execution_result", &fields("encrypted_stdout"))
        || is(content, "code_execution_tool_result_error", &[must("error_code", code)])
}

fn is_bash_run(content: &Value) -> bool {
    let files = |files: &Value| is_list_of(files, |file| is_stored(file, "bash_code_execution_output"));
    let fields =
        [must("content", files), must("return_code", is_count), must("stderr", is_text), must("stdout", is_text)];
    let code = |code: &Value| is_word(code, &["execution_time_exceeded", "output_file_too_large"]);
    is(content, "bash_code_execution_result", &fields)
        || is(content, "bash_code_execution_tool_result_error", &[must("error_code", code)])
}

fn is_edit(content: &Value) -> bool {
    let file_type = |name: &Value| name.as_text().is_some_and(|name| ["text", "image", "pdf"].contains(&name));
    let seen = [
        must("content", is_text),
        must("file_type", file_type),
        may("num_lines", is_null_or_count),
        may("start_line", is_null_or_count),
        may("total_lines", is_null_or_count),
    ];
    let replaced = [
        may("lines", |lines| *lines == Value::Null || is_list_of(lines, is_text)),
        may("new_lines", is_null_or_count),
        may("new_start", is_null_or_count),
        may("old_lines", is_null_or_count),
        may("old_start", is_null_or_count),
    ];
    let code = |code: &Value| is_word(code, &["execution_time_exceeded", "file_not_found"]);
    let error = [must("error_code", code), may("error_message", is_null_or_text)];
    is(content, "text_editor_code_execution_view_result", &seen)
        || is(content, "text_editor_code_execution_create_result", &[must("is_file_update", is_flag)])
        || is(content, "text_editor_code_execution_str_replace_result", &replaced)
        || is(content, "text_editor_code_execution_tool_result_error", &error)
}

fn is_tool_search(content: &Value) -> bool {
    let names = |names: &Value| is_list_of(names, |name| is(name, "tool_reference", &[must("tool_name", is_said)]));
    let code = |code: &Value| is_word(code, &["execution_time_exceeded"]);
    let error = [must("error_code", code), may("error_message", is_null_or_text)];
    is(content, "tool_search_tool_search_result", &[must("tool_references", names)])
        || is(content, "tool_search_tool_result_error", &error)
}

/// A code that every tool of the server's gives, or one of these of its own.
fn is_word(code: &Value, own: &[&str]) -> bool {
    let every = ["invalid_tool_input", "unavailable", "too_many_requests"];
    code.as_text().is_some_and(|code| every.contains(&code) || own.contains(&code))
}

/// Who asked a tool of the server's: the model, or code that it ran there.
fn is_caller(caller: &Value) -> bool {
    is(caller, "direct", &[])
        || ["code_execution_20250825", "code_execution_20260120"]
            .iter()
            .any(|kind| is(caller, kind, &[must("tool_id", is_use_id)]))
}

/// The id of a use of a tool of the server's.
fn is_use_id(id: &Value) -> bool {
    let rest = id.as_text().and_then(|id| id.strip_prefix("srvtoolu_")).unwrap_or_default();
    !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn is_plain_text(source: &Value) -> bool {
    is(source, "text", &[must("data", is_said), must("media_type", |name| name.as_text() == Some("text/plain"))])
}

fn is_inline_pdf(source: &Value) -> bool {
    is(source, "base64", &[must("data", is_said), must("media_type", |name| name.as_text() == Some(PDF))])
}

fn is_in_blocks(source: &Value) -> bool {
    is(source, "content", &[must("content", |content| is_said(content) || is_texts(content))])
}

/// A file that the provider keeps.
fn is_stored(file: &Value, kind: &str) -> bool {
    is(file, kind, &[must("file_id", is_said)])
}

fn is_stored_file(source: &Value) -> bool {
    is_stored(source, "file")
}

fn is_texts(content: &Value) -> bool {
    is_list_of(content, |block| is(block, "text", &[must("text", is_said)])) && content.as_list() != Some(&[])
}

fn is_citing(citations: &Value) -> bool {
    match citations {
        Value::Null => true,
        Value::Map(fields) => fields.iter().all(|(name, value)| name == "enabled" && is_flag(value)),
        _ => false,
    }
}

fn is_list_of(value: &Value, item: impl Fn(&Value) -> bool) -> bool {
    value.as_list().is_some_and(|items| items.iter().all(item))
}

fn is_object(value: &Value) -> bool {
    value.as_map().is_some()
}

fn is_text(value: &Value) -> bool {
    value.as_text().is_some()
}

fn is_null_or_text(value: &Value) -> bool {
    *value == Value::Null || is_text(value)
}

fn is_said(value: &Value) -> bool {
    value.as_text().is_some_and(|text| !is_blank(text))
}

fn is_flag(value: &Value) -> bool {
    value.as_bool().is_some()
}

fn is_count(value: &Value) -> bool {
    matches!(value, Value::Int(_) | Value::UInt(_))
}

fn is_null_or_count(value: &Value) -> bool {
    *value == Value::Null || is_count(value)
}
