//! The copy of a session's records into a new file, frame by frame, and the check that it is the planned one.

use super::erase_match::{Taker, refused};
use super::erase_plan::{Moved, Plan};
use super::error::SessionError;
use super::replay::current;
use crate::event::{Compressor, Event, EventError, Uuid, Value, decode, decode_value, encode_into};
use crate::log::{
    Batch, Durability, Frame, FrameHead, FrameType, HintClass, IndexHint, LogError, LogView, LogWriter, Note, Place,
    Record,
};

/// Copies every record, batch by batch. At most one batch is held in memory, and where each record went.
pub(super) fn copy(old: &LogView, new: &LogWriter, plan: &Plan) -> Result<Moved, SessionError> {
    let mut copy = Copy {
        old,
        new,
        moved: Moved::default(),
        batch: Batch::new(),
        heads: Vec::new(),
        holds: Holds::default(),
        note: old.note()?,
        last: old.last_record()?.map_or(0, |frame| frame.offset()),
        compressor: new.info().is_compressed().then(Compressor::new).flatten(),
    };
    let mut taker = Taker::new(&plan.patterns);
    for frame in old.frames(0) {
        let frame = frame?;
        if frame.frame_type().is_own() {
            // They say what held there: the leaf too, which may have moved without a record that names it.
            copy.holds.head = frame.head().parent_off;
            continue;
        }
        let mut event = plan.apply(old, &frame, &mut taker)?.event;
        let begin = copy.heads.first().map_or(frame.offset(), |head| head.offset);
        copy.moved.mend(old, &mut event, begin)?;
        copy.push(&frame, &event)?;
        if !frame.head().batch_goes_on() {
            copy.write()?;
        }
    }
    copy.write()?;
    Ok(copy.moved)
}

struct Copy<'a> {
    old: &'a LogView,
    new: &'a LogWriter,
    moved: Moved,
    batch: Batch,
    /// The old headers of the records in the batch.
    heads: Vec<FrameHead>,
    holds: Holds,
    /// What holds at the end of the old file.
    note: Note,
    /// The last record of the old file.
    last: u64,
    compressor: Option<Compressor>,
}

/// What holds behind the records so far, by offsets of the old file; 0: nothing.
#[derive(Default)]
struct Holds {
    head: u64,
    boundary: u64,
    meta: u64,
}

impl Copy<'_> {
    fn push(&mut self, frame: &Frame, event: &Event) -> Result<(), SessionError> {
        let head = *frame.head();
        let targets: Vec<Uuid> = frame.targets().collect();
        let record = Record {
            frame_type: head.frame_type,
            skippable: head.is_skippable(),
            id: head.id,
            // Known once the batch is whole.
            parent: Place::None,
            boundary: Place::None,
            payload: &[],
            index: match head.hint {
                HintClass::Plain => IndexHint::Plain,
                HintClass::Meta => IndexHint::Meta,
                HintClass::Targets => IndexHint::Targets(&targets),
                HintClass::ResultOf => targets.first().map_or(IndexHint::Plain, |id| IndexHint::ResultOf(*id)),
            },
        };
        let mut saved = 0;
        let compressor = &mut self.compressor;
        self.batch.push_with(&record, |bytes| {
            let begin = bytes.len();
            encode_into(event, bytes)?;
            if let Some(compressor) = compressor {
                let end = bytes.len();
                compressor.shrink(bytes, begin);
                saved = (end - bytes.len()) as u64;
            }
            Ok::<_, EventError>(())
        })?;
        // What is compressed must fit as it was, as everywhere.
        let len = self.batch.stored_len(self.batch.len() - 1) + saved;
        let max = u64::from(self.new.info().max_record);
        if len > max {
            return Err(LogError::RecordTooLarge { path: self.old.path().to_owned(), len, max }.into());
        }
        match head.frame_type {
            FrameType::Boundary => self.holds.boundary = head.offset,
            _ => self.holds.boundary = head.boundary_off,
        }
        if head.is_leaf() {
            self.holds.head = head.offset;
        } else if head.frame_type == FrameType::Head {
            self.holds.head = head.parent_off;
        }
        if head.hint == HintClass::Meta {
            self.holds.meta = head.offset;
        }
        self.heads.push(head);
        Ok(())
    }

    fn write(&mut self) -> Result<(), SessionError> {
        let Some(last) = self.heads.last() else { return Ok(()) };
        for (index, head) in self.heads.iter().enumerate() {
            self.batch.set_places(index, self.place(head.parent_off), self.place(head.boundary_off));
        }
        let (head, boundary, meta) = match last.offset == self.last {
            // From the log itself: a frame behind the last record may have told more.
            true => {
                let old = |place: Place| if let Place::At(offset) = place { offset } else { 0 };
                (old(self.note.head), old(self.note.boundary), old(self.note.meta))
            }
            false => (self.holds.head, self.holds.boundary, self.holds.meta),
        };
        let note = Note {
            meta: self.place(meta),
            last_id: self.note.last_id,
            head: self.place(head),
            boundary: self.place(boundary),
        };
        drop(self.new.append_batch(&mut self.batch, note, Durability::Os)?);
        for (head, offset) in self.heads.iter().zip(self.batch.offsets()) {
            self.moved.push(head.offset, *offset);
        }
        self.heads.clear();
        self.batch.clear();
        Ok(())
    }

    /// Where what stands at this place of the old file goes. A place that no record has is a hint that leads nowhere.
    fn place(&self, old: u64) -> Place {
        match self.heads.iter().position(|head| head.offset == old) {
            Some(index) => Place::InBatch(index),
            None => self.moved.get(old).map_or(Place::None, Place::At),
        }
    }
}

