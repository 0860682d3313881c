//! What views and bodies hold in memory: no copy of what the messages say, and no more for a longer session.

#[path = "common/counting.rs"]
mod counting;

use std::io::Write;

use counting::peak_of;
use seslog::context::{Config, Pipeline};
use seslog::event::*;
use seslog::projection::{Options, Projector, View, project};
use seslog::session::State;
use seslog::wire::{self, Provider, payload};

fn event(n: u128, message: Message) -> Event {
    Event {
        id: Uuid::from_u128(n),
        parent: (n > 1).then(|| Uuid::from_u128(n - 1)),
        hung_on: HungOn::Named,
        at: 0,
        original_id: None,
        original_parent: None,
        off_chain: false,
        body: Body::Message(Box::new(message)),
        extra: Fields::new(),
    }
}

/// A question, a call, its result and an answer, over and over.
fn message(n: u128, text: &str) -> Message {
    match n % 4 {
        1 => Message::user(text),
        2 => {
            let input = Value::from([("text", text.into())]);
            Message::assistant_calls(vec![Part::text(text), Part::tool_call(format!("call_{n}"), "run", input)])
        }
        3 => Message::tool_result(format!("call_{}", n - 1), text, false),
        _ => Message::assistant(text),
    }
}

fn session(count: u128, text: &str) -> State {
    State::from_events((1..=count).map(|n| event(n, message(n, text))))
}

/// Throws away what is written.
struct Nowhere(usize);

impl Write for Nowhere {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_view_and_a_body_copy_nothing_that_a_message_says() {
    let state = session(40, &"some words ".repeat(20_000));
    for provider in Provider::ALL {
        let mut out = Nowhere(0);
        let held = peak_of(|| {
            let view = project(&state, View::Model, &Options::default());
            let options = wire::Options::default();
            payload(&view.messages, provider, &options).write_to(&mut out).unwrap();
        });
        assert!(out.0 > 40 * 200_000, "{}: {} bytes", provider.name(), out.0);
        // Arguments that an interface wants as text are made into one, call by call; an item is 220,000 bytes.
        let calls_as_text = matches!(provider, Provider::OpenAiChat | Provider::OpenAiResponses);
        let limit = if calls_as_text { 10 * 520_000 } else { 200_000 };
        assert!(held < limit, "{}: {held} bytes are held", provider.name());
    }
}

#[test]
fn prompt_assembly_copies_no_body_that_it_does_not_change() {
    let mut config = Config::default();
    config.system_role = Some("Be brief.".to_owned());
    config.truncate.keep_last_groups = Some(30);
    config.disabled_tools = vec!["walk".to_owned()];
    config.media.takes = Some(Default::default());
    config.placeholders.values.insert("name".to_owned(), "value".to_owned());
    let held = |text: &str| {
        let messages = project(&session(40, text), View::Model, &Options::default()).messages;
        let mut put_in = 0;
        let held = peak_of(|| {
            let prompt = Pipeline::standard(&config).run(&messages).unwrap();
            put_in = prompt.messages.iter().filter(|message| message.source_message_ids.is_empty()).count();
        });
        assert_eq!(put_in, 1);
        held
    };
    let (short, long) = (held("some words"), held(&"some words ".repeat(20_000)));
    assert!(long < short + 1_024, "{short} bytes for short messages, {long} for 40 of 220,000 bytes");
}

/// The least that an update holds while a session grows by four messages.
fn update_cost(view: View, count: u128) -> usize {
    let mut state = session(count, "a few words");
    let mut projector = Projector::new(&state, view, Options::default());
    // Lists that have to grow cost more at times.
    let costs = (count + 1..=count + 16).map(|n| {
        state.push(event(n, message(n, "a few words")), n as u64 + 1);
        peak_of(|| assert_eq!(projector.update(&state).first_changed, None))
    });
    let costs: Vec<usize> = costs.collect();
    assert_eq!(projector.messages().len(), usize::try_from(count).unwrap() + 16);
    costs.chunks(4).map(|turn| turn.iter().sum()).min().unwrap()
}

#[test]
fn an_update_of_a_view_costs_the_same_however_long_the_session_is() {
    for view in [View::Model, View::Compact, View::Transcript] {
        let [short, long] = [100, 10_000].map(|count| update_cost(view, count));
        assert!(long <= short + 1_024, "{}: {short} bytes for 100 messages, {long} for 10,000", view.name());
    }
}
