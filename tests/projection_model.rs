//! What the model reads: which messages, in which order, and what is said about the rest.

mod common;

use common::story::{Story, calling, codes, id, names, text_of};
use seslog::event::*;
use seslog::projection::{
    BRANCH_SUMMARY_PREFIX, CLEARED_RESULT, COMPACT_SUMMARY_PREFIX, COMPACT_SUMMARY_SUFFIX, Options, code,
};

fn of_kind(role: Role, kind: Kind, text: &str) -> Message {
    Message::new(role, kind, vec![Part::text(text)])
}

fn event_message(subtype: &str, text: &str) -> Message {
    let kind = Kind::SystemEvent(SystemEvent { subtype: subtype.to_owned(), ..SystemEvent::default() });
    of_kind(Role::System, kind, text)
}

fn attachment(call: Option<&str>) -> Message {
    let kind = Kind::Attachment(Attachment { tool_use_id: call.map(str::to_owned), ..Attachment::default() });
    of_kind(Role::User, kind, "attached")
}

fn marked(mut message: Message, mark: impl FnOnce(&mut Metadata)) -> Message {
    mark(&mut message.metadata);
    message
}

#[test]
fn without_a_compaction_the_whole_chain_is_shown() {
    let view = Story::new().user("u1").assistant("a1").user("u2").model();
    assert_eq!(names(&view), ["u1", "a1", "u2"]);
    assert_eq!(view.messages[0].semantic_type(), "user_input");
    assert_eq!(view.messages[0].source_message_ids, [id("u1")]);
}

#[test]
fn the_view_begins_at_the_latest_boundary_with_its_summary_and_the_kept_messages() {
    let story = Story::new().user("u1").assistant("a1").user("u2").assistant("a2").compact("b", "s", &["u2", "a2"]);
    let view = story.user("u3").model();
    assert_eq!(names(&view), ["s", "u2", "a2", "u3"]);
    assert_eq!(view.diagnostics.applied_compact_boundary_id, Some(id("b")));
    assert!(codes(&view, "b").contains(&code::BOUNDARY_APPLIED));
    assert_eq!(view.messages[0].role, Role::User);
    assert_eq!(text_of(&view, "s"), format!("{COMPACT_SUMMARY_PREFIX}s{COMPACT_SUMMARY_SUFFIX}"));
}

#[test]
fn older_boundaries_and_summaries_inside_a_kept_range_are_not_shown() {
    let story = Story::new().user("u1").calls("a1", &["c"]).compact("b1", "s1", &["a1"]).result("r1", "c");
    let view = story.user("u2").compact("b2", "s2", &["a1", "b1", "s1", "r1", "u2"]).model();
    assert_eq!(names(&view), ["s2", "a1", "r1", "u2"]);
    assert_eq!(codes(&view, "s1"), [code::OLDER_COMPACTION_LEFT_OUT]);
}

#[test]
fn a_rewind_to_before_a_compaction_shows_the_uncompacted_history() {
    let story = Story::new().user("u1").assistant("a1").user("u2").compact("b", "s", &["u2"]).user("u3");
    let view = story.head("h", "a1").user("u4").model();
    assert_eq!(names(&view), ["u1", "a1", "u4"]);
    assert_eq!(view.diagnostics.applied_compact_boundary_id, None);
}

#[test]
fn results_stand_behind_their_calls_in_the_order_of_the_calls() {
    let story = Story::new().user("u1").calls("a1", &["c1", "c2", "c3"]);
    let story = story.say_below("r2", Some("a1"), Message::tool_result("c2", "2", false));
    let story = story.say_below("r1", Some("a1"), Message::tool_result("c1", "1", false));
    let view = story.result("r3", "c3").assistant("a2").model();
    assert_eq!(names(&view), ["u1", "a1", "r1", "r2", "r3", "a2"]);
}

#[test]
fn a_late_result_takes_its_place_beside_its_call() {
    let view = Story::new().user("u1").calls("a1", &["c"]).user("u2").result("r", "c").assistant("a2").model();
    assert_eq!(names(&view), ["u1", "a1", "r", "u2", "a2"]);
}

