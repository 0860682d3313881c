//! The end of the file in the hands of its one writer: what goes there, in which order, and what makes it durable.
//! FORMAT.md sections 8 and 9.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use uuid::Uuid;

use super::batch::Batch;
use super::durability::Commit;
use super::encode::Draft;
use super::error::LogError;
use super::format as f;
use super::frame::Frame;
use super::index;
use super::kind::FrameType;
use super::lock::WriterLock;
use super::locked;
use super::opening::{Analysis, replay_window};
use super::options::{Durability, LogOptions};
use super::piece::{Piece, write_all};
use super::report::Cause;
use super::state::{Note, Place, State, encode_open};
use super::tail::{Behind, Tail};
use super::view::{Edge, LogView};

/// What the writer's handle and its background thread share.
#[derive(Debug)]
pub(crate) struct Appender {
    pub(crate) view: LogView,
    pub(crate) commit: Arc<Commit>,
    pub(crate) tail: Arc<Tail>,
    pub(crate) lock: WriterLock,
    pub(crate) options: LogOptions,
    pub(crate) core: Mutex<Core>,
    pub(crate) stop: AtomicBool,
}

/// What the writer knows of the file's end. Whoever holds it may write.
#[derive(Debug)]
pub(crate) struct Core {
    /// Where the next frame goes, in bytes.
    pub(crate) end: u64,
    pub(crate) chain: u32,
    /// A MARK that closed the log: it is written again, with the same bytes, in front of the first append.
    pub(crate) mark_again: Option<Frame>,
    /// The first append of an opening writes an OPEN.
    pub(crate) open_due: bool,
    /// The last frame is a MARK, or there is none.
    pub(crate) marked: bool,
    /// This writer has written something.
    pub(crate) touched: bool,
    /// Where the last INDEX ends its coverage, and how many records there were then; read at first need.
    pub(crate) indexed: Option<(u64, u64)>,
    /// What is behind the last INDEX cannot be read, so no further one is made by this writer.
    pub(crate) index_given_up: bool,
    /// Records that are given as such are encoded here; kept for its room.
    pub(crate) spare: Batch,
}

impl Appender {
    pub(crate) fn check_process(&self) -> Result<(), LogError> {
        if self.lock.is_own_process() {
            Ok(())
        } else {
            Err(LogError::ForkedProcess { path: self.view.path().to_path_buf() })
        }
    }

    pub(crate) fn check_batch(&self, batch: &Batch) -> Result<(), LogError> {
        let path = || self.view.path().to_path_buf();
        let max = u64::from(self.view.info.max_record);
        let len = batch.slots.iter().fold(0_u64, |sum, slot| sum.saturating_add(slot.stored_len as u64));
        if len > max {
            return Err(LogError::RecordTooLarge { path: path(), len, max });
        }
        if !batch.is_whole() {
            let reason = "the batch is left over from an append that failed; clear it first";
            return Err(LogError::BadRecord { path: path(), reason });
        }
        for slot in &batch.slots {
            if slot.frame_type.is_own() || FrameType::from_byte(slot.frame_type.to_byte()).is_none() {
                return Err(LogError::BadRecord { path: path(), reason: "frames of this type are the log's own" });
            }
            for place in [slot.parent, slot.boundary] {
                if matches!(place, Place::InBatch(index) if index >= batch.slots.len()) {
                    return Err(LogError::BadRecord {
                        path: path(),
                        reason: "a place names a record that the batch does not have",
                    });
                }
            }
        }
        Ok(())
    }

