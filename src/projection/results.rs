//! What becomes of a tool's output on its way to the model: whole, cut, or a stub.

use std::borrow::Cow;

use super::document::to_json;
use super::text::{char_count, soft_cut};
use crate::event::{Part, PartBody, ToolOutput, ToolResult};

/// Stands in the place of a result that was cleared.
pub const CLEARED_RESULT: &str = "[Old tool result content cleared]";

/// The line that ends a result that was cut.
#[must_use]
pub fn left_out_note(chars: usize) -> String {
    format!("[{chars} more characters of this result are left out]")
}

/// The result with another output, and without what is for the screen only.
pub(super) fn with_output(result: &ToolResult, output: ToolOutput) -> ToolResult {
    let (call_id, name) = (result.call_id.clone(), result.name.clone());
    ToolResult { call_id, name, output, is_error: result.is_error, raw: None }
}

/// The result with a stub for its output.
pub(super) fn cleared(result: &ToolResult) -> ToolResult {
    with_output(result, ToolOutput::Text(CLEARED_RESULT.to_owned()))
}

/// The characters of a result's texts. Pictures and files count nothing, JSON counts as its text.
pub(super) fn length(result: &ToolResult) -> usize {
    match &result.output {
        ToolOutput::Text(text) => char_count(text),
        ToolOutput::Parts(parts) => parts.iter().filter_map(part_text).map(|text| char_count(&text)).sum(),
    }
}

/// The result cut to `limit` characters, with a note of how many are left out.
pub(super) fn cut(result: &ToolResult, limit: usize) -> ToolResult {
    let output = match &result.output {
        ToolOutput::Text(text) => {
            let (head, left_out) = soft_cut(text, limit).unwrap_or((text, 0));
            ToolOutput::Text(format!("{head}\n\n{}", left_out_note(left_out)))
        }
        ToolOutput::Parts(parts) => ToolOutput::Parts(cut_parts(parts, limit)),
    };
    with_output(result, output)
}

fn cut_parts(parts: &[Part], limit: usize) -> Vec<Part> {
    let mut room = limit;
    let mut left_out = 0;
    let mut kept = Vec::new();
    for part in parts {
        let Some(text) = part_text(part) else {
            kept.push(part.clone());
            continue;
        };
        match soft_cut(&text, room) {
            None => {
                room -= char_count(&text);
                kept.push(part.clone());
            }
            Some((head, rest)) => {
                if !head.is_empty() {
                    kept.push(Part::text(head));
                }
                left_out += rest;
                room = 0;
            }
        }
    }
    kept.push(Part::text(left_out_note(left_out)));
    kept
}

fn part_text(part: &Part) -> Option<Cow<'_, str>> {
    match &part.body {
        PartBody::Text(text) => Some(Cow::Borrowed(&text.text)),
        PartBody::Json(value) => Some(Cow::Owned(to_json(value))),
        _ => None,
    }
}
