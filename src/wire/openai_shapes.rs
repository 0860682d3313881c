//! The items of OpenAI's own that can go back whole, and what each must hold to be taken.
//!
//! An item is refused for one field too many, too few or of another type, and with it the whole request. So only these
//! go back, and only in these shapes:
//!
//! | item | goes back with |
//! | --- | --- |
//! | `web_search_call`, `file_search_call` | nothing: OpenAI ran it |
//! | `compaction` | nothing: it stands for what OpenAI summed up |
//! | `custom_tool_call` | its `custom_tool_call_output` |
//! | `computer_call` without open safety checks | its `computer_call_output` |
//! | `shell_call` | its `shell_call_output` |
//! | `apply_patch_call` | its `apply_patch_call_output` |
//!
//! Pictures that the model made, code interpreters, MCP servers and references need what a request made from a log
//! does not have: a tool's declaration, a container that still runs, a stored item.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::text::CleanJson;
use super::tool_name::legal_name;
use crate::event::Value;

/// The kind of an item that stands for a part of the conversation, encrypted.
const SUMMARY: &str = "compaction";

/// Longest id, in characters.
const ID_LEN_MAX: usize = 64;

/// What a value must be.
enum Shape {
    Text,
    /// An id: text that is not empty and not too long.
    Id,
    /// The name of a tool.
    Name,
    Count,
    Number,
    /// An object of texts, numbers and truth values.
    Scalars,
    OneOf(&'static [&'static str]),
    /// An address of the web, or a picture inside one.
    Address,
    Nullable(&'static Shape),
    List(&'static Shape),
    NoItems,
    Record(&'static [Field]),
    Either(&'static [Shape]),
    /// Servers send it and don't take it back.
    NotSent,
}

/// A field's name, whether it must be there, and its value.
type Field = (&'static str, bool, Shape);

const MUST: bool = true;
const MAY: bool = false;
const ENDED: Shape = Shape::OneOf(&["completed", "failed", "incomplete"]);
const DONE: Shape = Shape::OneOf(&["completed", "incomplete"]);
const TEXTS: Shape = Shape::List(&Shape::Text);
const KEYS: Field = ("keys", MAY, Shape::Nullable(&TEXTS));
const X: Field = ("x", MUST, Shape::Count);
const Y: Field = ("y", MUST, Shape::Count);

const fn kind(name: &'static [&'static str]) -> Field {
    ("type", MUST, Shape::OneOf(name))
}

/// A kind of item.
struct Known {
    kind: &'static str,
    fields: &'static [Field],
    answer: Option<Answer>,
}

/// What answers an item.
struct Answer {
    kind: &'static str,
    fields: &'static [Field],
}

const KNOWN: [Known; 7] = [
    Known {
        kind: SUMMARY,
        fields: &[
            ("id", MAY, Shape::Id),
            ("encrypted_content", MUST, Shape::Text),
            ("created_by", MAY, Shape::NotSent),
        ],
        answer: None,
    },
    Known {
        kind: "web_search_call",
        fields: &[
            ("id", MUST, Shape::Id),
            ("status", MUST, Shape::OneOf(&["completed", "failed"])),
            (
                "action",
                MUST,
                Shape::Either(&[
                    Shape::Record(&[
                        kind(&["search"]),
                        ("query", MAY, Shape::Text),
                        ("queries", MAY, TEXTS),
                        ("sources", MAY, Shape::List(&Shape::Record(&[kind(&["url"]), ("url", MUST, Shape::Text)]))),
                    ]),
                    Shape::Record(&[kind(&["open_page"]), ("url", MAY, Shape::Nullable(&Shape::Text))]),
                    Shape::Record(&[
                        kind(&["find_in_page"]),
                        ("pattern", MUST, Shape::Text),
                        ("url", MUST, Shape::Text),
                    ]),
                ]),
            ),
        ],
        answer: None,
    },
    Known {
        kind: "file_search_call",
        fields: &[
            ("id", MUST, Shape::Id),
            ("status", MUST, ENDED),
            ("queries", MUST, TEXTS),
            (
                "results",
                MAY,
                Shape::List(&Shape::Record(&[
                    ("attributes", MAY, Shape::Nullable(&Shape::Scalars)),
                    ("file_id", MAY, Shape::Text),
                    ("filename", MAY, Shape::Text),
                    ("score", MAY, Shape::Number),
                    ("text", MAY, Shape::Text),
                ])),
            ),
        ],
        answer: None,
    },
    Known {
        kind: "custom_tool_call",
        fields: &[
            ("id", MAY, Shape::Id),
            ("call_id", MUST, Shape::Id),
            ("name", MUST, Shape::Name),
            ("input", MUST, Shape::Text),
            ("namespace", MAY, Shape::Text),
            ("status", MAY, Shape::NotSent),
        ],
        answer: Some(Answer {
            kind: "custom_tool_call_output",
            fields: &[
                ("id", MAY, Shape::NotSent),
                ("call_id", MUST, Shape::Id),
                ("output", MUST, Shape::Text),
                ("status", MAY, Shape::NotSent),
            ],
        }),
    },
    Known {
        kind: "computer_call",
        fields: &[
            ("id", MUST, Shape::Id),
            ("call_id", MUST, Shape::Id),
            ("status", MUST, DONE),
            ("pending_safety_checks", MUST, Shape::NoItems),
            (
                "action",
                MUST,
                Shape::Either(&[
                    Shape::Record(&[
                        kind(&["click"]),
                        ("button", MUST, Shape::OneOf(&["left", "right", "wheel", "back", "forward"])),
                        X,
                        Y,
                        KEYS,
                    ]),
                    Shape::Record(&[kind(&["double_click"]), X, Y, ("keys", MUST, Shape::Nullable(&TEXTS))]),
                    Shape::Record(&[kind(&["drag"]), ("path", MUST, Shape::List(&Shape::Record(&[X, Y]))), KEYS]),
                    Shape::Record(&[kind(&["keypress"]), ("keys", MUST, TEXTS)]),
                    Shape::Record(&[kind(&["move"]), X, Y, KEYS]),
                    Shape::Record(&[
                        kind(&["scroll"]),
                        ("scroll_x", MUST, Shape::Count),
                        ("scroll_y", MUST, Shape::Count),
                        X,
                        Y,
                        KEYS,
                    ]),
                    Shape::Record(&[kind(&["type"]), ("text", MUST, Shape::Text)]),
                    Shape::Record(&[kind(&["screenshot", "wait"])]),
                ]),
            ),
        ],
        answer: Some(Answer {
            kind: "computer_call_output",
            fields: &[
                ("id", MAY, Shape::NotSent),
                ("call_id", MUST, Shape::Id),
                ("output", MUST, Shape::Record(&[kind(&["computer_screenshot"]), ("image_url", MUST, Shape::Address)])),
                ("acknowledged_safety_checks", MAY, Shape::NoItems),
                ("status", MAY, DONE),
            ],
        }),
    },
    Known {
        kind: "shell_call",
        fields: &[
            ("id", MAY, Shape::Id),
            ("call_id", MUST, Shape::Id),
            (
                "action",
                MUST,
                Shape::Record(&[
                    ("commands", MUST, TEXTS),
                    ("max_output_length", MAY, Shape::Nullable(&Shape::Count)),
                    ("timeout_ms", MAY, Shape::Nullable(&Shape::Count)),
                ]),
            ),
            ("environment", MAY, Shape::Record(&[kind(&["local"])])),
            ("status", MAY, DONE),
            ("created_by", MAY, Shape::NotSent),
        ],
        answer: Some(Answer {
            kind: "shell_call_output",
            fields: &[
                ("id", MAY, Shape::NotSent),
                ("call_id", MUST, Shape::Id),
                (
                    "output",
                    MUST,
                    Shape::List(&Shape::Record(&[
                        ("stdout", MUST, Shape::Text),
                        ("stderr", MUST, Shape::Text),
                        (
                            "outcome",
                            MUST,
                            Shape::Either(&[
                                Shape::Record(&[kind(&["timeout"])]),
                                Shape::Record(&[kind(&["exit"]), ("exit_code", MUST, Shape::Count)]),
                            ]),
                        ),
                    ])),
                ),
                ("max_output_length", MAY, Shape::Count),
                ("status", MAY, DONE),
                ("created_by", MAY, Shape::NotSent),
            ],
        }),
    },
    Known {
        kind: "apply_patch_call",
        fields: &[
            ("id", MAY, Shape::Id),
            ("call_id", MUST, Shape::Id),
            ("status", MUST, Shape::OneOf(&["completed"])),
            (
                "operation",
                MUST,
                Shape::Either(&[
                    Shape::Record(&[
                        kind(&["create_file", "update_file"]),
                        ("path", MUST, Shape::Text),
                        ("diff", MUST, Shape::Text),
                    ]),
                    Shape::Record(&[kind(&["delete_file"]), ("path", MUST, Shape::Text)]),
                ]),
            ),
            ("created_by", MAY, Shape::NotSent),
        ],
        answer: Some(Answer {
            kind: "apply_patch_call_output",
            fields: &[
                ("id", MAY, Shape::NotSent),
                ("call_id", MUST, Shape::Id),
                ("status", MUST, Shape::OneOf(&["completed", "failed"])),
                ("output", MAY, Shape::Text),
                ("created_by", MAY, Shape::NotSent),
            ],
        }),
    },
];

/// What an item is to the others of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Own<'a> {
    /// The model made it, and it needs no answer.
    Alone,
    /// The model made it, and what has this kind and call id answers it.
    Asks { answer: &'static str, call_id: &'a str },
    /// It answers the item of this call id.
    Answers { kind: &'static str, call_id: &'a str },
}

/// What this item is, if it can go back.
pub(super) fn part_of(item: &Value) -> Option<Own<'_>> {
    let kind = item.get("type")?.as_text()?;
    let call_id = || item.get("call_id").and_then(Value::as_text);
    for known in &KNOWN {
        if known.kind == kind && fits_fields(item, known.fields, true) {
            return match &known.answer {
                None => Some(Own::Alone),
                Some(answer) => Some(Own::Asks { answer: answer.kind, call_id: call_id()? }),
            };
        }
        if let Some(answer) = known.answer.as_ref().filter(|answer| answer.kind == kind)
            && fits_fields(item, answer.fields, true)
        {
            return Some(Own::Answers { kind: answer.kind, call_id: call_id()? });
        }
    }
    None
}

/// Whether the model can have reasoned its way to this item.
pub(super) fn is_led_to(item: &Value) -> bool {
    let is_summary = item.get("type").and_then(Value::as_text) == Some(SUMMARY);
    !is_summary && matches!(part_of(item), Some(Own::Alone | Own::Asks { .. }))
}

/// Whether such an item is refused without its id.
pub(super) fn needs_id(item: &Value) -> bool {
    fields_of(item).iter().any(|(name, must, _)| *name == "id" && *must)
}

fn fields_of(item: &Value) -> &'static [Field] {
    let kind = item.get("type").and_then(Value::as_text).unwrap_or_default();
    let answers = KNOWN.iter().filter_map(|known| known.answer.as_ref()).map(|answer| (answer.kind, answer.fields));
    let mut all = KNOWN.iter().map(|known| (known.kind, known.fields)).chain(answers);
    all.find(|(known, _)| *known == kind).map_or(&[], |(_, fields)| fields)
}

