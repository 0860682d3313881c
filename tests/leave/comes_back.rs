//! A file that was written of a session comes back to it: what was said, changed or summed up here is there once.

use seslog::event::{Message, Part, Uuid, Value};
use seslog::interop::{Agent, ImportReport, claude_code, codex, pi};
use seslog::log::Durability;
use seslog::projection::{Options, View, project};
use seslog::session::{Compaction, Session};

use crate::world::{World, samples, whole};

/// Files of which the agent's own program takes each line back as it was.
const FILES: [(Agent, &str); 3] =
    [(Agent::ClaudeCode, "classic-1.0"), (Agent::Codex, "resume-2026"), (Agent::Pi, "v2-branch")];

fn feed(session: &Session, agent: Agent, file: &[u8]) -> ImportReport {
    match agent {
        Agent::ClaudeCode => {
            claude_code::read(file, &claude_code::Options::default()).unwrap().feed(session, "key").unwrap().0
        }
        Agent::Codex => codex::read(file, &codex::Options::default()).unwrap().feed(session, "key").unwrap().0,
        _ => pi::read(file, &pi::Options::default()).unwrap().feed(session, "key").unwrap().0,
    }
}

/// How many messages there are, and what the model is told.
fn seen(session: &Session) -> (u64, Vec<String>) {
    let model = session.with_state(|state| project(state, View::Model, &Options::default())).unwrap();
    let words = model.messages.iter().map(|message| format!("{:?}", message.content)).collect();
    (whole(session).counts().messages, words)
}

/// Two rounds: out and back in.
fn stays_as_it_is(what: &str, change: impl Fn(Agent, &Session)) {
    for (agent, name) in FILES {
        let world = World::new();
        let session = world.import(agent, &samples(agent)[name]);
        change(agent, &session);
        let before = seen(&session);
        for round in 0..2 {
            let (file, _) = world.export(&session, agent);
            let report = feed(&session, agent, &file);
            assert_eq!(seen(&session), before, "{what}, {name}, round {round}: {report:?}");
        }
    }
}

fn say(session: &Session, message: Message) -> Uuid {
    session.append(message, Durability::Os).unwrap().id
}

fn a_call(session: &Session) {
    let input = Value::from([("cmd", "ls".into())]);
    say(session, Message::user("Look again."));
    say(session, Message::assistant_calls(vec![Part::tool_call("call-of-ours", "run", input)]));
    say(session, Message::tool_result("call-of-ours", "three files", false));
    say(session, Message::assistant("Three."));
}

#[test]
fn what_was_said_here_is_there_once() {
    stays_as_it_is("a question and its answer", |_, session| {
        say(session, Message::user("And now?"));
        say(session, Message::assistant("Now it is done."));
    });
    stays_as_it_is("a call and its result", |_, session| a_call(session));
}

#[test]
fn what_was_summed_up_here_is_summed_up_once() {
    stays_as_it_is("a compaction", |agent, session| {
        // In a rollout a compaction holds its kept messages once more, by which a reader can't tell whose they are.
        if agent != Agent::Codex {
            say(session, Message::user("Before."));
            drop(session.compact(Compaction::new("All so far."), Durability::Os).unwrap());
            say(session, Message::user("Behind."));
        }
    });
}

#[test]
fn what_hung_on_a_message_that_was_taken_back_is_there_once() {
    stays_as_it_is("a tombstone", |agent, session| {
        // A rollout has no ids: all that stands behind a line that is gone has another place.
        if agent != Agent::Codex {
            let chain: Vec<Uuid> =
                session.with_state(|state| state.chain().iter().map(|entry| entry.event.id).collect()).unwrap();
            drop(session.tombstone(&chain[..1], None, Durability::Os).unwrap());
        }
    });
}

#[test]
fn what_was_amended_here_is_there_once_and_with_its_new_words() {
    for (agent, name) in FILES {
        let world = World::new();
        let session = world.import(agent, &samples(agent)[name]);
        let first = session
            .with_state(|state| {
                let mut users = state
                    .chain()
                    .into_iter()
                    .filter(|entry| entry.event.message().is_some_and(|message| message.kind.name() == "user_input"));
                users.next().map(|entry| entry.event.id)
            })
            .unwrap()
            .unwrap();
        let patch = vec![("content".to_owned(), Value::Text("WORDS OF MINE".to_owned()))];
        drop(session.amend(first, patch, Durability::Os).unwrap());
        let (file, _) = world.export(&session, agent);
        assert!(String::from_utf8_lossy(&file).contains("WORDS OF MINE"), "{name}");
        if agent != Agent::Codex {
            let before = seen(&session);
            let report = feed(&session, agent, &file);
            assert_eq!(seen(&session), before, "{name}: {report:?}");
        }
    }
}

#[test]
fn other_words_of_the_same_time_are_another_message() {
    for (agent, name) in FILES {
        let world = World::new();
        let session = world.import(agent, &samples(agent)[name]);
        say(&session, Message::user("Words of mine."));
        let before = seen(&session).0;
        let (file, _) = world.export(&session, agent);
        let file = String::from_utf8(file).unwrap().replace("Words of mine.", "Words of theirs.");
        assert!(feed(&session, agent, file.as_bytes()).written > 0, "{name}");
        assert_eq!(seen(&session).0, before + 1, "{name}");
    }
}
