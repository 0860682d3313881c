//! What an opened session shows of a file.

use seslog::event::{Body, Kind, Part, PartBody, StopReason, Value};
use seslog::interop::pi::{Options, read};
use seslog::session::SessionOptions;

use super::made::{Made, random_file};
use super::support::{assert_context, import, model_view, name, read_text, said, samples};

/// Imports and holds the context; gives what the model reads.
fn check(name: &str, made: &Made) -> Vec<(String, String)> {
    let dir = tempfile::tempdir().unwrap();
    let imported = read_text(&made.text);
    let session = import(name, &imported, dir.path());
    assert_context(name, &session, &imported.report);
    said(&session)
}

fn ids(view: &[(String, String)]) -> Vec<&str> {
    view.iter().map(|(id, _)| id.as_str()).collect()
}

#[test]
fn every_samples_context_is_the_models_view_at_each_line() {
    for (sample, bytes) in samples() {
        for strict_parents in [false, true] {
            let ends = (0..bytes.len()).filter(|&at| bytes[at] == b'\n').chain([bytes.len()]);
            for end in ends {
                let options = Options { strict_parents, ..Options::default() };
                let imported = read(&bytes[..end], &options).unwrap();
                let dir = tempfile::tempdir().unwrap();
                let name = format!("{sample} up to {end}, strict {strict_parents}");
                let session = import(&name, &imported, dir.path());
                assert_context(&name, &session, &imported.report);
            }
        }
    }
}

#[test]
fn the_context_of_random_trees_is_the_models_view_of_their_sessions() {
    for seed in 0..150 {
        check(&format!("seed {seed}"), &random_file(seed));
    }
}

#[test]
fn all_types_keep_what_they_say() {
    let (_, bytes) = samples().into_iter().find(|(name, _)| name.contains("all-types")).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let session = import("all types", &read(bytes.as_slice(), &Options::default()).unwrap(), dir.path());
    let state = session.whole_state().unwrap();
    let entry = |id: &str| {
        let mut of_it = state.entries().iter().filter(|entry| entry.event.original_id.as_deref() == Some(id));
        of_it.next().unwrap_or_else(|| panic!("no {id}")).event.clone()
    };
    let answer = entry("b0000004");
    let message = answer.message().unwrap();
    let PartBody::Reasoning(reasoning) = &message.content[0].body else { panic!("{message:?}") };
    assert_eq!((reasoning.redacted.as_deref(), reasoning.signature.as_deref()), (Some("opaque"), None));
    let call = message.calls().next().unwrap();
    assert_eq!((call.id.as_str(), call.thought_signature.as_deref()), ("call_9|fc_0a1b2c", Some("ts1")));
    assert_eq!((message.provider.as_deref(), message.model.as_deref()), (Some("anthropic"), Some("claude-sonnet-4-5")));
    assert_eq!(message.stop_reason, StopReason::Said("toolUse".to_owned()));
    assert_eq!(message.usage.as_ref().and_then(|usage| usage.total), Some(15));
    let result = entry("b0000005");
    assert_eq!(
        result.message().unwrap().results().next().unwrap().raw,
        Some(Value::from([("exitCode", Value::Int(0))]))
    );
    assert!(matches!(&entry("b000000a").message().unwrap().kind, Kind::Custom(custom) if !custom.display));
    assert!(matches!(&entry("b000000d").message().unwrap().kind, Kind::BranchSummary(_)));
    for (id, wanted) in [("b0000007", "pi.label"), ("b0000009", "pi.custom"), ("b0000013", "pi.future_entry")] {
        let Body::Extension(extension) = &entry(id).body else { panic!("{id} is an extension") };
        assert_eq!((extension.name.as_str(), extension.payload.get("id")), (wanted, Some(&Value::from(id))));
    }
    let meta = state.meta();
    assert_eq!((meta.title.as_deref(), meta.cwd.as_deref()), (Some("Weave check"), Some("/home/dev/loom")));
    assert_eq!(meta.model.as_deref(), Some("claude-sonnet-4-5"));
    let more: Vec<(&str, &Value)> = meta.extra.iter().map(|(name, value)| (name.as_str(), value)).collect();
    for (name, wanted) in
        [("version", Value::Int(3)), ("thinkingLevel", "medium".into()), ("provider", "anthropic".into())]
    {
        assert!(more.contains(&(name, &wanted)), "{more:?}");
    }
    // The branch that was left is still there.
    assert_eq!(entry("b000000c").effective_parent(), Some(entry("b000000b").id));
    assert_eq!(entry("b000000b").effective_parent(), Some(entry("b000000a").id));
}

