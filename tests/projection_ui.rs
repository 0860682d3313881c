//! What a screen shows: one part a message, ids that no two share, what belongs to a call behind it.

mod common;

use std::collections::{HashMap, HashSet};

use common::story::{Story, calling, event, id, names};
use proptest::prelude::*;
use seslog::event::*;
use seslog::projection::{Options, ProjectedMessage, Projection, View, project};
use seslog::session::State;

fn ui(story: &Story) -> Projection {
    project(&story.state(), View::Ui, &Options::default())
}

fn parts(texts: &[&str]) -> Vec<Part> {
    texts.iter().map(|text| Part::text(*text)).collect()
}

fn answer(texts: &[&str]) -> Message {
    Message::new(Role::Assistant, Kind::AssistantText, parts(texts))
}

fn ids(view: &Projection) -> Vec<Uuid> {
    view.messages.iter().map(|message| message.id).collect()
}

fn hook(call: &str, phase: HookPhase) -> Message {
    let attachment =
        Attachment { attachment: Some("context".into()), tool_use_id: Some(call.to_owned()), hook_event: Some(phase) };
    Message::attachment(attachment, parts(&["hook"]))
}

fn progress(call: &str, phase: Option<HookPhase>) -> Message {
    Message::progress(Progress { tool_use_id: Some(call.to_owned()), hook_event: phase, ..Progress::default() })
}

fn hook_event(call: &str, phase: HookPhase) -> Message {
    let event = SystemEvent {
        subtype: "stop_hook_summary".to_owned(),
        tool_use_id: Some(call.to_owned()),
        hook_event: Some(phase),
        ..SystemEvent::default()
    };
    Message::new(Role::System, Kind::SystemEvent(event), parts(&["ran"]))
}

#[test]
fn each_message_has_one_part_or_none() {
    let story = Story::new().say("a", answer(&["one", "two"])).say("p", progress("c", None));
    let view = ui(&story);
    let counts: Vec<usize> = view.messages.iter().map(|message| message.content.len()).collect();
    assert_eq!(counts, [1, 1, 0]);
    assert!(view.messages.iter().all(|message| message.view == View::Ui));
    assert_eq!(view.messages[1].source_message_ids, [id("a")]);
}

#[test]
fn before_the_first_split_a_message_keeps_its_id_and_from_it_on_every_part_has_a_derived_one() {
    let story = Story::new().user("u1").assistant("a1").say("a2", answer(&["one", "two"])).user("u2").assistant("a3");
    let expected = [
        id("u1"),
        id("a1"),
        derive_id(id("a2"), 0),
        derive_id(id("a2"), 1),
        derive_id(id("u2"), 0),
        derive_id(id("a3"), 0),
    ];
    assert_eq!(ids(&ui(&story)), expected);
}

#[test]
fn a_users_message_of_several_parts_sets_the_flag_too() {
    let pictures = Message::new(Role::User, Kind::UserInput, parts(&["look", "here"]));
    let story = Story::new().assistant("a").say("u", pictures).assistant("b");
    assert_eq!(ids(&ui(&story)), [id("a"), derive_id(id("u"), 0), derive_id(id("u"), 1), derive_id(id("b"), 0)]);
}

#[test]
fn another_roles_message_of_several_parts_is_split_and_sets_nothing() {
    let note = Message::new(Role::System, Kind::SystemNote, parts(&["one", "two"]));
    let story = Story::new().say("s", note).user("u");
    assert_eq!(ids(&ui(&story)), [derive_id(id("s"), 0), derive_id(id("s"), 1), id("u")]);
}

#[test]
fn a_message_without_parts_keeps_its_id() {
    let story = Story::new().say("a", answer(&["one", "two"])).say("p", progress("c", None));
    assert_eq!(ids(&ui(&story))[2], id("p"));
}

/// A story of these messages with these ids, each hanging on the one before.
fn with_ids(messages: Vec<(Uuid, Message)>) -> State {
    let mut last = None;
    let mut events = Vec::new();
    for (id, message) in messages {
        let mut told = event("", None, Body::Message(Box::new(message)));
        (told.id, told.parent, told.original_id) = (id, last, None);
        last = Some(id);
        events.push(told);
    }
    State::from_events(events)
}

