//! Whether stored bytes say what an event says, without making values of them.

use std::io;

use serde::Serialize as _;

use super::body::{Body, Event};
use super::compress::plain;
use super::names::Style;
use super::pack::Entries;
use super::raw::Raw;
use super::shape::{BodyAlone, ENVELOPE};
use super::write::{At, Place};

/// Whether these bytes hold an event of this id with just this body, in the form that [`encode`](super::encode) gives it. What
/// it hangs on and when it happened may be another. False says nothing: the same may stand there in another form.
pub(crate) fn holds_body(bytes: &[u8], event: &Event) -> bool {
    let Ok(plain) = plain(bytes) else { return false };
    let Some(mut left) = behind_envelope(&plain.bytes, event) else { return false };
    let mut out = rmp_serde::Serializer::new(&mut left);
    let written = At(&BodyAlone(event), Place::outermost(Style::Log)).serialize(&mut out);
    written.is_ok() && left.body.is_empty()
}

/// The body's fields, if the envelope before them is one of this event. Of a body that is not known here the frame decides
/// whether it may be read.
fn behind_envelope<'a>(bytes: &'a [u8], event: &Event) -> Option<Left<'a>> {
    if matches!(event.body, Body::Unknown(_)) {
        return None;
    }
    let mut entries = Entries::of(bytes)?;
    let mut envelope = ENVELOPE.iter();
    let mut needed = 0;
    loop {
        let (count, body) = (entries.left, entries.rest());
        let name = if count > 0 { entries.name()? } else { "" };
        if !envelope.any(|known| *known == name) {
            return (needed == 3).then(|| Left::new(count, body));
        }
        let fits = match (name, entries.value()?) {
            ("type", Raw::Text(name)) => name == event.body.type_name(),
            ("id", Raw::Bytes(id)) => id[..] == event.id.as_bytes()[..],
            ("at", Raw::Int(_)) | ("hung_on", Raw::Null) => true,
            ("parent" | "hung_on", Raw::Bytes(id)) => id.len() == 16,
            ("original_id" | "original_parent", Raw::Text(_)) => true,
            ("off_chain", Raw::Bool(value)) => value,
            _ => false,
        };
        needed += u8::from(matches!(name, "type" | "id" | "at"));
        if !fits {
            return None;
        }
    }
}

/// What is still to be written, if it is the same. Takes bytes only as long as they are.
struct Left<'a> {
    /// The marker of an object of so many fields, from where it goes on.
    marker: [u8; 5],
    at: usize,
    body: &'a [u8],
}

impl<'a> Left<'a> {
    fn new(fields: usize, body: &'a [u8]) -> Self {
        let [a, b, c, d] = u32::try_from(fields).unwrap_or(u32::MAX).to_be_bytes();
        let (marker, at) = match fields {
            0..=0x0F => ([0, 0, 0, 0, 0x80 | d], 4),
            0x10..=0xFFFF => ([0, 0, 0xDE, c, d], 2),
            _ => ([0xDF, a, b, c, d], 0),
        };
        Self { marker, at, body }
    }
}

impl io::Write for Left<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let (marker, count) = (&self.marker[self.at..], bytes.len().min(self.marker.len() - self.at));
        let left = match bytes {
            // Most writes are a value's marker, and no call is as cheap as none.
            [byte] if marker.is_empty() => {
                self.body.split_first().filter(|(first, _)| *first == byte).map(|(_, left)| left)
            }
            _ if marker.is_empty() => self.body.strip_prefix(bytes),
            _ if bytes[..count] == marker[..count] => self.body.strip_prefix(&bytes[count..]),
            _ => None,
        };
        self.body = left.ok_or(io::ErrorKind::InvalidData)?;
        self.at += count;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{HungOn, IdMaker, Message, Uuid, Value, encode};
    use super::*;

    fn event(body: Body) -> Event {
        Event {
            id: IdMaker::after(Uuid::nil()).next(1, 0),
            parent: None,
            hung_on: HungOn::Named,
            at: 5,
            original_id: None,
            original_parent: None,
            off_chain: false,
            body,
            extra: Vec::new(),
        }
    }

    fn message(text: &str, fields: usize) -> Event {
        let mut message = Message::user(text);
        message.extra = (0..fields).map(|n| (format!("field {n}"), Value::from(n as i64))).collect();
        // A field that has one of our names is guarded.
        message.extra.extend(["parent", "kind", "at"].map(|name| (name.to_owned(), Value::from("foreign"))));
        event(Body::Message(Box::new(message)))
    }

    #[test]
    fn an_event_is_known_again_wherever_it_hangs() {
        for fields in [0, 1, 12, 70_000] {
            let event = message("hello", fields);
            let elsewhere = Event {
                parent: Some(Uuid::from_u128(7)),
                hung_on: HungOn::Root,
                at: -1,
                original_id: Some("theirs".to_owned()),
                original_parent: Some("above".to_owned()),
                off_chain: true,
                ..event.clone()
            };
            for stored in [&event, &elsewhere] {
                assert!(holds_body(&encode(stored).unwrap(), &event));
                assert!(holds_body(&encode(stored).unwrap(), &elsewhere));
            }
        }
    }

    #[test]
    fn other_content_another_id_and_every_cut_are_seen() {
        let event = message("hello", 1);
        let stored = encode(&event).unwrap();
        for other in [message("hullo", 1), message("hello", 2), message("hello", 0), message("hell", 1)] {
            assert!(!holds_body(&stored, &other));
            assert!(!holds_body(&encode(&other).unwrap(), &event));
        }
        assert!(!holds_body(&stored, &Event { id: Uuid::from_u128(1), ..event.clone() }));
        assert!((0..stored.len()).all(|cut| !holds_body(&stored[..cut], &event)));
        assert!(!holds_body(&[&stored[..], &[0]].concat(), &event));
        for at in 0..stored.len() {
            let mut flipped = stored.clone();
            flipped[at] ^= 1;
            let decoded = super::super::decode(&flipped);
            let same = decoded.is_ok_and(|decoded| decoded.id == event.id && decoded.body == event.body);
            assert!(same || !holds_body(&flipped, &event), "byte {at}");
        }
    }

    #[test]
    fn a_list_or_an_object_in_the_envelope_is_not_even_read() {
        for marker in [0x80, 0x9F, 0xDC, 0xDD, 0xDE, 0xDF] {
            let bytes = [&[0x81, 0xA4][..], b"type", &[marker], &[0; 40]].concat();
            let mut entries = Entries::of(&bytes).unwrap();
            assert_eq!(entries.name(), Some("type"));
            let before = entries.rest().len();
            assert!(entries.value().is_none());
            assert_eq!(entries.rest().len(), before, "marker {marker:x}");
            assert!(!holds_body(&bytes, &message("hello", 0)));
        }
    }
}