#[test]
fn a_fork_says_which_file_it_comes_from() {
    let (_, bytes) = samples().into_iter().find(|(name, _)| name.contains("fork")).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let imported = read(bytes.as_slice(), &Options::default()).unwrap();
    assert_eq!(imported.parent_session.as_deref(), Some("sessions/older.jsonl"));
    let session = import("fork", &imported, dir.path());
    let state = session.state().unwrap();
    let from = &state.meta().extra;
    assert!(from.contains(&("parentSession".to_owned(), Value::from("sessions/older.jsonl"))), "{from:?}");
}

#[test]
fn the_name_of_a_field_is_no_signature() {
    let (_, bytes) = samples().into_iter().find(|(name, _)| name.contains("2026")).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let session = import("2026", &read(bytes.as_slice(), &Options::default()).unwrap(), dir.path());
    let state = session.state().unwrap();
    let parts: Vec<Part> =
        model_view(&state).iter().flat_map(|message| message.content.clone()).map(|part| (*part).clone()).collect();
    let reasoning: Vec<&Part> = parts.iter().filter(|part| matches!(part.body, PartBody::Reasoning(_))).collect();
    assert_eq!(reasoning.len(), 3);
    for part in reasoning {
        let PartBody::Reasoning(body) = &part.body else { continue };
        assert!(body.signature.is_none() && body.redacted.is_none() && body.text.is_some());
        assert_eq!(part.extra, [("thinkingSignature".to_owned(), Value::from("reasoning_content"))]);
    }
}

#[test]
fn a_call_has_a_result_of_its_own_in_each_branch() {
    let mut made = Made::new();
    made.user("u", "", "Read.").calls("a", "u", &["c1", "c2"]);
    made.result("r1", "a", "c1", "first").result("r2", "r1", "c2", "first").says("s1", "r2", "One.");
    // Another run of both, of the second only, and none at all.
    made.result("q1", "a", "c1", "second").result("q2", "q1", "c2", "second").says("s2", "q2", "Two.");
    let view = check("both", &made);
    assert_eq!(ids(&view)[2..], ["q1", "q2", "s2"]);
    assert!(view[2].1.contains("second") && view[3].1.contains("second"), "{view:?}");
    made.result("p2", "r1", "c2", "third").says("s3", "p2", "Three.");
    let view = check("one", &made);
    assert_eq!(ids(&view)[2..], ["r1", "p2", "s3"]);
    assert!(view[2].1.contains("first") && view[3].1.contains("third"), "{view:?}");
    made.user("n", "a", "Never mind.");
    let view = check("none", &made);
    assert_eq!(ids(&view)[2..], ["n"]);
    // Back to where the first run ended.
    made.user("b", "s1", "And now?");
    let view = check("back", &made);
    assert_eq!(ids(&view)[2..], ["r1", "r2", "s1", "b"]);
    assert!(view[2].1.contains("first") && view[3].1.contains("first"), "{view:?}");
}

