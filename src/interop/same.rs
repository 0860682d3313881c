//! Whether an incoming record says what an event of the session says already, whatever its place was repaired to.

use super::said_here::is_from_here;
use crate::event::{
    Body, CompactBoundary, Event, Kind, Message, Part, PartBody, SessionMeta, ToolCall, ToolInput, ToolOutput,
    ToolResult, Uuid, Value,
};
use crate::session::{Import, NewEvent, Parent};

pub(super) fn is_same(new: &NewEvent, known: &Event) -> bool {
    let same_body = match (&new.body, &known.body) {
        (Body::SessionMeta(change), Body::SessionMeta(whole)) => is_in(change, whole),
        (new, known) => new == known,
    };
    same_body && is_same_envelope(new, known)
}

/// The same for a head, wherever it leads.
pub(super) fn is_same_head(new: &NewEvent, known: &Event) -> bool {
    matches!((&new.body, &known.body), (Body::Head(_), Body::Head(_))) && is_same_envelope(new, known)
}

/// The same for a boundary, whose own fields the session makes: it may have found fewer kept messages than were named.
pub(super) fn is_same_boundary(new: &NewEvent, known: &Event, keep: &[Uuid]) -> bool {
    let (Body::Message(given), Body::Message(stored)) = (&new.body, &known.body) else { return false };
    let (Kind::CompactBoundary(wanted), Kind::CompactBoundary(made)) = (&given.kind, &stored.kind) else {
        return false;
    };
    is_same_envelope(new, known)
        && wanted.trigger == made.trigger
        && is_kept(keep, made)
        && **given == Message { kind: given.kind.clone(), ..(**stored).clone() }
}

/// What was not there was left out, so a part of what is named is the same.
fn is_kept(keep: &[Uuid], made: &CompactBoundary) -> bool {
    made.keep.iter().all(|kept| keep.contains(&kept.id))
}

/// Whether a record gives back a message that was said here first, and was written into a file with the id that was made for it
/// here: words, calls, results, pictures and files are the same. For the rest (a time to the microsecond, costs, another provider's
/// reasoning) the file of another agent may have no place, and what it hangs on there may be another, where results were put behind
/// their calls.
pub(super) fn gives_back(new: &NewEvent, known: &Event) -> bool {
    let (Body::Message(given), Body::Message(stored)) = (&new.body, &known.body) else { return false };
    is_from_here(known) && stored.extra.is_empty() && says_the_same(given, stored)
}

/// Whether two messages have the same words, calls, results, pictures and files.
pub(super) fn says_the_same(given: &Message, stored: &Message) -> bool {
    given.role == stored.role
        && given.joined_text() == stored.joined_text()
        && given.calls().map(call).eq(stored.calls().map(call))
        && given.results().map(result).eq(stored.results().map(result))
        && beside_words(&given.content).eq(beside_words(&stored.content))
}

/// Whether a record is the same but for what it hangs on: that was not there when the event came, and is now, or it is what was left
/// above it when messages were taken back, which a file of ours does not have.
pub(super) fn hangs_elsewhere(
    import: &Import<'_>,
    (new, name): (&NewEvent, Option<&str>),
    known: &Event,
    same: impl Fn(&NewEvent, &Event) -> bool,
) -> bool {
    let parent = match new.parent {
        Parent::Of(id) => Some(id),
        Parent::Root => None,
        Parent::Leaf => return false,
    };
    let came_later = name.is_some() && known.original_parent.as_deref() == name;
    (came_later || import.above_taken_back(known.id) == Some(parent)) && {
        let parent = known.parent.map_or(Parent::Root, Parent::Of);
        same(&NewEvent { parent, original_parent: known.original_parent.clone(), ..new.clone() }, known)
    }
}

fn call(call: &ToolCall) -> (&str, &str, &ToolInput) {
    (&call.id, &call.name, &call.input)
}

fn result(result: &ToolResult) -> (&str, String, Vec<&PartBody>) {
    let (words, beside) = match &result.output {
        ToolOutput::Text(text) => (text.clone(), Vec::new()),
        ToolOutput::Parts(parts) => {
            let texts: Vec<&str> = parts.iter().filter_map(Part::as_text).collect();
            (texts.join("\n"), beside_words(parts).collect())
        }
    };
    (&result.call_id, words, beside)
}

/// What is neither words nor a call, a result or reasoning.
fn beside_words(parts: &[Part]) -> impl Iterator<Item = &PartBody> {
    use PartBody as P;
    let is_other = |body: &&P| !matches!(body, P::Text(_) | P::ToolCall(_) | P::ToolResult(_) | P::Reasoning(_));
    parts.iter().map(|part| &part.body).filter(is_other)
}

fn is_same_envelope(new: &NewEvent, known: &Event) -> bool {
    is_same_parent(new, known)
        && new.at.is_none_or(|at| at == known.at)
        && new.original_id == known.original_id
        && new.extra == known.extra
}

fn is_same_parent(new: &NewEvent, known: &Event) -> bool {
    match new.parent {
        // What was the leaf then is not asked.
        Parent::Leaf => true,
        Parent::Root => known.parent.is_none(),
        Parent::Of(id) => {
            known.parent == Some(id) || (new.original_parent.is_some() && new.original_parent == known.original_parent)
        }
    }
}

/// Whether a whole meta record says all that a change says.
fn is_in(change: &SessionMeta, whole: &SessionMeta) -> bool {
    let text = |new: &Option<String>, old: &Option<String>| match new.as_deref() {
        None => true,
        Some("") => old.is_none(),
        Some(_) => new == old,
    };
    let tags = match change.tags.as_slice() {
        [] => true,
        [only] if only.is_empty() => whole.tags.is_empty(),
        tags => whole.tags == tags,
    };
    let extra = |(name, value): &(String, Value)| {
        let old = whole.extra.iter().find(|(known, _)| known == name).map(|(_, value)| value);
        if value.as_text() == Some("") { old.is_none() } else { old == Some(value) }
    };
    text(&change.title, &whole.title)
        && text(&change.cwd, &whole.cwd)
        && text(&change.model, &whole.model)
        && text(&change.agent, &whole.agent)
        && tags
        && change.extra.iter().all(extra)
}