#[test]
fn where_derived_ids_meet_the_later_in_the_file_takes_another_that_is_always_the_same() {
    let first = Uuid::from_u128(0xAAAA_0000_0000_4000_8000_0000_0000_0005);
    let second = Uuid::from_u128(0xAAAA_0000_0000_4000_8000_0000_0000_0007);
    let told = || with_ids(vec![(first, answer(&["one", "two"])), (second, Message::user("three"))]);
    let view = || ids(&project(&told(), View::Ui, &Options::default()));
    assert_eq!(view(), [derive_id(first, 0), derive_id(first, 1), Uuid::new_v5(&second, b"0")]);
    assert_eq!(view(), view());
}

#[test]
fn what_belongs_to_a_call_stands_behind_it_whatever_order_it_came_in() {
    let order = [
        ("call", calling(&["c"])),
        ("pre", hook("c", HookPhase::Pre)),
        ("pre2", progress("c", Some(HookPhase::Pre))),
        ("result", Message::tool_result("c", "done", false)),
        ("post", hook("c", HookPhase::Post)),
        ("post2", hook_event("c", HookPhase::Post)),
    ];
    let mut orders = vec![Vec::new()];
    for index in 0..order.len() {
        let grown = |earlier: Vec<usize>| {
            (0..=earlier.len()).map(move |at| {
                let mut grown = earlier.clone();
                grown.insert(at, index);
                grown
            })
        };
        orders = orders.into_iter().flat_map(grown).collect();
    }
    for order_of in orders {
        let mut row = Story::new().user("u");
        for &index in &order_of {
            row = row.say(order[index].0, order[index].1.clone());
        }
        let shown = names(&ui(&row.assistant("end")));
        let rank = |name: &str| shown.iter().position(|shown| shown == name);
        assert!(rank("call") < rank("pre").min(rank("pre2")), "{order_of:?}: {shown:?}");
        assert!(rank("pre").max(rank("pre2")) < rank("result"), "{order_of:?}: {shown:?}");
        assert!(rank("result") < rank("post").min(rank("post2")), "{order_of:?}: {shown:?}");
        assert_eq!((shown.len(), &shown[0], &shown[7]), (8, &"u".to_owned(), &"end".to_owned()), "{order_of:?}");
    }
}

#[test]
fn parallel_calls_each_have_their_own_behind_them() {
    let story =
        Story::new().user("u").calls("a", &["c1", "c2"]).result("r2", "c2").say("h2", hook("c2", HookPhase::Post));
    let story = story.result("r1", "c1").say("h1", hook("c1", HookPhase::Pre)).assistant("end");
    assert_eq!(names(&ui(&story)), ["u", "a", "h1", "r1", "a", "r2", "h2", "end"]);
}

#[test]
fn a_call_id_that_is_used_again_begins_a_group_of_its_own() {
    let turn = |story: Story, n: &str| {
        let story = story.calls(&format!("a{n}"), &["c"]).say(&format!("pre{n}"), hook("c", HookPhase::Pre));
        story.result(&format!("r{n}"), "c").say(&format!("post{n}"), hook("c", HookPhase::Post))
    };
    let story = turn(turn(Story::new(), "1"), "2");
    let told = ["a1", "pre1", "r1", "post1", "a2", "pre2", "r2", "post2"];
    assert_eq!(names(&ui(&story)), told);
    // The same behind a compaction, where the session's pairing has nothing to say of the earlier calls.
    let view = ui(&story.compact("b", "s", &[]).user("u"));
    assert_eq!(names(&view)[..8], told);
}

#[test]
fn empty_call_ids_mix_no_groups() {
    let story = Story::new().calls("a1", &[""]).result("r1", "").calls("a2", &[""]).say("h", hook("", HookPhase::Pre));
    let story = story.user("between").result("r2", "");
    assert_eq!(names(&ui(&story)), ["a1", "r1", "a2", "r2", "h", "between"]);
}

#[test]
fn a_result_that_names_its_calls_message_goes_to_that_one() {
    let mut named = Message::tool_result("c", "late", false);
    named.metadata.source_tool_assistant_id = Some("a1".to_owned());
    let story = Story::new().calls("a1", &["c"]).calls("a2", &["c"]).say("r1", named).result("r2", "c");
    assert_eq!(names(&ui(&story)), ["a1", "r1", "a2", "r2"]);
    assert_eq!(names(&ui(&story.compact("b", "s", &[]).user("u")))[..4], ["a1", "r1", "a2", "r2"]);
}

#[test]
fn a_second_result_of_a_call_stays_where_it_came() {
    let story = Story::new().calls("a", &["c"]).user("u").result("r1", "c").result("r2", "c");
    assert_eq!(names(&ui(&story)), ["a", "r1", "u", "r2"]);
}

