//! Calls that a person refused, and their words, in other agents' files.

use seslog::event::{ApprovalRequest, ApprovalResponse, Kind, Message, Part, PartBody, REJECTED, Role, Value};
use seslog::interop::Agent;
use seslog::log::Durability;
use seslog::projection::View;
use seslog::session::Session;

use crate::check;
use crate::shown::{Shown, shown};
use crate::world::{AGENTS, World, named, samples, whole};

fn append(session: &Session, message: Message) -> seslog::event::Uuid {
    session.append(message, Durability::Os).unwrap().id
}

fn call(session: &Session, id: &str) -> seslog::event::Uuid {
    append(session, Message::assistant_calls(vec![Part::tool_call(id, "dig", Value::Map(Vec::new()))]))
}

fn ask(session: &Session, id: &str) {
    let request = ApprovalRequest { call_id: id.to_owned(), approval_id: Some(format!("ask-{id}")) };
    let content = vec![Part::new(PartBody::ToolApprovalRequest(request))];
    append(session, Message::new(Role::Assistant, Kind::ToolApprovalRequest, content));
}

fn answer(session: &Session, id: &str, approved: bool, reason: Option<&str>) {
    let approval_id = Some(format!("ask-{id}"));
    let response =
        ApprovalResponse { call_id: id.to_owned(), approval_id, approved, reason: reason.map(str::to_owned) };
    let content = vec![Part::new(PartBody::ToolApprovalResponse(response))];
    append(session, Message::new(Role::Tool, Kind::ToolApprovalResponse, content));
}

/// The results that the model sees in the session that the file makes.
fn results(agent: Agent, file: &[u8]) -> Vec<(String, String, bool)> {
    let all = shown(&whole(&World::new().import(agent, file)), View::Model);
    let results = all.into_iter().filter_map(|one| match one {
        Shown::Result { id, output, is_error } => Some((id, output, is_error)),
        _ => None,
    });
    results.collect()
}

#[test]
fn a_refused_call_has_the_persons_words_as_its_result() {
    let home = |agent: Agent| match agent {
        Agent::ClaudeCode => "classic-1.0",
        Agent::Codex => "bare-2025-08",
        _ => "v2-branch",
    };
    for (agent, of) in AGENTS {
        for is_own in [false, true] {
            let world = World::new();
            let session = match is_own {
                true => world.import(agent, &samples(agent)[home(agent)]),
                false => world.store.create().unwrap(),
            };
            append(&session, Message::user("Dig."));
            call(&session, "with-words");
            ask(&session, "with-words");
            answer(&session, "with-words", false, Some("Not now."));
            append(&session, Message::user("Later."));
            call(&session, "without");
            answer(&session, "without", false, None);
            call(&session, "ran-all-the-same");
            answer(&session, "ran-all-the-same", false, Some("No."));
            append(&session, Message::tool_result("ran-all-the-same", "Dug.", false));
            append(&session, Message::assistant("Done."));
            let (file, report) = world.export(&session, agent);
            check::check(agent, &file, of);
            let expected =
                [("with-words", "Not now.", true), ("without", REJECTED, true), ("ran-all-the-same", "Dug.", false)];
            let found = results(agent, &file);
            let found: Vec<(&str, &str, bool)> = found.iter().map(|(id, said, is)| (&**id, &**said, *is)).collect();
            assert!(found.ends_with(&expected), "{of}: {found:?}\n{}", String::from_utf8_lossy(&file));
            let refusals = report.differences.iter().find(|difference| difference.what == "refusals").unwrap();
            assert_eq!(refusals.count, 2, "{of}: {report:?}");
        }
    }
}

#[test]
fn a_refusal_on_another_branch_is_not_said_to_this_one() {
    for (agent, of) in AGENTS {
        let world = World::new();
        let session = world.store.create().unwrap();
        append(&session, Message::user("Dig."));
        let dug = call(&session, "a");
        answer(&session, "a", false, Some("Not now."));
        let _ = session.rewind(Some(dug), Durability::Os).unwrap();
        append(&session, Message::user("Another way."));
        append(&session, Message::assistant("So."));
        let (file, report) = world.export(&session, agent);
        check::check(agent, &file, of);
        assert!(results(agent, &file).iter().all(|(_, said, _)| said != "Not now."), "{of}: {report:?}");
        assert!(!named(&report).contains(&"refusals") && named(&report).contains(&"approvals"), "{of}: {report:?}");
    }
}
