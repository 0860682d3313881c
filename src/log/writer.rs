//! The one writer of a log: create, open, append, sync, close. FORMAT.md sections 8 and 9.

use std::io;
use std::ops::Deref;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use uuid::Uuid;

use super::durability::{Chore, Commit, Durability, Receipt};
use super::error::LogError;
use super::format as f;
use super::frame::{Draft, Frame, FrameType, IndexHint, encode, encoded_len};
use super::fs::{Fs, FsFile, parent_dir, temporary_beside};
use super::header::{LogInfo, encode_page};
use super::index;
use super::lock::{WriterLock, check_identity};
use super::locked;
use super::options::{LogOptions, NewLog};
use super::reader::{look, new_view, source_of};
use super::recovery::{Plan, plan};
use super::report::{Cause, OpenReport};
use super::source::Counters;
use super::state::{Note, Place, State, encode_open};
use super::view::{Edge, LogView};

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

/// What an append gives back.
#[derive(Debug)]
pub struct Appended {
    /// Where each record stands, in the order of the batch, in bytes from the start of the file.
    pub offsets: Vec<u64>,
    /// When it is durable.
    pub receipt: Receipt,
}

/// The one writer of a log. Any thread may use it; dropping it closes the log as well as it can.
#[derive(Debug)]
pub struct LogWriter {
    shared: Arc<Shared>,
    flusher: Arc<Mutex<Flusher>>,
}

#[derive(Debug, Default)]
struct Flusher {
    running: bool,
    handle: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    view: LogView,
    commit: Arc<Commit>,
    lock: WriterLock,
    options: LogOptions,
    core: Mutex<Core>,
    stop: AtomicBool,
}

/// What the writer knows of the file's end. Whoever holds it may write.
#[derive(Debug)]
struct Core {
    /// Where the next frame goes, in bytes.
    end: u64,
    /// Length that the file must have, in bytes: more than `end` where zeros follow.
    size: u64,
    chain: u32,
    /// A MARK that closed the log: it is written again, with the same bytes, in front of the first append.
    mark_again: Option<Frame>,
    /// The first append of an opening writes an OPEN.
    open_due: bool,
    /// The last frame is a MARK, or there is none.
    marked: bool,
    /// This writer has written something.
    touched: bool,
    /// Where the last INDEX ends its coverage, and how many records there were then; read at first need.
    indexed: Option<(u64, u64)>,
    /// What is behind the last INDEX cannot be read, so no further one is made by this writer.
    index_given_up: bool,
}

impl LogWriter {
    /// Makes a new log and keeps it open. When it returns, the empty log is durable under its name; before, there is no file of
    /// that name. Only the owner can read it.
    ///
    /// # Errors
    /// `Exists` if there is a file of that name, `Full`, `Io`.
    pub fn create(fs: Arc<dyn Fs>, path: &Path, new: NewLog, options: LogOptions) -> Result<Self, LogError> {
        let failed = |op| move |source| LogError::io(path, op, 0, source);
        if fs.identity(path).is_ok() {
            return Err(LogError::Exists { path: path.to_path_buf() });
        }
        let mut random = [0; 4];
        while random == [0; 4] {
            fs.random(&mut random).map_err(failed("get random bytes for"))?;
        }
        let info = LogInfo {
            major: f::FORMAT_MAJOR,
            minor: f::FORMAT_MINOR,
            compat: 0,
            ro_compat: 0,
            incompat: 0,
            log_id: new.log_id,
            parent: new.parent,
            max_record: new.max_record,
            file_tag: u32::from_le_bytes(random),
            created_at: new.created_at,
            header_crc: 0,
        };
        let page = encode_page(&info);
        let temporary = temporary_beside(&*fs, path).map_err(failed("get random bytes for"))?;
        let file = fs.create(&temporary).map_err(failed("create a temporary file beside"))?;
        let made = (|| {
            write_all(&*file, &Counters::default(), &page, 0).map_err(failed("write the header of"))?;
            file.sync_data().map_err(failed("sync"))?;
            // Locked before it has its name, so that nobody can come in between.
            if !file.try_lock().map_err(failed("lock"))? {
                return Err(LogError::Locked { path: path.to_path_buf() });
            }
            fs.publish(&temporary, path).map_err(failed("name"))
        })();
        if let Err(error) = made {
            let _ = fs.remove(&temporary);
            return Err(error);
        }
        if let Err(source) = fs.sync_dir(parent_dir(path)) {
            // Nobody was told that the log exists: without a durable name it must not stay either.
            let _ = fs.remove(path);
            return Err(LogError::io(path, "sync the directory of", 0, source));
        }
        check_identity(&*fs, path, &*file)?;
        let lock = WriterLock::take(&*fs, path, file)?;
        Self::start(fs, path, lock, options).map(|(writer, _)| writer)
    }

