//! The bytes of events: what is written is read, and nothing that is not whole or not ours is taken for an event.

use seslog::event::*;

fn event_of(body: Body) -> Event {
    Event {
        id: Uuid::from_u128(5),
        parent: Some(Uuid::from_u128(4)),
        hung_on: HungOn::Root,
        at: 7,
        original_id: Some("x".to_owned()),
        original_parent: None,
        off_chain: true,
        body,
        extra: Fields::new(),
    }
}

#[test]
fn a_message_comes_back_as_it_was() {
    let input = Value::Map(vec![("x".to_owned(), Value::Number("1.10".to_owned()))]);
    let mut message = Message::assistant_calls(vec![Part::text("a"), Part::tool_call("c", "run", input)]);
    message.stop_reason = StopReason::StreamOpen;
    message.extra.push(("parent".to_owned(), Value::Int(3)));
    message.usage = Some(Usage { input: 3, cache_read: Some(4), ..Usage::default() });
    let event = event_of(Body::Message(Box::new(message)));
    assert_eq!(decode(&encode(&event).unwrap()).unwrap(), event);
}
