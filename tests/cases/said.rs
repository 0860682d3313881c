//! What was said: reports and diagnostics, compared by sense.

use serde_json::Value as Json;
use seslog::event::Uuid;
use seslog::projection::Diagnostic;
use seslog::session::{OpenCall, ResumeReport};
use seslog::wire::Provider;

use super::case::strings;
use super::expect::{Found, compare};
use super::look::Look;
use super::not_yet::is_left_out;

/// Checks what an open is to report.
pub fn report(report: &ResumeReport, expected: &Json, found: &mut Found) {
    let calls = |calls: &[OpenCall]| Json::from(calls.iter().map(|call| call.call_id.clone()).collect::<Vec<_>>());
    for (key, expected) in expected.as_object().unwrap() {
        let actual = match key.as_str() {
            "dangling_calls" => calls(&report.dangling_calls),
            "incomplete_calls" => calls(&report.incomplete_calls),
            "last_turn_interrupted" => report.last_turn_interrupted.into(),
            "cut_events" => report.cut_events.into(),
            "cut_bytes" => report.cut_bytes.into(),
            "zero_bytes" => report.zero_bytes.into(),
            "damaged_ranges" => report.damage.len().into(),
            _ => {
                found.unknown(&format!("report.{key}"));
                continue;
            }
        };
        compare(&format!("report.{key}"), &actual, expected);
    }
}

/// Checks that at least these things were said, by whoever says them: the open, the import, a view or a body.
pub fn diagnostics(look: &Look, expected: &[Json], found: &mut Found) {
    let mut said = look.said_at_import.clone();
    if let Some(report) = &look.report {
        said.extend(report.missing_parents.iter().map(|missing| {
            let ids = [Some(missing.event), missing.hung_on].into_iter().flatten();
            Diagnostic::new("missing_parent", ids, format!("it named {}", missing.named))
        }));
    }
    said.extend(look.model().diagnostics.items);
    said.extend(look.transcript().diagnostics.items);
    said.extend(look.prompt().diagnostics);
    for provider in [None, Some("anthropic")] {
        said.extend(look.body(provider).diagnostics);
    }
    for provider in Provider::ALL {
        said.extend(look.body_of(provider).diagnostics);
    }
    for wanted in expected {
        let code = wanted["code"].as_str().unwrap();
        if is_left_out(&format!("diagnostics.{code}")) {
            found.leave_out(&format!("diagnostics.{code}"));
            continue;
        }
        let is_it = |item: &&Diagnostic| {
            let about = |word: &Json| item.ids.iter().any(|&id| look.names.word(id) == word.as_str().unwrap());
            item.code == code
                && wanted.get("event").is_none_or(about)
                && wanted.get("hung_on").is_none_or(about)
                && wanted.get("call").is_none_or(|call| item.call.as_deref() == call.as_str())
                && wanted.get("ids").is_none_or(|ids| words(look, &item.ids) == strings(ids))
        };
        for key in wanted.as_object().unwrap().keys() {
            let known = ["code", "event", "hung_on", "call", "ids"];
            assert!(known.contains(&key.as_str()), "the harness does not know diagnostics.{key}");
        }
        assert!(said.iter().any(|item| is_it(&item)), "nobody said {wanted}; said was {said:#?}");
    }
}

fn words(look: &Look, ids: &[Uuid]) -> Vec<String> {
    ids.iter().map(|&id| look.names.word(id)).collect()
}
