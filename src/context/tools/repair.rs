//! Arguments that are no JSON, or not what the tool wants: what can be mended of them, and no more.
//!
//! Two faults are known. A stream that broke off leaves the beginning of an object. And some models put all arguments,
//! with their quotes escaped, into the first one:
//!
//! ```text
//! {"description": "Reads it\", \"path\": \"a.txt\"}      where    {"description": "Reads it", "path": "a.txt"}    was meant
//! ```
//!
//! Half arguments must never look whole: only what is complete counts (a text, a list or an object that is cut is not, nor
//! is a number that the text ends with), and only if no field is missing that the tool's schema requires. A schema that
//! requires nothing can't tell half from whole, so for such a tool nothing that is cut is taken.

use serde::Serialize;

use super::repair_scan::{End, LastText, Scan, scan};
use crate::event::{EventError, Fields, ToolInput, Value};

/// The arguments of a call, as its tool wants them.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Arguments {
    /// The arguments, an object.
    pub value: Value,
    /// What was mended; none: they came like this. Worth recording beside the call.
    pub repair: Option<Repair>,
}

/// What was mended. In JSON an object with `fault` and the fields of each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "fault", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Repair {
    /// Nothing came, and the tool requires nothing: an empty object.
    Empty,
    /// The text broke off behind all that the tool requires.
    Cut {
        /// The field that was begun and not ended, if its name is known. It was left out.
        dropped: Option<String>,
    },
    /// All fields from this one on stood, escaped, in this one.
    Unescaped {
        /// The field.
        field: String,
    },
}

/// Why arguments can't be mended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotRepaired {
    /// They are no JSON, and not for having been cut.
    #[error("the arguments are no JSON object")]
    Json(#[source] EventError),
    /// They are JSON, and no object.
    #[error("the arguments are no object, but {found}")]
    NotAnObject {
        /// What they are.
        found: String,
    },
    /// Fields that the tool requires are not there, or not complete.
    #[error("the arguments lack {}", fields.join(", "))]
    Missing {
        /// The fields, in the schema's order.
        fields: Vec<String>,
        /// Whether the arguments broke off.
        is_cut: bool,
    },
    /// They broke off, and the tool requires nothing, so that nothing tells half from whole.
    #[error("the arguments broke off, and no required field shows how much is missing")]
    Cut,
}

/// The arguments of a call to a tool with this schema, mended where that is safe.
///
/// Takes time in proportion to the text.
///
/// # Errors
/// [`NotRepaired`]: what is wrong with them.
pub fn repair(input: &ToolInput, schema: &Value) -> Result<Arguments, NotRepaired> {
    let required = Required::of(schema);
    match input {
        ToolInput::None => repair_text("", &required),
        ToolInput::Text(text) => repair_text(text, &required),
        ToolInput::Json(value @ Value::Map(fields)) => {
            let missing = required.missing(fields);
            if missing.is_empty() {
                return Ok(Arguments { value: value.clone(), repair: None });
            }
            let text = serde_json::to_string(value).unwrap_or_default();
            let mended = scan(&text).ok().and_then(|scanned| unescaped(&text, &scanned, &required));
            mended.ok_or(NotRepaired::Missing { fields: missing, is_cut: false })
        }
        ToolInput::Json(value) => Err(NotRepaired::NotAnObject { found: value.found() }),
    }
}

fn repair_text(text: &str, required: &Required<'_>) -> Result<Arguments, NotRepaired> {
    if text.trim().is_empty() {
        return match required.missing(&[]) {
            fields if fields.is_empty() => {
                Ok(Arguments { value: Value::Map(Fields::new()), repair: Some(Repair::Empty) })
            }
            fields => Err(NotRepaired::Missing { fields, is_cut: true }),
        };
    }
    if !text.trim_start().starts_with('{') {
        let (value, _) = Value::parse_json(text).map_err(NotRepaired::Json)?;
        return Err(NotRepaired::NotAnObject { found: value.found() });
    }
    let scanned = scan(text).map_err(NotRepaired::Json)?;
    let whole = complete(&scanned);
    let missing = required.missing(whole.as_map().unwrap_or_default());
    match &scanned.end {
        _ if !missing.is_empty() => unescaped(text, &scanned, required)
            .ok_or(NotRepaired::Missing { fields: missing, is_cut: scanned.end != End::Whole }),
        End::Whole => Ok(Arguments { value: whole, repair: None }),
        End::Cut(_) if required.0.is_empty() => Err(NotRepaired::Cut),
        End::Cut(dropped) => Ok(Arguments { value: whole, repair: Some(Repair::Cut { dropped: dropped.clone() }) }),
    }
}

/// The fields that are complete. One that is given twice, and whose last value is cut, is not.
fn complete(scanned: &Scan) -> Value {
    let mut fields = scanned.fields.clone();
    if let End::Cut(Some(dropped)) = &scanned.end {
        fields.retain(|(name, _)| name != dropped);
    }
    Value::from(fields)
}

/// The object that stands, escaped, in the last field's text, if it has all that the tool requires.
///
/// Where that text has an end, the quote and brace behind it may be the object's own. Nothing is taken that is cut.
fn unescaped(text: &str, scanned: &Scan, required: &Required<'_>) -> Option<Arguments> {
    let LastText { field, start, end } = scanned.last_text.as_ref()?;
    let inside = text.get(*start..*end)?;
    // Without an escaped quote nothing was escaped into it.
    if !inside.contains("\\\"") {
        return None;
    }
    let Ok((Value::Text(inside), _)) = Value::parse_json(format!("\"{inside}\"")) else { return None };
    let begun = format!("{}{}", &text[..*start], escaped_controls(&inside));
    let is_whole = scanned.end == End::Whole;
    let behind_it_nothing = text.get(end + 1..).is_none_or(|behind| behind.trim().is_empty());
    let candidates = [(is_whole || behind_it_nothing).then(|| begun.clone()), is_whole.then(|| begun + "\"}")];
    let object = candidates.into_iter().flatten().find_map(|text| {
        let (value, _) = Value::parse_json(text).ok()?;
        required.missing(value.as_map()?).is_empty().then_some(value)
    })?;
    Some(Arguments { value: object, repair: Some(Repair::Unescaped { field: field.clone() }) })
}

/// JSON that lies inside a string, with the control characters in its own strings escaped: it lost those escapes with
/// those of its quotes. It begins inside a string.
fn escaped_controls(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut is_inside, mut is_escape) = (true, false);
    for c in text.chars() {
        match c {
            '"' if !is_escape => is_inside = !is_inside,
            c if c < ' ' && is_inside => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
                is_escape = false;
                continue;
            }
            _ => {}
        }
        is_escape = is_inside && c == '\\' && !is_escape;
        out.push(c);
    }
    out
}

/// The fields that a schema requires.
struct Required<'s>(Vec<&'s str>);

impl<'s> Required<'s> {
    fn of(schema: &'s Value) -> Self {
        let names = schema.get("required").and_then(Value::as_list).unwrap_or_default();
        Self(names.iter().filter_map(Value::as_text).collect())
    }

    /// Those that are not there.
    fn missing(&self, fields: &[(String, Value)]) -> Vec<String> {
        let there: std::collections::BTreeSet<&str> = fields.iter().map(|(name, _)| name.as_str()).collect();
        self.0.iter().filter(|name| !there.contains(**name)).map(|name| (*name).to_owned()).collect()
    }
}
