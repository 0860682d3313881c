//! Views of a session in which one thing comes many thousand times. Whoever goes through all of them for each of them
//! needs minutes here, where a second is enough.

mod common;

use std::collections::HashSet;

use common::story::{Story, calling, event, id};
use seslog::event::{Attachment, Body, Event, Kind, Message, Part, Role, Uuid};
use seslog::projection::{Options, View, project};
use seslog::session::State;

const MANY: usize = 50_000;

fn names(letter: &str) -> Vec<String> {
    (0..MANY).map(|n| format!("{letter}{n}")).collect()
}

#[test]
fn many_results_in_one_message_stand_in_the_order_of_their_calls() {
    let calls = names("c");
    let calls: Vec<&str> = calls.iter().map(String::as_str).collect();
    let results = calls.iter().rev().flat_map(|call| Message::tool_result(*call, "done", false).content).collect();
    let results = Message::new(Role::Tool, Kind::ToolResult, results);
    let model = Story::new().user("u").say("a", calling(&calls)).say("r", results).model();
    let last = model.messages.last().unwrap();
    let answered: Vec<&str> =
        last.content.iter().filter_map(|part| part.as_tool_result()).map(|result| result.call_id.as_str()).collect();
    assert_eq!(answered, calls);
}

#[test]
fn many_attachments_hang_before_the_result_of_their_call_or_stand_where_they_came() {
    for (call, expected) in [("c", ["a", "t0"]), ("another", ["a", "r"])] {
        let mut story = Story::new().user("u").calls("a", &["c"]).result("r", "c");
        for name in names("t") {
            let kind = Attachment { tool_use_id: Some(call.to_owned()), ..Attachment::default() };
            story = story.say(&name, Message::new(Role::User, Kind::Attachment(kind), vec![Part::text("seen")]));
        }
        let model = story.model();
        assert_eq!(model.messages.len(), MANY + 3);
        assert_eq!([model.messages[1].id, model.messages[2].id], expected.map(id));
        let attachments = model.messages.iter().filter(|message| matches!(*message.kind, Kind::Attachment(_)));
        assert!(attachments.map(|message| message.id).eq(names("t").iter().map(|name| id(name))), "{call}");
    }
}

#[test]
fn many_messages_that_share_an_id_have_ids_of_their_own_in_the_ui_view() {
    let same = Uuid::from_u128(7);
    let told = |n: usize| {
        let body = Body::Message(Box::new(Message::user(n.to_string())));
        Event { id: same, parent: (n > 0).then_some(same), ..event("x", None, body) }
    };
    let ui = project(&State::from_events((0..MANY).map(told)), View::Ui, &Options::default());
    let ids: HashSet<Uuid> = ui.messages.iter().map(|message| message.id).collect();
    assert_eq!((ui.messages.len(), ids.len()), (MANY, MANY));
}
