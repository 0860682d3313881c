//! What tasks, their reports and checks become.

use seslog::context::steps::task::{TaskConfig, TaskText};
use seslog::context::steps::task_callback::TaskCallback;
use seslog::context::steps::tasks_flatten::TasksFlatten;
use seslog::context::steps::verify::Verify;
use seslog::context::{Prompt, agent_of, code};
use seslog::event::{self, Kind, Message, Part, Task, Tasks};
use seslog::projection;

use crate::common::story::Story;
use crate::support::{card, codes, item, lines, run, told};

fn told_with(template: Option<&str>, message: Message) -> Prompt {
    let config = TaskConfig { template: template.map(str::to_owned) };
    let view = told("u1").say("card", message).model();
    run(
        &view.messages,
        vec![
            Box::new(TasksFlatten::new()),
            Box::new(TaskText::new(&config)),
            Box::new(TaskCallback::new()),
            Box::new(Verify::new()),
        ],
    )
}

fn task(title: Option<&str>, instruction: Option<&str>, result: &[&str]) -> Message {
    let own = |text: Option<&str>| text.map(str::to_owned);
    let task = Task { title: own(title), instruction: own(instruction), status: Some("done".to_owned()) };
    Message { content: result.iter().map(|text| Part::text(*text)).collect(), ..card(Kind::Task(task)) }
}

#[test]
fn a_task_is_an_assistants_text_with_its_instruction_and_its_result() {
    let head = "[Result of the task";
    let cases = [
        (
            "whole",
            None,
            task(Some("find"), Some("Look."), &["Found."]),
            format!("{head} find]\n\nInstruction:\nLook.\n\nResult: | Found."),
        ),
        (
            "untitled",
            None,
            task(None, Some("Look."), &["Found."]),
            format!("{head} without a title]\n\nInstruction:\nLook.\n\nResult: | Found."),
        ),
        (
            "without a result",
            None,
            task(Some("find"), Some("Look."), &[]),
            format!("{head} find]\n\nInstruction:\nLook.\n\nResult: | (no result)"),
        ),
        (
            "without an instruction",
            None,
            task(Some("find"), None, &["Found."]),
            "Found. | Task: find\nStatus: done".to_owned(),
        ),
        (
            "a template",
            Some("{{title}} ({{ status }}): {{ result }} -- {{else}}"),
            task(Some("{{status}}"), Some("Look."), &["Found."]),
            "{{status}} (done):  | Found. |  -- {{else}}".to_owned(),
        ),
        (
            "a template without the result",
            Some("{{instruction}}"),
            task(None, Some("Look."), &["Found."]),
            "Look. | Found.".to_owned(),
        ),
    ];
    for (case, template, task, expected) in cases {
        let prompt = told_with(template, task);
        assert_eq!(lines(&prompt.messages)[1], format!("assistant: {expected}"), "{case}");
        assert_eq!(codes(&prompt), [code::RETOLD], "{case}");
    }
}

#[test]
fn a_card_of_tasks_is_one_message_for_each_with_what_it_lacks_from_the_card() {
    let tasks =
        vec![item("t1", task(Some("one"), Some("A."), &["1"])), item("t2", task(Some("two"), Some("B."), &["2"]))];
    for kind in [Kind::Tasks(Tasks { tasks: tasks.clone() }), Kind::GroupTasks(Tasks { tasks })] {
        let mut card = card(kind);
        card.metadata.agent_name = Some("ann".to_owned());
        card.metadata.run_id = Some("run".to_owned());
        let prompt = told_with(Some("{{agent}} {{title}}: {{instruction}}"), card);
        assert_eq!(lines(&prompt.messages)[1..], ["assistant: ann one: A. | 1", "assistant: ann two: B. | 2"]);
        assert!(prompt.messages[1..].iter().all(|message| agent_of(message) == Some("ann")));
        assert!(prompt.messages[1..].iter().all(|m| m.recorded().unwrap().metadata.run_id.as_deref() == Some("run")));
    }
}

#[test]
fn a_task_that_holds_calls_is_told_once_and_its_results_stand_behind_them() {
    let mut task = task(Some("find"), Some("Look."), &["I look."]);
    task.content.extend([crate::support::call_part("c1"), Part::tool_result("c1", "x", false), Part::text("It is x.")]);
    let prompt = told_with(Some("{{title}}:"), card(Kind::Tasks(Tasks { tasks: vec![item("t1", task)] })));
    let expected = ["assistant: find: | I look. | run!c1", "tool: c1=x", "assistant: It is x."];
    assert_eq!(lines(&prompt.messages)[1..], expected);
}

#[test]
fn a_report_of_a_task_is_a_turn_of_the_users_that_it_can_not_end() {
    let callback = event::TaskCallback { task: "find \"it\"".to_owned(), status: "done".to_owned() };
    let report = Message { content: vec![Part::text("It is x. </task_result>")], ..card(Kind::TaskCallback(callback)) };
    let prompt = told_with(None, report);
    let expected =
        "user: <task_result task=\"find &quot;it&quot;\" status=\"done\">\nIt is x. &lt;/task_result>\n</task_result>";
    assert_eq!(lines(&prompt.messages)[1], expected);
    assert_eq!(codes(&prompt), [code::RETOLD]);
}

#[test]
fn a_check_is_its_feedback_or_nothing() {
    let check = |feedback: Option<&str>, content: &[&str]| {
        let kind = Kind::Verify(event::Verify { feedback: feedback.map(str::to_owned) });
        Message { content: content.iter().map(|text| Part::text(*text)).collect(), ..card(kind) }
    };
    let in_tag = |text: &str| Some(format!("user: <delivery_check_feedback>\n{text}\n</delivery_check_feedback>"));
    let cases = [
        ("feedback", check(Some("Add a test."), &[]), in_tag("Add a test.")),
        ("feedback and words", check(Some("Add a test."), &["Not yet."]), in_tag("Not yet.\n\nAdd a test.")),
        ("nothing", check(Some(" "), &[]), None),
        ("blank words", check(Some(""), &[" "]), None),
    ];
    for (case, message, expected) in cases {
        let prompt = told_with(None, message);
        assert_eq!(lines(&prompt.messages).get(1).cloned(), expected, "{case}");
        let code = if expected.is_some() { code::RETOLD } else { projection::code::KIND_LEFT_OUT };
        assert_eq!(codes(&prompt), [code], "{case}");
    }
}

#[test]
fn other_messages_are_left_as_they_are() {
    let view = Story::new().user("u1").assistant("a1").calls("a2", &["c1"]).result("r1", "c1").model();
    let config = TaskConfig::default();
    let prompt = run(
        &view.messages,
        vec![
            Box::new(TasksFlatten::new()),
            Box::new(TaskText::new(&config)),
            Box::new(TaskCallback::new()),
            Box::new(Verify::new()),
        ],
    );
    assert_eq!(prompt.messages, view.messages);
    assert!(prompt.diagnostics.is_empty());
}
