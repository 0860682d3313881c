//! The list of steps and a run through it: order, changes of the list, times, stops, errors, what steps leave behind.

mod page;

use std::error::Error;
use std::fmt;

use serde::Serialize;
use seslog::context::{
    BoxError, Config, Context, Entry, Inject, Pipeline, PipelineError, Problem, Processor, Prompt, slots::Slot,
};
use seslog::event::{Kind, Part, Role};
use seslog::projection::{ProjectedMessage, View};

/// A step that does what it is told.
struct Step(&'static str, fn(&mut Context<'_>) -> Result<(), BoxError>);

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl Processor for Step {
    fn name(&self) -> &str {
        self.0
    }

    fn process(&self, context: &mut Context<'_>) -> Result<(), BoxError> {
        (self.1)(context)
    }
}

/// Which steps ran, in order.
#[derive(Debug, Default, Serialize, PartialEq)]
struct Ran(Vec<&'static str>);

impl Entry for Ran {
    const NAME: &'static str = "ran";
}

fn note(context: &mut Context<'_>, name: &'static str) -> Result<(), BoxError> {
    if context.metadata.get::<Ran>().is_none() {
        context.metadata.insert(Ran::default());
    }
    context.metadata.get_mut::<Ran>().unwrap().0.push(name);
    Ok(())
}

fn a() -> Step {
    Step("a", |context| note(context, "a"))
}

fn b() -> Step {
    Step("b", |context| note(context, "b"))
}

fn c() -> Step {
    Step("c", |context| note(context, "c"))
}

fn d() -> Step {
    Step("d", |context| note(context, "d"))
}

fn list() -> Pipeline {
    let mut list = Pipeline::new();
    list.push(a()).push(b()).push(c());
    list
}

fn names(list: &Pipeline) -> Vec<&str> {
    list.names().collect()
}

fn ran(prompt: &Prompt) -> &[&'static str] {
    &prompt.metadata.get::<Ran>().unwrap().0
}

fn user(text: &str) -> ProjectedMessage {
    ProjectedMessage::made(View::Model, Role::User, Kind::UserInput, vec![Part::text(text)])
}

#[test]
fn the_order_of_the_list_is_the_order_of_the_run() {
    let prompt = list().run(&[]).unwrap();
    assert_eq!(ran(&prompt), ["a", "b", "c"]);
    let names: Vec<&str> = prompt.stats.steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c"]);
}

#[test]
fn a_step_is_put_in_taken_out_replaced_and_moved_by_the_name_of_another() {
    let mut changed = list();
    changed.insert_before("a", d()).unwrap();
    assert_eq!(names(&changed), ["d", "a", "b", "c"]);
    changed.move_before("d", "c").unwrap();
    assert_eq!(names(&changed), ["a", "b", "d", "c"]);
    changed.move_before("c", "a").unwrap();
    assert_eq!(names(&changed), ["c", "a", "b", "d"]);
    changed.move_before("b", "b").unwrap();
    assert_eq!(names(&changed), ["c", "a", "b", "d"]);
    let taken = changed.remove("c").unwrap();
    assert_eq!(taken.name(), "c");
    changed.push(taken);
    changed.move_after("c", "b").unwrap().move_after("d", "d").unwrap();
    assert_eq!(names(&changed), ["a", "b", "c", "d"]);
    assert_eq!(changed.replace("a", Step("e", |context| note(context, "e"))).unwrap().name(), "a");
    assert_eq!(ran(&changed.run(&[]).unwrap()), ["e", "b", "c", "d"]);
}

#[test]
fn a_name_that_is_not_there_is_told_with_those_that_are_and_changes_nothing() {
    let mut unchanged = list();
    let errors = [
        unchanged.insert_before("x", d()).unwrap_err(),
        unchanged.insert_after("x", d()).unwrap_err(),
        unchanged.replace("x", d()).unwrap_err(),
        unchanged.remove("x").unwrap_err(),
        unchanged.move_before("x", "a").unwrap_err(),
        unchanged.move_before("a", "x").unwrap_err(),
        unchanged.move_after("x", "a").unwrap_err(),
        unchanged.move_after("a", "x").unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.to_string(), "there is no step `x`; there are: a, b, c");
    }
    assert_eq!(names(&unchanged), ["a", "b", "c"]);
}

#[test]
fn a_step_ends_the_run_without_an_error_and_the_stats_stay_whole() {
    let mut stopping = list();
    let stop = Step("stop", |context| {
        context.messages.push(user("only this"));
        context.stop("nothing to ask");
        Ok(())
    });
    stopping.insert_after("a", stop).unwrap();
    let prompt = stopping.run(&[user("hello")]).unwrap();
    let stopped = prompt.stopped.as_ref().unwrap();
    assert_eq!((stopped.step.as_str(), stopped.reason.as_str()), ("stop", "nothing to ask"));
    assert_eq!(ran(&prompt), ["a"]);
    let steps: Vec<_> =
        prompt.stats.steps.iter().map(|step| (step.name.as_str(), step.messages_before, step.messages_after)).collect();
    assert_eq!(steps, [("a", 1, 1), ("stop", 1, 2)]);
    assert!(prompt.stats.time() >= prompt.stats.step("stop").unwrap().time);
    assert_eq!(prompt.messages.len(), 2);
}