/// Reads the new file and compares it with the plan, record by record; and looks through every text of it, by another way
/// than the one that took them out.
pub(super) fn check(old: &LogView, new: &LogView, plan: &Plan, moved: &Moved) -> Result<(), SessionError> {
    let differs =
        |what: &str| refused(format!("the new file is not the planned one ({what}); the old one stays as it was"));
    let (a, b) = (old.info(), new.info());
    let same = (a.log_id, a.parent, a.created_at, a.max_record) == (b.log_id, b.parent, b.created_at, b.max_record);
    if !same || a.is_compressed() != b.is_compressed() {
        return Err(differs("its header"));
    }
    let is_record = |frame: &Result<Frame, LogError>| frame.as_ref().map_or(true, |frame| !frame.frame_type().is_own());
    let mut found = new.frames(0).filter(is_record);
    let mut begin = None;
    for frame in old.frames(0).filter(is_record) {
        let (frame, copied) = (frame?, found.next().transpose()?);
        let copied = copied.ok_or_else(|| differs("its end"))?;
        let mut taker = Taker::new(&plan.patterns);
        let mut planned = plan.apply(old, &frame, &mut taker)?.event;
        moved.mend(old, &mut planned, *begin.get_or_insert(frame.offset()))?;
        begin = begin.filter(|_| frame.head().batch_goes_on());
        let event = decode(copied.payload()).map_err(|_| differs("an event that can't be read"))?;
        if !same_place(&frame, &copied, moved) || event != planned {
            return Err(differs(&format!("event {}", frame.id())));
        }
        let mut again = Taker::new(&plan.patterns);
        let once_more = plan.apply(new, &copied, &mut again)?;
        let texts = count(&decode_value(copied.payload())?, &again);
        if once_more.changed || texts != again.left.values().sum::<u64>() + again.names {
            return Err(differs(&format!("something is left in event {}", frame.id())));
        }
    }
    if found.next().is_some() || new.record_count()? != moved.len() {
        return Err(differs("the number of its events"));
    }
    let (note, then) = (new.note()?, old.note()?);
    let goes_to = |place: Place| match place {
        Place::At(offset) => moved.get(offset).map_or(Place::None, Place::At),
        other => other,
    };
    let expected = Note {
        meta: goes_to(then.meta),
        last_id: then.last_id,
        head: goes_to(then.head),
        boundary: goes_to(then.boundary),
    };
    if note != expected {
        return Err(differs("what holds at its end"));
    }
    // And it can be resumed.
    current(new)?.unharmed().map(drop)
}

/// Whether header and hints say the same of both.
fn same_place(old: &Frame, new: &Frame, moved: &Moved) -> bool {
    let (a, b) = (old.head(), new.head());
    let goes_to = |offset: u64| if offset == 0 { 0 } else { moved.get(offset).unwrap_or(0) };
    (a.frame_type, a.hint, a.id) == (b.frame_type, b.hint, b.id)
        && (a.is_skippable(), a.batch_goes_on(), a.is_leaf()) == (b.is_skippable(), b.batch_goes_on(), b.is_leaf())
        && (goes_to(a.parent_off), goes_to(a.boundary_off)) == (b.parent_off, b.boundary_off)
        && moved.get(a.offset) == Some(b.offset)
        && old.targets().eq(new.targets())
}

/// How often the patterns stand in any text of a value, whatever it means.
fn count(value: &Value, taker: &Taker<'_>) -> u64 {
    match value {
        Value::Text(text) => taker.count(text),
        Value::List(items) => items.iter().map(|item| count(item, taker)).sum(),
        Value::Map(fields) => fields.iter().map(|(name, value)| taker.count(name) + count(value, taker)).sum(),
        _ => 0,
    }
}
