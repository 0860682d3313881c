//! What cards that hold messages become.

use seslog::context::steps::cards::OpenedCards;
use seslog::context::steps::compressed_group::CompressedGroup;
use seslog::context::steps::council_flatten::CouncilFlatten;
use seslog::context::steps::group_flatten::GroupFlatten;
use seslog::context::steps::supervisor_role::SupervisorRole;
use seslog::context::{Prompt, agent_of, code};
use seslog::event::{Children, DEPTH_MAX, Kind, Message, Part, Role, Usage, Uuid, Value, derive_id};
use seslog::projection;

use crate::common::story::{Story, id};
use crate::support::{card, codes, council, group, item, items, lines, message, names, run, supervisor, told};

/// What becomes of a history of a person's word and this card.
fn opened(card: Message) -> Prompt {
    let view = told("u1").say("card", card).model();
    run(&view.messages, vec![Box::new(CouncilFlatten::new()), Box::new(GroupFlatten::new())])
}

fn named(mut message: Message, agent: &str) -> Message {
    message.metadata.agent_name = Some(agent.to_owned());
    message
}

#[test]
fn a_card_becomes_the_messages_that_it_holds_each_result_behind_its_call() {
    let a_turn = || items("a1(c1,c2) r2(c2) r1(c1) a2");
    let own_words = || Message { content: vec![Part::text("I ask them.")], ..council(items("a1@ann a2@bob")) };
    let many_in_one = || {
        let parts = vec![
            Part::text("look"),
            crate::support::call_part("c1"),
            Part::tool_result("c1", "found", false),
            crate::support::call_part("c2"),
            Part::tool_result("c2", "more", false),
            Part::text("done"),
        ];
        vec![item("a1", Message::assistant_calls(parts))]
    };
    let cases: [(&str, Message, &[&str]); 9] = [
        ("a council", council(items("a1@ann a2@bob")), &["assistant: a1", "assistant: a2"]),
        (
            "a council whose members call",
            council(items("a1(c1)@ann r1(c1) a2(c1)@bob r2(c1)")),
            &["assistant: run!c1", "tool: c1=r1", "assistant: run!c1", "tool: c1=r2"],
        ),
        (
            "a council of groups",
            council(vec![item("g1", group(a_turn())), item("g2", group(items("a3")))]),
            &["assistant: run!c1 | run!c2", "tool: c1=r1", "tool: c2=r2", "assistant: a2", "assistant: a3"],
        ),
        (
            "a group with its results out of order",
            group(a_turn()),
            &["assistant: run!c1 | run!c2", "tool: c1=r1", "tool: c2=r2", "assistant: a2"],
        ),
        (
            "a result behind something else",
            group(items("a1(c1) a2 r1(c1)")),
            &["assistant: run!c1", "tool: c1=r1", "assistant: a2"],
        ),
        ("a supervisor", supervisor(items("a1 u2 a2")), &["assistant: a1", "user: u2", "assistant: a2"]),
        (
            "a message that holds its results",
            group(many_in_one()),
            &["assistant: look | run!c1 | run!c2", "tool: c1=found | c2=more", "assistant: done"],
        ),
        ("a card's own words", own_words(), &["assistant: I ask them.", "assistant: a1", "assistant: a2"]),
        (
            "a council in a group in a council",
            council(vec![item("g", group(vec![item("c", council(items("a1 a2")))])), items("a3").remove(0)]),
            &["assistant: a1", "assistant: a2", "assistant: a3"],
        ),
    ];
    for (case, card, expected) in cases {
        let prompt = opened(card);
        assert_eq!(lines(&prompt.messages)[1..], *expected, "{case}");
        assert_eq!(codes(&prompt), [code::CARD_OPENED], "{case}");
        assert!(prompt.messages.iter().all(|message| !message.source_message_ids.is_empty()), "{case}");
        let of_card = &prompt.messages[1..];
        assert!(of_card.iter().all(|message| message.source_message_ids.contains(&id("card"))), "{case}");
    }
}

#[test]
fn what_is_recorded_of_a_child_is_there_for_later_steps_and_its_parts_are_shared() {
    let mut answer = Message::assistant("yes");
    answer.usage = Some(Usage { output: 7, ..Usage::default() });
    answer.model = Some("m-1".to_owned());
    let prompt = opened(council(vec![item("a1", named(answer, "ann"))]));
    let message = &prompt.messages[1];
    let recorded = message.recorded().unwrap();
    assert_eq!(recorded.usage.as_ref().map(|usage| usage.output), Some(7));
    assert_eq!((message.model.as_deref(), agent_of(message)), (Some("m-1"), Some("ann")));
    assert!(message.content.iter().all(|part| part.is_recorded()));
    assert_eq!(message.kind.event().unwrap().parent, Some(id("card")));
}

#[test]
fn a_child_keeps_an_id_of_ours_and_gets_one_of_its_card_and_place_else() {
    let own = Uuid::from_u128(0x0197_0000_0000_7000_8000_0000_0000_0001);
    let children = [item(&own.to_string(), message("a1").1), item("word", message("a2").1), item("", message("a3").1)];
    let prompt = opened(group(children.into()));
    let ids: Vec<Uuid> = prompt.messages[1..].iter().map(|message| message.id).collect();
    assert_eq!(ids, [own, derive_id(id("card"), 1), derive_id(id("card"), 2)]);
    assert_eq!(names(&prompt.messages), ["u1", "word", ""]);
    let nested = opened(group(vec![item("g", group(items("a1 a2"))), items("a3").remove(0)]));
    let mut ids: Vec<Uuid> = nested.messages.iter().map(|message| message.id).collect();
    ids.dedup();
    assert_eq!(ids.len(), 4, "ids of a card in a card are their own");
}

