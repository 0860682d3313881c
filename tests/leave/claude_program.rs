//! What Claude Code's program does with a file, as seen of version 2.1.197: what it would drop or take for something else stands
//! in a file in a form that it takes.

use std::collections::HashSet;

use serde_json::Value;
use seslog::event::{
    AgentCouncil, Custom, Kind, MISSING_TOOL_RESULT, Media, MediaSource, Message, Part, PartBody, Role, Uuid,
};
use seslog::interop::{Agent, WriteReport, claude_code};
use seslog::log::Durability;
use seslog::projection::View;
use seslog::session::{Compaction, Session};

use crate::check;
use crate::shown::shown;
use crate::world::{World, named, samples, whole};

const NO_INPUT: seslog::event::Value = seslog::event::Value::Map(Vec::new());

fn append(session: &Session, message: Message) -> Uuid {
    session.append(message, Durability::Os).unwrap().id
}

fn call(id: &str, name: &str) -> Part {
    Part::tool_call(id, name, NO_INPUT)
}

fn keep(session: &Session, kept: &[Uuid]) {
    let _ = session.compact(Compaction::new("SUM").keep(kept.to_vec()), Durability::Os).unwrap();
}

/// The file's records, once it is known that a reader of it sees what the session's model sees.
fn written(world: &World, session: &Session) -> (Vec<Value>, WriteReport) {
    let (file, report) = world.export(session, Agent::ClaudeCode);
    check::check(Agent::ClaudeCode, &file, "written");
    let again = World::new().import(Agent::ClaudeCode, &file);
    let seen = |session: &Session| format!("{:?}", shown(&whole(session), View::Model));
    assert_eq!(seen(&again), seen(session), "{report:?}\n{}", String::from_utf8_lossy(&file));
    (records(&file), report)
}

