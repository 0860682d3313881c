//! Commands and tasks as text, in one fixed format.

use seslog::event::{BashExecution, Kind, Tasks, Value};
use seslog::projection::{bash_as_text, char_count, said_in_fields, soft_cut};

fn bash(output: &str) -> BashExecution {
    BashExecution { command: "run".to_owned(), output: output.to_owned(), ..BashExecution::default() }
}

#[test]
fn a_command_is_its_line_then_its_fenced_output() {
    assert_eq!(bash_as_text(&bash("a\nb")), "Ran `run`\n```\na\nb\n```");
    assert_eq!(bash_as_text(&bash("")), "Ran `run`\n(no output)");
}

#[test]
fn the_fence_is_longer_than_any_run_of_backticks_inside() {
    assert_eq!(bash_as_text(&bash("x ```` y")), "Ran `run`\n`````\nx ```` y\n`````");
}

#[test]
fn a_cancelled_command_says_so_instead_of_its_code() {
    let text = bash_as_text(&BashExecution { cancelled: true, exit_code: Some(130), ..bash("a") });
    assert!(text.ends_with("```\n\n(command cancelled)"), "{text}");
}

#[test]
fn a_failed_command_says_its_code_and_a_good_one_does_not() {
    let text = bash_as_text(&BashExecution { exit_code: Some(2), ..bash("a") });
    assert!(text.ends_with("```\n\nCommand exited with code 2"), "{text}");
    assert!(bash_as_text(&BashExecution { exit_code: Some(0), ..bash("a") }).ends_with("```"));
}

#[test]
fn a_truncated_output_says_so_and_where_the_whole_is() {
    let path = Some("/tmp/out".to_owned());
    let text =
        bash_as_text(&BashExecution { exit_code: Some(1), truncated: true, full_output_path: path, ..bash("a") });
    assert!(text.ends_with("Command exited with code 1\n\n[Output truncated. Full output: /tmp/out]"), "{text}");
    let text = bash_as_text(&BashExecution { truncated: true, ..bash("a") });
    assert!(text.contains("[Output truncated"), "{text}");
}

#[test]
fn a_cut_counts_characters_and_never_falls_inside_one() {
    assert_eq!(soft_cut("héé😀x", 4), Some(("héé😀", 1)));
    assert_eq!(soft_cut("héé😀x", 5), None);
    assert_eq!(soft_cut("", 0), None);
    assert_eq!(soft_cut("a", 0), Some(("", 1)));
    assert_eq!(char_count("héé😀x"), 5);
}

#[test]
fn a_task_in_a_card_is_told_with_its_title_and_its_instruction() {
    let (role, of) = (("role", Value::from("user")), |text: &str| Value::from(text));
    let tasks = vec![
        Value::from([
            role.clone(),
            ("title", of("Dig")),
            ("instruction", of("The north bed.")),
            ("status", of("done")),
        ]),
        Value::from([role.clone(), ("instruction", of("Water it."))]),
        Value::from([role, ("title", of("Rest")), ("instruction", of("Rest")), ("status", of("open"))]),
    ];
    let said = said_in_fields(&Kind::Tasks(Tasks { tasks }), &[]).unwrap();
    assert_eq!(
        said,
        "Tasks:\n\nuser: Dig: The north bed. (done)\n\nuser: Water it. (status not known)\n\nuser: Rest (open)"
    );
}
