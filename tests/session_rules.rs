//! The rules of the fold one by one: where an event hangs, which call an answer is for, what is a branch's leaf. Each test
//! is a story in which a session without the rule would show something else.

mod common;

use common::story::{Story, calling, id};
use seslog::event::{
    Amend, ApprovalRequest, Body, HungOn, Message, Part, PartBody, Progress, ToolStarted, Uuid, Value, patch_between,
};
use seslog::session::{Approval, State};

fn progress() -> Message {
    Message::progress(Progress::default())
}

fn hung(state: &State, name: &str) -> HungOn {
    state.entry(id(name)).unwrap().event.hung_on
}

fn chain(state: &State) -> Vec<Uuid> {
    state.chain().into_iter().map(|entry| entry.event.id).collect()
}

/// The result that counts for the first call of a message.
fn answer(state: &State, message: &str) -> Option<Uuid> {
    state.pairing().result_of(id(message), 0).map(|(entry, _)| entry.event.id)
}

#[test]
fn a_message_below_an_unknown_parent_keeps_that_name_and_hangs_on_the_leaf() {
    let state = Story::new().user("a").say_below("b", Some("gone"), Message::user("b")).state();
    let event = &state.entry(id("b")).unwrap().event;
    assert_eq!((event.parent, event.hung_on), (Some(id("gone")), HungOn::Event(id("a"))));
    assert_eq!(event.original_parent, Some(id("gone").to_string()));
    assert_eq!(chain(&state), [id("a"), id("b")]);
}

#[test]
fn a_side_record_that_names_no_parent_stands_for_the_leaf() {
    let story = Story::new().user("a").say_below("p", None, progress());
    let state = story.say_below("b", Some("p"), Message::user("b")).state();
    assert_eq!(hung(&state, "p"), HungOn::Event(id("a")));
    assert_eq!(chain(&state), [id("a"), id("b")]);
}

#[test]
fn a_side_record_of_an_abandoned_branch_stands_for_that_branch() {
    let story = Story::new().user("a").user("b").head("h", "a").user("c");
    let story = story.say_below("p", Some("b"), progress()).say_below("q", Some("p"), progress());
    let state = story.say_below("d", Some("q"), Message::user("d")).state();
    assert_eq!((hung(&state, "p"), hung(&state, "q")), (HungOn::Named, HungOn::Event(id("b"))));
    assert_eq!(chain(&state), [id("a"), id("b"), id("d")], "not below what was said on the other branch");
}

#[test]
fn results_of_another_call_are_no_siblings() {
    let story = Story::new().calls("m", &["x"]).calls("n", &["y"]).result("of-y", "y");
    let state = story.say_below("of-x", Some("n"), Message::tool_result("x", "late", false)).state();
    assert_eq!(chain(&state), [id("m"), id("n"), id("of-y"), id("of-x")]);
}

#[test]
fn what_was_taken_back_between_a_call_and_its_results_makes_none_of_them_late() {
    let story = Story::new().calls("m", &["x", "y"]).user("u").result("of-y", "y").tombstone("t", &["u"]);
    let state = story.say_below("of-x", Some("m"), Message::tool_result("x", "1", false)).state();
    assert_eq!(hung(&state, "of-x"), HungOn::Named);
}

#[test]
fn an_approval_of_a_call_on_an_abandoned_branch_does_not_move_the_leaf() {
    let story = Story::new().user("a").calls("m", &["x"]).head("h", "a").user("c");
    let state = story.say_below("yes", Some("m"), Message::approval_response("x", true, None)).state();
    assert!(state.entry(id("yes")).unwrap().event.off_chain);
    assert_eq!(chain(&state), [id("a"), id("c")]);
}

#[test]
fn a_result_that_names_its_message_answers_that_one_of_several_calls_of_an_id() {
    for name in ["m".to_owned(), id("m").to_string()] {
        let mut result = Message::tool_result("x", "1", false);
        result.metadata.source_tool_assistant_id = Some(name.clone());
        let state = Story::new().calls("m", &["x"]).calls("n", &["x"]).say("r", result).state();
        assert_eq!((answer(&state, "m"), answer(&state, "n")), (Some(id("r")), None), "{name}");
    }
}

#[test]
fn a_compaction_that_begins_a_session_counts_until_it_is_taken_back() {
    let story = Story::new().compact("k", "s", &[]);
    assert_eq!(story.state().boundary().map(|entry| entry.event.id), Some(id("k")));
    assert!(story.tombstone("t", &["k"]).state().boundary().is_none());
}