fn records(file: &[u8]) -> Vec<Value> {
    std::str::from_utf8(file).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn blocks(record: &Value) -> Vec<&str> {
    let blocks = record["message"]["content"].as_array().into_iter().flatten();
    blocks.map(|block| block["type"].as_str().unwrap()).collect()
}

fn is_boundary(record: &Value) -> bool {
    record["subtype"] == "compact_boundary"
}

/// Which records stand on the way that the program reads, the last first: what each is, and the calls that it answers.
fn way(records: &[Value]) -> Vec<String> {
    let by_id = |id: &Value| records.iter().find(|record| record["uuid"] == *id && !id.is_null());
    let noted = records.iter().rfind(|record| record["type"] == "last-prompt").map(|record| record["leafUuid"].clone());
    let last = records.iter().rfind(|record| record["uuid"].is_string() && record["isSidechain"] == false);
    let mut at = noted.map_or(last, |noted| by_id(&noted));
    let mut way = Vec::new();
    while let Some(record) = at {
        let content = &record["message"]["content"];
        let of =
            |block: &Value| ["text", "id", "content"].iter().find_map(|name| block[name].as_str().map(str::to_owned));
        let said = content.as_str().map(str::to_owned);
        let said = said.or(content.as_array().map(|all| all.iter().filter_map(of).collect::<Vec<_>>().join("+")));
        way.extend(said);
        at = by_id(&record["parentUuid"]);
    }
    way
}

fn open_calls(session: &Session) -> usize {
    whole(session).pairing().dangling().count()
}

#[test]
fn a_call_without_a_result_has_one_that_says_so_and_is_open_to_an_import() {
    let world = World::new();
    let session = world.store.create().unwrap();
    append(&session, Message::user("Count."));
    append(&session, Message::assistant_calls(vec![Part::text("Open."), call("a", "count")]));
    append(&session, Message::user("And?"));
    append(&session, Message::assistant_calls(vec![Part::text("Done."), call("b", "count"), call("c", "count")]));
    append(&session, Message::tool_result("b", "Twelve.", false));
    let (records, report) = written(&world, &session);
    let none = MISSING_TOOL_RESULT;
    let expected = ["Count.", "Open.+a", none, "And?", "Done.+b+c", none, "Twelve."];
    assert_eq!(way(&records).into_iter().rev().collect::<Vec<_>>(), expected);
    let told = report.differences.iter().find(|difference| difference.what == "openCalls").unwrap();
    assert_eq!(told.count, 2, "{report:?}");
    let (file, _) = world.export(&session, Agent::ClaudeCode);
    let there = World::new();
    let again = there.import(Agent::ClaudeCode, &file);
    assert_eq!((open_calls(&session), open_calls(&again)), (2, 2));
    assert!(self::records(&there.export(&again, Agent::ClaudeCode).0) == self::records(&file));
    // The result comes after all.
    append(&again, Message::tool_result("c", "Seven.", false));
    let (records, _) = written(&there, &again);
    let expected = ["Count.", "Open.+a", none, "And?", "Done.+b+c", "Twelve.", "Seven."];
    assert_eq!(way(&records).into_iter().rev().collect::<Vec<_>>(), expected);
}

#[test]
fn where_the_session_stands_at_a_call_the_program_reads_its_result_wherever_that_stands() {
    for is_imported in [false, true] {
        for is_late in [false, true] {
            let world = World::new();
            let session = match is_imported {
                true => world.import(Agent::ClaudeCode, &samples(Agent::ClaudeCode)["classic-1.0"]),
                false => world.store.create().unwrap(),
            };
            append(&session, Message::user("Count."));
            let holder = append(&session, Message::assistant_calls(vec![call("a", "count"), call("b", "count")]));
            if is_late {
                append(&session, Message::user("Wait."));
            }
            append(&session, Message::tool_result("a", "Twelve.", false));
            append(&session, Message::assistant("Done."));
            let whole_way = |records: &[Value]| way(records).into_iter().take_while(|said| said != "Count.").collect();
            let all: Vec<String> = whole_way(&written(&world, &session).0);
            let none = MISSING_TOOL_RESULT;
            let mut expected = match (is_imported, is_late) {
                (true, true) => vec!["Done.", "Wait.", none, "Twelve.", "a+b"],
                (false, true) => vec!["Done.", "Wait.", "Twelve.", none, "a+b"],
                (_, false) => vec!["Done.", "Twelve.", none, "a+b"],
            };
            assert_eq!(all, expected, "{is_imported} {is_late}");
            let _ = session.rewind(Some(holder), Durability::Os).unwrap();
            expected.retain(|said| !["Done.", "Wait."].contains(said));
            let (records, report) = written(&world, &session);
            let found: Vec<String> = whole_way(&records);
            assert_eq!(found, expected, "{is_imported} {is_late} {report:?}");
            assert!(!named(&report).contains(&"position"), "{report:?}");
            append(&session, Message::user("Another way."));
            expected.insert(0, "Another way.");
            let found: Vec<String> = whole_way(&written(&world, &session).0);
            assert_eq!(found, expected, "{is_imported} {is_late}");
        }
    }
}

#[test]
fn where_a_boundary_keeps_something_the_one_that_counts_is_the_last_of_the_file() {
    let world = World::new();
    let session = world.store.create().unwrap();
    append(&session, Message::user("one"));
    let two = append(&session, Message::assistant("two"));
    keep(&session, &[two]);
    append(&session, Message::user("three"));
    let four = append(&session, Message::assistant("four"));
    keep(&session, &[four]);
    append(&session, Message::user("five"));
    let _ = session.rewind(Some(four), Durability::Os).unwrap();
    append(&session, Message::user("six"));
    let (records, report) = written(&world, &session);
    let boundaries: Vec<&Value> = records.iter().filter(|record| is_boundary(record)).collect();
    assert_eq!(boundaries.len(), 2, "{report:?}");
    assert_eq!(boundaries[1]["compactMetadata"]["preservedMessages"]["uuids"][0], two.to_string());
    assert!(named(&report).contains(&"keptAside") && !named(&report).contains(&"branches"), "{report:?}");
}

#[test]
fn before_the_compaction_no_boundary_keeps_anything_and_that_is_told() {
    for is_imported in [false, true] {
        let world = World::new();
        let (session, stand) = if is_imported {
            let session = world.import(Agent::ClaudeCode, &samples(Agent::ClaudeCode)["preserved-list-2.1"]);
            // A message that the compaction keeps, where it stood before that.
            (session, Uuid::try_parse("00000006-4004-4000-8000-000000000006").unwrap())
        } else {
            let session = world.store.create().unwrap();
            append(&session, Message::user("one"));
            let two = append(&session, Message::assistant("two"));
            append(&session, Message::user("three"));
            keep(&session, &[two]);
            (session, two)
        };
        let state = whole(&session);
        let is_it = |entry: &&seslog::session::Entry| {
            entry.event.id == stand || entry.event.original_id.as_deref() == Some(&stand.to_string())
        };
        let stand = state.entries().iter().find(is_it).unwrap().event.id;
        let _ = session.rewind(Some(stand), Durability::Os).unwrap();
        append(&session, Message::user("another way"));
        let (records, report) = written(&world, &session);
        assert!(records.iter().filter(|record| is_boundary(record)).count() == 1);
        for record in records.iter().filter(|record| is_boundary(record)) {
            let metadata = &record["compactMetadata"];
            assert!(metadata["preservedMessages"].is_null() && metadata["preservedSegment"].is_null(), "{record}");
        }
        assert!(named(&report).contains(&"keptAside"), "{report:?}");
    }
}

#[test]
fn a_boundary_names_none_of_the_kept_that_are_left_out() {
    let world = World::new();
    let session = world.import(Agent::ClaudeCode, &samples(Agent::ClaudeCode)["preserved-list-2.1"]);
    let state = whole(&session);
    let boundary = state.boundary().unwrap().event.boundary().unwrap();
    let _ = session.tombstone(&[boundary.keep[1].id], None, Durability::Os).unwrap();
    let (records, report) = written(&world, &session);
    let ids: HashSet<&str> = records.iter().filter_map(|record| record["uuid"].as_str()).collect();
    let metadata = &records.iter().find(|record| is_boundary(record)).unwrap()["compactMetadata"];
    let kept = metadata["preservedMessages"]["uuids"].as_array().unwrap();
    assert!(!kept.is_empty() && kept.iter().all(|id| ids.contains(id.as_str().unwrap())), "{metadata}");
    assert!(metadata["preservedSegment"].is_null() && named(&report).contains(&"tombstones"), "{metadata}");
}

#[test]
fn behind_a_summary_the_recorded_leaf_does_not_cut_off_what_that_kept() {
    let world = World::new();
    let session = world.import(Agent::ClaudeCode, &samples(Agent::ClaudeCode)["preserved-list-2.1"]);
    let last = append(&session, Message::user("Last."));
    keep(&session, &[last]);
    let (records, _) = written(&world, &session);
    let recorded = records.iter().rfind(|record| record["type"] == "last-prompt").unwrap();
    let summary = records.iter().rfind(|record| record["isCompactSummary"] == true).unwrap();
    assert_eq!(recorded["leafUuid"], summary["uuid"]);
    assert!(recorded["explicit"].is_null(), "{recorded}");
}

#[test]
fn a_record_whose_parent_is_nowhere_hangs_where_the_session_has_it_and_that_is_told() {
    for name in ["lost-parent-2.1", "damaged"] {
        let world = World::new();
        let session = world.import(Agent::ClaudeCode, &samples(Agent::ClaudeCode)[name]);
        let (file, report) = world.export(&session, Agent::ClaudeCode);
        assert!(named(&report).contains(&"parents"), "{name}: {report:?}");
        let records = records(&file);
        let ids: HashSet<&str> = records.iter().filter_map(|record| record["uuid"].as_str()).collect();
        for record in &records {
            assert!(record["parentUuid"].as_str().is_none_or(|parent| ids.contains(parent)), "{name}: {record}");
        }
        let strict = seslog::interop::claude_code::Options { strict_parents: true, ..Default::default() };
        let read = |options| seslog::interop::claude_code::read(&file[..], &options).unwrap().report.context_ids;
        assert_eq!(read(strict), read(seslog::interop::claude_code::Options::default()), "{name}");
        // The same records again are no new ones.
        let read = seslog::interop::claude_code::read(&file[..], &Default::default()).unwrap();
        let known = read.feed(&session, "key").unwrap().0;
        assert!(known.renamed.is_empty() && known.written == 0, "{name}: {known:?}");
    }
}

#[test]
fn a_failed_tools_output_is_text_and_never_empty() {
    let world = World::new();
    let session = world.store.create().unwrap();
    append(&session, Message::user("Draw."));
    append(&session, Message::assistant_calls(vec![call("a", "draw"), call("b", "draw")]));
    append(&session, Message::tool_result("a", " ", true));
    let picture = media("image/png", MediaSource::Data("aGk=".to_owned()));
    let mut failed = Message::tool_result("b", "x", true);
    let PartBody::ToolResult(result) = &mut failed.content[0].body else { panic!() };
    result.output = seslog::event::ToolOutput::Parts(vec![Part::new(PartBody::Image(picture))]);
    append(&session, failed);
    let (file, report) = world.export(&session, Agent::ClaudeCode);
    let text = String::from_utf8(file).unwrap();
    assert!(text.contains("(no output)") && !text.contains("\"image\""), "{text}");
    assert!(named(&report).contains(&"emptyErrors") && named(&report).contains(&"media"), "{report:?}");
}

fn media(media_type: &str, source: MediaSource) -> Media {
    Media { media_type: media_type.to_owned(), source, name: None, width: None, height: None }
}

#[test]
fn pictures_and_files_that_the_provider_refuses_are_notes() {
    let world = World::new();
    let session = world.store.create().unwrap();
    let data = || MediaSource::Data("aGk=".to_owned());
    let address = |address: &str| MediaSource::Url(address.to_owned());
    let parts = vec![
        Part::new(PartBody::Image(media("image/bmp", data()))),
        Part::new(PartBody::Image(media("image/png", MediaSource::Data("no base64".to_owned())))),
        Part::new(PartBody::File(media("text/plain", data()))),
        Part::new(PartBody::File(media("application/pdf", address("file:///etc/hosts")))),
        Part::new(PartBody::Image(media("image/png", data()))),
        Part::new(PartBody::File(media("application/pdf", data()))),
    ];
    append(&session, Message::new(Role::User, Kind::UserInput, parts));
    let (file, report) = world.export(&session, Agent::ClaudeCode);
    let records = records(&file);
    assert_eq!(blocks(&records[0]), ["text", "text", "text", "text", "image", "document"]);
    assert_eq!(report.differences.iter().find(|one| one.what == "media").unwrap().count, 4);
}

#[test]
fn what_an_agents_card_says_is_in_the_file() {
    let world = World::new();
    let session = world.store.create().unwrap();
    append(&session, Message::user("Vote."));
    let member =
        r#"{"type":"message","role":"assistant","kind":"assistant_text","content":[{"type":"text","text":"Bees."}]}"#;
    let member = seslog::event::Value::parse_json(member.as_bytes()).unwrap().0;
    let council = AgentCouncil { members: vec![member] };
    append(&session, Message::new(Role::Assistant, Kind::AgentCouncil(council), Vec::new()));
    let (file, report) = world.export(&session, Agent::ClaudeCode);
    assert!(String::from_utf8(file).unwrap().contains("Bees.") && named(&report).contains(&"kinds"), "{report:?}");
}

#[test]
fn what_people_saw_is_not_hidden_from_them_in_the_file() {
    let world = World::new();
    let session = world.store.create().unwrap();
    let custom = |display| Kind::Custom(Custom { custom_type: "note".to_owned(), display, details: None });
    append(&session, Message::new(Role::User, custom(true), vec![Part::text("SEEN")]));
    append(&session, Message::new(Role::User, custom(false), vec![Part::text("UNSEEN")]));
    append(&session, Message::system_note("NOTED"));
    append(&session, Message::user("Go on."));
    let (file, report) = world.export(&session, Agent::ClaudeCode);
    for record in records(&file) {
        let is_unseen = record["message"]["content"] == "UNSEEN";
        assert_eq!(record["isMeta"] == true, is_unseen, "{record}");
    }
    assert!(named(&report).contains(&"asText") && named(&report).contains(&"systemNotes"), "{report:?}");
}

#[test]
fn an_unknown_cost_is_left_out_and_no_folder_is_told() {
    let world = World::new();
    let session = world.store.create().unwrap();
    append(&session, Message::user("Go."));
    append(&session, Message::assistant("Gone."));
    let (records, report) = written(&world, &session);
    assert!(records.iter().all(|record| record["message"].get("usage").is_none()), "{records:?}");
    assert!(named(&report).contains(&"folder"), "{report:?}");
}

/// The program gathers an answer's blocks by its id: those of the branch that was left came back.
#[test]
fn a_rewind_into_an_answer_holds_in_the_file_and_the_rest_of_it_is_known_again() {
    let world = World::new();
    let session = world.import(Agent::ClaudeCode, &samples(Agent::ClaudeCode)["branching-2.0"]);
    let (before, report) = written(&world, &session);
    assert!(report.differences.is_empty(), "{report:?}");
    let state = whole(&session);
    let is_it = |entry: &&seslog::session::Entry| {
        entry.event.message().is_some_and(|message| format!("{message:?}").contains("Reading three files together."))
    };
    let inside = state.entries().iter().find(is_it).unwrap().event.id;
    let _ = session.rewind(Some(inside), Durability::Os).unwrap();
    for goes_on in [false, true] {
        if goes_on {
            append(&session, Message::user("Another way."));
        }
        let (records, report) = written(&world, &session);
        assert!(named(&report).contains(&"leftAnswers") && !named(&report).contains(&"position"), "{report:?}");
        let parted: Vec<&Value> = records.iter().filter(|record| record.get("answerMessageId").is_some()).collect();
        assert_eq!(parted.len(), 2, "the calls");
        let whole_ids: HashSet<&Value> = before.iter().map(|record| &record["message"]["id"]).collect();
        for record in parted {
            assert!(whole_ids.contains(&record["answerMessageId"]) && !whole_ids.contains(&record["message"]["id"]));
        }
        let (file, _) = world.export(&session, Agent::ClaudeCode);
        let read = claude_code::read(&file[..], &claude_code::Options::default()).unwrap();
        let (fed, _) = read.feed(&session, "key").unwrap();
        assert_eq!(fed.renamed, [], "each record is known");
        let other = World::new();
        let moved = other.import(Agent::ClaudeCode, &file);
        let of_answers = |records: &[Value]| -> HashSet<[String; 3]> {
            let told = |record: &Value| {
                [&record["uuid"], &record["message"]["id"], &record["answerMessageId"]].map(Value::to_string)
            };
            records.iter().map(told).collect()
        };
        let (third, report) = written(&other, &moved);
        assert_eq!(of_answers(&third), of_answers(&records), "{report:?}");
    }
}

#[test]
fn a_position_between_a_call_and_its_result_behind_an_attachment_is_told() {
    let world = World::new();
    let session = world.import(Agent::ClaudeCode, &samples(Agent::ClaudeCode)["interleaved-2.1"]);
    let is_it = |entry: &&seslog::session::Entry| {
        entry.event.original_id.as_deref().is_some_and(|id| id.starts_with("0000000c-"))
            || entry.event.id.to_string().starts_with("0000000c-")
    };
    let between = whole(&session).entries().iter().find(is_it).unwrap().event.id;
    let _ = session.rewind(Some(between), Durability::Os).unwrap();
    append(&session, Message::user("Another way."));
    let (_, report) = world.export(&session, Agent::ClaudeCode);
    assert!(named(&report).contains(&"position"), "{report:?}");
}

/// The first records of a sample, up to its two parallel calls without their results.
fn broken_off_at_two_calls(world: &World) -> Session {
    let sample = samples(Agent::ClaudeCode).remove("branching-2.0").unwrap();
    let sample = String::from_utf8(sample).unwrap();
    let end = sample.find("\"uuid\":\"0000000b-").map(|at| at + sample[at..].find('\n').unwrap()).unwrap();
    world.import(Agent::ClaudeCode, &sample.as_bytes()[..end])
}

/// An agent that was killed while its tools ran goes on here: its program would drop the records of the calls.
#[test]
fn where_a_files_own_calls_stay_open_and_the_session_goes_on_a_record_says_so() {
    let world = World::new();
    let session = broken_off_at_two_calls(&world);
    let (_, report) = written(&world, &session);
    assert!(report.differences.is_empty(), "as it was: {report:?}");
    append(&session, Message::user("Another way."));
    append(&session, Message::assistant("Yes."));
    let (records, report) = written(&world, &session);
    assert!(named(&report).contains(&"openCalls") && !named(&report).contains(&"position"), "{report:?}");
    let said: Vec<&Value> = records.iter().filter(|record| record["noResultRecorded"] == true).collect();
    let ids = |record: &Value| -> Vec<String> {
        let blocks = record["message"]["content"].as_array().unwrap().iter();
        blocks.map(|block| block["tool_use_id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(said.iter().map(|record| ids(record)).collect::<Vec<_>>(), [["toolu_12", "toolu_13"]]);
    let goes_on = records.iter().find(|record| record["message"]["content"] == "Another way.").unwrap();
    assert_eq!(goes_on["parentUuid"], said[0]["uuid"]);
    assert!(said[0]["parentUuid"].as_str().unwrap().starts_with("0000000b-"));
}

#[test]
fn a_files_own_call_that_the_program_leaves_out_is_told() {
    let world = World::new();
    let session = world.import(Agent::ClaudeCode, &samples(Agent::ClaudeCode)["branching-2.0"]);
    let is_it = |entry: &&seslog::session::Entry| {
        entry.event.message().is_some_and(|message| message.results().any(|result| result.call_id == "toolu_16"))
    };
    let result = whole(&session).entries().iter().find(is_it).unwrap().event.id;
    let _ = session.tombstone(&[result], None, Durability::Os).unwrap();
    let (_, report) = world.export(&session, Agent::ClaudeCode);
    assert!(named(&report).contains(&"droppedCalls"), "{report:?}");
}

#[test]
fn a_result_that_came_late_for_a_files_own_call_stands_behind_it_and_is_known_again() {
    let world = World::new();
    let session = broken_off_at_two_calls(&world);
    append(&session, Message::user("Is it done?"));
    let result = |id: &str| Message::tool_result(id, "LATE", false);
    append(&session, result("toolu_12"));
    append(&session, result("toolu_13"));
    append(&session, Message::assistant("It is."));
    let (records, report) = written(&world, &session);
    assert!(!named(&report).contains(&"position") && !named(&report).contains(&"openCalls"), "{report:?}");
    let way = way(&records);
    assert!(records.iter().all(|record| record.get("noResultRecorded").is_none()), "{way:?}");
    let (file, _) = world.export(&session, Agent::ClaudeCode);
    let read = claude_code::read(&file[..], &claude_code::Options::default()).unwrap();
    assert_eq!(read.feed(&session, "key").unwrap().0.renamed, []);
}

#[test]
fn a_message_comes_back_as_the_one_that_was_said_here_only_with_all_that_it_said() {
    let world = World::new();
    let session = world.import(Agent::ClaudeCode, &samples(Agent::ClaudeCode)["branching-2.0"]);
    let mut message = Message::user("Look.");
    message.content.push(Part::image("image/png", MediaSource::Data("iVBORw0KGgo=".to_owned())));
    append(&session, message);
    let (file, _) = world.export(&session, Agent::ClaudeCode);
    let file = String::from_utf8(file).unwrap();
    let renamed = |file: &str| {
        let read = claude_code::read(file.as_bytes(), &claude_code::Options::default()).unwrap();
        read.feed(&session, "key").unwrap().0.renamed.len()
    };
    assert_eq!(renamed(&file), 0);
    let other = file.replace("iVBORw0KGgo=", "iVBORw0KGgAA");
    assert_ne!(other, file);
    assert_eq!(renamed(&other), 1, "another picture is another message");
}

#[test]
fn two_calls_of_one_id_that_a_file_held_are_told_apart_where_the_model_sees_both() {
    let line = |uuid: &str, parent: &str, role: &str, block: &str| {
        let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
        let answer = format!("\"id\":\"msg_{uuid}\",\"type\":\"message\",\"model\":\"m\",");
        let answer = if role == "assistant" { answer } else { String::new() };
        format!(
            r#"{{"parentUuid":{parent},"isSidechain":false,"sessionId":"5b1e0a10-0009-4000-8000-0000000000a9","cwd":"/x","type":"{role}","message":{{{answer}"role":"{role}","content":[{block}]}},"uuid":"{uuid}","timestamp":"2026-01-01T00:00:00.000Z"}}"#
        )
    };
    let call = r#"{"type":"tool_use","id":"call_0","name":"","input":{}}"#;
    let result = |said: &str| format!(r#"{{"type":"tool_result","tool_use_id":"call_0","content":"{said}"}}"#);
    let lines = [
        line("a", "", "user", r#"{"type":"text","text":"Go."}"#),
        line("b", "a", "assistant", call),
        line("c", "b", "user", &result("ONE")),
        line("d", "c", "assistant", call),
        line("e", "d", "user", &result("TWO")),
    ];
    let world = World::new();
    let session = world.import(Agent::ClaudeCode, lines.join("\n").as_bytes());
    let (records, report) = written_apart(&world, &session);
    let ids: Vec<&str> = records.iter().filter_map(|record| record["message"]["content"][0]["id"].as_str()).collect();
    assert_eq!((ids.len(), ids[0]), (2, "call_0"));
    assert_ne!(ids[0], ids[1]);
    assert_eq!(records[4]["message"]["content"][0]["tool_use_id"], ids[1]);
    assert_eq!(records[1]["message"]["content"][0]["name"], "unnamed");
    assert!(named(&report).contains(&"callIds") && named(&report).contains(&"toolNames"), "{report:?}");
}

fn written_apart(world: &World, session: &Session) -> (Vec<Value>, WriteReport) {
    let (file, report) = world.export(session, Agent::ClaudeCode);
    check::check(Agent::ClaudeCode, &file, "apart");
    (records(&file), report)
}
