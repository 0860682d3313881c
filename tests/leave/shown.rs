//! What a view says, line by line.

use seslog::event::{Part, PartBody, REJECTED, Role, ToolOutput};
use seslog::projection::{COMPACT_SUMMARY_PREFIX, Options, View, project};
use seslog::session::State;

/// One thing that a view shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shown {
    Text(Role, String),
    Reasoning(String),
    Call { id: String, name: String, input: String },
    Result { id: String, output: String, is_error: bool },
    Refusal { id: String, output: String },
    Other(String),
}

/// All that a view shows, in order.
pub(crate) fn shown(state: &State, view: View) -> Vec<Shown> {
    let mut all = Vec::new();
    for message in project(state, view, &Options::default()).messages {
        for part in &message.content {
            all.push(of(message.role, part));
        }
    }
    refused(&mut all);
    all
}

/// A model is told of a refusal as of a failed result: the last one for a call that has none.
fn refused(all: &mut [Shown]) {
    let is_call = |one: &&Shown, of: &str| matches!(one, Shown::Call { id, .. } if id == of);
    let is_result = |one: &&Shown, of: &str| matches!(one, Shown::Result { id, .. } if id == of);
    for at in (0..all.len()).rev() {
        let Shown::Refusal { id, output } = all[at].clone() else { continue };
        let calls = all[..at].iter().filter(|one| is_call(one, &id)).count();
        all[at] = match calls > all.iter().filter(|one| is_result(one, &id)).count() {
            true => Shown::Result { id, output, is_error: true },
            false => Shown::Other(format!("a refusal of {id}")),
        };
    }
}

fn of(role: Role, part: &Part) -> Shown {
    match &part.body {
        PartBody::Text(text) => Shown::Text(role, text.text.clone()),
        PartBody::Reasoning(reasoning) => Shown::Reasoning(format!("{reasoning:?}")),
        PartBody::ToolCall(call) => {
            Shown::Call { id: call.id.clone(), name: call.name.clone(), input: format!("{:?}", call.input) }
        }
        PartBody::ToolResult(result) => {
            let output = match &result.output {
                ToolOutput::Text(text) => text.clone(),
                ToolOutput::Parts(parts) => parts.iter().map(said).collect::<Vec<_>>().join("|"),
            };
            Shown::Result { id: result.call_id.clone(), output, is_error: result.is_error }
        }
        PartBody::ToolApprovalResponse(response) if !response.approved => {
            let output = response.reason.clone().unwrap_or_else(|| REJECTED.to_owned());
            Shown::Refusal { id: response.call_id.clone(), output }
        }
        _ => Shown::Other(said(part)),
    }
}

fn said(part: &Part) -> String {
    match &part.body {
        PartBody::Text(text) => text.text.clone(),
        // The model reads JSON as text.
        PartBody::Json(value) => serde_json::to_string(value).unwrap(),
        PartBody::Image(media) | PartBody::File(media) => format!("{} {:?}", media.media_type, media.source),
        other => format!("{other:?}"),
    }
}

/// The name without what keeps it apart from another.
fn without_end(name: String, is_apart: bool) -> String {
    let end = name.rsplit_once('_').filter(|(_, end)| is_apart && end.len() == 32);
    end.map_or(name.clone(), |(begin, _)| begin.to_owned())
}

/// What a view shows, but for what a report names: then two sessions show the same. Results stand last, by their calls: a
/// view puts them behind their call's message, be it one block of an answer or the whole; and so do attachments.
pub(crate) fn comparable(all: Vec<Shown>, named: &[&str]) -> Vec<Shown> {
    let is = |what: &str| named.contains(&what);
    let mut ids: Vec<String> = Vec::new();
    let mut nth = |id: String| -> String {
        let place = ids.iter().position(|known| *known == id).unwrap_or_else(|| {
            ids.push(id);
            ids.len() - 1
        });
        format!("#{place}")
    };
    let mut same = Vec::new();
    for one in all {
        same.push(match one {
            Shown::Reasoning(_) if is("reasoning") => continue,
            Shown::Other(_) if is("opaqueParts") || is("media") || is("approvals") => continue,
            // No request has one whose call is not in sight.
            Shown::Other(text) if is("refusals") && text.starts_with("a refusal of ") => continue,
            Shown::Text(_, text) if is("media") && text.contains(" not shown") => continue,
            Shown::Text(_, text) if is("summaries") && text.starts_with(COMPACT_SUMMARY_PREFIX) => continue,
            Shown::Text(role, text) => {
                let is_user = role == Role::System && (is("systemNotes") || is("asText"));
                Shown::Text(if is_user { Role::User } else { role }, text)
            }
            Shown::Call { id, name, input } => Shown::Call {
                id: nth(id),
                name: match is("toolNames") {
                    true => without_end(name.replace(|c: char| !c.is_ascii_alphanumeric(), "_"), is("toolNamesApart")),
                    false => name,
                },
                // A call without arguments is one with none of them.
                input: match input.as_str() {
                    _ if is("callInputs") => String::new(),
                    "None" => "Json(Map([]))".to_owned(),
                    _ => input,
                },
            },
            Shown::Result { id, output, is_error } => Shown::Result {
                id: nth(id),
                output: if is("prunes") || is("media") { String::new() } else { output },
                is_error,
            },
            other => other,
        });
    }
    let is_beside = |one: &Shown| match one {
        Shown::Result { .. } => true,
        Shown::Text(_, text) => is("asText") && text.starts_with("Attachment: "),
        _ => false,
    };
    let (mut beside, mut said): (Vec<Shown>, Vec<Shown>) = same.into_iter().partition(is_beside);
    beside.sort_by_key(|one| format!("{one:?}"));
    said.append(&mut beside);
    said
}
