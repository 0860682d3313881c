//! A reader that follows a log through the lives and deaths of its writers.

use std::path::Path;
use std::sync::mpsc::Receiver;

use seslog::log::{LogError, LogReader, RealFs, Verdict};

use super::records::{InOrder, Said};

/// What a reader saw.
pub(crate) struct Seen {
    pub(crate) places: Vec<(Said, u64)>,
    /// End of what it was promised for ever.
    pub(crate) durable_end: u64,
    pub(crate) looks: u64,
}

/// Looks at each tick until they end. What it has seen stays, whole batches only, in order.
pub(crate) fn follow(path: &Path, ticks: &Receiver<()>) -> Seen {
    let mut reader: Option<LogReader> = None;
    let mut order = InOrder::default();
    let (mut next, mut durable_end, mut looks) = (0, 0, 0);
    while ticks.recv().is_ok() {
        looks += 1;
        let Some(reader) = &mut reader else {
            match LogReader::open(RealFs::shared(), path) {
                Ok((opened, report)) => {
                    assert_ne!(report.verdict, Verdict::Damaged, "{report:?}");
                    reader = Some(opened);
                }
                // It is there complete or not at all.
                Err(LogError::NotFound { .. }) => {}
                Err(error) => panic!("{error}"),
            }
            continue;
        };
        let end = reader.end();
        reader.refresh().unwrap();
        assert!(reader.end() >= end && reader.durable_end() >= durable_end, "what was shown, or promised, shrank");
        durable_end = reader.durable_end();
        assert!(durable_end <= reader.end());
        if next < reader.end() {
            for frame in reader.frames(next) {
                let frame = frame.unwrap();
                order.push(&frame);
                next = frame.next_offset();
            }
            order.ends_whole();
        }
        if looks % 16 == 0 {
            let report = LogReader::open(RealFs::shared(), path).unwrap().1;
            assert_ne!(report.verdict, Verdict::Damaged, "{report:?}");
        }
    }
    Seen { places: order.places, durable_end, looks }
}
