//! Random histories to every agent and back.

use proptest::prelude::*;
use seslog::event::{BashExecution, Kind, Media, MediaSource, Message, Part, PartBody, Reasoning, Role, Value};
use seslog::log::Durability;
use seslog::projection::View;

use crate::check;
use crate::history::{Run, Step, step};
use crate::shown::{Shown, comparable, shown};
use crate::world::{AGENTS, World, named, whole};

/// What a history of steps does not have: answers of several blocks, and messages of other kinds.
#[derive(Debug, Clone)]
enum Move {
    Step(Step),
    /// A block of the answer before, or of a new one.
    Block {
        is_same: bool,
        what: u8,
    },
    Results {
        calls: Vec<usize>,
        with_text: bool,
    },
    Said(u8),
}

fn moves() -> impl Strategy<Value = Move> {
    prop_oneof![
        5 => step().prop_map(Move::Step),
        4 => (any::<bool>(), 0..4u8).prop_map(|(is_same, what)| Move::Block { is_same, what }),
        3 => (prop::collection::vec(0..1000usize, 1..3), any::<bool>())
            .prop_map(|(calls, with_text)| Move::Results { calls, with_text }),
        1 => (0..4u8).prop_map(Move::Said),
    ]
}

fn apply(run: &mut Run, step: &Move, answer: &mut usize) {
    let number = run.messages.len();
    let mut calls = Vec::new();
    let mut message = match step {
        Move::Step(step) => return run.apply(step),
        Move::Block { is_same, what } => {
            *answer += usize::from(!is_same);
            let mut parts = Vec::new();
            if *what != 1 {
                parts.push(Part::text(format!("block {number}")));
            }
            if *what == 3 {
                let reasoning = Reasoning { text: Some(format!("thought {number}")), ..Reasoning::default() };
                parts.insert(0, Part::new(PartBody::Reasoning(reasoning)));
            } else if *what != 0 {
                calls.push(format!("block-call-{number}"));
                parts.push(Part::tool_call(calls[0].clone(), ["a.b", "a_b"][number % 2], Value::Map(Vec::new())));
            }
            let mut message = Message::new(Role::Assistant, Kind::AssistantText, parts);
            message.provider = Some(["anthropic", "openai"][*answer % 2].to_owned());
            message.message_id = Some(format!("msg_{answer}"));
            message
        }
        Move::Results { calls, with_text } => {
            let ids: std::collections::BTreeSet<&String> =
                calls.iter().filter_map(|n| run.calls.get(n % run.calls.len().max(1))).map(|(id, _)| id).collect();
            let is_error = number.is_multiple_of(3);
            let result = |id: &String| Part::tool_result(id, format!("result {number}"), is_error);
            let mut parts: Vec<Part> = ids.into_iter().map(result).collect();
            if parts.is_empty() {
                return;
            }
            if *with_text {
                parts.push(Part::text(format!("beside {number}")));
            }
            Message::new(Role::Tool, Kind::ToolResult, parts)
        }
        Move::Said(0) => Message::system_note(format!("note {number}")),
        Move::Said(1) => {
            let bash = BashExecution {
                command: format!("wc {number}"),
                output: "12".to_owned(),
                exit_code: Some(0),
                ..BashExecution::default()
            };
            Message::new(Role::User, Kind::BashExecution(bash), Vec::new())
        }
        Move::Said(_) => {
            let media = Media {
                media_type: "image/png".to_owned(),
                source: MediaSource::Data("aGk=".to_owned()),
                name: Some("bee.png".to_owned()),
                width: None,
                height: None,
            };
            let parts = vec![Part::text(format!("see {number}")), Part::new(PartBody::Image(media))];
            Message::new(Role::User, Kind::UserInput, parts)
        }
    };
    if let Move::Block { what: 1 | 2, .. } = step {
        message.kind = Kind::ToolCall;
    }
    let id = run.session().append(message, Durability::Os).unwrap().id;
    run.messages.push(id);
    run.calls.extend(calls.into_iter().map(|call| (call, id)));
}

fn goes_there_and_back(run: &Run) -> Result<(), TestCaseError> {
    let here = World::of(run.store());
    for (to, of) in AGENTS {
        let there = World::new();
        let (file, report) = here.export(run.session(), to);
        check::check(to, &file, of);
        let again = there.import(to, &file);
        let names = named(&report);
        let was = comparable(shown(&whole_story(&here, run), View::Model), &names);
        let is = comparable(shown(&whole(&again), View::Model), &names);
        // Of an answer that is kept in part all is there.
        if names.contains(&"keptMore") {
            let is_there = |one: &Shown| !matches!(one, Shown::Text(..)) || is.contains(one);
            prop_assert!(was.iter().all(is_there), "{}: {:?}\n{:?}\n{:?}", of, names, was, is);
            continue;
        }
        let in_order = |mut all: Vec<Shown>| {
            if names.contains(&"textsMoved") {
                all.sort_by_key(|one| format!("{one:?}"));
            }
            all
        };
        let (was, is) = (in_order(was), in_order(is));
        prop_assert_eq!(was, is, "{}: {:?}\n{}", of, names, String::from_utf8_lossy(&file));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_random_history_is_a_file_that_each_agents_rules_take(steps in prop::collection::vec(step(), 1..40), fork in prop::option::weighted(0.3, 0..1000usize)) {
        let mut run = Run::new();
        for step in &steps {
            run.apply(step);
        }
        if let Some(at) = fork {
            run.fork(at);
            steps.iter().take(5).for_each(|step| run.apply(step));
        }
        goes_there_and_back(&run)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_random_history_of_answers_in_blocks_is_a_file_that_each_agents_rules_take(steps in prop::collection::vec(moves(), 1..40)) {
        let mut run = Run::new();
        let mut answer = 0;
        for step in &steps {
            apply(&mut run, step, &mut answer);
        }
        goes_there_and_back(&run)?;
    }
}

fn whole_story(world: &World, run: &Run) -> seslog::session::State {
    world.history(run.session()).state
}
