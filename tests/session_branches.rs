//! Other branches: where they leave the current chain, and how one is looked at.

mod common;

use common::story::{Story, id, names};
use seslog::event::*;
use seslog::projection::{Options, View, project};
use seslog::session::BranchPoint;

fn point(at: Option<&str>, leaves: &[&str]) -> BranchPoint {
    BranchPoint { at: at.map(id), leaves: leaves.iter().map(|name| id(name)).collect() }
}

#[test]
fn a_branch_point_names_the_leaves_of_all_other_branches() {
    let story = Story::new().user("u1").assistant("a1").user("u2").head("h1", "a1").user("v2").assistant("v3");
    let story = story.head("h2", "a1").user("w2").head("h3", "u1").assistant("x1").head("h4", "w2");
    let points = story.state().branch_points();
    assert_eq!(points, [point(Some("u1"), &["x1"]), point(Some("a1"), &["u2", "v3"])]);
}

#[test]
fn branches_beside_the_first_message_begin_nowhere() {
    let story = Story::new().user("u1").say_below("v1", None, Message::user("v1"));
    assert_eq!(story.state().branch_points(), [point(None, &["u1"])]);
}

#[test]
fn results_beside_the_chain_are_no_branch() {
    let story = Story::new().user("u").calls("a", &["c1", "c2"]);
    let story = story.say_below("r1", Some("a"), Message::tool_result("c1", "1", false));
    let story = story.say_below("r2", Some("a"), Message::tool_result("c2", "2", false)).assistant("end");
    assert_eq!(story.state().branch_points(), []);
}

#[test]
fn what_was_taken_back_is_no_branch_and_what_hangs_on_it_leaves_at_the_nearest_living() {
    let story = Story::new().user("u").assistant("a").user("b").head("h", "u").assistant("c");
    assert_eq!(story.clone().tombstone("x", &["b"]).state().branch_points(), [point(Some("u"), &["a"])]);
    assert_eq!(story.clone().tombstone("x", &["a"]).state().branch_points(), [point(Some("u"), &["b"])]);
    assert_eq!(story.tombstone("x", &["a", "b"]).state().branch_points(), []);
}

#[test]
fn a_compaction_that_was_gone_back_behind_is_a_branch() {
    let story = Story::new().user("u").assistant("a").compact("b", "s", &["a"]).head("h", "a").user("v");
    assert_eq!(story.state().branch_points(), [point(Some("a"), &["s"])]);
}

#[test]
fn another_branch_is_shown_as_after_a_rewind_to_its_leaf() {
    let story = Story::new().user("u1").assistant("a1").compact("b", "s", &["a1"]).user("u2").head("h1", "u1");
    let story = story.assistant("c").user("d");
    let rewound = story.clone().head("h2", "u2").state();
    let looked = story.state().at_leaf(id("u2")).unwrap();
    for view in [View::Transcript, View::Model, View::Ui, View::Export] {
        let view_of = |state| project(state, view, &Options::default());
        assert_eq!(names(&view_of(&looked)), names(&view_of(&rewound)), "{view:?}");
    }
    assert!(story.state().at_leaf(id("nobody")).is_none());
    assert_eq!(looked.branch_points(), [point(Some("u1"), &["d"])]);
}