#[test]
fn the_first_real_result_of_a_call_counts() {
    let view = Story::new().user("u1").calls("a1", &["c"]).result("r1", "c").result("r2", "c").assistant("a2").model();
    assert_eq!(names(&view), ["u1", "a1", "r1", "a2"]);
    assert_eq!(codes(&view, "r2"), [code::DUPLICATE_RESULT_LEFT_OUT]);
    assert_eq!(view.diagnostics.hidden_message_ids, [id("r2")]);

    let synthetic = marked(Message::tool_result("c", "none", false), |m| m.synthetic = true);
    let view = Story::new().user("u1").calls("a1", &["c"]).say("r1", synthetic).result("r2", "c").model();
    assert_eq!(names(&view), ["u1", "a1", "r2"]);
}

#[test]
fn a_result_whose_call_is_not_on_the_chain_is_left_out() {
    let mut story = Story::new().user("u1").assistant("a1");
    let mut orphan =
        common::story::event("r", Some("a1"), Body::Message(Box::new(Message::tool_result("x", "r", false))));
    orphan.off_chain = false;
    story.events.push(orphan);
    let view = story.user("u2").model();
    assert_eq!(names(&view), ["u1", "a1", "u2"]);
}

#[test]
fn a_result_in_a_user_message_goes_behind_its_call_and_the_words_beside_it_stay() {
    let mut message = Message::user("and now this");
    message.content.insert(0, Part::tool_result("c", "done", false));
    let view = Story::new().user("u1").calls("a1", &["c"]).user("u2").say("u3", message).model();
    assert_eq!(names(&view), ["u1", "a1", "u3", "u2", "u3"]);
    assert_eq!(view.messages[2].role, Role::Tool);
    assert_eq!(view.messages[4].role, Role::User);
    assert_eq!(view.messages[4].content, [Part::text("and now this")]);
}

#[test]
fn several_results_in_one_message_stay_one_message() {
    let results = vec![Part::tool_result("c2", "2", false), Part::tool_result("c1", "1", false)];
    let message = Message::new(Role::Tool, Kind::ToolResult, results);
    let view = Story::new().user("u1").calls("a1", &["c1", "c2"]).say("r", message).model();
    assert_eq!(names(&view), ["u1", "a1", "r"]);
    assert_eq!(view.messages[2].content, [Part::tool_result("c1", "1", false), Part::tool_result("c2", "2", false)]);
}

#[test]
fn an_attachment_goes_up_before_the_result_of_its_call() {
    let story = Story::new().user("u1").calls("a1", &["c1", "c2"]).result("r1", "c1").result("r2", "c2");
    let view = story.say("at", attachment(Some("c1"))).assistant("a2").model();
    assert_eq!(names(&view), ["u1", "a1", "at", "r1", "r2", "a2"]);
}

#[test]
fn an_attachment_does_not_go_up_past_what_was_said() {
    let story = Story::new().user("u1").calls("a1", &["c1"]).result("r1", "c1").assistant("a2");
    let view = story.clone().say("at", attachment(Some("c1"))).model();
    assert_eq!(names(&view), ["u1", "a1", "r1", "a2", "at"]);
    assert_eq!(names(&story.say("at", attachment(None)).model()), ["u1", "a1", "r1", "a2", "at"]);
}

#[test]
fn a_tombstoned_message_is_gone_and_its_children_stay() {
    let view = Story::new().user("u1").assistant("a1").user("u2").tombstone("t", &["a1"]).model();
    assert_eq!(names(&view), ["u1", "u2"]);
}

#[test]
fn a_pruned_result_becomes_the_stub() {
    let story = Story::new().user("u1").calls("a1", &["c"]).result("r", "c").prune("p", &["r"]);
    let view = story.model();
    assert_eq!(text_of(&view, "r"), CLEARED_RESULT);
    assert_eq!(CLEARED_RESULT, "[Old tool result content cleared]");
    assert!(view.messages[2].metadata.compacted);
    assert_eq!(view.diagnostics.compacted_message_ids, [id("r")]);
    assert_eq!(codes(&view, "r"), [code::RESULT_CLEARED]);
}

#[test]
fn a_result_marked_as_compacted_becomes_the_stub() {
    let result = marked(Message::tool_result("c", "long", false), |m| m.compacted_at = Some(5));
    let view = Story::new().user("u1").calls("a1", &["c"]).say("r", result).model();
    assert_eq!(text_of(&view, "r"), CLEARED_RESULT);
}

