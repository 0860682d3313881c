//! Who made an answer, with what and for how much, how the session is called: in the file, or named as missing.

use seslog::event::{Media, MediaSource, Message, Part, PartBody, Role, SessionMeta, StopReason, Usage, Value};
use seslog::interop::Agent;
use seslog::log::Durability;
use seslog::session::{NewEvent, Parent, Session};

use crate::world::{World, named, whole};

fn append(session: &Session, event: impl Into<NewEvent>) -> seslog::event::Uuid {
    session.append(event.into(), Durability::Os).unwrap().id
}

fn answer(text: &str, provider: Option<&str>, model: Option<&str>, stop: &str) -> Message {
    let mut message = Message::assistant(text);
    message.provider = provider.map(str::to_owned);
    message.model = model.map(str::to_owned);
    message.stop_reason = StopReason::Said(stop.to_owned());
    message
}

fn lines(file: &[u8]) -> Vec<serde_json::Value> {
    std::str::from_utf8(file).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The files dropped the title, the model, what requests cost and the agent's name, and said nothing of it.
#[test]
fn title_model_and_usage_come_back_from_a_rollout() {
    let (here, there) = (World::new(), World::new());
    let session = here.store.create().unwrap();
    let mut meta =
        SessionMeta { title: Some("Bees".to_owned()), agent: Some("scout".to_owned()), ..Default::default() };
    meta.cwd = Some("/hive".to_owned());
    meta.extra.push(("gitBranch".to_owned(), "hive".into()));
    append(&session, meta);
    append(&session, Message::user("Count."));
    let usage = |input| Usage {
        input,
        output: 5,
        cache_read: Some(3),
        reasoning: Some(2),
        total: Some(input + 5),
        ..Usage::default()
    };
    for (at, model) in [(10, "gpt-a"), (20, "gpt-b"), (20, "gpt-b")] {
        let mut message = answer("Twelve.", Some("openai"), Some(model), "completed");
        message.usage = Some(usage(at));
        append(&session, message);
    }
    let (file, report) = here.export(&session, Agent::Codex);
    assert_eq!(named(&report), ["stopReasons", "title"], "{report:?}");
    let again = whole(&there.import(Agent::Codex, &file));
    let meta = again.meta();
    assert_eq!(
        (meta.title.as_deref(), meta.agent.as_deref(), meta.model.as_deref()),
        (Some("Bees"), Some("scout"), Some("gpt-b"))
    );
    assert!(meta.extra.iter().any(|(name, value)| name == "gitBranch" && value.as_text() == Some("hive")), "{meta:?}");
    let answers: Vec<_> = again.chain().iter().filter_map(|entry| entry.event.message().cloned()).collect();
    let answers: Vec<_> = answers.iter().filter(|message| message.role == Role::Assistant).collect();
    let models: Vec<_> = answers.iter().map(|message| message.model.as_deref().unwrap()).collect();
    assert_eq!(models, ["gpt-a", "gpt-b", "gpt-b"]);
    let counted: Vec<_> = answers.iter().map(|message| message.usage.clone().unwrap()).collect();
    assert_eq!(counted, [usage(10), usage(20), usage(20)]);
    // What is gone on with in a file of the program's own is said as well.
    let session = there.import(Agent::Codex, &file);
    append(&session, SessionMeta { title: Some("Wasps".to_owned()), ..Default::default() });
    let mut message = answer("None.", Some("openai"), Some("gpt-c"), "completed");
    message.usage = Some(usage(30));
    append(&session, message);
    let (file, _) = there.export(&session, Agent::Codex);
    let again = whole(&World::new().import(Agent::Codex, &file));
    assert_eq!(again.meta().title.as_deref(), Some("Wasps"));
    let last = again.leaf().unwrap().event.message().unwrap().clone();
    assert_eq!((last.model.as_deref(), last.usage), (Some("gpt-c"), Some(usage(30))));
}

#[test]
fn a_cost_that_each_block_of_an_answer_repeats_is_told_once() {
    let (here, there) = (World::new(), World::new());
    let session = here.store.create().unwrap();
    append(&session, Message::user("Count."));
    for text in ["One", "two."] {
        let mut message = answer(text, Some("openai"), Some("m"), "completed");
        message.message_id = Some("msg_1".to_owned());
        message.usage = Some(Usage { input: 7, output: 3, ..Usage::default() });
        append(&session, message);
    }
    let (file, _) = here.export(&session, Agent::Codex);
    assert_eq!(lines(&file).iter().filter(|line| line["payload"]["type"] == "token_count").count(), 1);
    let again = whole(&there.import(Agent::Codex, &file));
    let usages: Vec<_> = again.entries().iter().filter_map(|entry| entry.event.message()?.usage.clone()).collect();
    assert_eq!(usages.iter().map(|usage| usage.input).sum::<u64>(), 7);
}

#[test]
fn no_model_is_made_up_and_reasons_to_end_are_the_targets_own() {
    let world = World::new();
    let session = world.store.create().unwrap();
    append(&session, Message::user("Count."));
    append(&session, answer("One.", None, None, "toolUse"));
    append(&session, answer("Two.", Some("openai"), Some("gpt-a"), "length"));
    append(&session, answer("Three.", Some("anthropic"), Some("claude-a"), "tired"));
    append(&session, answer("Four.", Some("anthropic"), Some("claude-a"), "end_turn"));
    let (file, report) = world.export(&session, Agent::ClaudeCode);
    let answers: Vec<_> = lines(&file).into_iter().filter(|line| line["type"] == "assistant").collect();
    let said = |name: &str| answers.iter().map(|line| line["message"][name].as_str()).collect::<Vec<_>>();
    assert_eq!(said("model"), [Some("<synthetic>"), Some("gpt-a"), Some("claude-a"), Some("claude-a")]);
    assert_eq!(said("stop_reason"), [Some("tool_use"), Some("max_tokens"), None, Some("end_turn")]);
    let count = |report: &seslog::interop::WriteReport, what: &str| {
        report.differences.iter().find(|difference| difference.what == what).map_or(0, |difference| difference.count)
    };
    assert_eq!((count(&report, "models"), count(&report, "modelUnknown"), count(&report, "stopReasons")), (1, 1, 1));
    let (file, report) = world.export(&session, Agent::Pi);
    let reasons: Vec<_> =
        lines(&file).iter().filter_map(|line| line["message"]["stopReason"].as_str().map(str::to_owned)).collect();
    assert_eq!(reasons, ["stop", "length", "stop", "stop"]);
    assert_eq!((count(&report, "modelUnknown"), count(&report, "stopReasons")), (1, 1), "{report:?}");
    let (_, report) = world.export(&session, Agent::Codex);
    assert_eq!((count(&report, "models"), count(&report, "providers"), count(&report, "stopReasons")), (2, 3, 4));
}

/// `a.b` and `a_b` both became `a_b`, and one tool's calls the other's.
#[test]
fn tools_whose_names_would_become_the_same_stay_two_tools() {
    for agent in [Agent::ClaudeCode, Agent::Codex] {
        let (here, there) = (World::new(), World::new());
        let session = here.store.create().unwrap();
        append(&session, Message::user("Count."));
        for (number, name) in ["a.b", "a_b", "a/b", "a.b"].into_iter().enumerate() {
            let id = format!("call{number}");
            append(&session, Message::assistant_calls(vec![Part::tool_call(&id, name, Value::Map(Vec::new()))]));
            append(&session, Message::tool_result(id, "done", false));
        }
        let (file, report) = here.export(&session, agent);
        assert!(named(&report).contains(&"toolNamesApart"), "{report:?}");
        let again = whole(&there.import(agent, &file));
        let names: Vec<String> = again
            .entries()
            .iter()
            .filter_map(|entry| entry.event.message())
            .flat_map(|message| message.calls().map(|call| call.name.clone()).collect::<Vec<_>>())
            .collect();
        assert_eq!(names[1], "a_b");
        assert_eq!(names[0], names[3]);
        assert!(names[0] != "a_b" && names[2] != "a_b" && names[0] != names[2], "{names:?}");
        assert_eq!(here.export(&session, agent).0, file, "the same each time");
    }
}

/// The way back would have put both into one session.
#[test]
fn a_rollout_that_is_not_that_of_the_session_has_an_id_of_its_own() {
    let world = World::new();
    let bytes =
        std::fs::read(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/codex/envelope-2025-10.jsonl"));
    let session = world.import(Agent::Codex, &bytes.unwrap());
    assert_eq!(world.export(&session, Agent::Codex).1.session, session.id().to_string());
    let first = whole(&session).chain()[0].event.id;
    append(&session, NewEvent::from(Message::user("Another way.")).with_parent(Parent::Of(first)));
    let (file, report) = world.export(&session, Agent::Codex);
    assert_ne!(report.session, session.id().to_string());
    assert_eq!(lines(&file)[0]["payload"]["id"].as_str(), Some(report.session.as_str()));
    assert_eq!(world.export(&session, Agent::Codex).1.session, report.session, "the same each time");
    let events = whole(&session).entries().len();
    let again = world.import(Agent::Codex, &file);
    assert!(again.id() != session.id() && whole(&session).entries().len() == events);
}

#[test]
fn a_result_names_the_record_of_its_call_and_media_lose_nothing_untold() {
    let world = World::new();
    let session = world.store.create().unwrap();
    append(&session, Message::user("Count."));
    for number in 0..2 {
        let call = Part::tool_call(format!("call{number}"), "count", Value::Map(Vec::new()));
        let mut message = Message::assistant_calls(vec![call]);
        message.message_id = Some("msg_1".to_owned());
        append(&session, message);
    }
    for number in [1, 0] {
        append(&session, Message::tool_result(format!("call{number}"), "done", false));
    }
    let media = |media_type: &str, source, name: Option<&str>| Media {
        media_type: media_type.to_owned(),
        source,
        name: name.map(str::to_owned),
        width: None,
        height: None,
    };
    let data = || MediaSource::Data("aGk=".to_owned());
    let parts = vec![
        Part::new(PartBody::Image(media("image/png", data(), Some("bee.png")))),
        Part::new(PartBody::Image(media("image/png", MediaSource::Url("https://a.example/b".to_owned()), None))),
        Part::new(PartBody::File(media("application/pdf", data(), Some("bees.pdf")))),
    ];
    append(&session, Message::new(Role::User, seslog::event::Kind::UserInput, parts));
    let (file, report) = world.export(&session, Agent::ClaudeCode);
    let lines = lines(&file);
    for line in lines.iter().filter(|line| line["message"]["content"][0]["type"] == "tool_result") {
        let id = &line["message"]["content"][0]["tool_use_id"];
        let call = lines.iter().find(|call| call["message"]["content"][0]["id"] == *id).unwrap();
        assert_eq!(line["sourceToolAssistantUUID"], call["uuid"], "{line}");
    }
    let blocks = lines.iter().find_map(|line| line["message"]["content"].as_array().filter(|blocks| blocks.len() == 3));
    let blocks = blocks.unwrap();
    assert_eq!(blocks[2]["title"], "bees.pdf");
    // The provider refuses what it does not know.
    assert!(blocks[0].get("title").is_none() && blocks[1]["source"].get("media_type").is_none(), "{blocks:?}");
    let told = report.differences.iter().find(|difference| difference.what == "mediaDetails").unwrap();
    assert_eq!(told.count, 2);
}

/// All of the answer came back.
#[test]
fn a_part_of_an_answer_that_a_compaction_keeps_stays_that_part_where_the_format_can() {
    for agent in [Agent::ClaudeCode, Agent::Codex, Agent::Pi] {
        let (here, there) = (World::new(), World::new());
        let session = here.store.create().unwrap();
        append(&session, Message::user("Count."));
        let mut blocks = Vec::new();
        for number in 0..3 {
            let mut message = answer(&format!("Block {number}."), Some("anthropic"), Some("m"), "end_turn");
            if number == 1 {
                message.content.push(Part::tool_call("c", "count", Value::Map(Vec::new())));
                message.kind = seslog::event::Kind::ToolCall;
            }
            message.message_id = Some("msg_1".to_owned());
            blocks.push(append(&session, message));
        }
        append(&session, Message::tool_result("c", "Twelve.", false));
        let compaction = seslog::session::Compaction::new("All so far.").keep(vec![blocks[1]]);
        let _ = session.compact(compaction, Durability::Os).unwrap();
        append(&session, Message::user("Go on."));
        let (file, report) = here.export(&session, agent);
        crate::check::check(agent, &file, "a part");
        let is = crate::shown::shown(&whole(&there.import(agent, &file)), seslog::projection::View::Model);
        let shown = format!("{is:?}");
        let is_all = agent == Agent::ClaudeCode;
        assert!(shown.contains("Block 1.") && shown.contains("Twelve."), "{agent:?} {shown}");
        assert_eq!((shown.contains("Block 0."), shown.contains("Block 2.")), (is_all, is_all), "{agent:?} {shown}");
        assert_eq!(named(&report).contains(&"keptMore"), is_all, "{agent:?} {report:?}");
    }
}

#[test]
fn cached_tokens_are_counted_within_the_input_or_beside_it_as_the_target_has_it() {
    let here = World::new();
    for (provider, input) in [("openai", 1_000), ("anthropic", 400)] {
        let session = here.store.create().unwrap();
        let _ = append(&session, Message::user("Question?"));
        let mut message = answer("Answer.", Some(provider), Some("m"), "end_turn");
        message.usage = Some(Usage { input, output: 50, cache_read: Some(600), ..Usage::default() });
        let _ = append(&session, message);
        let usage_in = |agent: Agent, path: &[&str]| -> Vec<serde_json::Value> {
            let (file, _) = here.export(&session, agent);
            let found = |line: &serde_json::Value| path.iter().try_fold(line, |at, name| at.get(name)).cloned();
            lines(&file).iter().filter_map(found).collect()
        };
        let claude = usage_in(Agent::ClaudeCode, &["message", "usage"]);
        assert_eq!(
            claude,
            [serde_json::json!({"input_tokens": 400, "output_tokens": 50, "cache_read_input_tokens": 600})],
            "{provider}"
        );
        let pi = &usage_in(Agent::Pi, &["message", "usage"])[0];
        assert_eq!(
            (&pi["input"], &pi["cacheRead"], &pi["totalTokens"]),
            (&serde_json::json!(400), &serde_json::json!(600), &serde_json::json!(1_050))
        );
        let codex = &usage_in(Agent::Codex, &["payload", "info", "last_token_usage"])[0];
        assert_eq!(
            (&codex["input_tokens"], &codex["cached_input_tokens"]),
            (&serde_json::json!(1_000), &serde_json::json!(600)),
            "{provider}"
        );
        assert_eq!(codex["total_tokens"], serde_json::json!(1_050), "{provider}");
    }
}