#[test]
fn a_child_of_a_group_that_names_no_agent_is_its_cards_and_one_of_a_council_is_nobodys() {
    let agents = |prompt: &Prompt| -> Vec<String> {
        prompt.messages[1..].iter().map(|message| agent_of(message).unwrap_or("-").to_owned()).collect()
    };
    assert_eq!(agents(&opened(named(group(items("a1 a2@bob")), "ann"))), ["ann", "bob"]);
    assert_eq!(agents(&opened(named(council(items("a1 a2@bob")), "ann"))), ["-", "bob"]);
    let inner = item("g", named(group(items("a1")), "eve"));
    assert_eq!(agents(&opened(named(council(vec![inner]), "ann"))), ["eve"]);
}

#[test]
fn what_can_not_be_read_stays_the_views_text_and_is_told() {
    let unknown = Value::from([("role", "assistant".into()), ("content", "hello".into())]);
    let prompt = opened(council(vec![items("a1").remove(0), unknown, Value::Int(3), items("a2").remove(0)]));
    let expected = ["assistant: a1", "assistant: assistant: hello", "assistant: 3", "assistant: a2"];
    assert_eq!(lines(&prompt.messages)[1..], expected);
    assert_eq!(codes(&prompt), [code::CARD_LEFT_AS_TEXT, code::CARD_OPENED]);
    let opened = prompt.metadata.get::<OpenedCards>().unwrap();
    assert_eq!((opened.opened, opened.items, opened.unread), (1, 4, 2));
}

#[test]
fn what_no_model_may_see_stays_hidden_inside_a_card_and_a_sub_agents_line_is_shown() {
    let mut hidden = Message::assistant("hidden");
    hidden.metadata.eligible_for_model_context = false;
    let mut side = Message::assistant("side");
    side.metadata.sidechain = true;
    let prompt = opened(group(vec![item("a1", hidden), item("a2", side)]));
    assert_eq!(lines(&prompt.messages)[1..], ["assistant: side"]);
    assert_eq!(codes(&prompt), [projection::code::NOT_ELIGIBLE, code::CARD_OPENED]);
}

#[test]
fn a_card_that_was_opened_is_not_opened_again() {
    let view = told("u1").say("card", group(vec![item("c", council(items("a1 a2")))])).model();
    let twice = run(&view.messages, vec![Box::new(GroupFlatten::new()), Box::new(CouncilFlatten::new())]);
    assert_eq!(lines(&twice.messages), ["user: u1", "assistant: a1", "assistant: a2"]);
    let with_words = Message { content: vec![Part::text("well")], ..council(items("a1")) };
    let view = told("u1").say("card", group(vec![item("c", with_words)])).model();
    let twice = run(&view.messages, vec![Box::new(GroupFlatten::new()), Box::new(CouncilFlatten::new())]);
    assert_eq!(lines(&twice.messages), ["user: u1", "assistant: well", "assistant: a1"]);
}

#[test]
fn cards_in_cards_beyond_the_limit_stay_text_and_nothing_overflows() {
    let mut inner = item("a1", Message::assistant("deep"));
    for _ in 0..DEPTH_MAX + 8 {
        inner = Value::from([
            ("role", "assistant".into()),
            ("kind", "assistant_group".into()),
            ("children", Value::List(vec![inner])),
        ]);
    }
    let prompt = opened(group(vec![inner]));
    assert_eq!(prompt.messages.len(), 2);
    assert_eq!(codes(&prompt), [code::CARD_LEFT_AS_TEXT, code::CARD_OPENED]);
}

#[test]
fn histories_without_cards_are_left_as_they_are() {
    let view = told("s1 u1 a1(c1) r1(c1) a2").model();
    let prompt = opened_all(&view.messages);
    assert_eq!(prompt.messages, view.messages);
    assert!(prompt.diagnostics.is_empty());
    assert!(prompt.metadata.get::<OpenedCards>().is_none());
    let empty = told("u1").say("card", group(Vec::new())).model();
    assert_eq!(opened_all(&empty.messages).messages, empty.messages);
}

fn opened_all(messages: &[projection::ProjectedMessage]) -> Prompt {
    run(
        messages,
        vec![
            Box::new(CouncilFlatten::new()),
            Box::new(GroupFlatten::new()),
            Box::new(SupervisorRole::new()),
            Box::new(CompressedGroup::new()),
        ],
    )
}

#[test]
fn a_supervisors_own_words_are_an_assistants() {
    let own = Message { role: Role::User, content: vec![Part::text("go on")], ..supervisor(Vec::new()) };
    let view = told("u1").say("card", own).model();
    let prompt = opened_all(&view.messages);
    assert_eq!(lines(&prompt.messages), ["user: u1", "assistant: go on"]);
    assert_eq!(codes(&prompt), [code::RETOLD]);
}

#[test]
fn compressed_messages_are_a_summary_in_the_users_place() {
    let compressed =
        |content: Vec<Part>, children| Message { content, ..card(Kind::CompressedGroup(Children { children })) };
    let cases = [
        (
            "its summary",
            compressed(vec![Part::text("They met.</compressed_history_summary>")], items("a1")),
            "They met.&lt;/compressed_history_summary>",
        ),
        ("its messages", compressed(Vec::new(), items("a1@ann u2")), "Compressed messages:\n\nann: a1\n\nuser: u2"),
    ];
    for (case, card, text) in cases {
        let view = Story::new().user("u1").say("card", card).model();
        let prompt = opened_all(&view.messages);
        let expected = format!("user: <compressed_history_summary>\n{text}\n</compressed_history_summary>");
        assert_eq!(lines(&prompt.messages)[1], expected, "{case}");
        assert_eq!(codes(&prompt), [code::RETOLD], "{case}");
    }
}
