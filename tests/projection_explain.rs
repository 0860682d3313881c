//! Why an event is in a view or not, and what its messages were made from.

mod common;

use common::story::{Story, calling, id};
use proptest::prelude::*;
use seslog::event::*;
use seslog::projection::{Explanation, InView, Options, Origin, View, code, explain, project};

fn explained(story: &Story, name: &str) -> Explanation {
    explain(&story.state(), id(name), &Options::default()).unwrap()
}

fn in_view(explanation: &Explanation, view: View) -> InView {
    explanation.views.iter().find(|in_view| in_view.view == view).unwrap().clone()
}

fn codes(in_view: &InView) -> Vec<&'static str> {
    in_view.reasons.iter().map(|reason| reason.code).collect()
}

fn has(in_view: &InView, name: &str, what: Origin) -> bool {
    in_view.from.iter().any(|from| from.id == id(name) && from.what == what)
}

#[test]
fn every_view_is_explained_once() {
    let explanation = explained(&Story::new().user("u"), "u");
    let views: Vec<View> = explanation.views.iter().map(|in_view| in_view.view).collect();
    assert_eq!(views.len(), View::ALL.len());
    assert!(View::ALL.iter().all(|view| views.contains(view)));
    assert!(explanation.views.iter().all(|in_view| in_view.shown && in_view.reasons.is_empty()));
    assert_eq!((explanation.event_type.as_str(), explanation.kind), ("message", Some("user_input")));
}

#[test]
fn a_message_that_is_in_says_as_which_messages() {
    let parts = vec![Part::text("one"), Part::text("two")];
    let story = Story::new().user("u").say("a", Message::new(Role::Assistant, Kind::AssistantText, parts));
    let explanation = explained(&story, "a");
    let ui = in_view(&explanation, View::Ui);
    let places: Vec<(usize, Uuid)> = ui.messages.iter().map(|message| (message.index, message.id)).collect();
    assert_eq!(places, [(1, derive_id(id("a"), 0)), (2, derive_id(id("a"), 1))]);
    let model = in_view(&explanation, View::Model);
    assert_eq!((model.messages[0].index, model.messages[0].role), (1, "assistant"));
    assert_eq!(in_view(&explanation, View::Debug).messages[0].index, 1);
}

#[test]
fn a_message_that_is_out_says_why_in_each_view() {
    let story = Story::new().user("u").say("e", Message::system_event("turn_duration", "3 s"));
    let explanation = explained(&story, "e");
    assert!(in_view(&explanation, View::Transcript).shown);
    let model = in_view(&explanation, View::Model);
    assert_eq!((model.shown, codes(&model)), (false, vec![code::KIND_LEFT_OUT]));
    assert!(model.messages.is_empty() && !model.reasons[0].reason.is_empty());
}

#[test]
fn the_boundary_that_counts_is_named_for_what_it_left_out_and_what_it_begins() {
    let story = Story::new().user("u1").user("u2").compact("b", "s", &["u2"]).user("u3");
    let old = in_view(&explained(&story, "u1"), View::Model);
    assert_eq!((old.shown, codes(&old)), (false, vec![code::BEFORE_BOUNDARY]));
    assert!(has(&old, "b", Origin::Boundary));
    assert!(has(&in_view(&explained(&story, "u2"), View::Model), "b", Origin::Boundary));
    assert!(!has(&in_view(&explained(&story, "u1"), View::Transcript), "b", Origin::Boundary));
    assert!(has(&in_view(&explained(&story, "s"), View::Model), "b", Origin::Compaction));
}

#[test]
fn what_changed_a_message_is_among_what_it_is_made_from() {
    let amend = Body::Amend(Amend { target: id("r"), patch: vec![("model".into(), "m".into())] });
    let story = Story::new().calls("a", &["c"]).result("r", "c").prune("p", &["r"]).body("n", amend);
    let explanation = explained(&story, "r");
    let model = in_view(&explanation, View::Model);
    assert_eq!((model.shown, codes(&model)), (true, vec![code::RESULT_CLEARED]));
    assert!(has(&model, "r", Origin::Itself) && has(&model, "p", Origin::Prune) && has(&model, "n", Origin::Amend));
    let transcript = in_view(&explanation, View::Transcript);
    assert!(has(&transcript, "n", Origin::Amend) && !has(&transcript, "p", Origin::Prune));
}

#[test]
fn a_message_that_was_taken_back_names_its_tombstone() {
    let explanation = explained(&Story::new().user("u").assistant("a").tombstone("x", &["a"]), "a");
    for view in [View::Transcript, View::Model, View::Ui, View::Export] {
        let in_view = in_view(&explanation, view);
        assert_eq!((in_view.shown, codes(&in_view)), (false, vec![code::TAKEN_BACK]), "{view:?}");
        assert!(has(&in_view, "x", Origin::Tombstone));
    }
    assert!(in_view(&explanation, View::Debug).shown);
}

#[test]
fn calls_results_and_what_goes_with_them_name_each_other() {
    let hook =
        Attachment { attachment: Some("x".into()), tool_use_id: Some("c".into()), hook_event: Some(HookPhase::Pre) };
    let story = Story::new()
        .calls("a", &["c"])
        .say("ask", Message::approval_request("c", None))
        .body("t", Body::ToolStarted(ToolStarted { call_id: "c".into(), idempotency_key: None }))
        .say("hook", Message::attachment(hook, vec![Part::text("x")]))
        .result("r", "c");
    let result = explained(&story, "r").related;
    let is_there = |name, what| result.iter().any(|from| from.id == id(name) && from.what == what);
    assert!(is_there("a", Origin::Call) && is_there("ask", Origin::Approval));
    assert!(is_there("t", Origin::Started) && is_there("hook", Origin::Hook));
    let call = explained(&story, "a").related;
    assert!(call.iter().any(|from| from.id == id("r") && from.what == Origin::Result));
    assert!(call.iter().all(|from| from.call.as_deref() == Some("c") && from.id != id("a")));
    // Behind a compaction too.
    let later = explained(&story.compact("b", "s", &[]), "r").related;
    assert!(later.iter().any(|from| from.id == id("a") && from.what == Origin::Call));
}