    /// Opens a log for writing: takes the lock, recovers what a crash has left, and only then returns.
    ///
    /// What the report calls recovered is durable. After a clean close nothing is written before the first append.
    ///
    /// # Errors
    /// `Locked` at once if there is another writer; `Damaged` if durable bytes are damaged or missing (nothing was changed);
    /// `NotFound`, `NotALog`, `NewerFormat`, `ReadOnlyFormat`, `Replaced`, `Full`, `Io`.
    pub fn open(fs: Arc<dyn Fs>, path: &Path, options: LogOptions) -> Result<(Self, OpenReport), LogError> {
        let lock = WriterLock::open(&*fs, path)?;
        Self::start(fs, path, lock, options)
    }

    fn start(
        fs: Arc<dyn Fs>,
        path: &Path,
        lock: WriterLock,
        options: LogOptions,
    ) -> Result<(Self, OpenReport), LogError> {
        let source = source_of(path, lock.file.clone(), &options);
        let (page, found) = look(&source)?;
        let unknown = page.info.ro_compat & !f::RO_COMPAT_KNOWN;
        if unknown != 0 {
            return Err(LogError::ReadOnlyFormat { path: path.to_path_buf(), ro_compat: unknown });
        }
        let report = found.report(page.watermark, source.counters.get().bytes_read);
        let decision = plan(found.tail);
        if decision == Plan::Refuse {
            return Err(LogError::Damaged { path: path.to_path_buf(), report: Box::new(report) });
        }
        let view = new_view(fs.clone(), source, &page, &found);
        // The durable end starts where the file's own frames put it, never at its end.
        view.source.durable_end.store(found.window_start, Ordering::Release);
        let mark_again = match found.tip {
            Some(tip) if decision == Plan::Keep => Some(view.frame(tip.offset)?),
            _ => None,
        };
        if let Some(mark) = &mark_again {
            view.source.durable_end.store(mark.offset(), Ordering::Release);
        }
        let commit = Commit::new(
            fs,
            path.to_path_buf(),
            lock.file.clone(),
            page.info.file_tag,
            view.source.counters.clone(),
            view.source.durable_end.clone(),
            (options.window_bytes, options.window),
        );
        let core = Core {
            end: found.end,
            size: found.size,
            chain: found.chain,
            marked: found.tip.is_none() || mark_again.is_some(),
            mark_again,
            open_due: true,
            touched: false,
            indexed: None,
            index_given_up: false,
        };
        let shared = Shared {
            view,
            commit: Arc::new(commit),
            lock,
            options,
            core: Mutex::new(core),
            stop: AtomicBool::new(false),
        };
        let mut report = report;
        if let Plan::Reopen(cause) = decision {
            shared.recover(&found, cause)?;
            report.end = shared.view.end();
            report.durable_end = shared.view.durable_end();
            report.bytes_read = shared.view.io().bytes_read;
        }
        Ok((Self { shared: Arc::new(shared), flusher: Arc::default() }, report))
    }

