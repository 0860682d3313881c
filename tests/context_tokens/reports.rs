//! What providers reported: summed up for a session, and taken for a window as long as it speaks of it.

use std::sync::Arc;

use seslog::context::tokens::{
    CountTokens, Counted, Limits, Reported, Source, message_costs, prompt_tokens, usage_total, window_of_usage,
    window_tokens,
};
use seslog::context::{Config, Pipeline};
use seslog::event::{Fields, Kind, Message, Part, Role, Usage, Uuid, Value};
use seslog::log::Durability;
use seslog::session::{Compaction, Session};

use crate::history::write;
use crate::place::{Place, append, append_under, calls, chain, result, user};
use crate::random::Random;
use crate::{Chars, view};

fn usage(input: u64, output: u64) -> Usage {
    Usage { input, output, ..Usage::default() }
}

fn answer(text: &str, request: &str, usage: Usage) -> Message {
    let mut message = Message::assistant(text);
    message.request_id = Some(request.to_owned());
    message.usage = Some(usage);
    message
}

/// The raw total of the window, and where it comes from.
fn window(session: &Session) -> (u64, Source) {
    let reported = session.with_state(Reported::latest).unwrap();
    let account = window_tokens(&view(session), &[], reported.as_ref(), &Chars);
    (account.raw(), account.source)
}

#[test]
fn a_usage_says_what_its_window_was_as_its_provider_means_it() {
    let full = |input, output, read, write, total| Usage {
        cache_read: Some(read),
        cache_write: Some(write),
        total,
        ..usage(input, output)
    };
    let cases = [
        ("input and output", usage(100, 20), None, Some(120)),
        ("cached beside the input", full(100, 20, 1000, 300, None), Some("anthropic"), Some(1420)),
        ("the same, of a provider not known", full(100, 20, 1000, 300, None), None, Some(1420)),
        ("cached within the input", full(1400, 20, 1000, 0, None), Some("openai"), Some(1420)),
        ("within, at another one", full(1400, 20, 1000, 0, None), Some("gemini"), Some(1420)),
        ("more cached than the input could hold", full(100, 20, 1000, 0, None), Some("openai"), Some(1120)),
        ("within, at one that is not known here", full(1400, 20, 1000, 0, None), Some("openrouter"), Some(1420)),
        ("beside, whatever the input", full(1400, 20, 1000, 0, None), Some("amazon-bedrock"), Some(2420)),
        ("nobody says whose it is", full(1400, 20, 1000, 0, None), None, Some(2420)),
        ("a total that covers both", full(100, 20, 1000, 0, Some(1130)), Some("openai"), Some(1130)),
        ("a total that does not", full(100, 20, 1000, 0, Some(7)), Some("anthropic"), Some(1120)),
        ("all of it cached", full(0, 20, 1000, 0, None), Some("anthropic"), Some(1020)),
        ("only the output", usage(0, 20), None, None),
        ("nothing", usage(0, 0), None, None),
        ("far too much", full(u64::MAX, u64::MAX, u64::MAX, 1, None), None, Some(u64::MAX)),
    ];
    for (what, usage, provider, expected) in cases {
        assert_eq!(window_of_usage(&usage, provider), expected, "{what}");
    }
}

#[test]
fn a_session_is_charged_for_each_request_once_on_every_branch() {
    let place = Place::new();
    let session = place.create();
    let question = user(&session, "a");
    append(&session, answer("x", "q1", usage(1000, 5)));
    append(&session, answer("y", "q1", usage(1000, 50)));
    let mut by_message_id = answer("z", "", Usage { cache_read: Some(7), reasoning: Some(3), ..usage(10, 1) });
    by_message_id.message_id = Some("m1".into());
    append(&session, by_message_id.clone());
    append(&session, by_message_id);
    let mut alone = answer("w", "", usage(100, 10));
    alone.request_id = None;
    append(&session, alone.clone());
    append(&session, alone);
    append_under(&session, question, answer("other branch", "q2", usage(1, 1)));
    let _ = session.compact(Compaction::new("s"), Durability::Os).unwrap();
    let total = usage_total(&session.whole_state().unwrap());
    let expected = Usage { cache_read: Some(7), reasoning: Some(3), ..usage(1000 + 10 + 200 + 1, 50 + 1 + 20 + 1) };
    assert_eq!(total, expected);
}

#[test]
fn the_latest_report_speaks_for_all_up_to_its_answer_and_the_rest_is_counted() {
    let place = Place::new();
    let session = place.create();
    user(&session, "12345");
    assert_eq!(window(&session), (5, Source::Estimate));
    append(&session, answer("x", "q1", usage(1000, 50)));
    assert_eq!(window(&session), (1050, Source::Reported));
    user(&session, "123");
    assert_eq!(window(&session), (1053, Source::Mixed));
    append(&session, Message::assistant("12"));
    assert_eq!(window(&session), (1055, Source::Mixed));
    append(&session, answer("y", "q2", usage(1100, 30)));
    assert_eq!(window(&session), (1130, Source::Reported));
    // One that says nothing of the input leaves the one before it.
    append(&session, answer("failed", "q3", usage(0, 0)));
    assert_eq!(window(&session), (1136, Source::Mixed));
}

