//! Replay is a fold: on random histories the state kept append by append, the state that a resume replays from the
//! boundary, the whole replay cut at the boundary, and the state as it was at any earlier point are the same.

#[path = "common/history.rs"]
mod history;

use history::{Run, odd_step};
use proptest::prelude::*;
use seslog::log::RealFs;
use seslog::session::{SessionError, SessionReader, State};

fn check(run: &Run) -> Result<(), SessionError> {
    let session = run.session();
    let state = session.state()?;
    let reader = SessionReader::open(session.path(), RealFs::shared())?;
    same(reader.state(), &state, "a resume from the boundary");
    same(&reader.whole_state()?.trimmed(), &state, "the whole replay, cut at the boundary");
    assert!(reader.report().missing_kept.is_empty());
    Ok(())
}

/// Whole states are compared; of two that differ only the first difference is shown.
fn same(left: &State, right: &State, what: &str) {
    if left == right {
        return;
    }
    let show = |state: &State| state.entries().iter().map(|entry| format!("{entry:?}")).collect::<Vec<_>>();
    let (left_shown, right_shown) = (show(left), show(right));
    assert_eq!(left_shown.len(), right_shown.len(), "{what}: number of entries");
    for (left, right) in left_shown.iter().zip(&right_shown) {
        assert_eq!(left, right, "{what}: an entry");
    }
    let rest = |state: &State| {
        let ids = |entries: Vec<&seslog::session::Entry>| entries.iter().map(|e| e.event.id).collect::<Vec<_>>();
        let leaf = state.leaf().map(|entry| entry.event.id);
        (leaf, ids(state.chain()), state.is_complete(), state.meta().clone(), state.last_id())
    };
    assert_eq!(rest(left), rest(right), "{what}");
    panic!("{what}: the states differ in what is not shown");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn every_way_to_a_state_gives_the_same_state(steps in prop::collection::vec(odd_step(), 1..40)) {
        let mut run = Run::new();
        for step in &steps {
            run.apply(step);
            check(&run).unwrap();
        }
        for (event, seen) in &run.seen {
            same(&run.session().at(*event).unwrap(), seen, &format!("as it was at {event}"));
        }
    }
}