    /// Appends one batch: all of its records or none. When it returns, the bytes survive the end of this process; with
    /// [`Durability::Sync`] they are on the disk.
    ///
    /// The note is what will hold once the batch is in.
    ///
    /// # Errors
    /// `RecordTooLarge` and `BadRecord` before anything is written; `ForkedProcess`; `Poisoned` after an earlier failure;
    /// `ForeignWrite`, `Full` and `Io` poison the writer: whether the batch is in the log, only a new open can tell.
    pub fn append(&self, batch: &[Record<'_>], note: Note, durability: Durability) -> Result<Appended, LogError> {
        let shared = &*self.shared;
        shared.check_process()?;
        shared.check_batch(batch)?;
        if batch.is_empty() {
            return Ok(Appended { offsets: Vec::new(), receipt: Receipt::done() });
        }
        let (offsets, end) = shared.append(&mut locked(&shared.core), batch, note, durability == Durability::Group)?;
        let flushing = self.start_flusher();
        let receipt = match durability {
            Durability::Sync => {
                shared.commit.sync_to(end)?;
                Receipt::done()
            }
            Durability::Group if !flushing => {
                // No thread to be had: the sync that the receipt promises happens here.
                shared.commit.sync_to(end)?;
                Receipt::done()
            }
            Durability::Group | Durability::Os => Receipt::until(shared.commit.clone(), end),
        };
        Ok(Appended { offsets, receipt })
    }

    /// Returns when everything that was appended is durable.
    ///
    /// # Errors
    /// `ForkedProcess`, `Poisoned`; `Io` or `Full` if the sync fails, which poisons the writer.
    pub fn sync(&self) -> Result<(), LogError> {
        self.shared.check_process()?;
        let core = locked(&self.shared.core);
        let target = if core.touched { core.end } else { 0 };
        drop(core);
        self.shared.commit.check()?;
        self.shared.commit.sync_to(target)
    }

    /// A receipt for everything that was appended so far.
    pub fn receipt(&self) -> Receipt {
        let core = locked(&self.shared.core);
        if core.touched { Receipt::until(self.shared.commit.clone(), core.end) } else { Receipt::done() }
    }

    /// Closes the log: everything is durable, a MARK vouches for it, and the watermark names its end. A log that was opened
    /// clean and not written to is left as it was, to the byte.
    ///
    /// # Errors
    /// As [`LogWriter::sync`].
    pub fn close(self) -> Result<(), LogError> {
        self.end()
        // Drop finds the work done.
    }

    fn end(&self) -> Result<(), LogError> {
        let shared = &*self.shared;
        shared.check_process()?;
        if shared.stop.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        shared.commit.bell.ring();
        let handle = locked(&self.flusher).handle.take();
        if let Some(handle) = handle {
            let _ = handle.join();
        }
        let closed = shared.commit.check().and_then(|()| shared.mark()).and_then(|()| shared.final_slot());
        let unlocked =
            shared.lock.file.unlock().map_err(|source| LogError::io(shared.view.path(), "unlock", 0, source));
        closed.and(unlocked)
    }

    /// Starts the background thread if it does not run. False if there is none to be had.
    fn start_flusher(&self) -> bool {
        let mut flusher = locked(&self.flusher);
        if flusher.running {
            return true;
        }
        let (shared, state) = (self.shared.clone(), self.flusher.clone());
        let spawned =
            std::thread::Builder::new().name(String::from("seslog-flush")).spawn(move || flush(&shared, &state));
        flusher.running = spawned.is_ok();
        flusher.handle = spawned.ok();
        flusher.running
    }
}

impl Deref for LogWriter {
    type Target = LogView;

