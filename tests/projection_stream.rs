//! A transcript that is streamed from the log is the one of the state in memory.

#[path = "common/history.rs"]
mod history;

use history::{Run, odd_step};
use proptest::prelude::*;
use seslog::log::RealFs;
use seslog::projection::{Options, Projection, TranscriptStream, View, project};
use seslog::session::{SessionReader, Story};

fn streamed(story: Story<'_>) -> Projection {
    let mut stream = TranscriptStream::new(story);
    let messages = stream.by_ref().collect::<Result<_, _>>().unwrap();
    Projection { messages, diagnostics: stream.take_diagnostics() }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn the_streamed_transcript_is_the_projected_one(
        generations in prop::collection::vec((prop::collection::vec(odd_step(), 1..40), any::<usize>()), 1..3),
    ) {
        let mut run = Run::new();
        for (steps, at) in &generations {
            run.fork(*at);
            steps.iter().for_each(|step| run.apply(step));
        }
        let store = run.store();
        let reader = SessionReader::open(run.session().path(), RealFs::shared()).unwrap();
        let history = store.history(&reader).unwrap();
        let projected = project(&history.state, View::Transcript, &Options::default());
        prop_assert_eq!(streamed(store.story(reader.log()).unwrap()), projected);
        for (event, _) in &run.seen {
            let history = store.history_at(&reader, *event).unwrap();
            let projected = project(&history.state, View::Transcript, &Options::default());
            prop_assert_eq!(streamed(store.story_at(reader.log(), *event).unwrap()), projected);
        }
    }
}
