//! The examples do what they say; the agent's loop is killed at each of its steps.

use std::error::Error;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

#[expect(dead_code, reason = "its `main` is for people")]
#[path = "../examples/agent_loop.rs"]
mod agent_loop;
#[expect(dead_code, reason = "its `main` is for people")]
#[path = "../examples/group_chat.rs"]
mod group_chat;
#[expect(dead_code, reason = "its `main` is for people")]
#[path = "../examples/live_viewer.rs"]
mod live_viewer;
#[expect(dead_code, reason = "its `main` is for people")]
#[path = "../examples/server.rs"]
mod server;

const NAME: &str = "SESLOG_EXAMPLE";
const DIR: &str = "SESLOG_EXAMPLE_DIR";
/// What the test harness prints is not ours.
const MARK: &str = "@ ";

/// An example in a process of its own: this binary, started once more for this one test.
#[test]
fn entry() {
    let (Ok(name), Some(dir)) = (std::env::var(NAME), std::env::var_os(DIR)) else { return };
    let dir = Path::new(&dir);
    let mut say = |line: String| println!("\n{MARK}{line}");
    let ran: Result<(), Box<dyn Error>> = match name.as_str() {
        "agent_loop" => agent_loop::run(dir, &mut say),
        "group_chat" => group_chat::run(dir, &mut say),
        "live_viewer" => live_viewer::run(dir, &mut say),
        "server" => server::run(dir, &mut say),
        _ => panic!("no such example: {name}"),
    };
    ran.unwrap();
}

fn start(name: &str, dir: &Path) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["entry", "--exact", "--nocapture"])
        .env(NAME, name)
        .env(DIR, dir)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Lets it say so many lines, then kills it; with `None` it goes on to its end.
fn run(name: &str, dir: &Path, lines_max: Option<usize>) -> Vec<String> {
    let mut child = start(name, dir);
    let mut said = Vec::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok) {
        said.extend(line.strip_prefix(MARK).map(str::to_owned));
        if lines_max.is_some_and(|most| said.len() >= most) {
            child.kill().unwrap();
            break;
        }
    }
    let status = child.wait().unwrap();
    assert!(lines_max.is_some() || status.success(), "{name}: {status} {said:?}");
    said
}

#[test]
fn an_agent_that_is_killed_at_any_step_does_everything_once() {
    let dir = tempfile::tempdir().unwrap();
    let whole = dir.path().join("whole");
    let said = run("agent_loop", &whole, None);
    assert_eq!(said.last().unwrap(), "done");
    assert_eq!(said[0], "0 events are there");
    let (beds, story) = (beds(&whole), story(&whole));
    assert_eq!(beds, ["bed-1", "bed-2", "bed-3"]);
    assert_eq!(story.len(), 8);
    for kill_at in 1..=said.len() {
        let dir = dir.path().join(format!("{kill_at}"));
        run("agent_loop", &dir, Some(kill_at));
        let again = run("agent_loop", &dir, None);
        assert_eq!(again.last().unwrap(), "done");
        assert_eq!(self::beds(&dir), beds, "killed at line {kill_at}: {}", said[kill_at - 1]);
        assert_eq!(self::story(&dir).len(), story.len(), "killed at line {kill_at}");
    }
    // And at each step of one session, again and again.
    let often = dir.path().join("often");
    for _ in 0..said.len() {
        run("agent_loop", &often, Some(3));
    }
    run("agent_loop", &often, None);
    assert_eq!((self::beds(&often), self::story(&often).len()), (beds, story.len()));
}

fn beds(dir: &Path) -> Vec<String> {
    std::fs::read_to_string(dir.join("watered.txt")).unwrap().lines().map(str::to_owned).collect()
}

/// What the model sees in the end.
fn story(dir: &Path) -> Vec<String> {
    use seslog::projection::{Options, View, project};
    use seslog::session::{SessionOptions, Store};
    let store = Store::at(dir, SessionOptions::default());
    let id = store.list().unwrap()[0].id.unwrap().to_string();
    let view = project(store.read(&id).unwrap().state(), View::Model, &Options::default());
    view.messages.iter().map(|message| message.role.name().to_owned()).collect()
}

#[test]
fn each_agent_of_a_group_is_sent_its_own_words_as_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let said = run("group_chat", dir.path(), None);
    let begins = said.iter().position(|line| line.contains("What the cook is sent")).unwrap();
    let (botanist, cook) = said.split_at(begins);
    let as_assistant =
        |lines: &[String], text: &str| lines.iter().any(|line| line.contains(text) && line.contains("assistant"));
    assert!(as_assistant(botanist, "Ferns") && !as_assistant(botanist, "mint, for tea"), "{botanist:?}");
    assert!(as_assistant(cook, "mint, for tea") && !as_assistant(cook, "Ferns"), "{cook:?}");
    assert!(cook.iter().any(|line| line.contains("botanist") && line.contains("Ferns")), "{cook:?}");
}

#[test]
fn a_viewer_sees_what_is_written_while_it_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let said = run("live_viewer", dir.path(), None);
    assert!(said.last().unwrap().starts_with("3 messages;"), "{said:?}");
    let last_answer = said.iter().rfind(|line| line.contains("1 assistant")).unwrap();
    assert!(last_answer.ends_with("The south bed: it has the sun all day."), "{said:?}");
    assert!(said.iter().any(|line| line.starts_with("new   2 user")), "{said:?}");
}

#[test]
fn an_answer_that_came_word_by_word_is_whole_in_the_end() {
    use seslog::event::StopReason;
    use seslog::session::{SessionOptions, Store};
    let dir = tempfile::tempdir().unwrap();
    run("live_viewer", dir.path(), None);
    let store = Store::at(dir.path(), SessionOptions::default());
    let id = store.list().unwrap()[0].id.unwrap().to_string();
    let reader = store.read(&id).unwrap();
    let answers: Vec<_> = reader.state().entries().iter().filter_map(|entry| entry.event.message()).collect();
    assert_eq!(answers[1].joined_text(), "The south bed: it has the sun all day.");
    assert_eq!(answers[1].stop_reason, StopReason::Said("end_turn".into()));
}

#[test]
fn a_server_keeps_many_sessions_under_few_handles() {
    let dir = tempfile::tempdir().unwrap();
    let said = run("server", dir.path(), None);
    assert!(said.last().unwrap().starts_with("2000 events"), "{said:?}");
    if cfg!(target_os = "linux") {
        assert!(said[0].contains("at most 32 handles"), "{said:?}");
    }
}