/// Whether an object has these fields and no other. Of an item, whose kind is known already, a field that may be
/// absent may be null as well: it is not sent then.
fn fits_fields(value: &Value, fields: &[Field], is_item: bool) -> bool {
    let Some(given) = value.as_map() else { return false };
    let known = given.iter().all(|(name, value)| {
        let field = fields.iter().find(|(field, ..)| field == name);
        match field {
            Some((_, must, shape)) => fits(value, shape) || (is_item && !must && *value == Value::Null),
            None => is_item && name == "type",
        }
    });
    known && fields.iter().all(|(name, must, _)| !must || value.get(name).is_some())
}

fn is_number(value: &Value) -> bool {
    matches!(value, Value::Int(_) | Value::UInt(_) | Value::Float(_) | Value::Number(_))
}

fn fits(value: &Value, shape: &Shape) -> bool {
    match shape {
        Shape::NotSent => true,
        Shape::Text => value.as_text().is_some(),
        Shape::Id => value.as_text().is_some_and(is_id),
        Shape::Name => value.as_text().is_some_and(|name| legal_name(name) == name),
        Shape::Count => matches!(value, Value::Int(_)),
        Shape::Number => is_number(value),
        Shape::Scalars => value.as_map().is_some_and(|fields| {
            let is_scalar = |value: &Value| matches!(value, Value::Text(_) | Value::Bool(_)) || is_number(value);
            fields.iter().all(|(_, value)| is_scalar(value))
        }),
        Shape::OneOf(texts) => value.as_text().is_some_and(|text| texts.contains(&text)),
        Shape::Address => value.as_text().is_some_and(|text| {
            text.starts_with("https://") || text.starts_with("http://") || text.starts_with("data:image/")
        }),
        Shape::Nullable(shape) => *value == Value::Null || fits(value, shape),
        Shape::List(shape) => value.as_list().is_some_and(|items| items.iter().all(|item| fits(item, shape))),
        Shape::NoItems => value.as_list().is_some_and(<[Value]>::is_empty),
        Shape::Record(fields) => fits_fields(value, fields, false),
        Shape::Either(shapes) => shapes.iter().any(|shape| fits(value, shape)),
    }
}

/// Whether OpenAI takes this as an id.
pub(super) fn is_id(text: &str) -> bool {
    let is_legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=ID_LEN_MAX).contains(&text.len()) && text.bytes().all(is_legal)
}

/// An item as it goes back: what the server does not take from us is not written.
#[derive(Debug)]
pub(super) struct OpaqueItem<'a> {
    pub(super) item: &'a Value,
    pub(super) with_id: bool,
}

impl Serialize for OpaqueItem<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fields = fields_of(self.item);
        let is_sent = |(name, value): &&(String, Value)| {
            *value != Value::Null
                && (self.with_id || name != "id")
                && fields.iter().all(|(field, _, shape)| field != name || !matches!(shape, Shape::NotSent))
        };
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in self.item.as_map().unwrap_or_default().iter().filter(is_sent) {
            map.serialize_entry(name, &CleanJson(value))?;
        }
        map.end()
    }
}