    /// Writes one batch, with what has to stand in front of it, in one piece. Its offsets are known then; gives the end.
    pub(crate) fn append(
        &self,
        core: &mut Core,
        batch: &mut Batch,
        note: Note,
        durability: Durability,
    ) -> Result<u64, LogError> {
        let mut standing = self.commit.standing()?;
        let unsynced = standing.end - standing.durable;
        if unsynced > 0 && unsynced + batch.bytes.len() as u64 > 2 * self.options.window_bytes {
            // The window stays bounded, and so does the work of an open after a crash.
            self.commit.sync_to(core.end)?;
            standing = self.commit.standing()?;
        }
        let mut edge = locked(&self.view.edge);
        let mut state = self.view.state(&mut edge)?;
        let mut piece = self.prelude(core, &state, standing.durable)?;
        let index = self.push_index(core, &state, &mut piece, &mut edge)?;

        let lead = piece.bytes.len();
        let at = piece.at();
        batch.offsets.clear();
        batch.offsets.extend(batch.slots.iter().map(|slot| at + slot.start as u64));
        let resolve = |place: Place| {
            place.resolve(&batch.offsets).ok_or_else(|| LogError::BadRecord {
                path: self.view.path().to_path_buf(),
                reason: "the note names a record that the batch does not have",
            })
        };
        let head = resolve(note.head)?;
        state = State {
            meta_offset: resolve(note.meta)?,
            last_id: note.last_id,
            head,
            boundary: resolve(note.boundary)?,
            records: state.records.saturating_add(batch.len() as u64),
            ..state
        };
        // The bytes are taken as they are, but behind what seldom has to stand in front of them.
        if lead == 0 {
            piece.bytes = std::mem::take(&mut batch.bytes);
        } else {
            piece.bytes.extend_from_slice(&batch.bytes);
        }
        for (index, slot) in batch.slots.iter().enumerate() {
            let flag = |on: bool, flag: u8| if on { flag } else { 0 };
            let draft = Draft {
                offset: batch.offsets[index],
                flags: flag(index + 1 < batch.slots.len(), f::FLAG_BATCH)
                    | flag(slot.skippable, f::FLAG_SKIPPABLE)
                    | flag(note.head == Place::InBatch(index), f::FLAG_LEAF),
                id: slot.id,
                parent_off: resolve(slot.parent)?,
                boundary_off: resolve(slot.boundary)?,
                ..piece.draft(slot.frame_type)
            };
            piece.seal(&draft, slot.class, lead + slot.start..lead + slot.end, slot.stored_len);
        }
        if let Some(index) = &index {
            state.last_index = index.offset;
        }
        let start = core.end;
        // From here on a stop half-way, be it by a panic, would leave file and memory apart.
        let armed = self.commit.armed(piece.at());
        // What has to stand in front of it is written at once: only plain appends are held back.
        let may_hold = durability == Durability::Buffered && lead == 0 && !self.commit.has_held_long(standing);
        if may_hold && self.tail.has_room(piece.bytes.len()) {
            self.hold(core, &piece, &mut edge);
        } else {
            let behind = match durability {
                Durability::Sync | Durability::Group => Behind::Zeroed,
                Durability::Os | Durability::Buffered => Behind::Kept,
            };
            self.write(core, &piece, durability == Durability::Group, behind, &mut edge)?;
        }
        edge.state = Some(state);
        if let Some(recent) = edge.recent.as_mut().filter(|recent| recent.to == start) {
            for (slot, offset) in batch.slots.iter().zip(&batch.offsets) {
                let targets = slot.targets(&piece.bytes[lead..]);
                recent.add(slot.id, *offset, slot.frame_type, slot.class.to_byte(), targets);
            }
            recent.to = core.end;
        }
        if let Some(index) = index {
            if let Some(recent) = &mut edge.recent {
                recent.forget(index.covers_to);
            }
            core.indexed = Some((index.covers_to, state.records - batch.len() as u64));
            self.commit.slot_after(index.end);
        }
        drop(edge);
        armed.done();
        if lead == 0 {
            batch.bytes = piece.bytes;
        }
        Ok(core.end)
    }

