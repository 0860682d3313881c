//! What a developer looks at: everything, and why the other views hide or change it.

mod common;

use common::story::{Story, event, id, names};
use seslog::event::*;
use seslog::projection::{Options, ProjectedMessage, Projection, View, project};
use seslog::session::State;

fn debug(story: &Story) -> Projection {
    project(&story.state(), View::Debug, &Options::default())
}

fn find<'a>(view: &'a Projection, name: &str) -> &'a ProjectedMessage {
    view.messages.iter().find(|message| message.id == id(name)).unwrap()
}

/// The first note of a message that begins like this.
fn note(view: &Projection, name: &str, begins: &str) -> String {
    let notes = &find(view, name).metadata.notes;
    notes.iter().find(|note| note.starts_with(begins)).unwrap_or_else(|| panic!("{begins:?} in {notes:#?}")).clone()
}

fn text(view: &Projection, name: &str) -> String {
    find(view, name).content.iter().filter_map(|part| part.as_text()).collect()
}

#[test]
fn every_event_is_shown_in_the_order_of_the_file() {
    let story = Story::new()
        .user("u1")
        .calls("a1", &["c"])
        .body("t", Body::ToolStarted(ToolStarted { call_id: "c".into(), idempotency_key: Some("k".into()) }))
        .result("r1", "c")
        .prune("p", &["r1"])
        .head("h", "u1")
        .assistant("b1")
        .tombstone("x", &["b1"])
        .body("m", Body::SessionMeta(SessionMeta { title: Some("Garden".into()), ..SessionMeta::default() }))
        .body("e", Body::Extension(Extension { name: "app".into(), payload: Value::Int(5) }))
        .body("n", Body::Amend(Amend { target: id("u1"), patch: vec![("model".into(), "m".into())] }))
        .compact("b", "s", &["u1"]);
    let view = debug(&story);
    let told: Vec<&str> = story.events.iter().filter_map(|event| event.original_id.as_deref()).collect();
    assert_eq!(names(&view), told);
    let said = [
        ("t", "the tool of call [c] is about to run, its key is k".to_owned()),
        ("p", format!("clears for the model the results in {}", id("r1"))),
        ("h", format!("moves the leaf to {}", id("u1"))),
        ("x", format!("takes back {}", id("b1"))),
        ("m", "title: Garden".to_owned()),
        ("e", "app: 5".to_owned()),
        ("n", format!("amends {} with {{\"model\":\"m\"}}", id("u1"))),
    ];
    for (name, said) in said {
        assert_eq!(text(&view, name), said);
    }
    assert!(matches!(&*find(&view, "t").kind, Kind::SystemEvent(event) if event.subtype == "tool_started"));
}

#[test]
fn a_message_of_an_unknown_kind_is_shown_with_its_fields() {
    let fields = vec![("role".to_owned(), "user".into()), ("content".to_owned(), "words".into())];
    let unknown = Unknown { event_type: "message".into(), kind: Some("dream".into()), fields };
    let view = debug(&Story::new().user("u").body("d", Body::Unknown(unknown)));
    assert!(text(&view, "d").contains("kind dream") && text(&view, "d").contains("words"));
}

#[test]
fn each_message_says_where_it_is_and_what_it_hangs_on() {
    let story = Story::new().user("u1").assistant("a1").head("h", "u1").assistant("b1");
    let story = story.say("e", Message::system_event("turn_duration", "3 s"));
    let story = story.say_below("off", Some("a1"), Message::system_event("turn_duration", "4 s"));
    let view = debug(&story);
    assert_eq!(find(&view, "b1").metadata.notes[0], "on the current chain");
    assert_eq!(find(&view, "a1").metadata.notes[0], format!("on the branch that ends at {}", id("a1")));
    assert_eq!(find(&view, "e").metadata.notes[0], "beside the current chain");
    assert_eq!(find(&view, "off").metadata.notes[0], format!("beside the branch that ends at {}", id("a1")));
    assert_eq!(note(&view, "u1", "hangs"), "hangs on nothing");
    assert_eq!(note(&view, "b1", "hangs"), format!("hangs on {}", id("u1")));
}