#[test]
fn a_long_result_is_cut_between_characters_with_a_note_of_what_is_left_out() {
    let result = Message::tool_result("c", "😀😀😀cd and more", false);
    let story = Story::new().user("u1").calls("a1", &["c"]).say("r", result);
    let mut options = Options::default();
    options.tool_result_soft_limit_chars = Some(3);
    let view = story.model_with(&options);
    assert!(text_of(&view, "r").starts_with("😀😀😀\n\n[11 more characters"), "{}", text_of(&view, "r"));
    assert!(view.messages[2].metadata.truncated);
    assert_eq!(view.diagnostics.truncated_message_ids, [id("r")]);
    options.tool_result_soft_limit_chars = Some(14);
    assert_eq!(text_of(&story.model_with(&options), "r"), "😀😀😀cd and more");
}

#[test]
fn the_limit_is_shared_by_the_texts_of_a_result_and_leaves_pictures_alone() {
    let picture = Part::new(PartBody::Image(Media {
        media_type: "image/png".to_owned(),
        source: MediaSource::Data("aTE=".to_owned()),
        name: None,
        width: None,
        height: None,
    }));
    let mut result = Message::tool_result("c", "", false);
    if let PartBody::ToolResult(result) = &mut result.content[0].body {
        result.output =
            ToolOutput::Parts(vec![Part::text("abcd"), picture.clone(), Part::text("efgh"), Part::text("ij")]);
        result.raw = Some(Value::Bool(true));
    }
    let mut options = Options::default();
    options.tool_result_soft_limit_chars = Some(6);
    let view = Story::new().user("u1").calls("a1", &["c"]).say("r", result).model_with(&options);
    let result = view.messages[2].content[0].as_tool_result().unwrap();
    let ToolOutput::Parts(parts) = &result.output else { panic!("parts stay parts") };
    assert_eq!(parts[..3], [Part::text("abcd"), picture, Part::text("ef")]);
    assert_eq!(parts.len(), 4);
    assert!(parts[3].as_text().unwrap().contains('4'));
    assert_eq!(result.raw, None);
}

#[test]
fn a_long_result_that_a_compaction_kept_becomes_the_stub() {
    let story = Story::new().user("u1").calls("a1", &["c"]).result("a long result", "c");
    let story = story.compact("b", "s", &["a1", "a long result"]);
    let mut options = Options::default();
    options.tool_result_soft_limit_chars = Some(4);
    assert_eq!(text_of(&story.model_with(&options), "a long result"), CLEARED_RESULT);
    assert_eq!(text_of(&story.model(), "a long result"), "a long result");
}

#[test]
fn without_results_each_call_stays_answered_by_the_stub() {
    let mut options = Options::default();
    options.include_tool_results = false;
    let view = Story::new().user("u1").calls("a1", &["c"]).result("r", "c").model_with(&options);
    assert_eq!(text_of(&view, "r"), CLEARED_RESULT);
}

#[test]
fn reasoning_is_shown_or_not_by_option() {
    let mut message = Message::assistant("Hi");
    let reasoning = Reasoning { text: Some("hm".to_owned()), signature: Some("s".to_owned()), ..Reasoning::default() };
    message.content.insert(0, Part::new(PartBody::Reasoning(reasoning)));
    let story = Story::new().user("u1").say("a1", message.clone());
    assert_eq!(story.model().messages[1].content, message.content);
    let mut options = Options::default();
    options.include_reasoning = false;
    let view = story.model_with(&options);
    assert_eq!(view.messages[1].content, [Part::text("Hi")]);
    assert_eq!(codes(&view, "a1"), [code::REASONING_LEFT_OUT]);
}

#[test]
fn a_call_that_the_stream_cut_is_left_out_and_the_rest_of_its_message_stays() {
    let mut message =
        Message::assistant_calls(vec![Part::text("Writing."), Part::tool_call("w", "write", Value::Null)]);
    if let PartBody::ToolCall(call) = &mut message.content[1].body {
        call.incomplete = true;
        call.input = ToolInput::Text("{\"path\":".to_owned());
    }
    let view = Story::new().user("u1").say("a1", message).user("u2").model();
    assert_eq!(names(&view), ["u1", "a1", "u2"]);
    assert_eq!(view.messages[1].content, [Part::text("Writing.")]);
    let item = view.diagnostics.items.iter().find(|item| item.code == code::INCOMPLETE_CALL_LEFT_OUT).unwrap();
    assert_eq!(item.call.as_deref(), Some("w"));
}

