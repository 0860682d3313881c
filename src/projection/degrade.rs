//! What the model can't take as it is, as text: pictures and files of other types, calls of tools that are gone.

use std::collections::BTreeSet;

use super::document::to_json;
use super::options::Options;
use super::results::with_output;
use crate::event::{Media, MediaSource, Part, PartBody, ToolCall, ToolInput, ToolOutput, ToolResult};

/// Why a picture or file is a note.
pub(super) fn not_taken(options: &Options) -> &'static str {
    match options.media.as_ref().is_some_and(BTreeSet::is_empty) {
        true => "pictures and files are left out here",
        false => "the model does not take this media type",
    }
}

/// The text in the place of a picture or file.
pub(crate) fn media_note(media: &Media, reason: &str) -> String {
    let place = match &media.source {
        MediaSource::Url(url) if !url.starts_with("data:") => Some(url.as_str()),
        MediaSource::Path(path) => Some(path.as_str()),
        _ => None,
    };
    media_note_of(&media.media_type, media.name.as_deref(), place, reason)
}

/// The same, of what is known of it.
pub(crate) fn media_note_of(media_type: &str, name: Option<&str>, place: Option<&str>, reason: &str) -> String {
    let what = if media_type.starts_with("image/") { "Picture" } else { "File" };
    let kind = Some(media_type).filter(|name| !name.is_empty());
    let details: Vec<&str> = [name, kind, place].into_iter().flatten().collect();
    match details.is_empty() {
        true => format!("[{what} not shown: {reason}]"),
        false => format!("[{what} not shown: {}; {reason}]", details.join(", ")),
    }
}

/// The picture or file of this part, if the model does not take it.
pub(super) fn untaken<'a>(part: &'a Part, options: &Options) -> Option<&'a Media> {
    match &part.body {
        PartBody::Image(media) | PartBody::File(media) => Some(media).filter(|m| !options.takes_media(m.known_type())),
        _ => None,
    }
}

/// The result with a note for each picture or file that the model does not take, and those notes; none if it takes all.
pub(super) fn without_untaken(result: &ToolResult, options: &Options) -> Option<(ToolResult, Vec<String>)> {
    let ToolOutput::Parts(parts) = &result.output else { return None };
    if parts.iter().all(|part| untaken(part, options).is_none()) {
        return None;
    }
    let mut notes = Vec::new();
    let noted = parts.iter().map(|part| match untaken(part, options) {
        Some(media) => {
            notes.push(media_note(media, not_taken(options)));
            Part::text(media_note(media, not_taken(options)))
        }
        None => part.clone(),
    });
    let output = ToolOutput::Parts(noted.collect());
    Some((with_output(result, output), notes))
}

/// A call of a tool that does not exist any more, as the model's text.
pub(super) fn gone_call(call: &ToolCall) -> String {
    let input = match &call.input {
        ToolInput::None => String::new(),
        ToolInput::Json(value) => to_json(value),
        ToolInput::Text(text) => text.clone(),
    };
    format!("[Called the tool {}, which is no longer there, with: {input}]", call.name)
}

/// The result of such a call, as the user's parts.
pub(super) fn gone_result(call: &ToolCall, result: &ToolResult) -> Vec<Part> {
    let how = if result.is_error { "failed" } else { "answered" };
    let title = format!("[The tool {}, which is no longer there, {how}:]", call.name);
    match &result.output {
        ToolOutput::Text(text) => vec![Part::text(format!("{title}\n{text}"))],
        ToolOutput::Parts(parts) => std::iter::once(Part::text(title)).chain(parts.iter().cloned()).collect(),
    }
}
