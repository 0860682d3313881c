//! What holds for every history and every configuration: random ones of both, and random changes of the standard list.

#[path = "../common/mod.rs"]
mod common;
mod configs;
#[path = "../common/faults.rs"]
mod faults;
#[path = "../wire_rules/mod.rs"]
mod wire_rules;

use common::broken::{Hang, Step, cases, reaches_back, step, steps, tell};
use common::texts::{cleaned, is_blank};
use configs::{Change, changes, config, with_other_end};
use faults::{faults, options};
use proptest::prelude::*;
use seslog::context::slots::is_user;
use seslog::context::steps::{cleanup, tool_pairing, truncate};
use seslog::context::{Config, Inject, Pipeline, Prompt};
use seslog::event::{Kind, Message, Part, PartBody, Role, Uuid};
use seslog::projection::ProjectedMessage;
use seslog::wire::Provider;

/// All that a run says, but for the times.
fn said(prompt: &Prompt) -> String {
    let tools: Vec<_> = prompt.tools.iter().map(|tool| &tool.name).collect();
    serde_json::to_string(&(&prompt.messages, tools, &prompt.diagnostics, &prompt.metadata, &prompt.stopped)).unwrap()
}

/// The standard list with these changes; the steps that make any list whole stay.
fn changed(config: &Config, changes: &[Change]) -> Pipeline {
    let mut list = Pipeline::standard(config);
    for (index, change) in changes.iter().enumerate() {
        let names: Vec<String> = list.names().map(str::to_owned).collect();
        let name = |at: usize| names[at % names.len()].clone();
        let is_needed = |name: &str| [tool_pairing::NAME, cleanup::NAME].contains(&name);
        match change {
            Change::Remove(at) if !is_needed(&name(*at)) => drop(list.remove(&name(*at)).unwrap()),
            Change::Remove(_) => {}
            Change::Insert(at, slot) => {
                let step = Inject::new(format!("own_{index}"), *slot, format!("<own>{index}</own> {{{{city}}}}"));
                list.insert_before(&name(*at), step).unwrap();
            }
        }
    }
    // Whatever was taken out before it, these two come last, as in the standard list.
    for name in [tool_pairing::NAME, cleanup::NAME] {
        let step = list.remove(name).unwrap();
        list.push(step);
    }
    list
}

/// The place of the person's last message; without one, of what stands for it at the end.
fn last_of_the_session(messages: &[ProjectedMessage]) -> usize {
    let put_in = messages.iter().rev().take_while(|message| message.source_message_ids.is_empty()).count();
    let any_user = || messages.iter().rposition(|message| message.role == Role::User);
    messages.iter().rposition(is_user).or_else(any_user).unwrap_or(messages.len() - put_in)
}

/// What persons typed, by the message that holds it.
fn typed(messages: &[ProjectedMessage]) -> Vec<(Uuid, String)> {
    let inputs = messages.iter().filter(|message| message.semantic_type() == "user_input");
    let texts = inputs.flat_map(|message| {
        message.recorded().into_iter().flat_map(|recorded| &recorded.content).map(|part| (message.id, part.as_text()))
    });
    texts.filter_map(|(id, text)| Some((id, cleaned(text?)))).filter(|(_, text)| !is_blank(text)).collect()
}

