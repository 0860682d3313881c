//! What counts as one, and what a cut keeps.

use std::sync::Arc;

use seslog::context::steps::truncate::{Truncate, TruncateConfig, Truncated};
use seslog::context::tokens::{Cost, TokenCounter, message_costs};
use seslog::context::{code, groups};
use seslog::event::{AgentCouncil, Kind, Message, Role};
use seslog::projection::ProjectedMessage;

use crate::common::story::{Story, id};
use crate::support::{names, run, told};

/// The groups, a bar between two; what is in none is not shown.
fn shown(messages: &[ProjectedMessage]) -> String {
    let names_of = |group| names(&messages[group]).join(" ");
    groups(messages).into_iter().map(names_of).collect::<Vec<_>>().join(" | ")
}

#[test]
fn what_belongs_together_is_one_group() {
    let cases = [
        ("messages by themselves", "u1 a1 u2 a2", "u1 | a1 | u2 | a2"),
        ("a call with its results", "u1 a1(c1,c2) r1(c1) r2(c2) u2", "u1 | a1 r1 r2 | u2"),
        ("a turn up to its answer", "u1 a1(c1) r1(c1) a2(c2) r2(c2) a3 u2", "u1 | a1 r1 a2 r2 a3 | u2"),
        ("an answer behind the turn's answer is another", "a1(c1) r1(c1) a2 a3", "a1 r1 a2 | a3"),
        ("another agent's answer is another", "a1(c1)@ann r1(c1) a2@bob", "a1 r1 | a2"),
        ("the same agent's is not", "a1(c1)@ann r1(c1)@run a2@ann", "a1 r1 a2"),
        ("a call without a result, and what follows", "a1(c1) a2", "a1 | a2"),
        ("attachments go with what they hang on", "u1 x1 a1(c1) x2 r1(c1) x3 a2", "u1 x1 | a1 r1 x2 x3 a2"),
        ("a person's word ends a turn", "a1(c1) r1(c1) u1 a2", "a1 r1 | u1 | a2"),
        ("system notes are in none", "s1 u1 s2 a1", "u1 | a1"),
        ("an id that is used again", "a1(c) r1(c) u1 a2(c) r2(c)", "a1 r1 | u1 | a2 r2"),
        ("one task below a result", "a1(c1) r1(c1) t1 a2", "a1 r1 | t1 | a2"),
        ("several tasks are one", "a1(c1) r1(c1) t1 t2 t3 a2 u1", "a1 r1 | t1 t2 t3 | a2 | u1"),
        ("tasks of another time are not", "t1 u1 t2", "t1 | u1 | t2"),
        ("answers side by side", "u1 a1#compare a2#compare u2", "u1 | a1 a2 | u2"),
        (
            "answers side by side with their calls",
            "u1 a1(c1)#compare r1(c1) a2 a3(c2)#compare r2(c2) a4 u2",
            "u1 | a1 r1 a2 a3 r2 a4 | u2",
        ),
        ("blocks of one answer", "u1 a1~m a2~m a3(c1)~m r1(c1) u2", "u1 | a1 a2 a3 r1 | u2"),
        ("blocks of an answer behind a result", "a1(c1) r1(c1) a2~m a3(c2)~m r2(c2)", "a1 r1 a2 a3 r2"),
        ("a text behind a call of one answer", "a1(c1)~m a2~m r1(c1) a3", "a1 r1 a2 | a3"),
        ("blocks of two answers", "a1~m a2~n", "a1 | a2"),
        ("answers to several questions", "u1 a1#compare u2 a2#compare", "u1 | a1 | u2 | a2"),
    ];
    for (case, words, expected) in cases {
        assert_eq!(shown(&told(words).model().messages), expected, "{case}: {words}");
    }
}

#[test]
fn a_council_is_one_and_ends_the_turn_before_it() {
    let council = Message::new(Role::Assistant, Kind::AgentCouncil(AgentCouncil::default()), Vec::new());
    let view = told("u1 a1(c1) r1(c1)").say("council", council).assistant("a2").model();
    assert_eq!(shown(&view.messages), "u1 | a1 r1 | council | a2");
}

#[test]
fn a_summary_stands_for_all_before_it_and_is_never_left_out() {
    let view = told("u1 a1 u2 a2").compact("boundary", "summary", &["u2"]).user("u3").assistant("a3").model();
    assert_eq!(shown(&view.messages), "u2 | u3 | a3");
    let prompt = run(&view.messages, vec![Box::new(keep(1))]);
    // The last word of a person stays beside the last group.
    assert_eq!(names(&prompt.messages), ["summary", "u3", "a3"]);
}

#[test]
fn a_result_far_from_its_call_holds_what_stands_between_in_one_group() {
    let mut messages = told("u1 a1(c1,c2) r1(c1) r2(c2) u2 a2").model().messages;
    let late = messages.remove(3);
    messages.insert(4, late);
    assert_eq!(names(&messages), ["u1", "a1", "r1", "u2", "r2", "a2"]);
    assert_eq!(shown(&messages), "u1 | a1 r1 u2 r2 a2");
    // A second result of a call is nobody's: it does not join what its id was once used for.
    messages.push(messages[2].clone());
    assert_eq!(shown(&messages), "u1 | a1 r1 u2 r2 a2 | r1");
}

