//! What a person reads: the whole story of the current chain.

mod common;

use common::story::{Story, codes, id, names, text_of};
use seslog::event::*;
use seslog::projection::{Options, View, code, project};
use seslog::session::State;

fn side(kind: Kind) -> Message {
    Message::new(Role::System, kind, vec![Part::text("side")])
}

fn system_event() -> Message {
    side(Kind::SystemEvent(SystemEvent { subtype: "turn_duration".to_owned(), ..SystemEvent::default() }))
}

#[test]
fn compactions_are_shown_where_they_were_made_and_all_before_them_too() {
    let story = Story::new().user("u1").assistant("a1").compact("b1", "s1", &["a1"]).user("u2");
    let view = story.compact("b2", "s2", &["u2"]).user("u3").transcript();
    assert_eq!(names(&view), ["u1", "a1", "b1", "s1", "u2", "b2", "s2", "u3"]);
    assert_eq!(text_of(&view, "s1"), "s1");
}

#[test]
fn side_records_stand_at_their_place_in_the_file_if_they_hang_on_the_chain() {
    let progress = side(Kind::Progress(Progress::default()));
    let story = Story::new().user("u1").say("e1", system_event()).assistant("a1").say("p", progress);
    let story = story.say_below("a2", Some("u1"), Message::assistant("a2")).say_below("e2", Some("a1"), system_event());
    assert_eq!(names(&story.transcript()), ["u1", "e1", "a2"]);
}

#[test]
fn a_late_result_stays_where_it_came() {
    let view = Story::new().user("u1").calls("a1", &["c"]).user("u2").result("r1", "c").assistant("a2").transcript();
    assert_eq!(names(&view), ["u1", "a1", "u2", "r1", "a2"]);
}

#[test]
fn results_side_by_side_stand_in_the_order_of_their_calls_wherever_they_hang() {
    let story = Story::new().user("u1").calls("a1", &["c1", "c2", "c3"]);
    let story = story.say_below("r2", Some("a1"), Message::tool_result("c2", "2", false));
    let story = story.say("e", system_event());
    let story = story.say_below("r1", Some("a1"), Message::tool_result("c1", "1", false));
    let view = story.result("r3", "c3").assistant("a2").transcript();
    assert_eq!(names(&view), ["u1", "a1", "r1", "e", "r2", "r3", "a2"]);
}

#[test]
fn results_beside_a_chain_that_was_compacted_since_are_shown() {
    let story = Story::new().user("u1").calls("a1", &["c1", "c2"]);
    let story = story.say_below("r2", Some("a1"), Message::tool_result("c2", "2", false));
    let story = story.say_below("r1", Some("a1"), Message::tool_result("c1", "1", false));
    let view = story.assistant("a2").compact("b", "s", &["a2"]).user("u2").transcript();
    assert_eq!(names(&view), ["u1", "a1", "r1", "r2", "a2", "b", "s", "u2"]);
}

#[test]
fn a_result_of_a_call_on_another_branch_is_not_shown() {
    let story = Story::new().user("u1").calls("a1", &["c"]).head("h", "u1").assistant("b1").user("u2");
    let view = story.say_below("late", Some("a1"), Message::tool_result("c", "late", false)).transcript();
    assert_eq!(names(&view), ["u1", "b1", "u2"]);
}

#[test]
fn a_reused_call_id_does_not_bring_in_another_branchs_result() {
    let story = Story::new().user("u1").calls("a1", &["c"]).result("r1", "c").assistant("a2");
    let story = story.calls("x", &["c"]).result("xr", "c").head("h", "a2").user("u2");
    assert_eq!(names(&story.transcript()), ["u1", "a1", "r1", "a2", "u2"]);
}

#[test]
fn what_is_for_the_model_only_is_out_and_what_is_for_the_screen_only_is_in() {
    let marked = |mark: fn(&mut Metadata)| {
        let mut message = Message::user("x");
        mark(&mut message.metadata);
        message
    };
    let hidden = Kind::Custom(Custom { custom_type: "x".to_owned(), display: false, details: None });
    let story = Story::new()
        .user("u1")
        .say("meta", marked(|m| m.meta = true))
        .say("virtual", marked(|m| m.is_virtual = true))
        .say("invisible", marked(|m| m.visible_in_transcript = false))
        .say("custom", Message::new(Role::User, hidden, vec![Part::text("x")]))
        .say("switch", side(Kind::AgentSwitchNote))
        .say("verify", side(Kind::Verify(Verify::default())));
    let view = story.transcript();
    assert_eq!(names(&view), ["u1", "virtual", "switch", "verify"]);
    assert_eq!(codes(&view, "meta"), [code::META_LEFT_OUT]);
    assert_eq!(codes(&view, "custom"), [code::NOT_VISIBLE]);
    assert!(view.messages[1].metadata.hidden_from_model);
}

#[test]
fn a_tombstoned_message_is_gone() {
    let view = Story::new().user("u1").assistant("a1").user("u2").tombstone("t", &["a1"]).transcript();
    assert_eq!(names(&view), ["u1", "u2"]);
}

#[test]
fn a_pruned_result_is_shown_whole_with_a_note() {
    let view = Story::new().user("u1").calls("a1", &["c"]).result("r", "c").prune("p", &["r"]).transcript();
    assert_eq!(text_of(&view, "r"), "r");
    assert!(view.messages[2].metadata.compacted);
    assert_eq!(view.messages[2].metadata.notes.len(), 1);
}

#[test]
fn a_kinds_own_fields_are_in_the_json() {
    let bash = Kind::BashExecution(BashExecution { command: "ls".to_owned(), ..BashExecution::default() });
    let view = Story::new().say("b", Message::new(Role::User, bash, Vec::new())).transcript();
    let json = serde_json::to_string(&view).unwrap();
    assert!(json.contains("\"semanticType\":\"bash_execution\",\"fields\":{\"command\":\"ls\""), "{json}");
}

#[test]
fn a_view_of_half_a_story_says_that_it_is_none_of_the_whole() {
    let story = Story::new().user("u1").compact("b", "s", &[]).user("u2");
    for view in [View::Transcript, View::Ui, View::Export] {
        let said = |state: &State| {
            let diagnostics = project(state, view, &Options::default()).diagnostics;
            let item = diagnostics.items.into_iter().find(|item| item.code == code::STORY_BEGINS_AT_BOUNDARY);
            item.map(|item| item.ids)
        };
        assert_eq!(said(&story.state()), None, "{}", view.name());
        assert_eq!(said(&story.state().trimmed()), Some(vec![id("b")]), "{}", view.name());
    }
}