#[derive(Debug, thiserror::Error)]
#[error("the service did not answer")]
struct NoAnswer(#[source] std::io::Error);

fn failing() -> PipelineError {
    let mut list = list();
    let fail = Step("fetch", |_| Err(NoAnswer(std::io::Error::other("x".repeat(1_000))).into()));
    list.insert_after("a", fail).unwrap();
    list.run(&[]).unwrap_err()
}

#[test]
fn an_error_names_its_step_and_carries_its_causes_into_json() {
    let error = failing();
    assert_eq!(error.to_string(), "step `fetch` failed: the service did not answer");
    assert_eq!(error.source().unwrap().to_string(), "the service did not answer");
    assert_eq!(error.stats.steps.len(), 2);
    let json = serde_json::to_value(&error).unwrap();
    assert_eq!(json["step"], "fetch");
    assert_eq!(json["causes"][0], "the service did not answer");
    assert_eq!(json["causes"][1].as_str().unwrap().len(), 1_000);
    assert_eq!(json["stats"]["steps"][1]["name"], "fetch");
}

#[test]
fn a_long_cause_is_cut_to_300_characters_in_the_summary_only() {
    let mut list = Pipeline::new();
    list.push(Step("long", |_| Err("ä".repeat(1_000).into())));
    let error = list.run(&[]).unwrap_err();
    let summary = error.to_string();
    assert_eq!(summary.matches('ä').count(), 300);
    assert!(summary.ends_with("... (700 more characters)"), "{summary}");
    assert_eq!(error.cause.to_string().chars().count(), 1_000);
}

#[test]
fn validate_finds_what_is_wrong_with_a_list_and_nothing_in_the_standard_one() {
    assert_eq!(Pipeline::new().validate(), [Problem::Empty]);
    let mut twice = list();
    twice.push(b()).push(b()).push(Step(" ", |_| Ok(())));
    let found = [Problem::Duplicate { name: "b".into(), count: 3 }, Problem::Unnamed { index: 5 }];
    assert_eq!(twice.validate(), found);
    assert_eq!(Pipeline::standard(&Config::default()).validate(), []);
}

#[test]
fn a_step_changes_its_own_messages_and_never_those_of_the_caller() {
    let given = [user("hello"), user("again")];
    let mut list = Pipeline::new();
    list.push(Step("clear", |context| {
        context.messages[0].content.clear();
        context.messages.truncate(1);
        assert_eq!(context.input().len(), 2);
        assert_eq!(context.input()[0].content[0].as_text(), Some("hello"));
        Ok(())
    }));
    let prompt = list.run(&given).unwrap();
    assert!(prompt.messages[0].content.is_empty());
    assert_eq!(given[0].content[0].as_text(), Some("hello"));
}

#[test]
fn what_steps_leave_behind_is_typed_and_goes_to_json_by_name() {
    #[derive(Debug, Serialize, PartialEq)]
    struct Count(u32);
    impl Entry for Count {
        const NAME: &'static str = "a_count";
    }
    let mut list = list();
    list.push(Step("count", |context| {
        assert_eq!(context.metadata.insert(Count(1)), None);
        assert_eq!(context.metadata.insert(Count(2)), Some(Count(1)));
        Ok(())
    }));
    let mut prompt = list.run(&[]).unwrap();
    let json = serde_json::to_string(&prompt.metadata).unwrap();
    assert_eq!(json, r#"{"a_count":2,"ran":["a","b","c"]}"#);
    assert_eq!(prompt.metadata.remove::<Count>(), Some(Count(2)));
    assert!(prompt.metadata.get::<Count>().is_none());
}

#[test]
fn a_step_of_the_callers_own_stands_where_it_was_put_in_the_standard_list() {
    let mut config = Config::default();
    config.system_role = Some("first".into());
    let mut list = Pipeline::standard(&config);
    list.insert_after("system_role", Inject::new("mine", Slot::System, "second".to_owned())).unwrap();
    let prompt = list.run(&[user("hello")]).unwrap();
    assert_eq!(prompt.messages[0].content[0].as_text(), Some("first\n\nsecond"));
    assert_eq!(prompt.messages[1].content, user("hello").content);
}

#[test]
fn a_pipeline_and_its_prompt_can_go_to_another_thread() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<Pipeline>();
    is_shared::<Prompt>();
    is_shared::<PipelineError>();
}