    fn deref(&self) -> &LogView {
        &self.shared.view
    }
}

impl Drop for LogWriter {
    fn drop(&mut self) {
        // A forked child has a copy of the handle, but no thread to join and nothing to close.
        let _ = self.end();
    }
}

/// The background thread: bounds the unsynced window in bytes and time, serves those who wait, marks an idle log, and ends.
fn flush(shared: &Shared, state: &Mutex<Flusher>) {
    loop {
        let seen = shared.commit.bell.count();
        if shared.stop.load(Ordering::Acquire) {
            break;
        }
        match shared.commit.chore() {
            // Errors poison the log, and whoever waits hears of them there.
            Chore::Sync => drop(shared.commit.sync_written()),
            Chore::Mark => {
                if shared.mark().is_err() {
                    break;
                }
            }
            Chore::Wait(Some(until)) => shared.view.fs.wait(&shared.commit.bell, seen, Some(until)),
            Chore::Wait(None) | Chore::Stop => {
                // An append looks at `running` after it has left its work: either it sees the end, or this sees the work.
                let mut flusher = locked(state);
                if matches!(shared.commit.chore(), Chore::Wait(None) | Chore::Stop) {
                    flusher.running = false;
                    return;
                }
            }
        }
    }
    locked(state).running = false;
}

impl Shared {
    fn check_process(&self) -> Result<(), LogError> {
        if self.lock.is_own_process(&*self.view.fs) {
            Ok(())
        } else {
            Err(LogError::ForkedProcess { path: self.view.path().to_path_buf() })
        }
    }

