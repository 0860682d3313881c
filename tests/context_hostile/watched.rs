//! Each step of the standard list, watched: what goes is told, nothing comes twice, ids are those of the session.

use std::collections::{HashMap, HashSet};

use seslog::context::{BoxError, Config, Context, Pipeline, Processor};
use seslog::event::{
    AgentCouncil, Children, Kind, Media, MediaSource, Message, Part, PartBody, Role, Task, TaskCallback, Tasks, Uuid,
    Value, Verify,
};
use seslog::projection::ProjectedMessage;
use seslog::wire::Provider;

use crate::common::picture::png;
use crate::common::story::Story;
use crate::faults::{faults, options};
use crate::random::Random;
use crate::support::{by, card, config, item};

#[derive(Debug)]
struct Watched(Box<dyn Processor>);

/// The recorded parts, each with the messages that it came from.
fn recorded(messages: &[ProjectedMessage]) -> HashMap<usize, (Vec<Uuid>, String)> {
    let mut found = HashMap::new();
    for message in messages {
        for part in message.content.iter().filter(|part| part.is_recorded()) {
            let of = (message.source_message_ids.clone(), format!("{:?}", part.body));
            let before = found.insert(std::ptr::from_ref::<Part>(part) as usize, of);
            assert!(before.is_none(), "a part stands there twice: {:?}", part.body);
        }
    }
    found
}

impl Processor for Watched {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn process(&self, context: &mut Context<'_>) -> Result<(), BoxError> {
        let input: HashSet<Uuid> =
            context.input().iter().flat_map(|message| message.source_message_ids.clone()).collect();
        let before = recorded(&context.messages);
        // Parts are shared, so that none is freed and its place used again.
        let held = context.messages.clone();
        let told = context.diagnostics.len();
        self.0.process(context)?;
        let after = recorded(&context.messages);
        let items = &context.diagnostics[told..];
        for (part, (ids, body)) in &before {
            let is_told = || items.iter().any(|item| item.ids.iter().any(|id| ids.contains(id)));
            assert!(after.contains_key(part) || is_told(), "{} loses {body} and says nothing: {items:?}", self.name());
        }
        for item in items.iter().filter(|item| !item.ids.is_empty()) {
            assert!(item.ids.iter().any(|id| input.contains(id)), "{}: {item:?}", self.name());
        }
        drop(held);
        Ok(())
    }
}

fn watched(config: &Config) -> Pipeline {
    let mut list = Pipeline::standard(config);
    let names: Vec<String> = list.names().map(str::to_owned).collect();
    for name in names {
        let step = list.remove(&name).unwrap();
        list.push(Watched(step));
    }
    list
}

const AGENTS: [&str; 4] = ["", "ann", "bob", "lead"];

fn parts(random: &mut Random, name: &str) -> Vec<Part> {
    let count = 1 + random.below(4);
    let picture = |media_type: &str| Media {
        media_type: media_type.into(),
        source: MediaSource::Data(png(8, 8, 9)),
        name: Some("<speaker name=\"x\" />".into()),
        width: None,
        height: None,
    };
    let one = |random: &mut Random| match random.below(9) {
        0..=2 => Part::text(format!("{name} {{{{secret}}}}")),
        3 => {
            Part::tool_call(random.pick(&["", "a", "b"]), random.pick(&["run", "speak", "off"]), Value::Map(Vec::new()))
        }
        4 => Part::tool_result(random.pick(&["", "a", "b"]), name, false),
        5 => Part::reasoning(name, None),
        6 => Part::new(PartBody::Image(picture("image/png"))),
        7 => Part::new(PartBody::Json(Value::Text(name.to_owned()))),
        _ => Part::text(" "),
    };
    (0..count).map(|_| one(random)).collect()
}

fn message(random: &mut Random, name: &str, depth: usize) -> Message {
    let agent = random.pick(&AGENTS);
    let mut message = match random.below(if depth < 3 { 16 } else { 10 }) {
        0 => Message::user(name),
        1 => Message { content: parts(random, name), ..Message::user(name) },
        2 => Message::assistant(name),
        3..=5 => Message { content: parts(random, name), ..Message::assistant_calls(Vec::new()) },
        6..=7 => Message::tool_result(random.pick(&["", "a", "b"]), name, false),
        8 => Message::approval_response(random.pick(&["", "a", "b"]), random.below(2) == 0, None),
        9 => Message::system_note(name),
        10 => card(Kind::Task(Task { title: None, instruction: Some("i".into()), status: None })),
        11 => card(Kind::TaskCallback(TaskCallback { task: name.into(), status: "done".into() })),
        12 => card(Kind::Verify(Verify { feedback: (random.below(2) == 0).then(|| name.into()) })),
        kind => {
            let count = random.below(5);
            let held = (0..count).map(|n| item(self::message(random, &format!("{name}.{n}"), depth + 1))).collect();
            card(match kind {
                13 => Kind::AgentCouncil(AgentCouncil { members: held }),
                14 => Kind::Tasks(Tasks { tasks: held }),
                _ if random.below(3) == 0 => Kind::AssistantGroup(Children { children: held }),
                _ => Kind::Supervisor(Children { children: held }),
            })
        }
    };
    if message.content.is_empty() && random.below(2) == 0 {
        message.content = parts(random, name);
    }
    if agent.is_empty() || message.role == Role::User { message } else { by(agent, message) }
}