#[test]
fn excluded_commands_switches_of_agents_and_virtual_messages_are_out() {
    let bash = Kind::BashExecution(BashExecution {
        command: "ls".to_owned(),
        exclude_from_context: true,
        ..BashExecution::default()
    });
    let story = Story::new()
        .user("u1")
        .say("bash", Message::new(Role::User, bash, Vec::new()))
        .say("switch", of_kind(Role::System, Kind::AgentSwitchNote, "now the other"))
        .say("virtual", marked(Message::user("v"), |m| m.is_virtual = true))
        .say("error", marked(Message::assistant("API Error"), |m| m.eligible_for_model_context = false))
        .assistant("a1");
    let view = story.model();
    assert_eq!(names(&view), ["u1", "a1"]);
    assert_eq!(codes(&view, "bash"), [code::EXCLUDED_BASH_LEFT_OUT]);
    assert_eq!(codes(&view, "switch"), [code::KIND_LEFT_OUT]);
    assert_eq!(codes(&view, "virtual"), [code::VIRTUAL_LEFT_OUT]);
    assert_eq!(codes(&view, "error"), [code::NOT_ELIGIBLE]);
    assert_eq!(view.diagnostics.hidden_message_ids.len(), 4);
}

#[test]
fn handoffs_and_messages_for_the_model_only_are_in() {
    let meta = marked(Message::user("only for the model"), |m| m.meta = true);
    let handoff = of_kind(Role::User, Kind::HandoffSummary, "done so far");
    let view = Story::new().user("u1").say("h", handoff).say("m", meta).model();
    assert_eq!(names(&view), ["u1", "h", "m"]);
    assert!(view.messages[2].metadata.hidden_from_transcript);
}

#[test]
fn reminders_are_in_or_out_by_option() {
    let story = Story::new().user("u1").say("r", of_kind(Role::User, Kind::RuntimeReminder, "remember"));
    assert_eq!(names(&story.model()), ["u1", "r"]);
    let mut options = Options::default();
    options.runtime_reminders = false;
    let view = story.model_with(&options);
    assert_eq!(names(&view), ["u1"]);
    assert_eq!(codes(&view, "r"), [code::REMINDER_LEFT_OUT]);
}

#[test]
fn of_system_events_only_a_local_commands_output_is_shown_as_the_users_at_its_place() {
    let progress = Message::new(Role::Assistant, Kind::Progress(Progress::default()), vec![Part::text("50 %")]);
    let story = Story::new()
        .user("u1")
        .say("e1", event_message("api_error", "overloaded"))
        .say("e2", event_message("local_command", "cost: 3"))
        .say("p", progress)
        .say_below("u2", Some("u1"), Message::user("u2"));
    let view = story.model();
    assert_eq!(names(&view), ["u1", "e2", "u2"]);
    assert_eq!(view.messages[1].role, Role::User);
}

#[test]
fn a_local_command_on_another_branch_or_before_the_boundary_is_out() {
    let command = || event_message("local_command", "cost");
    let story = Story::new().user("u1").say("e1", command()).assistant("a1");
    let branch = story.clone().head("h", "u1").user("u2").say_below("e2", Some("a1"), command());
    assert_eq!(names(&branch.model()), ["u1", "e1", "u2"]);
    let compacted = story.compact("b", "s", &["a1"]).say_below("e3", Some("a1"), command()).user("u2");
    assert_eq!(names(&compacted.model()), ["s", "a1", "e3", "u2"]);
}

#[test]
fn commands_custom_messages_and_summaries_become_user_text() {
    let bash = BashExecution { command: "ls".to_owned(), output: "a".to_owned(), ..BashExecution::default() };
    let custom = Kind::Custom(Custom { custom_type: "x".to_owned(), display: false, details: None });
    let story = Story::new()
        .say("bash", Message::new(Role::User, Kind::BashExecution(bash), Vec::new()))
        .say("custom", of_kind(Role::User, custom, "mine"))
        .say("branch", of_kind(Role::User, Kind::BranchSummary(BranchSummary::default()), "tried x"));
    let view = story.model();
    assert!(view.messages.iter().all(|message| message.role == Role::User));
    assert_eq!(text_of(&view, "bash"), "Ran `ls`\n```\na\n```");
    assert_eq!(text_of(&view, "custom"), "mine");
    assert!(text_of(&view, "branch").starts_with(BRANCH_SUMMARY_PREFIX));
    assert!(text_of(&view, "branch").contains("<summary>\ntried x\n</summary>"));
}

