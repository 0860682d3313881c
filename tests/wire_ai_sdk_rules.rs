//! Random broken histories, for the AI SDK's body beyond what providers demand, and for the views that it is made of.

mod common;

use std::collections::HashSet;

use common::bodies::ai_sdk;
use common::broken::{Step, cases, reaches_back, steps, tell};
use common::texts::{cleaned, collect_texts, is_blank};
use proptest::prelude::*;
use serde_json::Value as Json;
use seslog::event::Uuid;
use seslog::projection;
use seslog::wire::Options;

/// The ids of the parts of this type in a message.
fn ids(message: &Json, kind: &str) -> Vec<String> {
    let parts = message["content"].as_array().into_iter().flatten();
    parts.filter(|part| part["type"] == kind).map(|part| part["toolCallId"].to_string()).collect()
}

/// Without the events that come twice: a session never takes an id twice.
fn once_each(steps: Vec<Step>) -> Vec<Step> {
    steps.into_iter().filter(|step| !matches!(step, Step::Again(_))).collect()
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn the_user_and_the_model_take_turns_and_results_stand_in_the_order_of_their_calls(steps in steps()) {
        let messages = tell(&steps).model().messages;
        for upstream in ["", "anthropic", "openai", "google", "bedrock"] {
            let body: Json = serde_json::from_str(&ai_sdk(&messages, &Options::for_upstream(upstream)).to_json()).unwrap();
            let sent = body["messages"].as_array().expect("a list of messages");
            for pair in sent.windows(2) {
                prop_assert_ne!(&pair[0]["role"], "system");
                prop_assert!(pair[0]["role"] != "user" || pair[1]["role"] != "user", "{pair:?}");
                if pair[1]["role"] == "tool" {
                    prop_assert_eq!(ids(&pair[0], "tool-call"), ids(&pair[1], "tool-result"));
                }
            }
        }
    }

    /// Whatever a user or the model said and the view shows is in the body.
    #[test]
    fn nobodys_words_are_lost_on_the_way_into_a_body(steps in steps()) {
        let messages = tell(&steps).model().messages;
        let body = ai_sdk(&messages, &Options::default());
        let mut texts = Vec::new();
        collect_texts(&serde_json::from_str(&body.to_json()).unwrap(), &mut texts);
        for part in messages.iter().flat_map(|message| &message.content) {
            if let Some(text) = part.as_text().map(cleaned).filter(|text| !is_blank(text)) {
                prop_assert!(texts.iter().any(|sent| sent.contains(&text)), "{text:?} is not in {body:?}");
            }
        }
    }

    /// Appending at the end changes no earlier message of the view, but by what is meant to change it.
    #[test]
    fn the_models_view_begins_with_the_shorter_sessions_view(steps in steps()) {
        let steps = once_each(steps);
        let mut options = projection::Options::default();
        options.tool_result_soft_limit_chars = Some(3);
        let mut before = Vec::new();
        let mut chain_before = Vec::new();
        for len in 0..=steps.len() {
            let story = tell(&steps[..len]);
            let after = story.model_with(&options).messages;
            let chain: Vec<Uuid> = story.state().chain().iter().map(|entry| entry.event.id).collect();
            // Else the step went over to another branch.
            let grows = chain.starts_with(&chain_before);
            let may_change = match len.checked_sub(1).map(|last| &steps[last]) {
                Some(Step::Say(message, _)) => reaches_back(message) || !grows,
                Some(Step::Beside(_)) | None => false,
                Some(_) => true,
            };
            if !may_change {
                prop_assert_eq!(&after[..before.len().min(after.len())], &before[..]);
            }
            before = after;
            chain_before = chain;
        }
    }

    /// Every living message of the current chain is shown to a person, and nothing is shown twice.
    #[test]
    fn the_transcript_shows_the_whole_chain_once(steps in steps()) {
        let story = tell(&once_each(steps));
        let shown = story.transcript();
        let ids: Vec<Uuid> = shown.messages.iter().flat_map(|message| message.source_message_ids.clone()).collect();
        let distinct: HashSet<&Uuid> = ids.iter().collect();
        prop_assert_eq!(distinct.len(), ids.len());
        let hidden: HashSet<Uuid> = shown.diagnostics.items.iter().flat_map(|item| item.ids.clone()).collect();
        for entry in story.state().history() {
            let id = &entry.event.id;
            prop_assert!(distinct.contains(id) || hidden.contains(id), "{:?} is missing", entry.event.original_id);
        }
    }
}