    fn check_batch(&self, batch: &[Record<'_>]) -> Result<(), LogError> {
        let path = || self.view.path().to_path_buf();
        let max = u64::from(self.view.info.max_record);
        let len = batch.iter().fold(0_u64, |sum, record| {
            sum.saturating_add(record.payload.len() as u64).saturating_add(record.index.stored_len())
        });
        if len > max {
            return Err(LogError::RecordTooLarge { path: path(), len, max });
        }
        for record in batch {
            if record.frame_type.is_own() || FrameType::from_byte(record.frame_type.to_byte()).is_none() {
                return Err(LogError::BadRecord { path: path(), reason: "frames of this type are the log's own" });
            }
            for place in [record.parent, record.boundary] {
                if matches!(place, Place::InBatch(index) if index >= batch.len()) {
                    return Err(LogError::BadRecord {
                        path: path(),
                        reason: "a place names a record that the batch does not have",
                    });
                }
            }
        }
        Ok(())
    }

    /// Writes one batch, with what has to stand in front of it, in one piece. Gives the offsets and the end.
    fn append(
        &self,
        core: &mut Core,
        batch: &[Record<'_>],
        note: Note,
        urgent: bool,
    ) -> Result<(Vec<u64>, u64), LogError> {
        self.commit.check()?;
        let len: u64 = batch.iter().map(|record| encoded_len(&record.index, record.payload.len())).sum();
        let unsynced = self.commit.unsynced();
        if unsynced > 0 && unsynced + len > 2 * self.options.window_bytes {
            // The window stays bounded, and so does the work of an open after a crash.
            self.commit.sync_to(core.end)?;
        }
        let mut state = self.view.state(&mut locked(&self.view.edge))?;
        let mut piece = self.prelude(core, &state)?;
        let index = self.push_index(core, &state, &mut piece)?;

        let mut offsets = Vec::with_capacity(batch.len());
        let mut at = piece.at();
        for record in batch {
            offsets.push(at);
            at += encoded_len(&record.index, record.payload.len());
        }
        let resolve = |place: Place| {
            place.resolve(&offsets).ok_or_else(|| LogError::BadRecord {
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
            records: state.records + batch.len() as u64,
            ..state
        };
        for (index, record) in batch.iter().enumerate() {
            let flag = |on: bool, flag: u8| if on { flag } else { 0 };
            piece.push(Draft {
                flags: flag(index + 1 < batch.len(), f::FLAG_BATCH)
                    | flag(record.skippable, f::FLAG_SKIPPABLE)
                    | flag(note.head == Place::InBatch(index), f::FLAG_LEAF),
                hint: record.index,
                id: record.id,
                parent_off: resolve(record.parent)?,
                boundary_off: resolve(record.boundary)?,
                payload: record.payload,
                ..piece.draft(record.frame_type)
            });
        }
        if let Some(index) = &index {
            state.last_index = index.offset;
        }
        let start = core.end;
        let mut edge = locked(&self.view.edge);
        self.write(core, &piece, urgent, false, &mut edge)?;
        edge.state = Some(state);
        if let Some(recent) = edge.recent.as_mut().filter(|recent| recent.to == start) {
            for (record, offset) in batch.iter().zip(&offsets) {
                let targets = record.index.targets().iter().copied();
                recent.add(record.id, *offset, record.frame_type, record.index.class().to_byte(), targets);
            }
            recent.to = core.end;
        }
        if let Some(index) = index {
            if let Some(recent) = &mut edge.recent {
                recent.forget(index.covers_to);
            }
            core.indexed = Some((index.covers_to, state.records - batch.len() as u64));
            self.commit.slot_after(index.offset, index.end);
        }
        drop(edge);
        Ok((offsets, core.end))
    }

    /// Puts an INDEX in front of the batch if one is due.
    fn push_index(&self, core: &mut Core, state: &State, piece: &mut Piece) -> Result<Option<PushedIndex>, LogError> {
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
        let built = match index::build(&self.view, &mut locked(&self.view.edge), offset) {
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

    fn last_indexed(&self, state: &State) -> Result<(u64, u64), LogError> {
        if state.last_index == 0 {
            return Ok((f::HEADER_PAGE_LEN, 0));
        }
        let table = index::table(&self.view, state.last_index)?;
        Ok(table.map_or((self.view.end(), state.records), |table| (table.head.covers_to, table.head.state.records)))
    }

    /// What has to stand in front of the next record: the MARK of a clean close once more, and the OPEN of this opening.
    fn prelude(&self, core: &Core, state: &State) -> Result<Piece, LogError> {
        let mut piece = self.piece(core);
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

    fn piece(&self, core: &Core) -> Piece {
        let again = core.mark_again.as_ref();
        Piece {
            start: again.map_or(core.end, Frame::offset),
            bytes: again.map(|mark| mark.bytes().to_vec()).unwrap_or_default(),
            chain: core.chain,
            durable_end: self.commit.durable(),
            file_tag: self.view.info.file_tag,
            tip: 0,
        }
    }

    fn random_id(&self) -> Result<Uuid, LogError> {
        let mut random = [0; 16];
        self.view.fs.random(&mut random).map_err(|source| self.view.source.error("get random bytes for", 0, source))?;
        Ok(Uuid::from_bytes(random))
    }

    /// Writes a piece at the end of the log. Any failure poisons the writer.
    fn write(
        &self,
        core: &mut Core,
        piece: &Piece,
        urgent: bool,
        marks: bool,
        edge: &mut Edge,
    ) -> Result<(), LogError> {
        let end = piece.at();
        self.check_untouched(core, piece)?;
        let file = &*self.view.source.file;
        if let Err(source) = write_all(file, &self.view.source.counters, &piece.bytes, piece.start) {
            self.commit.poison(end);
            return Err(self.view.source.error("write", piece.start, source));
        }
        let old_end = core.end;
        core.end = end;
        core.size = core.size.max(end);
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
        self.commit.wrote(end, urgent, marks);
        Ok(())
    }

    /// Before a byte is overwritten: the file is as long as this writer left it, and there are only zeros where it will write
    /// (or the MARK that is written again). If not, a second writer has come past the lock.
    fn check_untouched(&self, core: &Core, piece: &Piece) -> Result<(), LogError> {
        let foreign = |found| {
            self.commit.poison(core.end);
            Err(LogError::ForeignWrite { path: self.view.path().to_path_buf(), expected: core.size, found })
        };
        let size = self.view.source.size()?;
        if size != core.size {
            return foreign(size);
        }
        if let Some(mark) = &core.mark_again {
            let there = self.view.source.chunk(mark.offset(), mark.bytes().len())?;
            if *there != *mark.bytes() {
                return foreign(mark.offset());
            }
        }
        let mut at = core.end;
        while at < size.min(piece.at()) {
            let len = (size.min(piece.at()) - at).min(64 << 10);
            let there = self.view.source.chunk(at, len as usize)?;
            if let Some(byte) = there.iter().position(|byte| *byte != 0) {
                return foreign(at + byte as u64);
            }
            at += len;
        }
        Ok(())
    }

    /// Makes an open after a crash true: the window is written again from what was just validated, an OPEN goes behind all
    /// data, and one sync makes both durable. Only then is anything called recovered.
    fn recover(&self, found: &super::opening::Analysis, cause: Cause) -> Result<(), LogError> {
        let mut core = locked(&self.core);
        self.rewrite_window(found)?;
        let state = self.view.state(&mut locked(&self.view.edge))?;
        let skip_from = core.end;
        core.end = found.data_end;
        let mut piece = self.piece(&core);
        let payload = encode_open(&state, skip_from, cause);
        let random = self.random_id()?;
        piece.push(Draft {
            id: random,
            parent_off: state.head,
            boundary_off: state.boundary,
            payload: &payload,
            ..piece.draft(FrameType::Open)
        });
        self.write(&mut core, &piece, false, false, &mut locked(&self.view.edge))?;
        let end = core.end;
        drop(core);
        self.commit.sync_to(end)
    }

    fn rewrite_window(&self, found: &super::opening::Analysis) -> Result<(), LogError> {
        let rewrite = |offset: u64, bytes: &[u8]| {
            write_all(&*self.view.source.file, &self.view.source.counters, bytes, offset)
                .map_err(|source| self.view.source.error("write again", offset, source))
        };
        super::opening::replay_window(&self.view.source, self.view.info.rules(), found, rewrite)
    }

    /// Sync, MARK, sync: afterwards the last frame says that everything is durable. Nothing is done if it says so already.
    fn mark(&self) -> Result<(), LogError> {
        if locked(&self.core).marked {
            return Ok(());
        }
        self.commit.sync_written()?;
        let mut core = locked(&self.core);
        if core.marked || self.commit.unsynced() > 0 {
            return Ok(()); // an append came in between; its own idle time will end
        }
        self.commit.check()?;
        let state = self.view.state(&mut locked(&self.view.edge))?;
        let mut payload = Vec::with_capacity(f::MARK_LEN);
        state.encode(&mut payload);
        let mut piece = self.piece(&core);
        piece.push(Draft {
            parent_off: state.head,
            boundary_off: state.boundary,
            payload: &payload,
            ..piece.draft(FrameType::Mark)
        });
        self.write(&mut core, &piece, false, true, &mut locked(&self.view.edge))?;
        let end = core.end;
        drop(core);
        self.commit.sync_to(end)
    }

    /// The watermark at a close: the file's end is durable by now.
    fn final_slot(&self) -> Result<(), LogError> {
        let core = locked(&self.core);
        if !core.touched {
            return Ok(());
        }
        let state = self.view.state(&mut locked(&self.view.edge))?;
        self.commit.write_slot(core.end, state.last_index)
    }
}

#[derive(Debug)]
struct PushedIndex {
    offset: u64,
    end: u64,
    covers_to: u64,
}

/// Frames that are written together.
#[derive(Debug)]
struct Piece {
    start: u64,
    bytes: Vec<u8>,
    chain: u32,
    durable_end: u64,
    file_tag: u32,
    /// Where its last frame starts.
    tip: u64,
}

impl Piece {
    /// Where the next frame goes.
    fn at(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }

    /// A frame at the next place with nothing in it.
    fn draft<'a>(&self, frame_type: FrameType) -> Draft<'a> {
        Draft {
            offset: self.at(),
            frame_type,
            flags: 0,
            hint: IndexHint::Plain,
            file_tag: self.file_tag,
            durable_end: self.durable_end,
            chain: self.chain,
            id: Uuid::nil(),
            parent_off: 0,
            boundary_off: 0,
            payload: &[],
        }
    }

    fn push(&mut self, draft: Draft<'_>) {
        self.tip = draft.offset;
        self.chain = encode(&draft, &mut self.bytes);
    }
}

/// Writes all bytes at a place. A short write goes on, an interrupted one is repeated; every other error ends it.
pub(crate) fn write_all(file: &dyn FsFile, counters: &Counters, bytes: &[u8], offset: u64) -> io::Result<()> {
    let mut done = 0;
    while done < bytes.len() {
        match file.write_at(&bytes[done..], offset + done as u64) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => {
                counters.wrote(count as u64);
                done += count;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
