//! A Codex rollout in a session: what the model's view shows is what the format's rules give, and goes back to OpenAI.

#![expect(clippy::unwrap_used, reason = "a helper of tests stops where a test would")]

#[path = "../common/mod.rs"]
mod common;
mod hostile;
mod odd;
mod random;
#[path = "../wire_rules/mod.rs"]
mod wire_rules;

use std::fs;
use std::path::Path;

use common::bodies::made;
use serde_json::{Value as Json, json};
use seslog::event::{Part, PartBody, Role};
use seslog::interop::codex::{Imported, Options, read};
use seslog::projection::{ProjectedMessage, View, project};
use seslog::session::{Session, SessionOptions, State, Store};
use seslog::wire::{Options as WireOptions, Provider};
use wire_rules::check_text;

/// The samples by name, with their bytes.
fn samples() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/codex");
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let lines = paths.filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    let name = |path: &Path| path.file_stem().unwrap().to_string_lossy().into_owned();
    let mut samples: Vec<_> = lines.map(|path| (name(&path), fs::read(&path).unwrap())).collect();
    samples.sort();
    assert_eq!(samples.len(), 7);
    samples
}

fn sample(name: &str) -> Vec<u8> {
    samples().into_iter().find(|(known, _)| known == name).unwrap().1
}

fn ends(bytes: &[u8]) -> Vec<usize> {
    (0..bytes.len()).filter(|&at| bytes[at] == b'\n').map(|at| at + 1).collect()
}

/// A new session in a directory that is gone afterwards.
pub(crate) fn with_session<T>(run: impl FnOnce(&Session) -> T) -> T {
    let dir = tempfile::tempdir().unwrap();
    let session = Store::at(dir.path(), SessionOptions::default()).create().unwrap();
    run(&session)
}

/// Writes the events into a session; nothing in them needs a repair. How many were written, and how many known.
pub(crate) fn feed(session: &Session, imported: &Imported) -> (usize, usize) {
    let (report, _) = imported.clone().feed(session, "s").unwrap();
    assert!(report.repairs.is_empty() && report.missing.is_empty() && report.refused.is_empty(), "{report:?}");
    (report.written, report.known)
}

pub(crate) fn model(state: &State) -> Vec<ProjectedMessage> {
    project(state, View::Model, &Default::default()).messages
}

/// An item of the file by its id in reports.
fn item_of(bytes: &[u8], id: &str) -> Json {
    let (line, index) = id.split_once('#').map_or((id, None), |(line, index)| (line, Some(index)));
    let (line, sub) = line[1..].split_once('.').map_or((&line[1..], None), |(line, sub)| (line, Some(sub)));
    let text = String::from_utf8_lossy(bytes);
    let text = text.lines().nth(line.parse::<usize>().unwrap() - 1).unwrap();
    assert_eq!(sub, None, "salvaged items are compared elsewhere");
    let record: Json = serde_json::from_str(text).unwrap();
    let payload = record.get("payload").unwrap_or(&record);
    match (index, record["type"].as_str()) {
        (Some(index), _) => payload["replacement_history"][index.parse::<usize>().unwrap()].clone(),
        (None, Some("compacted")) => {
            json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": payload["message"]}]})
        }
        (None, _) => payload.clone(),
    }
}

/// What an item says, in a form that both sides have.
fn said(item: &Json) -> String {
    let kind = item["type"].as_str().unwrap();
    let call_id = || item["call_id"].as_str().or(item["id"].as_str()).unwrap().to_owned();
    match kind {
        "message" | "agent_message" => {
            let role = match item["role"].as_str() {
                Some("developer") => "system",
                Some(role) => role,
                None => "user",
            };
            let blocks = item["content"].as_array().unwrap().iter();
            let texts: Vec<&str> = blocks.map(|block| block["text"].as_str().unwrap_or("[picture]")).collect();
            format!("{role}: {}", texts.join("|"))
        }
        "reasoning" => format!("reasoning {}", item["encrypted_content"].as_str().unwrap_or_default()),
        kind if kind.ends_with("_output") => format!("output {}", call_id()),
        "web_search_call" | "image_generation_call" | "compaction" => format!("whole {kind}"),
        _ => format!("call {}", call_id()),
    }
}

/// The report's context, outputs behind their calls as a request has them, and none whose call is not there.
fn expected(bytes: &[u8], imported: &Imported) -> Vec<String> {
    let mut said_all: Vec<String> = Vec::new();
    for item in &imported.report.context {
        let text = said(&item_of(bytes, &item.id));
        match text.strip_prefix("output ") {
            None => said_all.push(text),
            Some(id) => {
                let call = format!("call {id}");
                if let Some(place) = said_all.iter().position(|said| *said == call) {
                    said_all.insert(place + 1, text);
                }
            }
        }
    }
    said_all
}