#[test]
fn a_message_of_another_branch_says_which() {
    let story = Story::new().user("u").assistant("a").head("h", "u").assistant("b");
    let explanation = explained(&story, "a");
    assert_eq!((explanation.placed.on_chain, explanation.placed.branch), (false, Some(id("a"))));
    assert_eq!(codes(&in_view(&explanation, View::Transcript)), [code::NOT_ON_CHAIN]);
    assert_eq!(explanation.placed.hung_on, Some(id("u")));
}

#[test]
fn an_event_that_is_no_message_is_in_the_debug_view_alone() {
    let explanation = explained(&Story::new().user("u").prune("p", &["u"]), "p");
    assert_eq!((explanation.event_type.as_str(), explanation.kind), ("prune", None));
    for in_view in &explanation.views {
        assert_eq!(in_view.shown, in_view.view == View::Debug);
    }
}

#[test]
fn an_id_of_the_ui_view_means_the_message_that_it_is_a_part_of() {
    let parts = vec![Part::text("one"), Part::text("two")];
    let story = Story::new().say("a", Message::new(Role::Assistant, Kind::AssistantText, parts));
    let explanation = explain(&story.state(), derive_id(id("a"), 1), &Options::default()).unwrap();
    assert_eq!(explanation.id, id("a"));
}

#[test]
fn an_unknown_id_is_an_error_that_names_it() {
    let error = explain(&Story::new().user("u").state(), id("nobody"), &Options::default()).unwrap_err();
    assert!(error.to_string().contains(&id("nobody").to_string()));
}

#[test]
fn the_json_has_the_documented_names() {
    let explanation = explained(&Story::new().user("u"), "u");
    let json = serde_json::to_value(&explanation).unwrap();
    for name in ["id", "originalId", "type", "kind", "placed", "related", "views"] {
        assert!(json.get(name).is_some(), "{name}");
    }
    assert_eq!(json["views"][0]["messages"][0]["semanticType"], "user_input");
    assert_eq!(json["views"][0]["from"][0]["what"], "itself");
    assert_eq!(json["placed"]["onChain"], true);
}

proptest! {
    #[test]
    fn an_explanation_agrees_with_the_views_and_every_absence_has_a_reason(
        steps in prop::collection::vec((0..9u8, 0..6usize), 1..14)
    ) {
        let mut story = Story::new().user("m0");
        for (index, (step, target)) in steps.iter().enumerate() {
            let name = format!("m{}", index + 1);
            let target = format!("m{}", target % (index + 1));
            story = match step {
                0 => story.user(&name),
                1 => story.say(&name, calling(&["c"])),
                2 => story.result(&name, "c"),
                3 => story.say(&name, Message::reminder("mind")),
                4 => story.say(&name, Message::system_event("x", "y")),
                5 => story.tombstone(&name, &[target.as_str()]),
                6 => story.prune(&name, &[target.as_str()]),
                7 => story.head(&name, &target),
                _ => story.compact(&name, &format!("s{index}"), &[target.as_str()]),
            };
        }
        let state = story.state();
        for told in &story.events {
            let explanation = explain(&state, told.id, &Options::default()).unwrap();
            for in_view in &explanation.views {
                let view = project(&state, in_view.view, &Options::default());
                let places: Vec<usize> = (0..view.messages.len())
                    .filter(|&place| view.messages[place].source_message_ids.contains(&told.id))
                    .collect();
                let said: Vec<usize> = in_view.messages.iter().map(|message| message.index).collect();
                prop_assert_eq!(&said, &places);
                prop_assert_eq!(in_view.shown, !places.is_empty());
                prop_assert!(in_view.shown || !in_view.reasons.is_empty());
                for message in &in_view.messages {
                    prop_assert_eq!(&message.metadata, &view.messages[message.index].metadata);
                }
            }
        }
    }
}

#[test]
fn what_an_event_is_aimed_at_is_named() {
    let story = Story::new().user("u1").user("u2");
    let aimed = |name: &str, body: Body| {
        let explanation = explained(&story.clone().body(name, body), name);
        assert!(explanation.views.iter().all(|view| view.from.iter().all(|from| from.what != Origin::Target)));
        explanation.related.into_iter().map(|related| (related.id, related.what)).collect::<Vec<_>>()
    };
    let targets = vec![id("u1"), id("u2")];
    let both = vec![(id("u1"), Origin::Target), (id("u2"), Origin::Target)];
    assert_eq!(aimed("t", Body::Tombstone(Tombstone { targets: targets.clone(), reason: None })), both);
    assert_eq!(aimed("p", Body::Prune(Prune { targets })), both);
    let amend = Amend { target: id("u1"), patch: vec![("content".into(), Value::Text("new".into()))] };
    assert_eq!(aimed("a", Body::Amend(amend)), both[..1]);
    assert_eq!(aimed("h", Body::Head(Head { leaf: Some(id("u1")) })), both[..1]);
}