const CONFIGS: [&str; 4] = [
    "{}",
    r#"{"activeAgent":"ann","orchestration":{"supervisor":"lead"},"disabledTools":["off"],"media":{"takes":[]}}"#,
    r#"{"activeAgent":"lead","truncate":{"keepLastGroups":2},"inputTemplate":{"template":"[{{text}}]"},
        "placeholders":{"values":{"secret":"s3cret"}},"todo":{"items":[{"text":"t"}]},"limits":{}}"#,
    r#"{"disabledTools":["run"],"truncate":{"tokenBudget":30},"forceFinish":{"finish":true},"systemRole":"{{secret}}",
        "placeholders":{"values":{"secret":"s3cret"}},"actionHint":{"text":"go"}}"#,
];

#[test]
fn no_step_loses_a_recorded_part_in_silence_or_shows_one_twice() {
    for seed in 0..1_500_u64 {
        let mut random = Random::new(seed);
        let mut story = Story::new();
        for n in 0..1 + random.below(14) {
            let message = message(&mut random, &format!("m{n}"), 0);
            story = story.say(&format!("m{n}"), message);
        }
        let messages = story.model().messages;
        for json in CONFIGS {
            let config = config(json);
            println!("seed {seed}, {json}");
            let prompt = watched(&config).run(&messages).unwrap();
            if seed % 10 == 0 {
                for provider in Provider::ALL {
                    for options in options(provider) {
                        let faults = faults(&prompt.messages, provider, &options);
                        // A template and a cut change what is sent of a person's words.
                        let broken: Vec<&String> = faults.iter().filter(|fault| !fault.starts_with("lost")).collect();
                        assert!(broken.is_empty(), "{}: {broken:#?}", provider.name());
                    }
                }
            }
        }
    }
}

/// The names of all fields, below the first level.
fn fields(value: &serde_json::Value, names: &mut Vec<String>) {
    match value {
        serde_json::Value::Object(map) => {
            for (name, value) in map {
                names.push(name.clone());
                fields(value, names);
            }
        }
        serde_json::Value::Array(list) => list.iter().for_each(|value| fields(value, names)),
        _ => {}
    }
}

#[test]
fn what_a_run_tells_is_json_in_camel_case_without_nothing_for_a_number() {
    let config = config(
        r#"{"activeAgent":"ann","truncate":{"keepLastGroups":1,"tokenBudget":1},"inputTemplate":{"template":"[{{text}}] {{x}}"},
        "placeholders":{"values":{"a":"b"}},"systemRole":"{{a}} {{unknown}}","limits":{"window":1},
        "documents":[{"title":"t","text":"x","position":"context-end","rule":{"kind":"regex","pattern":"("}}],
        "tools":{"manifests":[{"identifier":"m"}],"defaults":["m","none"]}}"#,
    );
    let told = card(Kind::AgentCouncil(AgentCouncil { members: vec![item(Message::assistant("x")), Value::Null] }));
    let messages = Story::new().user("old").user("question").say("card", told).model().messages;
    let prompt = Pipeline::standard(&config).run(&messages).unwrap();
    let metadata = serde_json::to_value(&prompt.metadata).unwrap();
    let of_entries: Vec<&serde_json::Value> = metadata.as_object().unwrap().values().collect();
    assert!(of_entries.len() >= 7, "{metadata}");
    let stats = serde_json::to_value(&prompt.stats).unwrap();
    let diagnostics = serde_json::to_value(&prompt.diagnostics).unwrap();
    let mut names = Vec::new();
    of_entries.into_iter().chain([&stats, &diagnostics]).for_each(|value| fields(value, &mut names));
    let is_camel = |name: &String| name.starts_with(|c: char| c.is_ascii_lowercase()) && !name.contains('_');
    assert!(names.iter().all(is_camel), "{names:?}");
    let numbers: u64 = stats["steps"].as_array().unwrap().iter().map(|step| step["micros"].as_u64().unwrap()).sum();
    assert!(numbers < u64::MAX && metadata["tokens"]["account"]["counted"]["content"].is_u64(), "{metadata}");
}
