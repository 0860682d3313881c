//! Skills: what is on, what is active, what a step changes.
#![allow(unreachable_pub, reason = "a module of a test")]

use seslog::context::skills::{Skill, SkillActivation, SkillConfig, SkillDelta, SkillEngine, SkillSet};
use seslog::context::tools::{ALL, Enable, ToolSource, WhyNot};

use crate::support::rules;

pub fn skill(identifier: &str) -> Skill {
    Skill {
        description: Some(format!("For {identifier}.")),
        content: format!("How to {identifier}."),
        ..Skill::new(identifier, format!("The {identifier}"))
    }
}

/// Review, write and secret; the first two are on, and secret by activation only where that may bypass.
pub fn engine(explicit_may_bypass: bool) -> SkillEngine {
    let enable = Enable { explicit_may_bypass, ..rules(&[("review", true), ("write", true)]) };
    SkillEngine::new(["review", "write", "secret"].map(skill), enable)
}

fn activation(id: &str) -> SkillActivation {
    SkillActivation::new(id, ToolSource::Discovery)
}

fn delta(activate: &[SkillActivation], deactivate: &[&str]) -> SkillDelta {
    let deactivate = deactivate.iter().map(|id| (*id).to_owned()).collect();
    SkillDelta { activate: activate.to_vec(), deactivate }
}

/// Each skill that is on, with its text if it is active.
fn told(set: &SkillSet) -> Vec<String> {
    let text =
        |active: bool, text: Option<&str>| if active { text.unwrap_or("(blank)").to_owned() } else { "-".to_owned() };
    set.skills().iter().map(|one| format!("{}: {}", one.skill.identifier, text(one.is_active, one.text()))).collect()
}

fn filtered(set: &SkillSet) -> Vec<(&str, &WhyNot)> {
    set.filtered().iter().map(|one| (one.id.as_str(), &one.why)).collect()
}

#[test]
fn a_run_has_all_skills_that_are_on_and_those_it_names_active() {
    let set = engine(true).operation(["write", "secret", "nowhere", "nowhere"]);
    assert_eq!(told(&set), ["review: -", "write: How to write.", "secret: How to secret."]);
    assert_eq!(filtered(&set), [("nowhere", &WhyNot::NotFound)]);

    let set = engine(false).operation(["secret"]);
    assert_eq!(told(&set), ["review: -", "write: -"]);
    assert!(matches!(filtered(&set)[..], [("secret", WhyNot::Disabled { .. })]));
}

#[test]
fn a_step_activates_what_the_run_only_lists() {
    let engine = engine(true);
    let run = engine.operation::<&str>([]);
    let cases = [
        (vec![], delta(&[], &[]), vec!["review: -", "write: -"]),
        (vec!["write"], delta(&[], &[]), vec!["review: -", "write: How to write."]),
        (vec![], delta(&[activation("review")], &[]), vec!["review: How to review.", "write: -"]),
        (
            vec!["write"],
            delta(&[activation("secret")], &[]),
            vec!["review: -", "write: How to write.", "secret: How to secret."],
        ),
        (vec!["write"], delta(&[activation("write")], &["write"]), vec!["review: -"]),
        (vec!["write"], delta(&[activation("secret")], &[ALL]), vec![]),
    ];
    for (accumulated, delta, wanted) in cases {
        let accumulated: Vec<_> = accumulated.into_iter().map(activation).collect();
        assert_eq!(told(&engine.step(&run, &accumulated, &delta)), wanted, "{accumulated:?} {delta:?}");
        assert_eq!(told(&run), ["review: -", "write: -"]);
    }
}

#[test]
fn the_text_that_an_activation_brings_takes_the_place_of_the_skills_own() {
    let engine = engine(true);
    let run = engine.operation(["write"]);
    let brings = |text: &str| activation("write").with_content(text);
    let cases = [
        (vec![brings("earlier")], vec![], "write: earlier"),
        (vec![brings("earlier")], vec![brings("now")], "write: now"),
        (vec![brings("earlier")], vec![activation("write")], "write: earlier"),
        (vec![], vec![brings(" \n")], "write: How to write."),
    ];
    for (accumulated, activate, wanted) in cases {
        let set = engine.step(&run, &accumulated, &delta(&activate, &[]));
        assert_eq!(told(&set)[1], wanted, "{accumulated:?} {activate:?}");
    }
}

#[test]
fn what_activated_a_skill_first_stays() {
    let engine = engine(true);
    let mention = SkillActivation::new("write", ToolSource::Mention);
    let set = engine.step(&engine.operation::<&str>([]), &[mention], &delta(&[activation("write")], &[]));
    assert_eq!(set.get("write").unwrap().source, Some(ToolSource::Mention));
}

#[test]
fn what_is_not_on_says_why_once() {
    let engine = engine(false);
    let run = engine.operation(["secret"]);
    let again = delta(&[activation("secret"), activation("nowhere"), activation("nowhere")], &["review"]);
    let set = engine.step(&run, &[activation("review")], &again);
    let [("review", WhyNot::Deactivated), ("secret", WhyNot::Disabled { .. }), ("nowhere", WhyNot::NotFound)] =
        filtered(&set)[..]
    else {
        panic!("{:?}", set.filtered());
    };
}

#[test]
fn a_wrong_skill_is_set_aside() {
    let engine = SkillEngine::new([skill("a"), skill(""), skill("a")], rules(&[("a", true), ("", true)]));
    let said: Vec<String> = engine.refused().iter().map(ToString::to_string).collect();
    assert_eq!(said, ["a skill has an empty identifier", "two skills have the identifier `a`; the first one counts"]);
    assert_eq!(engine.operation::<&str>([]).skills().len(), 1);
}

#[test]
fn the_skills_of_a_call_are_read_from_one_piece_of_json() {
    let config: SkillConfig = serde_json::from_str(
        r#"{
            "skills": [
                {"identifier": "review", "name": "Review", "content": "Look."},
                {"identifier": "write", "name": "Write", "description": "Writes."}
            ],
            "enable": {"rules": {"review": true, "write": true}},
            "active": ["review"],
            "step": {"activate": [{"id": "write", "source": "mention", "content": "Short words."}]}
        }"#,
    )
    .unwrap();
    assert_eq!(told(&config.resolve(&config.engine())), ["review: Look.", "write: Short words."]);
}
