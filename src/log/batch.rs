//! Records on their way into the log: encoded where they will be written from, so that no payload is copied on the way.

use uuid::Uuid;

use super::encode;
use super::kind::{FrameType, HintClass, IndexHint};
use super::state::Place;

/// One record to append.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    /// Event, Boundary, Change or Head.
    pub frame_type: FrameType,
    /// A reader that does not know the event's kind may skip it.
    pub skippable: bool,
    /// The record's id.
    pub id: Uuid,
    /// The effective parent; of a Head, the new leaf.
    pub parent: Place,
    /// The boundary that counts once this record is in; of a Boundary, the one before it.
    pub boundary: Place,
    /// The caller's bytes.
    pub payload: &'a [u8],
    /// By which ids the record has to be found.
    pub index: IndexHint<'a>,
}

/// Records that are appended together, all or none. It keeps its room when it is cleared, so that who appends again and
/// again allocates nothing for it.
#[derive(Debug, Default)]
pub struct Batch {
    /// The frames, one behind the other; headers and trailers are room until it is known where they go.
    pub(crate) bytes: Vec<u8>,
    pub(crate) slots: Vec<Slot>,
    /// Where the records stand, once they have been appended.
    pub(crate) offsets: Vec<u64>,
}

/// One record of a batch: all but its bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slot {
    pub(crate) frame_type: FrameType,
    pub(crate) skippable: bool,
    pub(crate) class: HintClass,
    pub(crate) id: Uuid,
    pub(crate) parent: Place,
    pub(crate) boundary: Place,
    /// Where its frame is in the batch's bytes.
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Bytes of its hint's list and its payload.
    pub(crate) stored_len: usize,
}

impl Batch {
    /// A batch without records.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a record.
    pub fn push(&mut self, record: &Record<'_>) {
        let written = self.push_with(record, |_| Ok::<_, std::convert::Infallible>(()));
        debug_assert!(written.is_ok(), "nothing was written that could fail");
    }

    /// Adds a record of which the payload goes on with what `write` puts behind the bytes that it is given. An error leaves
    /// the batch as it was.
    pub(crate) fn push_with<E>(
        &mut self,
        record: &Record<'_>,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        let start = self.bytes.len();
        encode::begin(&record.index, &mut self.bytes);
        self.bytes.extend_from_slice(record.payload);
        let begun = self.bytes.len();
        if let Err(error) = write(&mut self.bytes) {
            self.bytes.truncate(start);
            return Err(error);
        }
        debug_assert!(self.bytes.len() >= begun, "what stood there must stay");
        let stored_len = encode::end(&mut self.bytes, start);
        self.slots.push(Slot {
            frame_type: record.frame_type,
            skippable: record.skippable,
            class: record.index.class(),
            id: record.id,
            parent: record.parent,
            boundary: record.boundary,
            start,
            end: self.bytes.len(),
            stored_len,
        });
        Ok(())
    }

    /// Says what the record of this index, from 0, hangs on, and which boundary it names.
    pub fn set_places(&mut self, index: usize, parent: Place, boundary: Place) {
        if let Some(slot) = self.slots.get_mut(index) {
            (slot.parent, slot.boundary) = (parent, boundary);
        }
    }

    /// Bytes of this record in the log's count, its hint's list included; they have a limit together.
    #[must_use]
    pub fn stored_len(&self, index: usize) -> u64 {
        self.slots.get(index).map_or(0, |slot| slot.stored_len as u64)
    }

    /// Where each record stands since the batch was appended, in bytes from the start of the file.
    #[must_use]
    pub fn offsets(&self) -> &[u64] {
        &self.offsets
    }

    /// How many records it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether it holds no record.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Whether its bytes are those of its records: not where an append has failed, or a record was not ended.
    pub(crate) fn is_whole(&self) -> bool {
        let mut end = 0;
        let follow = self.slots.iter().all(|slot| std::mem::replace(&mut end, slot.end) == slot.start);
        follow && end == self.bytes.len()
    }

    /// Takes all records out. Up to a megabyte of room is kept.
    pub fn clear(&mut self) {
        const BYTES_KEPT_MAX: usize = 1 << 20;
        const RECORDS_KEPT_MAX: usize = 1 << 12;
        self.bytes.clear();
        self.slots.clear();
        self.offsets.clear();
        if self.bytes.capacity() > BYTES_KEPT_MAX {
            self.bytes = Vec::new();
        }
        self.slots.shrink_to(RECORDS_KEPT_MAX);
        self.offsets.shrink_to(RECORDS_KEPT_MAX);
    }
}

impl Slot {
    /// The ids of the record's hint, out of the bytes of its batch.
    pub(crate) fn targets<'b>(&self, bytes: &'b [u8]) -> impl Iterator<Item = Uuid> + use<'b> {
        use super::format::FRAME_HEADER_LEN;
        let body = bytes.get(self.start + FRAME_HEADER_LEN as usize..self.end).unwrap_or_default();
        let list = match self.class {
            HintClass::Targets | HintClass::ResultOf => super::frame::target_count(body).unwrap_or(0),
            HintClass::Plain | HintClass::Meta => 0,
        };
        let ids = body.get(4..4 + 16 * list).unwrap_or_default();
        ids.chunks_exact(16).map(|id| Uuid::from_slice(id).unwrap_or_default())
    }
}