    /// Puts an INDEX in front of the batch if one is due.
    pub(crate) fn push_index(
        &self,
        core: &mut Core,
        state: &State,
        piece: &mut Piece,
        edge: &mut Edge,
    ) -> Result<Option<PushedIndex>, LogError> {
        let (covered, records) = match core.indexed {
            Some(indexed) => indexed,
            None => *core.indexed.insert(self.last_indexed(state)?),
        };
        let due = state.records.saturating_sub(records) >= self.options.index_records
            || core.end.saturating_sub(covered) >= self.options.index_bytes;
        if !due || core.index_given_up {
            return Ok(None);
        }
        let offset = piece.at();
        let built = match index::build(&self.view, edge, offset) {
            Ok(built) => built,
            Err(LogError::Damaged { .. } | LogError::NoFrame { .. }) => {
                core.index_given_up = true; // look-ups will say so; appending does not depend on it
                None
            }
            Err(error) => return Err(error),
        };
        let Some(built) = built else { return Ok(None) };
        piece.push(Draft {
            parent_off: state.head,
            boundary_off: state.boundary,
            payload: &built.payload,
            ..piece.draft(FrameType::Index)
        });
        Ok(Some(PushedIndex { offset, end: piece.at(), covers_to: built.covers_to }))
    }

    pub(crate) fn last_indexed(&self, state: &State) -> Result<(u64, u64), LogError> {
        if state.last_index == 0 {
            return Ok((f::HEADER_PAGE_LEN, 0));
        }
        let table = self.view.table(state.last_index)?;
        Ok(table.map_or((self.view.end(), state.records), |table| (table.head.covers_to, table.head.state.records)))
    }

    /// What has to stand in front of the next record: the MARK of a clean close once more, and the OPEN of this opening.
    pub(crate) fn prelude(&self, core: &Core, state: &State, durable: u64) -> Result<Piece, LogError> {
        let mut piece = self.piece(core, durable);
        if core.open_due {
            let random = self.random_id()?;
            let payload = encode_open(state, piece.at(), Cause::None);
            piece.push(Draft {
                id: random,
                parent_off: state.head,
                boundary_off: state.boundary,
                payload: &payload,
                ..piece.draft(FrameType::Open)
            });
        }
        Ok(piece)
    }

    pub(crate) fn piece(&self, core: &Core, durable_end: u64) -> Piece {
        let again = core.mark_again.as_ref();
        Piece {
            start: again.map_or(core.end, Frame::offset),
            bytes: again.map(|mark| mark.bytes().to_vec()).unwrap_or_default(),
            chain: core.chain,
            durable_end,
            file_tag: self.view.info.file_tag,
            tip: 0,
        }
    }

    pub(crate) fn random_id(&self) -> Result<Uuid, LogError> {
        let mut random = [0; 16];
        self.view.fs.random(&mut random).map_err(|source| self.view.source.error("get random bytes for", 0, source))?;
        Ok(Uuid::from_bytes(random))
    }

    /// Writes a piece at the end of the log. A write that fails poisons the writer, and so does a file that is not as it was
    /// left.
    pub(crate) fn write(
        &self,
        core: &mut Core,
        piece: &Piece,
        urgent: bool,
        behind: Behind,
        edge: &mut Edge,
    ) -> Result<(), LogError> {
        let (end, marks) = (piece.at(), behind == Behind::Cut);
        let wrote = || self.commit.wrote(end, urgent, marks);
        let written =
            self.check_mark_again(core).and_then(|()| self.tail.write(piece.start, &piece.bytes, behind, wrote));
        if let Err(error) = written {
            self.commit.poison(end);
            return Err(error);
        }
        self.grown(core, piece, marks, edge);
        Ok(())
    }

    /// Takes a piece in at the end of the log, to be written later.
    fn hold(&self, core: &mut Core, piece: &Piece, edge: &mut Edge) {
        self.tail.hold(&piece.bytes, |len| self.commit.holds(piece.at(), len));
        self.grown(core, piece, false, edge);
    }