#[test]
fn a_message_that_hangs_elsewhere_says_why() {
    let mut lost = event("lost", Some("nobody"), Body::Message(Box::new(Message::user("lost"))));
    lost.original_parent = Some("nobody".into());
    let story = Story::new().user("u1").calls("a1", &["c"]).user("u2");
    let mut events = story.say_below("late", Some("a1"), Message::tool_result("c", "x", false)).events;
    events.push(lost);
    let view = project(&State::from_events(events), View::Debug, &Options::default());
    let late = note(&view, "late", "hangs");
    assert!(
        late.starts_with(&format!("hangs on {}, not on {}: ", id("u2"), id("a1"))) && late.contains("late"),
        "{late}"
    );
    let lost = note(&view, "lost", "hangs");
    assert!(lost.contains("nobody, is not in the session"), "{lost}");
}

#[test]
fn each_message_says_what_changed_it() {
    let amend = Body::Amend(Amend { target: id("u1"), patch: vec![("model".into(), "m".into())] });
    let bad = Body::Amend(Amend { target: id("u1"), patch: vec![("usage".into(), "none".into())] });
    let story = Story::new().user("u1").calls("a1", &["c"]).result("r1", "c").prune("p", &["r1"]);
    let view = debug(&story.body("n", amend).body("bad", bad).tombstone("x", &["a1"]));
    assert_eq!(note(&view, "r1", "pruned"), format!("pruned by {}", id("p")));
    assert_eq!(note(&view, "u1", "amended"), format!("amended by {}", id("n")));
    assert_eq!(note(&view, "a1", "taken"), format!("taken back by {}", id("x")));
    assert!(note(&view, "u1", "not amended").ends_with(&id("bad").to_string()));
}

#[test]
fn each_message_says_why_other_views_hide_or_change_it() {
    let mut meta = Message::user("m");
    meta.metadata.meta = true;
    let story = Story::new().user("old").calls("a1", &["c"]).result("r1", "c").prune("p", &["r1"]);
    let story = story.compact("b", "s", &["a1", "r1"]).say("meta", meta).say("e", Message::system_event("x", "y"));
    let story = story.user("gone").head("h", "e").assistant("a2").tombstone("x", &["a2"]).user("end");
    let view = debug(&story);
    assert!(note(&view, "old", "model: hidden (before_boundary)").contains(&id("b").to_string()));
    assert!(note(&view, "r1", "model: shown (result_cleared) [c]").contains("pruned"));
    assert!(note(&view, "meta", "transcript: hidden (meta_left_out)").contains("for the model only"));
    assert!(note(&view, "meta", "export: hidden (meta_left_out)").contains("for the model only"));
    note(&view, "e", "model: hidden (kind_left_out)");
    note(&view, "gone", "ui: hidden (not_on_chain)");
    assert!(note(&view, "a2", "transcript: hidden (taken_back)").contains(&id("x").to_string()));
    note(&view, "b", "model: hidden (boundary_applied)");
    let flags = &find(&view, "r1").metadata;
    assert!(flags.compacted && !flags.hidden_from_model);
    assert!(find(&view, "meta").metadata.hidden_from_transcript && find(&view, "e").metadata.hidden_from_model);
    let plain = &find(&view, "end").metadata.notes;
    assert_eq!(plain.len(), 2, "what every view shows as it is needs no words: {plain:?}");
}

#[test]
fn reasons_follow_the_options() {
    let mut options = Options::default();
    options.runtime_reminders = false;
    let story = Story::new().user("u").say("r", Message::reminder("mind"));
    let view = project(&story.state(), View::Debug, &options);
    note(&view, "r", "model: hidden (reminder_left_out)");
}
