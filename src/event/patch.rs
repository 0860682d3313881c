//! Completing a message with what became known late.

use super::error::EventError;
use super::message::Message;
use super::names::{Style, unguard};
use super::read::Reader;
use super::shape::{
    KindFields, MESSAGE_FIELDS, message_patch, read_content, read_kind, read_metadata_field, read_stop_reason,
    read_usage_field, to_value,
};
use super::value::{Fields, Value};

/// The message with the fields of a patch in it. Each named field replaces the old one whole; null takes a known one
/// away, but a `stop_reason` of null says that the stream had not ended. Fields that this version does not know go
/// to the message's unknown ones.
///
/// # Errors
/// [`EventError::FixedField`] if the patch names role, kind, id or parent; [`EventError::Field`] if a field holds
/// what it can't hold.
pub fn apply_patch(message: &Message, patch: &Fields) -> Result<Message, EventError> {
    check_patch(patch)?;
    let mut message = message.clone();
    let (common, own) = patch.iter().cloned().partition(|(name, _)| COMMON.contains(&name.as_str()));
    patch_common(&mut message, common)?;
    if !own.is_empty() {
        patch_kind(&mut message, own)?;
    }
    Ok(message)
}

/// The patch that makes the first message the second: for one that was recorded while it streamed and is whole now.
///
/// ```
/// use seslog::event::{Message, StopReason, apply_patch, patch_between};
///
/// let mut early = Message::assistant("Beds");
/// early.stop_reason = StopReason::StreamOpen;
/// let mut whole = Message::assistant("Beds or lawn?");
/// whole.stop_reason = StopReason::Said("end_turn".into());
/// let patch = patch_between(&early, &whole)?;
/// assert_eq!(apply_patch(&early, &patch)?, whole);
/// # Ok::<(), seslog::event::EventError>(())
/// ```
///
/// # Errors
/// [`EventError::FixedField`] if role or kind differ; [`EventError::NotStorable`] if the second message lacks what no
/// patch can take away, such as that anything is said of why the model stopped.
pub fn patch_between(before: &Message, after: &Message) -> Result<Fields, EventError> {
    let fixed = |field: &str| Err(EventError::FixedField { field: field.to_owned() });
    if before.role != after.role {
        return fixed("role");
    }
    if before.kind.name() != after.kind.name() {
        return fixed("kind");
    }
    let old = all_fields(before)?;
    let mut patch = all_fields(after)?;
    let gone = |name: &String| !patch.iter().any(|(field, _)| field == name);
    let taken_away: Fields =
        old.iter().filter(|(name, _)| gone(name)).map(|(name, _)| (name.clone(), Value::Null)).collect();
    patch.extend(taken_away);
    patch.retain(|field| !old.contains(field));
    // Null is a value to some fields and not an absence.
    match apply_patch(before, &patch)? == *after {
        true => Ok(patch),
        false => Err(EventError::NotStorable { why: "no patch takes away what it lacks of the message before".into() }),
    }
}

/// What a patch may name of a message, as it stands in the log.
fn all_fields(message: &Message) -> Result<Fields, EventError> {
    let mut fields = message_patch(message.clone())?;
    if let Value::Map(own) = to_value(&KindFields(&message.kind), Style::Log)? {
        fields.extend(own);
    }
    Ok(fields)
}

/// Refuses a patch of what never changes.
pub(crate) fn check_patch(patch: &Fields) -> Result<(), EventError> {
    const FIXED: [&str; 6] = ["role", "kind", "id", "parent", "parent_id", "type"];
    match patch.iter().find(|(name, _)| FIXED.contains(&name.as_str())) {
        Some((name, _)) => Err(EventError::FixedField { field: name.clone() }),
        None => Ok(()),
    }
}

/// The fields that messages of all kinds have and that a patch may name.
const COMMON: [&str; 8] =
    ["content", "provider", "model", "request_id", "message_id", "usage", "stop_reason", "metadata"];

fn patch_common(message: &mut Message, patch: Fields) -> Result<(), EventError> {
    let named: Vec<String> = patch.iter().map(|(name, _)| name.clone()).collect();
    let mut fields = Reader::new(patch, Style::Log);
    for name in named {
        match name.as_str() {
            "content" => message.content = read_content(&mut fields)?,
            "provider" => message.provider = fields.text("provider")?,
            "model" => message.model = fields.text("model")?,
            "request_id" => message.request_id = fields.text("request_id")?,
            "message_id" => message.message_id = fields.text("message_id")?,
            "usage" => message.usage = read_usage_field(&mut fields)?,
            "stop_reason" => message.stop_reason = read_stop_reason(&mut fields)?,
            _ => message.metadata = read_metadata_field(&mut fields)?,
        }
    }
    Ok(())
}

/// Puts the rest of a patch into the kind's own fields and, where the kind has none of that name, into the message's
/// unknown ones.
fn patch_kind(message: &mut Message, patch: Fields) -> Result<(), EventError> {
    // The kind is read anew out of its fields as they were with the patch's over them.
    let Value::Map(mut own) = to_value(&KindFields(&message.kind), Style::Log)? else { return Ok(()) };
    // A marked name is an unknown field's, whatever the kind has.
    let bare = |name: &String| unguard(name.clone(), MESSAGE_FIELDS, Style::Log);
    for (name, value) in patch.iter().filter(|(name, _)| bare(name) == *name) {
        put(&mut own, name.clone(), value.clone());
    }
    let mut own = Reader::new(own, Style::Log);
    if let Some(kind) = read_kind(message.kind.name(), &mut own)? {
        message.kind = kind;
    }
    let not_of_the_kind = own.rest();
    for (name, value) in patch {
        let bare = bare(&name);
        if bare != name || not_of_the_kind.iter().any(|(left, _)| *left == name) {
            put(&mut message.extra, bare, value);
        }
    }
    Ok(())
}

fn put(fields: &mut Fields, name: String, value: Value) {
    match fields.iter_mut().find(|(field, _)| *field == name) {
        Some((_, old)) => *old = value,
        None => fields.push((name, value)),
    }
}
