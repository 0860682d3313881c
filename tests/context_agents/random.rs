//! Random histories with cards, through all of these steps.

use proptest::collection::vec;
use proptest::prelude::*;
use seslog::context::steps::{
    compressed_group::CompressedGroup,
    council_flatten::CouncilFlatten,
    group_flatten::GroupFlatten,
    orchestration_filter::{OrchestrationConfig, OrchestrationFilter},
    speaker::Speaker,
    supervisor_role::SupervisorRole,
    task::{TaskConfig, TaskText},
    task_callback::TaskCallback,
    tasks_flatten::TasksFlatten,
    truncate::{Truncate, TruncateConfig},
    verify::Verify,
};
use seslog::context::{Processor, groups, is_head};
use seslog::event::{self, Children, Kind, MISSING_TOOL_RESULT, Message, Part, Task, Tasks, Value};
use seslog::projection::ProjectedMessage;
use seslog::wire::{Options, Provider, payload};

use crate::common::broken::cases;
use crate::common::story::Story;
use crate::faults::{faults, options};
use crate::support::{call_part, card, council, group, item, run, supervisor};

/// A message of a history, or of a card.
#[derive(Debug, Clone)]
enum Said {
    User,
    Text { agent: usize },
    Reasoning { agent: usize },
    Calls { agent: usize, calls: Vec<(usize, usize)>, with_result: bool },
    Result { agent: usize, call: usize },
    Task { instruction: bool },
    Callback,
    Verify { feedback: bool },
    System,
    Unread,
    Card { agent: usize, kind: usize, own: bool, holds: Vec<Said> },
}

const AGENTS: [&str; 4] = ["", "ann", "bob", "lead"];
const TOOLS: [&str; 3] = ["run", "group____speak", "broadcast"];

fn plain() -> impl Strategy<Value = Said> {
    let agent = 0..AGENTS.len();
    prop_oneof![
        2 => Just(Said::User),
        3 => agent.clone().prop_map(|agent| Said::Text { agent }),
        1 => agent.clone().prop_map(|agent| Said::Reasoning { agent }),
        4 => (agent.clone(), vec((0..3_usize, 0..TOOLS.len()), 1..3), any::<bool>())
            .prop_map(|(agent, calls, with_result)| Said::Calls { agent, calls, with_result }),
        4 => (agent, 0..3_usize).prop_map(|(agent, call)| Said::Result { agent, call }),
        1 => any::<bool>().prop_map(|instruction| Said::Task { instruction }),
        1 => Just(Said::Callback),
        1 => any::<bool>().prop_map(|feedback| Said::Verify { feedback }),
        1 => Just(Said::System),
        1 => Just(Said::Unread),
    ]
}

fn said() -> impl Strategy<Value = Said> {
    plain().prop_recursive(3, 24, 5, |inner| {
        let card = (0..AGENTS.len(), 0..6_usize, any::<bool>(), vec(inner, 0..6));
        card.prop_map(|(agent, kind, own, holds)| Said::Card { agent, kind, own, holds })
    })
}

/// The message of a history; what no message can hold is a person's word there.
fn message(said: &Said, name: &str) -> Message {
    let by = |agent: usize, mut message: Message| {
        message.metadata.agent_name = Some(AGENTS[agent].to_owned()).filter(|name| !name.is_empty());
        message
    };
    match said {
        Said::User | Said::Unread => Message::user(name),
        Said::System => Message::system_note(name),
        Said::Text { agent } => by(*agent, Message::assistant(name)),
        Said::Reasoning { agent } => by(*agent, Message::assistant_reasoning(vec![Part::reasoning(name, None)])),
        Said::Calls { agent, calls, with_result } => {
            let mut parts = vec![Part::text(name)];
            for (call, tool) in calls {
                parts.push(call_part(&format!("{}:c{call}", TOOLS[*tool])));
                parts.extend(with_result.then(|| Part::tool_result(format!("c{call}"), name, false)));
            }
            by(*agent, Message::assistant_calls(parts))
        }
        Said::Result { agent, call } => by(*agent, Message::tool_result(format!("c{call}"), name, false)),
        Said::Task { instruction } => {
            let instruction = instruction.then(|| "Look.".to_owned());
            card(Kind::Task(Task { title: Some(name.to_owned()), instruction, status: None }))
        }
        Said::Callback => {
            card(Kind::TaskCallback(event::TaskCallback { task: name.to_owned(), status: "done".to_owned() }))
        }
        Said::Verify { feedback } => card(Kind::Verify(event::Verify { feedback: feedback.then(|| name.to_owned()) })),
        Said::Card { agent, kind, own, holds } => {
            let held = items(holds, name);
            let mut message = match kind {
                0 => council(held),
                1 => group(held),
                2 => supervisor(held),
                3 => card(Kind::Tasks(Tasks { tasks: held })),
                4 => card(Kind::GroupTasks(Tasks { tasks: held })),
                _ => card(Kind::CompressedGroup(Children { children: held })),
            };
            message.content.extend(own.then(|| Part::text(name)));
            by(*agent, message)
        }
    }
}

fn items(holds: &[Said], name: &str) -> Vec<Value> {
    let held = |(index, said): (usize, &Said)| {
        let name = format!("{name}.{index}");
        match said {
            Said::Unread => Value::from([("content", name.into())]),
            _ => item(&name, message(said, &name)),
        }
    };
    holds.iter().enumerate().map(held).collect()
}

