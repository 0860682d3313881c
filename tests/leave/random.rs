//! Random histories to every agent and back.

use proptest::prelude::*;
use seslog::projection::View;

use crate::check;
use crate::history::{Run, step};
use crate::shown::{Shown, comparable, shown};
use crate::world::{AGENTS, World, named, whole};

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_random_history_is_a_file_that_each_agents_rules_take(steps in prop::collection::vec(step(), 1..40), fork in prop::option::weighted(0.3, 0..1000usize)) {
        let mut run = Run::new();
        for step in &steps {
            run.apply(step);
        }
        if let Some(at) = fork {
            run.fork(at);
            steps.iter().take(5).for_each(|step| run.apply(step));
        }
        let here = World::of(run.store());
        for (to, of) in AGENTS {
            let there = World::new();
            let (file, report) = here.export(run.session(), to);
            check::check(to, &file, of);
            let again = there.import(to, &file);
            let names = named(&report);
            let was = comparable(shown(&whole_story(&here, &run), View::Model), &names);
            let is = comparable(shown(&whole(&again), View::Model), &names);
            // Of an answer that is kept in part all is there.
            if names.contains(&"keptMore") {
                let is_there = |one: &Shown| !matches!(one, Shown::Text(..)) || is.contains(one);
                prop_assert!(was.iter().all(is_there), "{}: {:?}\n{:?}\n{:?}", of, names, was, is);
                continue;
            }
            prop_assert_eq!(was, is, "{}: {:?}\n{}", of, names, String::from_utf8_lossy(&file));
        }
    }
}

fn whole_story(world: &World, run: &Run) -> seslog::session::State {
    world.history(run.session()).state
}
