//! Every event that can be made comes back equal: from its bytes, and through JSON.

mod event_support;

use event_support::{event, message, value};
use proptest::prelude::*;
use seslog::event::*;
use seslog::interop::{Incoming, IncomingBody, IncomingParent, read_events};

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn an_event_comes_back_from_its_bytes(event in event()) {
        let bytes = encode(&event).unwrap();
        let decoded = decode(&bytes).unwrap();
        prop_assert_eq!(&decoded, &event);
        prop_assert_eq!(encode(&decoded).unwrap(), bytes, "the same event has the same bytes");
    }

    #[test]
    fn a_patch_between_two_messages_makes_the_one_the_other(before in message(), other in message()) {
        let mut after = Message { role: before.role, ..other };
        if after.kind.name() != before.kind.name() {
            let refused = matches!(patch_between(&before, &after), Err(EventError::FixedField { .. }));
            prop_assert!(refused);
            after.kind = before.kind.clone();
        }
        match patch_between(&before, &after) {
            Ok(patch) => prop_assert_eq!(apply_patch(&before, &patch).unwrap(), after),
            Err(error) => {
                let takes_away = matches!(error, EventError::NotStorable { .. });
                prop_assert!(takes_away, "{}", error);
                // What only comes and never goes can always be patched in.
                after = before.clone();
                after.stop_reason = StopReason::Said("end_turn".to_owned());
                after.content.push(Part::text("more"));
                prop_assert_eq!(apply_patch(&before, &patch_between(&before, &after).unwrap()).unwrap(), after);
            }
        }
    }

    #[test]
    fn json_is_one_line_that_any_reader_takes(event in event()) {
        let line = to_json(&event);
        prop_assert!(!line.contains('\n'));
        let (value, lossy) = Value::parse_json(&line).unwrap();
        prop_assert!(lossy.is_none());
        prop_assert_eq!(serde_json::to_string(&value).unwrap(), line);
    }

    #[test]
    fn a_value_comes_back_from_json(value in value()) {
        let text = serde_json::to_string(&value).unwrap();
        prop_assert_eq!(Value::parse_json(&text).unwrap().0, value);
    }

    #[test]
    fn an_event_comes_back_through_json(event in event()) {
        let line = to_json(&event);
        let read = match event.boundary().is_some() {
            false => read_events(line.as_bytes()).collect::<Vec<_>>(),
            true => return a_compaction_comes_back(event),
        };
        prop_assert_eq!(read, vec![Ok((1, as_incoming(event)))], "{}", line);
    }
}

/// A boundary and its summary are read back as one compaction; the boundary's other fields come as a patch.
fn a_compaction_comes_back(event: Event) -> Result<(), TestCaseError> {
    let summary = summary_below(&event);
    let lines = format!("{}\n{}\n", to_json(&event), to_json(&summary));
    let (boundary, message) = (event.boundary().cloned().unwrap(), event.message().cloned().unwrap());
    let read = read_events(lines.as_bytes()).collect::<Vec<_>>();
    let [Ok((1, read))] = &read[..] else { return Err(TestCaseError::fail(format!("{read:?}"))) };
    let IncomingBody::Compaction { summary_id, summary: read_summary, keep, trigger, boundary_extra, .. } = &read.body
    else {
        return Err(TestCaseError::fail(format!("{read:?}")));
    };
    prop_assert_eq!(summary_id, &Some(summary.id.to_string()));
    prop_assert_eq!(Some(&**read_summary), summary.message());
    prop_assert_eq!(trigger, &boundary.trigger);
    prop_assert_eq!(keep, &boundary.keep.iter().map(|kept| kept.id.to_string()).collect::<Vec<_>>());
    let bare = Message::new(message.role, message.kind.clone(), Vec::new());
    prop_assert_eq!(apply_patch(&bare, boundary_extra).unwrap(), message);
    Ok(())
}

fn summary_below(boundary: &Event) -> Event {
    let message = Message::new(Role::User, Kind::CompactSummary(CompactSummary::default()), vec![Part::text("so far")]);
    Event {
        parent: Some(boundary.id),
        body: Body::Message(Box::new(message)),
        ..event_support::event_at(Uuid::from_u128(9), 9)
    }
}

/// What an import of the event's line must see.
fn as_incoming(event: Event) -> Incoming {
    let parent = match (event.original_parent, event.parent) {
        (Some(name), _) if name.is_empty() => IncomingParent::Leaf,
        (Some(name), _) => IncomingParent::Id(name),
        (None, Some(id)) => IncomingParent::Id(id.to_string()),
        (None, None) => IncomingParent::Root,
    };
    let text = |id: Uuid| id.to_string();
    let body = match event.body {
        Body::Message(message) => IncomingBody::Message(message),
        Body::Tombstone(Tombstone { targets, reason }) => {
            IncomingBody::Tombstone { targets: targets.into_iter().map(text).collect(), reason }
        }
        Body::Amend(Amend { target, patch }) => IncomingBody::Amend { target: text(target), patch },
        Body::Prune(Prune { targets }) => IncomingBody::Prune { targets: targets.into_iter().map(text).collect() },
        Body::Head(Head { leaf }) => IncomingBody::Head { leaf: leaf.map(text) },
        Body::ToolStarted(started) => IncomingBody::ToolStarted(started),
        Body::SessionMeta(meta) => IncomingBody::SessionMeta(meta),
        Body::Extension(extension) => IncomingBody::Extension(extension),
        Body::Unknown(unknown) => IncomingBody::Unknown(unknown),
        other => panic!("a body that the test does not know: {other:?}"),
    };
    Incoming {
        id: Some(text(event.id)),
        original_id: event.original_id,
        parent,
        placed: None,
        at: Some(event.at),
        body,
        extra: event.extra,
    }
}