/// What the model's view says, in the same form.
pub(crate) fn shown(messages: &[ProjectedMessage]) -> Vec<String> {
    let one = |message: &ProjectedMessage| {
        let part = |part: &Part| match &part.body {
            PartBody::Text(text) => text.text.clone(),
            PartBody::Image(_) => "[picture]".to_owned(),
            PartBody::ToolCall(call) => format!("call {}", call.id),
            PartBody::ToolResult(result) => format!("output {}", result.call_id),
            PartBody::Reasoning(reasoning) => {
                format!("reasoning {}", reasoning.encrypted.as_deref().unwrap_or_default())
            }
            PartBody::Opaque(opaque) => format!("whole {}", opaque.value.get("type").unwrap().as_text().unwrap()),
            other => format!("{other:?}"),
        };
        let parts: Vec<String> = message.content.iter().map(|shared| part(shared)).collect();
        match message.content.iter().all(|part| matches!(part.body, PartBody::Text(_) | PartBody::Image(_))) {
            true => format!("{}: {}", message.role.name(), parts.join("|")),
            false => parts.join("|"),
        }
    };
    messages.iter().map(one).collect()
}

#[test]
fn every_samples_context_is_the_models_view_of_its_session() {
    for (name, bytes) in samples() {
        for end in ends(&bytes).into_iter().chain([bytes.len()]) {
            let imported = read(&bytes[..end], &Options::default()).unwrap();
            let expected = expected(&bytes, &imported);
            let dir = tempfile::tempdir().unwrap();
            let session = Store::at(dir.path(), SessionOptions::default()).create().unwrap();
            feed(&session, &imported);
            let states = [session.state().unwrap(), session.whole_state().unwrap()];
            let path = session.path().to_owned();
            session.close().unwrap();
            let again = Session::open(&path, SessionOptions::default()).unwrap();
            for state in states.into_iter().chain([again.state().unwrap()]) {
                assert_eq!(shown(&model(&state)), expected, "{name} up to {end}");
            }
        }
    }
}

#[test]
fn importing_again_writes_nothing() {
    for (name, bytes) in samples() {
        let imported = read(bytes.as_slice(), &Options::default()).unwrap();
        with_session(|session| {
            let first = feed(session, &imported);
            let before = session.log().end();
            let again = feed(session, &imported);
            assert_eq!(again, (0, first.0), "{name}");
            assert_eq!(session.log().end(), before, "{name}");
        });
    }
}

#[test]
fn a_grown_file_adds_what_is_new() {
    for (name, bytes) in samples() {
        let whole = read(bytes.as_slice(), &Options::default()).unwrap();
        let at_once = with_session(|session| {
            feed(session, &whole);
            model(&session.state().unwrap())
        });
        let contents = |messages: &[ProjectedMessage]| -> Vec<_> {
            messages.iter().map(|message| (message.role, message.content.clone())).collect()
        };
        // At each line, and where the last line was not whole yet.
        let cuts = ends(&bytes).into_iter().flat_map(|end| [end, end.saturating_sub(20)]);
        for cut in cuts {
            with_session(|session| {
                let part = read(&bytes[..cut], &Options::default()).unwrap();
                feed(session, &part);
                let (_, known) = feed(session, &whole);
                let grown = model(&session.state().unwrap());
                assert_eq!(contents(&grown), contents(&at_once), "{name} cut at {cut}");
                if bytes[..cut].ends_with(b"\n") {
                    // What the list of sessions shows is said anew, and nothing else.
                    assert!(known + 1 >= part.events.len(), "{name} cut at {cut}: {known}");
                }
            });
        }
    }
}

#[test]
fn turns_that_were_taken_back_stay_as_a_branch() {
    with_session(|session| {
        feed(session, &read(sample("replacement-rollback-2026").as_slice(), &Options::default()).unwrap());
        let state = session.whole_state().unwrap();
        let original = |id| state.entry(id).unwrap().event.original_id.clone().unwrap();
        let mut leaves: Vec<String> = state.branches().into_iter().map(original).collect();
        leaves.sort();
        assert_eq!(leaves, ["L34", "L43"]);
        assert_eq!(state.leaf().unwrap().event.original_id.as_deref(), Some("L43"));
    });
}

#[test]
fn a_transcript_shows_each_message_once() {
    with_session(|session| {
        feed(session, &read(sample("replacement-rollback-2026").as_slice(), &Options::default()).unwrap());
        let transcript = project(&session.whole_state().unwrap(), View::Transcript, &Default::default()).messages;
        let said = shown(&transcript);
        for words in ["user: Count butterflies.", "user: Count bees.", "user: Keep the counts."] {
            assert_eq!(said.iter().filter(|said| *said == words).count(), 1, "{words}: {said:#?}");
        }
        assert!(!said.iter().any(|said| said.contains("permissions") || said.contains("Delete")), "{said:#?}");
    });
}