#[test]
fn a_real_result_takes_the_place_of_a_made_up_one() {
    let story = Story::new().calls("a", &["c"]).say("made", Message::missing_result("c")).user("u").result("real", "c");
    assert_eq!(names(&ui(&story)), ["a", "real", "made", "u"]);
    assert_eq!(names(&ui(&story.compact("b", "s", &[])))[..4], ["a", "real", "made", "u"]);
}

#[test]
fn a_result_of_a_hidden_call_joins_no_other_group() {
    let mut hidden = calling(&["c"]);
    hidden.metadata.visible_in_transcript = false;
    let story = Story::new().calls("a1", &["c"]).result("r1", "c").say("a2", hidden).user("u").result("r2", "c");
    assert_eq!(names(&ui(&story)), ["a1", "r1", "u", "r2"]);
}

#[test]
fn questions_about_a_call_stand_between_it_and_its_hooks() {
    let story = Story::new().calls("a", &["c"]).say("pre", hook("c", HookPhase::Pre));
    let story = story.say("ask", Message::approval_request("c", None));
    let story = story.say("yes", Message::approval_response("c", true, None)).result("r", "c");
    assert_eq!(names(&ui(&story)), ["a", "ask", "yes", "pre", "r"]);
}

#[test]
fn virtual_messages_are_shown_and_those_for_the_model_are_not() {
    let (mut virtually, mut meta, mut unseen) = (Message::user("v"), Message::user("m"), Message::user("x"));
    virtually.metadata.is_virtual = true;
    meta.metadata.meta = true;
    unseen.metadata.visible_in_transcript = false;
    let view = ui(&Story::new().say("v", virtually).say("m", meta).say("x", unseen));
    assert_eq!(names(&view), ["v"]);
    assert_eq!(view.diagnostics.hidden_message_ids, [id("m"), id("x")]);
}

/// Ids that meet when they are derived: a few prefixes, small and tiny endings, and the ids that stand in for taken
/// ones.
fn colliding_id() -> impl Strategy<Value = Uuid> {
    let plain = (0..3u128, 0..4u128)
        .prop_map(|(prefix, end)| Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0000 | (prefix << 48) | end));
    (plain.clone(), plain, 0..4u8, 0..3usize).prop_map(|(own, other, form, index)| match form {
        0 => Uuid::new_v5(&other, index.to_string().as_bytes()),
        1 => derive_id(Uuid::new_v5(&other, index.to_string().as_bytes()), index as u64),
        _ => own,
    })
}

fn any_message() -> impl Strategy<Value = Message> {
    let call = prop_oneof![Just("c1"), Just("c2"), Just("")];
    prop_oneof![
        (0..4usize).prop_map(|count| answer(&["text"; 4][..count])),
        (0..3usize).prop_map(|count| Message::new(Role::User, Kind::UserInput, parts(&["text"; 3][..count]))),
        prop::collection::vec(call.clone(), 1..4).prop_map(|ids| calling(&ids)),
        call.clone().prop_map(|id| Message::tool_result(id, "done", false)),
        prop::collection::vec(call.clone(), 1..3).prop_map(|ids| {
            let results = ids.into_iter().map(|id| Part::tool_result(id, "done", false)).collect();
            Message::new(Role::Tool, Kind::ToolResult, results)
        }),
        call.clone().prop_map(Message::missing_result),
        call.clone().prop_map(|id| hook(id, HookPhase::Pre)),
        call.clone().prop_map(|id| hook_event(id, HookPhase::Post)),
        call.prop_map(|id| progress(id, Some(HookPhase::Post))),
    ]
}

proptest! {
    #[test]
    fn no_two_messages_share_an_id_and_no_part_is_lost(
        told in prop::collection::vec((colliding_id(), any_message()), 0..24)
    ) {
        let mut seen = HashSet::new();
        let told: Vec<_> = told.into_iter().filter(|(id, _)| seen.insert(*id)).collect();
        let state = with_ids(told);
        let view = project(&state, View::Ui, &Options::default());
        let story = project(&state, View::Transcript, &Options::default());
        let ids: HashSet<Uuid> = view.messages.iter().map(|message| message.id).collect();
        prop_assert_eq!(ids.len(), view.messages.len());
        let count = |messages: &[ProjectedMessage]| {
            let mut counts: HashMap<Uuid, usize> = HashMap::new();
            for message in messages {
                *counts.entry(message.source_message_ids[0]).or_default() += message.content.len();
            }
            counts
        };
        prop_assert_eq!(count(&view.messages), count(&story.messages));
        prop_assert_eq!(&project(&state, View::Ui, &Options::default()), &view);
    }
}