fn keep(groups: usize) -> Truncate {
    Truncate::new(TruncateConfig { keep_last_groups: Some(groups), token_budget: None })
}

#[test]
fn the_last_groups_are_kept_whole_and_one_diagnostic_names_the_rest() {
    let story = "s1 u1 a1 u2 a2(g1,g2) r1(g1) r2(g2) u3 a3 u4";
    let cases: [(usize, &[&str], &[&str]); 6] = [
        (5, &["s1", "u2", "a2", "r1", "r2", "u3", "a3", "u4"], &["u1", "a1"]),
        (4, &["s1", "a2", "r1", "r2", "u3", "a3", "u4"], &["u1", "a1", "u2"]),
        (3, &["s1", "u3", "a3", "u4"], &["u1", "a1", "u2", "a2", "r1", "r2"]),
        (1, &["s1", "u4"], &["u1", "a1", "u2", "a2", "r1", "r2", "u3", "a3"]),
        (0, &["s1", "u4"], &["u1", "a1", "u2", "a2", "r1", "r2", "u3", "a3"]),
        (7, &["s1", "u1", "a1", "u2", "a2", "r1", "r2", "u3", "a3", "u4"], &[]),
    ];
    for (most, kept, left_out) in cases {
        let prompt = run(&told(story).model().messages, vec![Box::new(keep(most))]);
        assert_eq!(names(&prompt.messages), kept, "the last {most}");
        let said: Vec<_> = prompt.diagnostics.iter().filter(|said| said.code == code::TRUNCATED).collect();
        assert_eq!(said.len(), usize::from(!left_out.is_empty()), "the last {most}");
        let ids = said.iter().flat_map(|said| said.ids.iter().copied()).collect::<Vec<_>>();
        assert_eq!(ids, left_out.iter().map(|name| id(name)).collect::<Vec<_>>(), "the last {most}");
        let count = prompt.metadata.get::<Truncated>().map_or(0, |truncated| truncated.messages_left_out);
        assert_eq!(count, left_out.len(), "the last {most}");
    }
}

#[test]
fn a_cut_of_nothing_is_nothing() {
    assert!(groups(&[]).is_empty());
    assert!(run(&[], vec![Box::new(keep(3))]).messages.is_empty());
    let prompt =
        run(&Story::new().user("u1").model().messages, vec![Box::new(Truncate::new(TruncateConfig::default()))]);
    assert_eq!(names(&prompt.messages), ["u1"]);
    assert!(prompt.diagnostics.is_empty());
}

/// Counts bytes.
#[derive(Debug)]
struct Bytes;

impl TokenCounter for Bytes {
    fn count(&self, text: &str) -> u64 {
        text.len() as u64
    }

    fn name(&self) -> &str {
        "bytes"
    }
}

#[test]
fn the_newest_groups_that_fit_a_budget_are_kept_and_the_last_one_always() {
    let messages = told("s1 u1 a1 u2 a2 u3").model().messages;
    let cost = |messages: &[ProjectedMessage]| -> u64 { message_costs(messages, &Bytes).iter().map(Cost::total).sum() };
    let (head, all) = (cost(&messages[..1]), cost(&messages));
    let of_last = |count: usize| head + cost(&messages[messages.len() - count..]);
    let cases: [(&str, u64, Option<usize>, &[&str]); 7] = [
        ("all", all, None, &["s1", "u1", "a1", "u2", "a2", "u3"]),
        ("one less", all - 1, None, &["s1", "a1", "u2", "a2", "u3"]),
        ("three", of_last(3), None, &["s1", "u2", "a2", "u3"]),
        ("three, of which two may stay", of_last(3), Some(2), &["s1", "a2", "u3"]),
        ("two, where three may stay", of_last(2), Some(3), &["s1", "a2", "u3"]),
        ("one", of_last(1), None, &["s1", "u3"]),
        ("less than one", of_last(1) - 1, None, &["s1", "u3"]),
    ];
    for (case, budget, keep_last_groups, kept) in cases {
        let config = TruncateConfig { keep_last_groups, token_budget: Some(budget) };
        let prompt = run(&messages, vec![Box::new(Truncate::counted_by(config, Arc::new(Bytes)))]);
        assert_eq!(names(&prompt.messages), kept, "{case}");
        let over: Vec<_> = prompt.diagnostics.iter().filter(|said| said.code == code::OVER_BUDGET).collect();
        assert_eq!(over.len(), usize::from(budget < of_last(1)), "{case}");
        assert!(over.iter().all(|said| said.ids == [id("u3")]), "{case}");
        if let Some(truncated) = prompt.metadata.get::<Truncated>() {
            assert_eq!(truncated.tokens_kept, Some(cost(&prompt.messages)), "{case}");
        }
    }
    // A group that does not fit is not cut, and what stands before it is not kept in its place.
    let messages = told("u1 a1(c1) r1(c1) a2 u2").model().messages;
    let config = TruncateConfig { keep_last_groups: None, token_budget: Some(cost(&messages[2..])) };
    let prompt = run(&messages, vec![Box::new(Truncate::counted_by(config, Arc::new(Bytes)))]);
    assert_eq!(names(&prompt.messages), ["u2"]);
}