#[test]
fn an_edit_holds_on_its_own_branch() {
    let mut made = Made::new();
    made.user("u", "", "One.").says("a", "u", "Two.").user("v", "a", "Three.");
    made.edit("e1", "v", "u", "\"Changed.\"").edit("e2", "e1", "a", "null");
    let view = check("edited", &made);
    assert_eq!(ids(&view), ["u", "v"]);
    assert!(view[0].1.contains("Changed."), "{view:?}");
    made.user("w", "v", "Another way.");
    let view = check("left", &made);
    assert_eq!(ids(&view), ["u", "a", "v", "w"]);
    assert!(view[0].1.contains("One."), "{view:?}");
    made.label("l", "e2", "u", "mark");
    let view = check("back", &made);
    assert_eq!(ids(&view), ["u", "v"]);
    assert!(view[0].1.contains("Changed."), "{view:?}");
}

#[test]
fn a_compaction_that_keeps_from_before_an_older_one_shows_neither_it_nor_less() {
    let mut made = Made::new();
    made.user("u", "", "One.").says("a", "u", "Two.").compaction("c1", "a", "a").user("v", "c1", "Three.");
    made.compaction("c2", "v", "u").user("w", "c2", "Four.");
    let view = check("older", &made);
    assert_eq!(ids(&view), ["c2", "u", "a", "v", "w"]);
    let report = read_text(&made.text).report;
    assert!(report.warnings.iter().any(|warning| warning.code == "context_may_differ"), "{:?}", report.warnings);
}

#[test]
fn a_compaction_without_words_still_cuts() {
    let mut made = Made::new();
    made.user("u", "", "One.");
    made.entry("c", "u", "compaction", r#""summary":"","firstKeptEntryId":"c","tokensBefore":1"#)
        .user("v", "c", "Two.");
    assert_eq!(ids(&check("empty", &made)), ["c", "v"]);
}

#[test]
fn a_new_root_begins_anew() {
    let mut made = Made::new();
    made.user("u", "", "One.").entry("m", "", "model_change", r#""provider":"p","modelId":"m""#);
    assert!(check("nothing yet", &made).is_empty());
    made.user("v", "m", "Two.");
    assert_eq!(ids(&check("root", &made)), ["v"]);
}

#[test]
fn what_the_system_says_after_a_compaction_stands_for_what_it_said_before() {
    let mut made = Made::new();
    made.message("s", "", "system", r#""content":"Be brief.","sections":{"rules":"No swearing.","old":null}"#);
    made.user("u", "s", "One.");
    let view = check("before", &made);
    assert!(view[0].1.contains("Be brief.") && view[0].1.contains("No swearing."), "{view:?}");
    made.entry(
        "c",
        "u",
        "compaction",
        r#""summary":"Sum.","firstKeptEntryId":"s","tokensBefore":1,"systemMessage":{"role":"system","content":"Be kind."}"#,
    );
    made.user("v", "c", "Two.");
    let dir = tempfile::tempdir().unwrap();
    let imported = read_text(&made.text);
    let session = import("system", &imported, dir.path());
    let state = session.state().unwrap();
    let names: Vec<String> = model_view(&state).iter().map(name).collect();
    assert_eq!(names, ["c", "u", "c.system", "v"]);
    let context: Vec<&str> = imported.report.context.iter().map(|entry| entry.id.as_str()).collect();
    assert_eq!(context, ["c", "u", "v"]);
}

#[test]
fn an_import_can_be_gone_on_with() {
    let mut made = Made::new();
    made.user("u", "", "One.").says("a", "u", "Two.").label("l", "a", "u", "mark");
    let dir = tempfile::tempdir().unwrap();
    let session = import("go on", &read_text(&made.text), dir.path());
    let _ = session.append(seslog::event::Message::user("Three."), seslog::log::Durability::Os).unwrap();
    let path = session.path().to_owned();
    session.close().unwrap();
    let session = seslog::session::Session::open(&path, SessionOptions::default()).unwrap();
    assert_eq!(model_view(&session.state().unwrap()).len(), 3);
}
