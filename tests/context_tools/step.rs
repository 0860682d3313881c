//! What the steps of a run change: activations, deactivations, sources, manifests on demand.

use std::sync::atomic::{AtomicUsize, Ordering};

use seslog::context::BoxError;
use seslog::context::tools::{
    ALL, Activation, Ask, Catalogue, Enable, Manifest, ManifestLoader, StepDelta, ToolEngine, ToolSource, WhyNot,
};

use crate::support::{enabled, engine, filtered, manifest, rules, tool_names};

/// Has one manifest, one that is wrong, one of another name, and one that it can't fetch.
#[derive(Debug, Default)]
struct Market {
    asked: AtomicUsize,
}

impl ManifestLoader for Market {
    fn load(&self, identifier: &str) -> Result<Option<Manifest>, BoxError> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        match identifier {
            "mail" => Ok(Some(manifest("mail", &["send"]))),
            "wrong" => Ok(Some(manifest("wrong", &["a", "a"]))),
            "alias" => Ok(Some(manifest("files", &["read"]))),
            "far" => Err("the market does not answer".into()),
            _ => Ok(None),
        }
    }
}

fn activations(ids: &[&str]) -> Vec<Activation> {
    ids.iter().map(|id| Activation::new(*id, ToolSource::Discovery)).collect()
}

#[test]
fn a_call_has_the_tools_of_the_run_of_earlier_steps_and_of_this_one() {
    let engine = engine();
    let operation = engine.operation(&Ask::of(["files"]));
    let cases: [(&[&str], StepDelta, &[&str]); 7] = [
        (&[], StepDelta::default(), &["files"]),
        (&["maps"], StepDelta::default(), &["files", "maps"]),
        (&["maps"], StepDelta::default().activate("web", ToolSource::Mention), &["files", "maps", "web"]),
        (&["maps", "files", "maps"], StepDelta::default(), &["files", "maps"]),
        (&["maps"], StepDelta::default().deactivate("files"), &["maps"]),
        (&["maps"], StepDelta::default().deactivate("maps").activate("maps", ToolSource::Mention), &["files"]),
        (&["maps"], StepDelta::force_finish().activate("web", ToolSource::Device), &[]),
    ];
    for (accumulated, delta, wanted) in cases {
        let set = engine.step(&operation, &activations(accumulated), &delta, None);
        assert_eq!(enabled(&set), wanted, "{accumulated:?} {delta:?}");
        // A tool that is off has no definition and no instructions: neither is anywhere in the set.
        let of_enabled = set.enabled().iter().flat_map(|tool| &tool.manifest.apis).count();
        assert_eq!(set.tools().len(), of_enabled);
        // The next step begins with the run's own set again.
        assert_eq!(enabled(&operation), ["files"]);
    }
}

#[test]
fn what_a_step_turns_off_says_so() {
    let engine = engine();
    let operation = engine.operation(&Ask::of(["files", "web", "nowhere"]));
    let delta = StepDelta::default().deactivate("web");
    let set = engine.step(&operation, &activations(&["maps"]), &delta, None);
    assert_eq!(tool_names(&set), ["files____read", "files____write", "maps____search"]);
    assert_eq!(filtered(&set), ["web: deactivated", "nowhere: not_found"]);

    let market = Market::default();
    let set = engine.step(&operation, &activations(&["mail", "maps"]), &StepDelta::force_finish(), Some(&market));
    assert_eq!(set.tools(), []);
    let wanted =
        ["files: deactivated", "web: deactivated", "nowhere: not_found", "mail: deactivated", "maps: deactivated"];
    assert_eq!(filtered(&set), wanted);
    assert_eq!(market.asked.load(Ordering::Relaxed), 0);
    assert!(StepDelta::force_finish().deactivate.contains(ALL));
}

#[test]
fn what_was_filtered_and_is_activated_is_filtered_no_more() {
    let engine = engine();
    let operation = engine.operation(&Ask::of(["maps"]));
    assert_eq!(filtered(&operation), ["maps: disabled"]);
    let set = engine.step(&operation, &activations(&["maps"]), &StepDelta::default(), None);
    assert_eq!((enabled(&set), filtered(&set)), (vec!["maps"], vec![]));
}