fn told(history: &[Said]) -> Vec<ProjectedMessage> {
    let add = |story: Story, (index, said): (usize, &Said)| {
        let name = format!("m{index}");
        let message = message(said, &name);
        story.say(&name, message)
    };
    history.iter().enumerate().fold(Story::new(), add).model().messages
}

/// All steps, from this agent's point of view.
fn steps(active: usize, keep_last_groups: Option<usize>) -> Vec<Box<dyn Processor>> {
    let active_agent = Some(AGENTS[active]).filter(|name| !name.is_empty());
    let orchestration = OrchestrationConfig { supervisor: Some("lead".to_owned()), ..OrchestrationConfig::default() };
    vec![
        Box::new(Truncate::new(TruncateConfig { keep_last_groups, token_budget: None })),
        Box::new(CouncilFlatten::new()),
        Box::new(GroupFlatten::new()),
        Box::new(OrchestrationFilter::new(active_agent, &orchestration)),
        Box::new(TasksFlatten::new()),
        Box::new(TaskText::new(&TaskConfig::default())),
        Box::new(TaskCallback::new()),
        Box::new(Verify::new()),
        Box::new(SupervisorRole::new()),
        Box::new(CompressedGroup::new()),
        Box::new(Speaker::new(active_agent)),
    ]
}

/// The results, each with whether the message that its call stands in is the last one before it that is no result.
fn results_apart(messages: &[ProjectedMessage]) -> Vec<String> {
    let mut apart = Vec::new();
    let mut calls: Vec<&str> = Vec::new();
    for message in messages {
        let results: Vec<&str> =
            message.content.iter().filter_map(|part| Some(part.as_tool_result()?.call_id.as_str())).collect();
        if results.is_empty() {
            calls = message.content.iter().filter_map(|part| Some(part.as_tool_call()?.id.as_str())).collect();
        }
        apart.extend(results.into_iter().filter(|id| !calls.contains(id)).map(str::to_owned));
    }
    apart
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn no_provider_refuses_what_becomes_of_a_history_with_cards(
        history in vec(said(), 0..12),
        active in 0..AGENTS.len(),
        keep in proptest::option::of(0..6_usize),
    ) {
        let prompt = run(&told(&history), steps(active, keep));
        for provider in Provider::ALL {
            for options in options(provider) {
                let faults = faults(&prompt.messages, provider, &options);
                prop_assert!(faults.is_empty(), "{}: {faults:#?}", provider.name());
            }
        }
        let again = run(&told(&history), steps(active, keep));
        prop_assert_eq!(&again.messages, &prompt.messages);
        prop_assert_eq!(&again.diagnostics, &prompt.diagnostics);
        let body = |messages: &[ProjectedMessage]| payload(messages, Provider::Anthropic, &Options::for_model("m")).to_json();
        prop_assert_eq!(body(&again.messages), body(&prompt.messages));
    }

    #[test]
    fn each_result_that_a_card_holds_stands_behind_its_call(
        turns in vec((1..3_usize, any::<bool>(), 0..3_usize), 1..5),
        kind in 0..3_usize,
        is_inside in any::<bool>(),
    ) {
        // Each turn of calls has ids of its own; its results follow, perhaps behind something else, in any order.
        let mut held = Vec::new();
        for (turn, (count, is_turned, between)) in turns.iter().enumerate() {
            let ids: Vec<String> = (0..*count).map(|call| format!("t{turn}c{call}")).collect();
            let calls = ids.iter().map(|id| call_part(id)).collect();
            held.push(item(&format!("a{turn}"), Message::assistant_calls(calls)));
            held.extend((0..*between).map(|at| item(&format!("b{turn}{at}"), Message::assistant("meanwhile"))));
            let mut results: Vec<&String> = ids.iter().collect();
            if *is_turned {
                results.reverse();
            }
            held.extend(results.iter().map(|id| item(id, Message::tool_result(*id, format!("result {id}"), false))));
        }
        let mut message = match kind {
            0 => council(held),
            1 => group(held),
            _ => supervisor(held),
        };
        if is_inside {
            message = council(vec![item("g", message)]);
        }
        let view = Story::new().user("u1").say("card", message).model();
        let prompt = run(&view.messages, vec![Box::new(CouncilFlatten::new()), Box::new(GroupFlatten::new())]);
        prop_assert_eq!(results_apart(&prompt.messages), Vec::<String>::new());
        let body = payload(&prompt.messages, Provider::OpenAiChat, &Options::for_model("m")).to_json();
        prop_assert!(!body.contains(MISSING_TOOL_RESULT), "{}", body);
        for (turn, (count, ..)) in turns.iter().enumerate() {
            for call in 0..*count {
                let result = format!("result t{turn}c{call}");
                prop_assert!(body.contains(&result), "no {} in {}", result, body);
            }
        }
    }

    #[test]
    fn groups_hold_all_but_the_head_once_and_no_result_without_its_call(history in vec(plain(), 0..24)) {
        let messages = told(&history);
        let groups = groups(&messages);
        prop_assert!(groups.windows(2).all(|pair| pair[0].end <= pair[1].start));
        prop_assert!(groups.iter().all(|group| !group.is_empty()));
        let of = |place: usize| groups.iter().position(|group| group.contains(&place));
        for (place, message) in messages.iter().enumerate() {
            prop_assert!(of(place).is_some() || is_head(message));
            // The view puts each result behind its call.
            let behind = messages[..place].iter().rposition(|earlier| earlier.content.iter().any(|p| p.as_tool_call().is_some()));
            if message.content.iter().any(|part| part.as_tool_result().is_some()) {
                prop_assert_eq!(of(place), behind.and_then(of));
            }
        }
    }
}