#[test]
fn cards_of_several_agents_become_text_that_says_who_speaks() {
    let member = |agent: &str, text: &str| {
        let agent = vec![("agentName".to_owned(), Value::Text(agent.to_owned()))];
        Value::Map(vec![
            ("role".to_owned(), Value::Text("assistant".to_owned())),
            ("content".to_owned(), Value::Text(text.to_owned())),
            ("metadata".to_owned(), Value::Map(agent)),
        ])
    };
    let council = AgentCouncil { members: vec![member("ann", "yes"), member("bob", "no")] };
    let task = Task { title: Some("find it".to_owned()), ..Task::default() };
    let story = Story::new()
        .user("u1")
        .say("council", Message::new(Role::Assistant, Kind::AgentCouncil(council), Vec::new()))
        .say("task", Message::new(Role::Assistant, Kind::Task(task), Vec::new()))
        .say("screen", Message::new(Role::User, Kind::Verify(Verify::default()), Vec::new()))
        .say(
            "verify",
            Message::new(Role::User, Kind::Verify(Verify { feedback: Some("good".to_owned()) }), Vec::new()),
        );
    let view = story.model();
    assert_eq!(names(&view), ["u1", "council", "task", "verify"]);
    assert!(text_of(&view, "council").contains("ann: yes\n\nbob: no"));
    assert_eq!(text_of(&view, "task"), "Task: find it");
    assert_eq!(text_of(&view, "verify"), "Feedback: good");
}

#[test]
fn a_message_of_an_unknown_kind_is_out_and_said_so() {
    let unknown =
        Unknown { event_type: "message".to_owned(), kind: Some("hologram".to_owned()), fields: Fields::new() };
    let mut story = Story::new().user("u1");
    story.events.push(common::story::event("x", Some("u1"), Body::Unknown(unknown)));
    let view = story.user("u2").model();
    assert_eq!(names(&view), ["u1", "u2"]);
    assert_eq!(codes(&view, "x"), [code::UNKNOWN_KIND_LEFT_OUT]);
}

#[test]
fn a_message_whose_parent_is_not_there_says_what_it_hangs_on() {
    let story = Story::new().user("u1").assistant("a1").say_below("u2", Some("ghost"), Message::user("u2"));
    let view = story.model();
    assert_eq!(names(&view), ["u1", "a1", "u2"]);
    let item = view.diagnostics.items.iter().find(|item| item.code == code::MISSING_PARENT).unwrap();
    assert_eq!(item.ids, [id("u2"), id("a1")]);
}

#[test]
fn appending_changes_no_earlier_message() {
    let mut story = Story::new();
    let mut before = story.model().messages;
    let mut steps: Vec<(String, Message)> = Vec::new();
    for turn in 0..12 {
        let name = |what: &str| format!("{what}{turn}");
        steps.push((name("u"), Message::user("x".repeat(50))));
        steps.push((name("e"), event_message("local_command", "cost")));
        steps.push((name("a"), calling(&[&name("c")])));
        steps.push((name("r"), Message::tool_result(name("c"), "y".repeat(80), false)));
        steps.push((name("at"), attachment(None)));
        steps.push((name("n"), Message::assistant("z")));
    }
    let mut options = Options::default();
    options.tool_result_soft_limit_chars = Some(20);
    for (name, message) in steps {
        story = story.say(&name, message);
        let after = story.model_with(&options).messages;
        assert_eq!(after[..before.len()], before, "{name}");
        before = after;
    }
}

#[test]
fn the_same_state_gives_the_same_json() {
    let story = Story::new().user("u1").calls("a1", &["c"]).result("r", "c").compact("b", "s", &["a1", "r"]).user("u2");
    let json = serde_json::to_string(&story.model()).unwrap();
    assert_eq!(json, serde_json::to_string(&story.model()).unwrap());
    assert!(json.contains("\"semanticType\":\"compact_summary\""), "{json}");
    assert!(json.contains("\"sourceMessageIds\":[\""), "{json}");
    assert!(json.contains("\"appliedCompactBoundaryId\":\""), "{json}");
    assert!(json.contains("\"callId\":\"c\""), "{json}");
}