#[test]
fn results_between_the_messages_of_one_answer_and_late_ones_are_counted() {
    let place = Place::new();
    let session = place.create();
    let ask = |id: &str| {
        let mut message = Message::assistant_calls(vec![Part::tool_call(id, "t", Value::Map(Vec::new()))]);
        message.request_id = Some("q1".into());
        message.usage = Some(usage(1000, 50));
        message
    };
    user(&session, "go");
    append(&session, ask("a"));
    result(&session, "a", "12345");
    append(&session, ask("b"));
    assert_eq!(window(&session), (1050 + 5 + 1, Source::Mixed));

    // A late result stands behind its call, before the report, and was not there yet when that was made.
    let place = Place::new();
    let session = place.create();
    calls(&session, &["late"]);
    user(&session, "go on");
    append(&session, answer("x", "q2", usage(2000, 10)));
    result(&session, "late", "123");
    assert_eq!(window(&session), (2010 + 3 + 4, Source::Mixed));
}

#[test]
fn a_report_does_not_hold_across_a_boundary_and_counts_as_the_answers_own_output_only() {
    let place = Place::new();
    let session = place.create();
    user(&session, "a");
    let last = append(&session, answer("y", "q2", usage(90_000, 60)));
    let _ = session.compact(Compaction::new("short").keep(vec![last]), Durability::Os).unwrap();
    let (tokens, source) = window(&session);
    assert!(tokens < 400, "{tokens}");
    assert_eq!(source, Source::Estimate);
    // An answer of the same request behind the boundary still speaks of the window before it.
    append(&session, answer("z", "q2", usage(90_000, 60)));
    assert_eq!(window(&session).1, Source::Estimate);
    append(&session, answer("z", "q3", usage(400, 10)));
    assert_eq!(window(&session), (410, Source::Reported));
    // Going back to before the compaction, the old report holds again.
    let _ = session.rewind(Some(last), Durability::Os).unwrap();
    assert_eq!(window(&session), (90_060, Source::Reported));
}

#[test]
fn a_report_does_not_hold_if_something_before_it_changed_since() {
    type Change = fn(&Session, Uuid);
    let changes: [(&str, Change); 3] = [
        ("prune", |session, id| drop(session.prune(&[id], Durability::Os).unwrap())),
        ("tombstone", |session, id| drop(session.tombstone(&[id], None, Durability::Os).unwrap())),
        ("amend", |session, id| {
            let patch: Fields = vec![("provider".to_owned(), Value::Text("p".into()))];
            drop(session.amend(id, patch, Durability::Os).unwrap());
        }),
    ];
    for (what, change) in changes {
        let place = Place::new();
        let session = place.create();
        calls(&session, &["a"]);
        let early = result(&session, "a", "1234");
        append(&session, answer("x", "q1", usage(1000, 50)));
        let late = user(&session, "12");
        change(&session, late);
        assert!(matches!(window(&session).1, Source::Mixed | Source::Reported), "{what} behind it");
        change(&session, early);
        assert_eq!(window(&session).1, Source::Estimate, "{what}");
        // The next answer has seen the change.
        append(&session, answer("x", "q2", usage(900, 50)));
        assert_eq!(window(&session), (950, Source::Reported), "{what}");
    }
}

#[test]
fn the_usage_of_a_sub_agent_or_of_a_summary_speaks_of_no_window() {
    let place = Place::new();
    let session = place.create();
    user(&session, "1");
    let mut side = answer("sub", "q1", usage(5000, 50));
    side.metadata.sidechain = true;
    append(&session, side);
    assert_eq!(window(&session).1, Source::Estimate);
    let mut summary = Message::new(Role::Assistant, Kind::CompactSummary(Default::default()), vec![Part::text("s")]);
    (summary.usage, summary.request_id) = (Some(usage(90_000, 10)), Some("q2".into()));
    let _ = session.compact(Compaction::with_message(summary), Durability::Os).unwrap();
    assert_eq!(window(&session).1, Source::Estimate);
}

