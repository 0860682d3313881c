//! Notes in the place of pictures and files that the model does not take.

use std::collections::BTreeSet;

use serde::Deserialize;

use crate::context::slots::{is_user, is_wrapper};
use crate::context::{BoxError, Context, Processor};
use crate::event::{Media, Part, PartBody, ToolOutput, ToolResult};
use crate::projection::{Diagnostic, ProjectedMessage, Shared, code, holds_media_type};

/// The step's name.
pub const NAME: &str = "media";

/// Stands for a picture that the model does not take.
pub const IMAGE_OMITTED: &str = "[image omitted: this model does not take it]";
/// Stands for a video.
pub const VIDEO_OMITTED: &str = "[video omitted: this model does not take it]";
/// Stands for a sound.
pub const AUDIO_OMITTED: &str = "[audio omitted: this model does not take it]";
/// Stands for any other file.
pub const FILE_OMITTED: &str = "[file omitted: this model does not take it]";

/// What the model takes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct MediaConfig {
    /// Media types, such as `image/png`, `image/*` or `application/pdf`; none: all, and an empty list is for a model that
    /// reads text only.
    pub takes: Option<BTreeSet<String>>,
}

/// Puts a note in the place of each picture or file that the model does not take: as many notes as there were pictures,
/// so that the model knows of each.
///
/// In a message of the person's they stand behind what was said and before the wrapper, since they are part of what was
/// said; elsewhere, and in a tool's output, each stands where the picture stood. It runs behind what makes messages out
/// of others, which may bring pictures.
#[derive(Debug, Clone, Default)]
pub struct MediaNotes {
    config: MediaConfig,
}

impl MediaNotes {
    /// A step for a model that takes these.
    #[must_use]
    pub fn new(config: MediaConfig) -> Self {
        Self { config }
    }
}

impl Processor for MediaNotes {
    fn name(&self) -> &str {
        NAME
    }

    fn process(&self, context: &mut Context<'_>) -> Result<(), BoxError> {
        let Some(takes) = &self.config.takes else { return Ok(()) };
        for message in &mut context.messages {
            let count = degrade(message, takes);
            if count > 0 {
                let reason = format!("{count} in the message that the model does not take");
                let ids = message.source_message_ids.iter().copied();
                context.diagnostics.push(Diagnostic::new(code::MEDIA_DEGRADED, ids, reason));
            }
        }
        Ok(())
    }
}

/// Puts notes into a message. Returns how many.
fn degrade(message: &mut ProjectedMessage, takes: &BTreeSet<String>) -> usize {
    if !message.content.iter().any(|part| has_untaken(part, takes)) {
        return 0;
    }
    let is_the_persons = is_user(message);
    let mut notes = Vec::new();
    let mut count = 0;
    message.content.retain_mut(|part| {
        if let Some(note) = note(part, takes) {
            count += 1;
            if is_the_persons {
                notes.push(note);
                return false;
            }
            *part = Shared::from(note);
        } else if let Some(result) = part.as_tool_result()
            && has_untaken(part, takes)
        {
            let (result, notes) = noted(result, takes);
            count += notes;
            let (provider, item_id, extra) = (part.provider.clone(), part.item_id.clone(), part.extra.clone());
            *part = Shared::from(Part { body: PartBody::ToolResult(result), provider, item_id, extra });
        }
        true
    });
    let wrapper = message.content.last().filter(|part| is_wrapper(part)).is_some();
    let at = message.content.len() - usize::from(wrapper);
    message.content.splice(at..at, notes.into_iter().map(Shared::from));
    count
}

/// The result with notes in its output, and how many.
fn noted(result: &ToolResult, takes: &BTreeSet<String>) -> (ToolResult, usize) {
    let mut count = 0;
    let output = match &result.output {
        ToolOutput::Text(text) => ToolOutput::Text(text.clone()),
        ToolOutput::Parts(parts) => {
            let noted = parts.iter().map(|part| match note(part, takes) {
                Some(note) => {
                    count += 1;
                    note
                }
                None => part.clone(),
            });
            ToolOutput::Parts(noted.collect())
        }
    };
    let (call_id, name) = (result.call_id.clone(), result.name.clone());
    (ToolResult { call_id, name, output, is_error: result.is_error, raw: None }, count)
}

fn has_untaken(part: &Part, takes: &BTreeSet<String>) -> bool {
    match &part.body {
        PartBody::ToolResult(ToolResult { output: ToolOutput::Parts(parts), .. }) => {
            parts.iter().any(|part| untaken(part, takes).is_some())
        }
        _ => untaken(part, takes).is_some(),
    }
}

/// The picture or file of this part, if the model does not take it.
fn untaken<'a>(part: &'a Part, takes: &BTreeSet<String>) -> Option<&'a Media> {
    let (media, is_image) = match &part.body {
        PartBody::Image(media) => (media, true),
        PartBody::File(media) => (media, false),
        _ => return None,
    };
    let is_taken = match media.media_type.trim().is_empty() && is_image {
        // Of what kind it is, only its bytes say.
        true => takes.iter().any(|taken| taken.starts_with("image/")),
        false => holds_media_type(takes, &media.media_type),
    };
    (!is_taken).then_some(media)
}

/// The note for this part, if it is a picture or file that the model does not take.
fn note(part: &Part, takes: &BTreeSet<String>) -> Option<Part> {
    let media = untaken(part, takes)?;
    let is_image = matches!(part.body, PartBody::Image(_));
    Some(Part::text(match media.media_type.split('/').next() {
        _ if is_image => IMAGE_OMITTED,
        Some("image") => IMAGE_OMITTED,
        Some("video") => VIDEO_OMITTED,
        Some("audio") => AUDIO_OMITTED,
        _ => FILE_OMITTED,
    }))
}
