//! From a session on disk to the bodies of two providers: `cargo run --example prompt`.

use std::error::Error;

use seslog::context::tokens::Counted;
use seslog::context::{Config, Pipeline};
use seslog::event::{Message, Part, Value};
use seslog::log::Durability;
use seslog::projection::{self, View, project};
use seslog::session::{SessionOptions, Store};
use seslog::wire::{self, Provider, payload};

/// What the application puts into its prompts, as it may stand in a file of its own.
const CONFIG: &str = r#"{
  "systemRole": "You look after a garden.",
  "date": { "zone": "Europe/Berlin", "offsetMinutes": 120 },
  "tools": {
    "manifests": [{
      "identifier": "shed",
      "systemRole": "Put back what you have fetched.",
      "apis": [{
        "name": "fetch",
        "description": "Fetches a thing from the shed.",
        "parameters": { "type": "object", "properties": { "thing": { "type": "string" } }, "required": ["thing"] }
      }]
    }],
    "enable": { "rules": { "shed": true } },
    "ask": { "ids": ["shed"] }
  },
  "skills": {
    "skills": [
      { "identifier": "sowing", "name": "Sowing", "content": "Beans go 3 cm deep, from May on." },
      { "identifier": "pruning", "name": "Pruning", "description": "How shrubs are cut." }
    ],
    "enable": { "rules": { "sowing": true, "pruning": true } },
    "active": ["sowing"]
  },
  "todo": { "items": [{ "text": "dig the beds", "status": "done" }, { "text": "sow the beans" }] },
  "limits": { "window": 200000 }
}"#;

fn main() -> Result<(), Box<dyn Error>> {
    let dir = tempfile::tempdir()?;
    let store = Store::at(dir.path(), SessionOptions::default());

    // A session: what was said and done is on disk.
    let session = store.create()?;
    let id = session.id().to_string();
    let fetch = Part::tool_call("call_1", "shed____fetch", Value::from([("thing", "beans".into())]));
    let said = [
        Message::user("Get the beans, please."),
        Message::assistant_calls(vec![fetch]),
        Message::tool_result("call_1", "A bag of 200 beans.", false),
        Message::assistant("I have 200 beans."),
        Message::user("How deep do they go?"),
    ];
    for message in said {
        let _ = session.append(message, Durability::Group)?;
    }
    session.close()?;

    // Opened again, by replaying its log; then the model's view of it.
    let session = store.open(&id)?;
    let view = session.with_state(|state| project(state, View::Model, &projection::Options::default()))?;

    // What the application adds, in the standard order.
    let config: Config = serde_json::from_str(CONFIG)?;
    let prompt = Pipeline::standard(&config).run(&view.messages)?;
    for message in &prompt.messages {
        println!("{}", message.role.name());
        for text in message.content.iter().filter_map(|part| part.as_text()) {
            text.lines().for_each(|line| println!("    {line}"));
        }
    }
    if let Some(counted) = prompt.metadata.get::<Counted>() {
        println!("some {} tokens of {}\n", counted.verdict.raw, counted.verdict.threshold);
    }

    // The same prompt for two providers.
    for (provider, model) in [(Provider::Anthropic, "claude-opus-4-8"), (Provider::OpenAiResponses, "gpt-5.2")] {
        let mut options = wire::Options::for_model(model);
        options.tools.clone_from(&prompt.tools);
        let json = payload(&prompt.messages, provider, &options).to_json();
        let head: String = json.chars().take(300).collect();
        println!("{}: {} bytes, {head}...\n", provider.name(), json.len());
    }
    Ok(())
}