#[test]
fn a_message_whose_only_child_was_taken_back_is_no_leaf_if_that_has_a_living_child() {
    let story = Story::new().user("a").user("b").user("c").tombstone("t", &["b"]);
    assert_eq!(story.state().branches(), [id("c")]);
}

#[test]
fn a_result_that_was_taken_back_or_is_a_sub_agents_answers_nothing() {
    let story = Story::new().calls("m", &["x"]).result("r", "x");
    assert_eq!(answer(&story.state(), "m"), Some(id("r")));
    assert_eq!(answer(&story.tombstone("t", &["r"]).state(), "m"), None);
    let mut result = Message::tool_result("x", "1", false);
    result.metadata.sidechain = true;
    let state = Story::new().calls("m", &["x"]).say_below("r", Some("m"), result).state();
    assert_eq!(answer(&state, "m"), None);
}

#[test]
fn a_synthetic_result_gives_way_to_a_real_one_only() {
    let story = Story::new().calls("m", &["x"]).say("one", Message::missing_result("x"));
    let story = story.say("two", Message::missing_result("x"));
    assert_eq!(answer(&story.state(), "m"), Some(id("one")));
    assert_eq!(answer(&story.result("real", "x").state(), "m"), Some(id("real")));
}

#[test]
fn a_request_for_approval_may_stand_in_the_message_of_its_call() {
    let mut message = calling(&["x"]);
    let request = ApprovalRequest { call_id: "x".to_owned(), approval_id: None };
    message.content.push(Part::new(PartBody::ToolApprovalRequest(request)));
    let state = Story::new().say("m", message).state();
    assert_eq!(state.pairing().calls()[0].approval, Approval::Waiting);
}

#[test]
fn a_start_is_that_of_the_latest_call_before_it() {
    let started = ToolStarted { call_id: "x".to_owned(), idempotency_key: None };
    let story = Story::new().calls("m", &["x"]).body("go", Body::ToolStarted(started)).calls("n", &["x"]);
    let state = story.state();
    let started: Vec<bool> = state.pairing().calls().iter().map(|call| call.started.is_some()).collect();
    assert_eq!(started, [true, false]);
}

#[test]
fn of_two_calls_of_one_id_in_a_message_the_open_one_is_asked_about() {
    let story = Story::new().calls("m", &["x", "x"]).result("r", "x");
    let state = story.say("ask", Message::approval_request("x", None)).state();
    let approvals: Vec<Approval> = state.pairing().calls().iter().map(|call| call.approval).collect();
    assert_eq!(approvals, [Approval::NotAsked, Approval::Waiting]);
}

#[test]
fn the_first_tombstone_is_the_one_that_is_told() {
    let state = Story::new().user("a").tombstone("t", &["a"]).tombstone("u", &["a"]).state();
    assert_eq!(state.entry(id("a")).unwrap().tombstone, Some(id("t")));
}

#[test]
fn the_first_summary_behind_a_boundary_is_its_own() {
    let again = Message::compact_summary("another", None);
    let state = Story::new().user("a").compact("k", "s", &[]).say_below("other", Some("k"), again).state();
    let boundary = state.entry(id("k")).unwrap();
    assert_eq!(state.compaction_partner(boundary).map(|entry| entry.event.id), Some(id("s")));
}

#[test]
fn a_side_record_below_another_is_anchored_where_that_is() {
    let story = Story::new().user("a").say_below("p", Some("a"), progress());
    let state = story.say_below("q", Some("p"), progress()).state();
    let anchor = state.anchor(state.entry(id("q")).unwrap());
    assert_eq!(anchor.map(|entry| entry.event.id), Some(id("a")));
}

#[test]
fn an_amend_that_does_not_fit_its_message_is_noted_and_changes_nothing() {
    let patch = vec![("model".to_owned(), Value::Int(1))];
    let amend = Body::Amend(Amend { target: id("a"), patch });
    let state = Story::new().user("a").body("m", amend).state();
    assert_eq!(state.entry(id("a")).unwrap().refused_amends, [id("m")]);
}

#[test]
fn an_amend_moves_no_message_in_or_out_of_the_chain() {
    let story = Story::new().user("a").say("b", Message::assistant("b")).user("c");
    let plain = Message::assistant("b");
    let mut side = plain.clone();
    side.metadata.sidechain = true;
    let patch = patch_between(&plain, &side).unwrap();
    let amended = story.clone().body("m", Body::Amend(Amend { target: id("b"), patch })).state();
    assert!(amended.entry(id("b")).unwrap().event.message().unwrap().metadata.sidechain, "the patch itself counts");
    assert_eq!(chain(&amended), chain(&story.state()));
}