#[test]
fn an_activation_turns_on_what_the_rule_lets_it_and_no_more() {
    let manifests = ["allowed", "forbidden", "unheard"].map(|id| manifest(id, &["run"]));
    let closed = rules(&[("allowed", true), ("forbidden", false)]);
    let open = Enable { explicit_may_bypass: true, ..closed.clone() };
    let ids = ["allowed", "forbidden", "unheard"];
    for (enable, wanted) in [(closed, vec!["allowed"]), (open, ids.to_vec())] {
        let engine = ToolEngine::new(Catalogue::new(manifests.clone()), enable);
        let operation = engine.operation(&Ask::default());
        let activatable: Vec<&str> = engine.activatable(&operation).map(|one| one.identifier.as_str()).collect();
        assert_eq!(activatable, wanted);
        let set = engine.step(&operation, &activations(&ids), &StepDelta::default(), None);
        assert_eq!(enabled(&set), wanted);
        assert_eq!(engine.activatable(&set).count(), 0);
    }
}

#[test]
fn a_source_once_known_stays() {
    let from = |id: &str, source| Manifest { source, ..manifest(id, &["run"]) };
    let catalogue = Catalogue::new([from("known", Some(ToolSource::Mcp)), from("unknown", None), from("late", None)]);
    let enable = Enable { explicit_may_bypass: true, ..rules(&[("known", true), ("unknown", true)]) };
    let engine = ToolEngine::new(catalogue, enable);
    let operation = engine.operation(&Ask::of(["known", "unknown"]));
    let source = |set: &seslog::context::tools::ToolSet, id: &str| set.get(id).and_then(|tool| tool.source.clone());
    assert_eq!(source(&operation, "known"), Some(ToolSource::Mcp));
    assert_eq!(source(&operation, "unknown"), None);

    let delta = ["known", "unknown", "late"]
        .iter()
        .fold(StepDelta::default(), |delta, id| delta.activate(*id, ToolSource::Plugin));
    let set = engine.step(&operation, &activations(&["known", "unknown", "late"]), &delta, None);
    assert_eq!(source(&set, "known"), Some(ToolSource::Mcp));
    assert_eq!(source(&set, "unknown"), Some(ToolSource::Discovery));
    assert_eq!(source(&set, "late"), Some(ToolSource::Discovery));
}

#[test]
fn every_source_has_a_name_of_its_own_and_is_read_back() {
    let all = ["builtin", "plugin", "mcp", "discovery", "mention", "device", "satellite"];
    for name in all {
        let source: ToolSource = serde_json::from_value(name.into()).unwrap();
        assert_eq!((source.name(), serde_json::to_value(&source).unwrap()), (name, name.into()));
        assert_eq!(matches!(source, ToolSource::Other(_)), name == "satellite");
    }
}

#[test]
fn a_manifest_that_is_not_known_is_loaded_and_a_failure_is_a_reason() {
    let (engine, market) = (engine(), Market::default());
    let operation = engine.operation(&Ask::of(["files"]));
    let asked = activations(&["mail", "wrong", "alias", "far", "nowhere", "far", "mail"]);
    let set =
        engine.step(&operation, &asked, &StepDelta::default().activate("far", ToolSource::Mention), Some(&market));
    assert_eq!(tool_names(&set), ["files____read", "files____write", "mail____send"]);
    assert_eq!(filtered(&set), ["wrong: invalid", "alias: invalid", "far: load_failed", "nowhere: not_found"]);
    let why = |id: &str| set.filtered().iter().find(|one| one.id == id).unwrap().why.clone();
    assert_eq!(why("far"), WhyNot::LoadFailed { message: "the market does not answer".to_owned() });
    let message = "asked for the manifest `alias`, got one that calls itself `files`".to_owned();
    assert_eq!(why("alias"), WhyNot::Invalid { message });
    // Each once, and none that is known or may not be on.
    assert_eq!(market.asked.load(Ordering::Relaxed), 5);
    let names = engine.names(&set, set.tools());
    assert_eq!(names.decode("send").unwrap().identifier, "mail");
    let closed = ToolEngine::new(Catalogue::new([]), Enable::default());
    let set = closed.step(&closed.operation(&Ask::default()), &asked, &StepDelta::default(), Some(&market));
    assert_eq!((enabled(&set), market.asked.load(Ordering::Relaxed)), (vec![], 5));
}

#[test]
fn no_step_gives_tools_to_a_model_that_calls_no_functions() {
    let (engine, market) = (engine(), Market::default());
    let operation = engine.operation(&Ask { model_calls_functions: false, ..Ask::of(["files"]) });
    let set = engine.step(&operation, &activations(&["maps", "mail"]), &StepDelta::default(), Some(&market));
    assert_eq!(set.tools(), []);
    assert_eq!(filtered(&set), ["files: incompatible", "maps: incompatible", "mail: incompatible"]);
    assert_eq!(market.asked.load(Ordering::Relaxed), 0);
}