/// The body for OpenAI, which its rules take.
pub(crate) fn body(messages: &[ProjectedMessage], model: Option<&str>) -> Json {
    let options = model.map_or_else(WireOptions::default, WireOptions::for_model);
    let made = made(messages, Provider::OpenAiResponses, &options);
    if !messages.is_empty() {
        let mut broken = check_text("openai-responses", &made.to_json());
        // One sample's picture is the first eight bytes of one.
        broken.retain(|broken| broken.rule != "media-bytes" || !made.to_json().contains("base64,iVBORw0KGgo=\""));
        assert!(broken.is_empty(), "{broken:#?}\n{}", made.to_json());
    }
    made.json()
}

#[test]
fn every_sample_goes_back_to_openai() {
    for (name, bytes) in samples() {
        for end in ends(&bytes) {
            with_session(|session| {
                feed(session, &read(&bytes[..end], &Options::default()).unwrap());
                let messages = model(&session.state().unwrap());
                if messages.iter().any(|message| message.role == Role::User) {
                    let _ = body(&messages, None);
                }
                for provider in ["anthropic", "openai-chat", "gemini", "bedrock"] {
                    let of_name = Provider::ALL.into_iter().find(|known| known.name() == provider).unwrap();
                    let made = made(&messages, of_name, &WireOptions::for_model("some-model"));
                    let is_said = made.message_count > 0;
                    let mut broken = check_text(provider, &made.to_json());
                    broken.retain(|broken| broken.rule != "media-bytes" || !made.to_json().contains("iVBORw0KGgo=\""));
                    assert!(!is_said || broken.is_empty(), "{name} up to {end}, {provider}: {broken:#?}");
                }
            });
        }
    }
}

#[test]
fn what_the_provider_encrypted_goes_back_byte_for_byte() {
    with_session(|session| {
        feed(session, &read(sample("replacement-rollback-2026").as_slice(), &Options::default()).unwrap());
        let body = body(&model(&session.state().unwrap()), Some("gpt-5.3-codex"));
        let sealed = json!({"type": "compaction", "encrypted_content": "gAAAAABopaque-summary=="});
        assert_eq!(body["input"][2], sealed, "{body}");
        assert_eq!(body["input"][3]["role"], "system");
    });
    with_session(|session| {
        let bytes = sample("resume-2026");
        let before_compaction = ends(&bytes)[24];
        feed(session, &read(&bytes[..before_compaction], &Options::default()).unwrap());
        let body = body(&model(&session.state().unwrap()), Some("gpt-5.5"));
        let input = body["input"].as_array().unwrap();
        let find = |kind: &str| input.iter().find(|item| item["type"] == kind).unwrap();
        assert_eq!(find("reasoning")["encrypted_content"], "b3BhcXVl");
        assert_eq!(find("reasoning")["id"], "rs_1");
        let call = json!({"type": "custom_tool_call", "call_id": "call_71", "name": "exec", "input": "look spring"});
        assert_eq!(*find("custom_tool_call"), call);
        assert_eq!(find("custom_tool_call_output")["output"], "The spring is slack.\nexit 0");
        let phases: Vec<&str> = input.iter().filter_map(|item| item["phase"].as_str()).collect();
        assert_eq!(phases, ["commentary", "final_answer"]);
    });
}

#[test]
fn what_the_list_of_sessions_shows_is_the_files_last_word() {
    let meta = |name: &str| {
        with_session(|session| {
            feed(session, &read(sample(name).as_slice(), &Options::default()).unwrap());
            session.state().unwrap().meta().clone()
        })
    };
    let resumed = meta("resume-2026");
    assert_eq!(resumed.title.as_deref(), Some("Wind the clock."));
    assert_eq!((resumed.cwd.as_deref(), resumed.model.as_deref()), (Some("/home/dev/clock"), Some("gpt-5.5")));
    let extra =
        |name: &str| resumed.extra.iter().find(|(known, _)| known == name).and_then(|(_, value)| value.as_text());
    assert_eq!((extra("version"), extra("gitBranch")), (Some("0.145.0"), Some("main")));
    let forked = meta("fork-paginated-2026");
    let from = forked.extra.iter().find(|(name, _)| name == "forkedFrom").unwrap();
    assert_eq!(from.1.as_text(), Some("019fa000-4400-7aaa-8bbb-000000000040"));
}

#[test]
fn each_request_is_counted_once_and_stands_at_what_it_gave() {
    let imported = read(sample("resume-2026").as_slice(), &Options::default()).unwrap();
    assert_eq!(imported.report.usage.total, 2100);
    with_session(|session| {
        feed(session, &imported);
        let state = session.whole_state().unwrap();
        let messages = state.entries().iter().filter_map(|entry| Some((entry, entry.event.message()?)));
        let used: Vec<_> = messages
            .filter_map(|(entry, message)| Some((entry.event.original_id.clone()?, message.usage.as_ref()?.total?)))
            .collect();
        let expected = [("L14", 900), ("L22", 1000), ("L36", 200)].map(|(id, total)| (id.to_owned(), total));
        assert_eq!(used, expected);
    });
}