    fn grown(&self, core: &mut Core, piece: &Piece, marks: bool, edge: &mut Edge) {
        let (old_end, end) = (core.end, piece.at());
        core.end = end;
        core.chain = piece.chain;
        core.mark_again = None;
        core.open_due = false;
        core.marked = marks;
        core.touched = true;
        edge.tip = Some(piece.tip);
        edge.chain = piece.chain;
        if let Some(recent) = edge.recent.as_mut().filter(|recent| marks && recent.to == old_end) {
            recent.to = end;
        }
        self.view.end.store(end, Ordering::Release);
    }

    /// Before the MARK that is written again is overwritten: it is still there. If not, a second writer has come past the lock.
    fn check_mark_again(&self, core: &Core) -> Result<(), LogError> {
        let Some(mark) = &core.mark_again else { return Ok(()) };
        let there = self.view.source.chunk(mark.offset(), mark.bytes().len())?;
        if *there != *mark.bytes() {
            let (path, expected) = (self.view.path().to_path_buf(), mark.next_offset());
            return Err(LogError::ForeignWrite { path, expected, found: mark.offset() });
        }
        Ok(())
    }

    /// Makes an open after a crash true: the window is written again from what was just validated, an OPEN goes behind all
    /// data, and one sync makes both durable. Only then is anything called recovered.
    pub(crate) fn recover(&self, found: &Analysis, cause: Cause) -> Result<(), LogError> {
        let mut core = locked(&self.core);
        self.rewrite_window(found)?;
        let state = self.view.state(&mut locked(&self.view.edge))?;
        let skip_from = core.end;
        core.end = found.data_end;
        self.tail.step_over(core.end, skip_from);
        let mut piece = self.piece(&core, self.commit.durable());
        let payload = encode_open(&state, skip_from, cause);
        let random = self.random_id()?;
        piece.push(Draft {
            id: random,
            parent_off: state.head,
            boundary_off: state.boundary,
            payload: &payload,
            ..piece.draft(FrameType::Open)
        });
        self.write(&mut core, &piece, false, Behind::Kept, &mut locked(&self.view.edge))?;
        let end = core.end;
        drop(core);
        self.commit.sync_to(end)
    }

    pub(crate) fn rewrite_window(&self, found: &Analysis) -> Result<(), LogError> {
        let rewrite = |offset: u64, bytes: &[u8]| {
            write_all(&*self.view.source.file, &self.view.source.counters, bytes, offset)
                .map_err(|source| self.view.source.error("write again", offset, source))
        };
        replay_window(&self.view.source, self.view.info.rules(), found, rewrite)
    }

    /// Sync, MARK, sync: afterwards the last frame says that everything is durable. Nothing is done if it says so already.
    pub(crate) fn mark(&self) -> Result<(), LogError> {
        if locked(&self.core).marked {
            return Ok(());
        }
        self.commit.sync_appended()?;
        let mut core = locked(&self.core);
        if core.marked || self.commit.unsynced() > 0 {
            return Ok(()); // an append came in between; its own idle time will end
        }
        self.commit.check()?;
        let state = self.view.state(&mut locked(&self.view.edge))?;
        let mut payload = Vec::with_capacity(f::MARK_LEN);
        state.encode(&mut payload);
        let mut piece = self.piece(&core, self.commit.durable());
        piece.push(Draft {
            parent_off: state.head,
            boundary_off: state.boundary,
            payload: &payload,
            ..piece.draft(FrameType::Mark)
        });
        self.write(&mut core, &piece, false, Behind::Cut, &mut locked(&self.view.edge))?;
        let end = core.end;
        drop(core);
        self.commit.sync_to(end)
    }

    /// The watermark at a close: the file's end is durable by now.
    pub(crate) fn final_slot(&self) -> Result<(), LogError> {
        let core = locked(&self.core);
        if !core.touched {
            return Ok(());
        }
        self.commit.check_named()?;
        self.commit.write_slot(core.end)
    }
}

#[derive(Debug)]
pub(crate) struct PushedIndex {
    pub(crate) offset: u64,
    pub(crate) end: u64,
    pub(crate) covers_to: u64,
}