/// Why this prompt is no good; empty if it is.
fn wrong(messages: &[ProjectedMessage], prompt: &Prompt) -> Vec<String> {
    let mut wrong = Vec::new();
    let left_out: Vec<Uuid> = prompt
        .diagnostics
        .iter()
        .filter(|item| item.code == truncate_code())
        .flat_map(|item| item.ids.iter().copied())
        .collect();
    let sent: Vec<String> = prompt
        .messages
        .iter()
        .flat_map(|message| &message.content)
        .filter_map(|part| part.as_text())
        .map(cleaned)
        .collect();
    for (id, text) in typed(messages) {
        let is_there = sent.iter().any(|sent| sent.contains(&text));
        if !is_there && !left_out.contains(&id) {
            wrong.push(format!("typed and lost without a word: {text:?}"));
        }
    }
    let mut again = Pipeline::new();
    again.push(tool_pairing::ToolPairing);
    let again = again.run(&prompt.messages).unwrap();
    wrong.extend(again.diagnostics.iter().map(|item| format!("pairing: {item:?}")));
    for provider in Provider::ALL {
        for mut options in options(provider) {
            options.tools.clone_from(&prompt.tools);
            let faults = faults(&prompt.messages, provider, &options);
            wrong.extend(faults.into_iter().map(|fault| format!("{}: {fault}", provider.name())));
        }
    }
    wrong
}

fn truncate_code() -> &'static str {
    seslog::context::code::TRUNCATED
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn whatever_is_configured_pairs_are_whole_no_word_is_lost_and_no_provider_refuses(
        steps in steps(),
        config in config(),
        changes in changes(),
    ) {
        let messages = tell(&steps).model().messages;
        let list = changed(&config, &changes);
        let prompt = list.run(&messages).unwrap();
        let wrong = wrong(&messages, &prompt);
        prop_assert!(wrong.is_empty(), "{:?}\n{wrong:#?}\n{}", list.names().collect::<Vec<_>>(), said(&prompt));
        prop_assert_eq!(said(&prompt), said(&list.run(&messages).unwrap()), "the same input gives the same bytes");
        prop_assert_eq!(said(&prompt), said(&changed(&config, &changes).run(&messages).unwrap()));
    }

    #[test]
    fn what_changes_in_the_slots_at_the_end_leaves_all_before_the_last_user_message_as_it_was(
        steps in steps(),
        config in config(),
        todo in any::<bool>(),
        hint in any::<bool>(),
    ) {
        let messages = tell(&steps).model().messages;
        let before = Pipeline::standard(&config).run(&messages).unwrap().messages;
        let after = Pipeline::standard(&with_other_end(&config, todo, hint)).run(&messages).unwrap().messages;
        let kept = last_of_the_session(&before).min(last_of_the_session(&after));
        prop_assert_eq!(&before[..kept], &after[..kept]);
    }

    #[test]
    fn a_longer_session_begins_with_the_prompt_of_a_shorter_one_up_to_its_last_user_message(
        steps in prop::collection::vec(step(), 0..30),
        config in config(),
        cut in 0_usize..30,
    ) {
        // A person's refusal, like a result, takes its place beside its call; and a card may hold a result.
        let is_refusal = |part: &Part| matches!(part.body, PartBody::ToolApprovalResponse(_));
        let is_card = |kind: &Kind| {
            matches!(kind, Kind::AssistantGroup(_) | Kind::Supervisor(_) | Kind::AgentCouncil(_) | Kind::Tasks(_) | Kind::GroupTasks(_))
        };
        let is_plain = |message: &Message| {
            !reaches_back(message) && !is_card(&message.kind) && !message.content.iter().any(is_refusal)
        };
        let steps: Vec<Step> =
            steps.into_iter().filter(|step| matches!(step, Step::Say(message, Hang::Last) if is_plain(message))).collect();
        let mut config = config;
        // A cut counts from the end, a rule may look at what was said last, and a call that goes takes the reasoning of
        // its own answer along, wherever the rest of that answer stands.
        config.disabled_tools.clear();
        config.truncate = truncate::TruncateConfig::default();
        config.documents.retain(|document| document.rule == Default::default());
        let list = Pipeline::standard(&config);
        let shorter = list.run(&tell(&steps[..cut.min(steps.len())]).model().messages).unwrap().messages;
        let longer = list.run(&tell(&steps).model().messages).unwrap().messages;
        if let Some(last) = shorter.iter().rposition(is_user) {
            prop_assert_eq!(&shorter[..last], &longer[..last]);
        }
    }
}
