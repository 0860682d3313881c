//! Records that say of themselves who appended them, in which order, and with which others.

use std::collections::HashMap;

use seslog::event::Uuid;
use seslog::log::{Frame, FrameType, IndexHint, LogView, Place, Record};

/// A record of a batch of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) thread: u8,
    /// Counts the thread's records, from 1, over all its lives.
    pub(crate) number: u64,
    pub(crate) index: u8,
    pub(crate) len: u8,
}

impl Said {
    pub(crate) fn id(self) -> Uuid {
        Uuid::from_u128(u128::from(self.thread) << 64 | u128::from(self.number))
    }

    /// Some bytes up to a few pages, each its own; now and then so many that a kill can stop their write half-way.
    pub(crate) fn payload(self) -> Vec<u8> {
        let spread = self.number * 7_919 + u64::from(self.thread) * 104_729;
        let filler = if spread.is_multiple_of(16) { 900_000 } else { spread % 3_001 };
        let mut payload = vec![self.thread, self.index, self.len];
        payload.extend((0..filler).map(|at| (at * 31 + self.number) as u8));
        payload
    }

    pub(crate) fn record(self, payload: &[u8]) -> Record<'_> {
        Record {
            frame_type: FrameType::Event,
            skippable: false,
            id: self.id(),
            parent: Place::None,
            boundary: Place::None,
            payload,
            index: IndexHint::Plain,
        }
    }

    /// What a frame says, all of its bytes checked.
    pub(crate) fn read(frame: &Frame) -> Self {
        let id = frame.id().as_u128();
        let payload = frame.payload();
        let said = Self { thread: (id >> 64) as u8, number: id as u64, index: payload[1], len: payload[2] };
        assert_eq!(payload, said.payload(), "{said:?} came back with other bytes");
        said
    }
}

/// Checks records in the order of the file: each thread's numbers without a gap, batches whole and not mixed.
#[derive(Debug, Default)]
pub(crate) struct InOrder {
    pub(crate) last: HashMap<u8, u64>,
    /// Where each record is.
    pub(crate) places: Vec<(Said, u64)>,
    open: Option<Said>,
}

impl InOrder {
    pub(crate) fn of(log: &LogView) -> Self {
        let mut found = Self::default();
        log.frames(0).for_each(|frame| found.push(&frame.unwrap()));
        found.ends_whole();
        found
    }

    pub(crate) fn push(&mut self, frame: &Frame) {
        if frame.frame_type().is_own() {
            assert_eq!(self.open, None, "a frame of the log's own in a batch");
            return;
        }
        let said = Said::read(frame);
        let last = self.last.entry(said.thread).or_default();
        assert_eq!(said.number, *last + 1, "{said:?}: a gap, or twice");
        *last = said.number;
        let goes_on = self.open.map_or(said.index == 0, |before| {
            said.thread == before.thread && said.len == before.len && said.index == before.index + 1
        });
        assert!(goes_on, "{said:?} behind {:?}", self.open);
        self.open = (said.index + 1 < said.len).then_some(said);
        self.places.push((said, frame.offset()));
    }

    pub(crate) fn ends_whole(&self) {
        assert_eq!(self.open, None, "half a batch at the end");
    }
}
