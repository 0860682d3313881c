//! The whole way: ids that a run asks for, tools in a body, a model's call, and what is recorded of it.

use serde_json::{Value as Json, json};
use seslog::context::slots::Slot;
use seslog::context::steps::offer_tools::{NotOffered, OfferTools};
use seslog::context::steps::{disabled_tools::DisabledToolFilter, tool_instructions};
use seslog::context::tools::{Activation, Ask, NameError, Repair, StepDelta, ToolSource, encode, repair};
use seslog::context::{Config, Inject, Pipeline};
use seslog::event::{Message, Part, ToolInput, Value};
use seslog::log::Durability;
use seslog::projection::{Options, View, project};
use seslog::session::{Session, SessionOptions, Store};
use seslog::wire::{self, Provider, payload};

use crate::support::engine;

fn body(session: &Session, list: &Pipeline) -> Json {
    let view = session.with_state(|state| project(state, View::Model, &Options::default())).unwrap();
    let prompt = list.run(&view.messages).unwrap();
    let mut options = wire::Options::for_model("claude-opus-4-8");
    options.tools = prompt.tools;
    serde_json::from_str(&payload(&prompt.messages, Provider::Anthropic, &options).to_json()).unwrap()
}

#[test]
fn from_asked_ids_to_a_recorded_call_and_out_of_the_history_again() {
    let dir = tempfile::tempdir().unwrap();
    let session = Store::at(dir.path(), SessionOptions::default()).create().unwrap();
    let _ = session.append(Message::user("Where is it?"), Durability::Os).unwrap();

    // The run has files; a step before this one activated maps.
    let engine = engine();
    let operation = engine.operation(&Ask::of(["files"]));
    let accumulated = [Activation::new("maps", ToolSource::Discovery)];
    let set = engine.step(&operation, &accumulated, &StepDelta::default(), None);
    let mut list = Pipeline::new();
    list.push(OfferTools::new(&[], &set));
    list.push(Inject::new(tool_instructions::NAME, Slot::System, tool_instructions::ToolInstructions::of(&set)));
    let sent = body(&session, &list);
    let names: Vec<&str> =
        sent["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["files____read", "files____write", "maps____search"]);
    assert!(sent["system"].as_str().unwrap().contains("How to use maps."));

    // The model answers with a bare name, and its stream broke off behind what the tool requires.
    let names = engine.names(&set, set.tools());
    let target = names.decode("search").unwrap();
    assert_eq!((target.identifier.as_str(), target.api.as_str()), ("maps", "search"));
    let name = encode(&target.identifier, &target.api, target.kind.as_deref());
    let schema = &set.tools().iter().find(|tool| tool.name == name).unwrap().schema;
    let arguments = repair(&ToolInput::Text(r#"{"path": "/here", "mo"#.to_owned()), schema).unwrap();
    assert_eq!(arguments.repair, Some(Repair::Cut { dropped: None }));
    let error = names.decode("web____search").unwrap_err();
    assert_eq!(error, NameError::NotOffered { name: "web____search".to_owned() });

    let mut call = Part::tool_call("c1", &name, arguments.value);
    call.extra.push(("repair".to_owned(), Value::from_serialize(&arguments.repair).unwrap()));
    let call = session.append(Message::assistant_calls(vec![call]), Durability::Os).unwrap();
    let mark =
        session.with_state(|state| state.entry(call.id).unwrap().event.message().unwrap().content[0].extra.clone());
    let fault = Value::from([("fault", "cut".into()), ("dropped", Value::Null)]);
    assert_eq!(mark.unwrap(), [("repair".to_owned(), fault)]);
    let _ = session.append(Message::tool_result("c1", "There.", false), Durability::Os).unwrap();
    let sent = body(&session, &list);
    let wanted = json!({"type": "tool_use", "id": "c1", "name": "maps____search", "input": {"path": "/here"}});
    assert_eq!(sent["messages"][1]["content"][0], wanted);

    // The next run has no maps: neither a definition, nor instructions, nor anything to copy.
    let mut list = Pipeline::new();
    list.push(OfferTools::new(&[], &operation));
    list.push(DisabledToolFilter::new(["maps"]));
    list.push(Inject::new(tool_instructions::NAME, Slot::System, tool_instructions::ToolInstructions::of(&operation)));
    let sent = body(&session, &list).to_string();
    assert!(sent.contains("files____read") && !sent.contains("maps"), "{sent}");
}

#[test]
fn where_a_call_has_no_tools_it_has_no_plain_ones_either() {
    let cases = [
        (r#"{}"#, &["ask", "files____read"][..], &[][..]),
        (r#"{"ask": {"modelCallsFunctions": false}}"#, &[], &["ask: incompatible", "files: incompatible"]),
        (r#"{"step": {"deactivate": ["*"]}}"#, &[], &["ask: deactivated", "files: deactivated"]),
        (r#"{"step": {"deactivate": ["files"]}}"#, &["ask"], &["files: deactivated"]),
    ];
    let known = json!({
        "manifests": [{"identifier": "files", "apis": [{"name": "read"}]}],
        "defaults": ["files"],
        "enable": {"rules": {"files": true}},
    });
    for (changes, offered, not_offered) in cases {
        let mut tools = known.clone();
        let changes_json: serde_json::Map<String, Json> = serde_json::from_str(changes).unwrap();
        tools.as_object_mut().unwrap().extend(changes_json);
        let plain = json!([{"name": "ask", "schema": {"type": "object"}}]);
        let config: Config = serde_json::from_str(&json!({"plainTools": plain, "tools": tools}).to_string()).unwrap();
        let prompt = Pipeline::standard(&config).run(&[]).unwrap();
        let names: Vec<&str> = prompt.tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, offered, "{changes}");
        let said = prompt.metadata.get::<NotOffered>().map(|NotOffered(said)| crate::support::reasons(said));
        assert_eq!(said.unwrap_or_default(), not_offered, "{changes}");
    }
}

#[test]
fn what_of_a_configuration_is_not_used_is_told() {
    let config = r#"{"plainTools":[{"name":"run","schema":{}}],"selectedTools":["run","gone"],
        "tools":{"manifests":[{"identifier":"a","apis":[]},{"identifier":"a","apis":[]}]},
        "skills":{"skills":[{"identifier":"s","name":"S"},{"identifier":"s","name":"S"}],"active":["revew"]}}"#;
    let config: seslog::context::Config = serde_json::from_str(config).unwrap();
    let prompt = Pipeline::standard(&config).run(&[]).unwrap();
    let refused = prompt.diagnostics.iter().filter(|item| item.code == "configuration_refused").count();
    assert_eq!(refused, 2, "{:?}", prompt.diagnostics);
    let told = serde_json::to_value(&prompt.metadata).unwrap();
    assert_eq!(told["skills_not_offered"], json!([{"id": "revew", "reason": "not_found"}]));
    let sent = prompt.messages.last().unwrap().content[0].as_text().unwrap();
    assert!(sent.contains("<tool identifier=\"run\">\nCall it by: run") && sent.contains("available=\"no\""), "{sent}");
}
