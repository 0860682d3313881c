//! `seslog show`: a session as a person or the model reads it.

use std::collections::BTreeMap;

use anstyle::{AnsiColor, Style};
use serde::Serialize;
use seslog::event::{Part, PartBody, ToolInput, ToolOutput, Uuid, Value};
use seslog::projection::{Diagnostics, ProjectedMessage, View};
use seslog::session::DamagedRange;

use crate::Context;
use crate::exit::Outcome;
use crate::output::Output;
use crate::sanitize::{Layout, excerpt, visible};
use crate::time::rfc3339_seconds;
use crate::transcript;
use crate::views::look;

/// Show a session as a person or the model reads it
///
/// The transcript is the whole story of the current chain, through compactions and back into the session that this
/// one was forked from. The model's view begins at the compaction that counts.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  seslog show 0192 --view transcript\n  seslog show 0192 --view model --at 0192f3 --json"
)]
pub(crate) struct Args {
    /// The session: its id, the beginning of it, or a path
    session: String,
    /// For whom
    #[arg(long, value_enum, default_value_t)]
    view: For,
    /// As it was once this event was in
    #[arg(long, value_name = "EVENT")]
    at: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
enum For {
    /// A person: everything, nothing shortened
    #[default]
    Transcript,
    /// The model: what its next request is made of
    Model,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    session: String,
    view: View,
    at: Option<String>,
    missing_parent: Option<String>,
    damage: &'a [DamagedRange],
    messages: &'a [ProjectedMessage],
    diagnostics: &'a Diagnostics,
    /// The ids that events named outside the messages had where they came from.
    original_ids: BTreeMap<Uuid, &'a str>,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Outcome {
    let view = match args.view {
        For::Transcript => return transcript::show(&args.session, args.at.as_deref(), context),
        For::Model => View::Model,
    };
    let looked = look(&args.session, args.at.as_deref(), view, context)?;
    let out = &mut context.out;
    if out.json {
        let diagnostics = &looked.projection.diagnostics;
        let named = diagnostics.items.iter().flat_map(|item| item.ids.iter().copied());
        out.document(&Document {
            session: looked.reader.id().to_string(),
            view,
            at: looked.at.map(|id| id.to_string()),
            missing_parent: looked.missing_parent.map(|id| id.to_string()),
            damage: &looked.damage,
            messages: &looked.projection.messages,
            diagnostics,
            original_ids: looked.originals(named.chain(looked.at)),
        })?;
    } else {
        for message in &looked.projection.messages {
            human(message, out)?;
        }
        tell_hidden(looked.projection.diagnostics.hidden_message_ids.len(), out)?;
    }
    Ok(looked.exit())
}

/// Says how many messages a view does not show.
pub(crate) fn tell_hidden(hidden: usize, out: &mut Output) -> Outcome<()> {
    let are = match hidden {
        0 => return Ok(()),
        1 => "message is",
        _ => "messages are",
    };
    out.line(&format!("({hidden} {are} not shown in this view; --json says why)"))
}

/// One message, with a heading and a line for each part.
pub(crate) fn human(message: &ProjectedMessage, out: &mut Output) -> Outcome<()> {
    let role = out.paint(AnsiColor::Cyan.on_default().bold(), message.role.name());
    let mut about = vec![message.semantic_type().to_owned(), rfc3339_seconds(message.at)];
    about.extend(message.source_message_ids.first().map(ToString::to_string));
    let flags = &message.metadata;
    let words = [
        (flags.hidden_from_model, "not for the model"),
        (flags.hidden_from_transcript, "not for a person"),
        (flags.truncated, "cut"),
        (flags.compacted, "cleared for the model"),
        (flags.synthetic, "synthetic"),
    ];
    about.extend(words.iter().filter(|(holds, _)| *holds).map(|(_, word)| (*word).to_owned()));
    let about = out.paint(Style::new().dimmed(), &about.join(" · "));
    out.line(&format!("{role} {about}"))?;
    for part in &message.content {
        block(&part_text(part), out)?;
    }
    if message.content.is_empty() {
        // What such a message says stands in the fields of its kind.
        let json = serde_json::to_value(message).unwrap_or_default();
        if let Some(fields) = json.get("fields") {
            block(&fields.to_string(), out)?;
        }
    }
    for note in &flags.notes {
        block(&format!("({note})"), out)?;
    }
    out.line("")
}

fn block(text: &str, out: &mut Output) -> Outcome<()> {
    for line in visible(text, Layout::Block).lines() {
        out.line(format!("  {line}").trim_end())?;
    }
    Ok(())
}

fn part_text(part: &Part) -> String {
    const LINK_CHARS: usize = 120;
    match &part.body {
        PartBody::Text(text) => text.text.clone(),
        PartBody::Reasoning(reasoning) => match &reasoning.text {
            Some(text) if !text.trim().is_empty() => format!("(thinks) {text}"),
            _ => "(thinks; the text is not readable)".to_owned(),
        },
        PartBody::ToolCall(call) => {
            let input = match &call.input {
                ToolInput::None => String::new(),
                ToolInput::Json(value) => json(value),
                ToolInput::Text(text) => text.clone(),
            };
            let end = if call.incomplete { " (the stream ended inside this call)" } else { "" };
            format!("calls {}({input}) [{}]{end}", call.name, call.id)
        }
        PartBody::ToolResult(result) => {
            let output = match &result.output {
                ToolOutput::Text(text) => text.clone(),
                ToolOutput::Parts(parts) => parts.iter().map(part_text).collect::<Vec<_>>().join("\n"),
            };
            let failed = if result.is_error { " failed" } else { "" };
            format!("result [{}]{failed}: {output}", result.call_id)
        }
        PartBody::ToolApprovalRequest(request) => format!("asks whether call [{}] may run", request.call_id),
        PartBody::ToolApprovalResponse(response) => {
            let answer = if response.approved { "may run" } else { "must not run" };
            format!("call [{}] {answer}{}", response.call_id, in_brackets(response.reason.as_deref()))
        }
        PartBody::Image(media) | PartBody::File(media) => {
            use seslog::event::MediaSource;
            let source = match &media.source {
                MediaSource::Data(data) => format!("{} characters of base64", data.len()),
                MediaSource::Url(link) | MediaSource::Path(link) => excerpt(link, LINK_CHARS),
                MediaSource::Missing => "its source is not recorded".to_owned(),
            };
            format!("[{} {}: {source}]", part.body.type_name(), media.media_type)
        }
        PartBody::Json(value) => json(value),
        PartBody::Opaque(opaque) => format!("[a part of its provider's: {}]", json(&opaque.value)),
        other => format!("[a part of type {}]", other.type_name()),
    }
}

fn json(value: &Value) -> String {
    // A value has text for its keys, so it always has a JSON form.
    serde_json::to_string(value).unwrap_or_default()
}

fn in_brackets(text: Option<&str>) -> String {
    text.map_or_else(String::new, |text| format!(" ({text})"))
}