#[test]
fn a_truncated_prompt_is_counted() {
    let place = Place::new();
    let session = place.create();
    for text in ["12", "345", "6789"] {
        user(&session, text);
    }
    append(&session, answer("x", "q1", usage(1000, 50)));
    let account = |json: &str| {
        let config: Config = serde_json::from_str(json).unwrap();
        let prompt = Pipeline::standard(&config).run(&view(&session)).unwrap();
        session.with_state(|state| prompt_tokens(state, &prompt, &Chars)).unwrap()
    };
    let whole = account(r#"{"systemRole": "12345"}"#);
    assert_eq!((whole.raw(), whole.source), (1050, Source::Reported));
    let cut = account(r#"{"truncate": {"keepLastGroups": 2}, "systemRole": "12345"}"#);
    assert_eq!((cut.raw(), cut.source), (5 + 4 + 50, Source::Estimate));
}

#[test]
fn a_prompt_without_the_calls_of_a_tool_that_is_off_is_counted() {
    let place = Place::new();
    let session = place.create();
    user(&session, "go");
    calls(&session, &["a"]);
    result(&session, "a", "1234");
    append(&session, answer("x", "q1", usage(1000, 50)));
    for (json, expected) in [("{}", Source::Reported), (r#"{"disabledTools": ["tool"]}"#, Source::Estimate)] {
        let config: Config = serde_json::from_str(json).unwrap();
        let prompt = Pipeline::standard(&config).run(&view(&session)).unwrap();
        let account = session.with_state(|state| prompt_tokens(state, &prompt, &Chars)).unwrap();
        assert_eq!(account.source, expected, "{json}");
    }
}

#[test]
fn a_step_at_the_end_of_a_pipeline_says_what_the_prompt_costs_and_changes_nothing() {
    let place = Place::new();
    let session = place.create();
    user(&session, "12345");
    append(&session, answer("x", "q1", usage(900, 50)));
    user(&session, "123");
    let run = |step: CountTokens| {
        let mut pipeline = Pipeline::new();
        pipeline.push(step.with_counter(Arc::new(Chars)));
        let prompt = pipeline.run(&view(&session)).unwrap();
        assert_eq!(prompt.messages, view(&session));
        prompt
            .metadata
            .get::<Counted>()
            .map(|counted| (counted.account.source, counted.verdict.raw, counted.verdict.needed))
    };
    let limits = Some(Limits::new(1900, 0.5, 1.0).unwrap());
    let reported = session.with_state(Reported::latest).unwrap();
    assert_eq!(run(CountTokens::new(limits).with_report(reported)), Some((Source::Mixed, 953, true)));
    assert_eq!(run(CountTokens::new(limits)), Some((Source::Estimate, 5 + 50 + 3, false)));
    assert_eq!(run(CountTokens::new(None)), None);
}

#[test]
fn a_report_is_the_same_live_after_a_resume_and_from_the_first_event() {
    let mut reported_count = 0;
    for seed in 0..150_u64 {
        let place = Place::new();
        let session = place.create();
        write(&session, &mut Random::new(seed), 60);
        let live = session.with_state(Reported::latest).unwrap();
        assert_eq!(Reported::latest(&session.whole_state().unwrap()), live, "seed {seed}: whole");
        session.close().unwrap();
        assert_eq!(place.open().with_state(Reported::latest).unwrap(), live, "seed {seed}: resumed");
        reported_count += usize::from(live.is_some());
    }
    assert!(reported_count > 50, "only {reported_count} reports");
}

#[test]
fn a_window_with_a_report_never_counts_what_the_report_covers() {
    let mut compared = 0;
    for seed in 0..60_u64 {
        let place = Place::new();
        let session = place.create();
        write(&session, &mut Random::new(seed), 60);
        let Some(reported) = session.with_state(Reported::latest).unwrap() else { continue };
        let shown = view(&session);
        let with = window_tokens(&shown, &[], Some(&reported), &Chars);
        if with.source == Source::Estimate {
            continue;
        }
        // The file says what was there when the request was made: all that lies before its first message on the chain.
        let state = session.whole_state().unwrap();
        let on_chain = chain(&session);
        let request_of = |id: Uuid| {
            let entry = state.entries().iter().find(|entry| entry.event.id == id);
            entry.and_then(|entry| entry.event.message()).and_then(|message| message.request_id.clone())
        };
        let request = request_of(reported.message);
        assert!(request.is_some(), "seed {seed}");
        let ids: Vec<Uuid> = state.entries().iter().map(|entry| entry.event.id).collect();
        let made_at = ids.iter().position(|id| on_chain.contains(id) && request_of(*id) == request).unwrap();
        let is_new = |id: &Uuid| !ids[..made_at].contains(id) && request_of(*id) != request;
        let new = shown.iter().filter(|message| message.source_message_ids.iter().any(is_new));
        let costs = message_costs(&new.cloned().collect::<Vec<_>>(), &Chars);
        let answer = state.entries().iter().find(|entry| entry.event.id == reported.message).unwrap();
        let usage = answer.event.message().unwrap().usage.clone().unwrap();
        let expected = costs.iter().map(|cost| cost.total()).sum::<u64>() + usage.input + usage.output;
        assert_eq!(with.raw(), expected, "seed {seed}");
        compared += 1;
    }
    assert!(compared > 10, "only {compared} windows");
}
