//! The writer's face: create, open, append, sync, close. FORMAT.md sections 8 and 9.

use std::ops::Deref;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use super::appender::{Appender, Core};
use super::batch::{Batch, Record};
use super::beside::{parent_dir, temporary_beside};
use super::counters::Counters;
use super::durability::Commit;
use super::error::LogError;
use super::flusher::Flusher;
use super::format as f;
use super::fs::Fs;
use super::header::{LogInfo, encode_page};
use super::lock::WriterLock;
use super::locked;
use super::options::{Durability, LogOptions, NewLog};
use super::piece::write_all;
use super::reader::{look, new_view, source_of};
use super::receipt::Receipt;
use super::recovery::{Plan, plan};
use super::report::OpenReport;
use super::state::Note;
use super::tail::Tail;
use super::view::LogView;

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
    appender: Arc<Appender>,
    flusher: Arc<Flusher>,
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
            incompat: if new.compressed { f::INCOMPAT_COMPRESSED } else { 0 },
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
        let started = (|| {
            fs.sync_dir(parent_dir(path)).map_err(failed("sync the directory of"))?;
            let lock = WriterLock::take(&fs, path, file)?;
            Self::start(fs.clone(), path, lock, options, |_, _| Ok(())).map(|(writer, ..)| writer)
        })();
        if let Err(LogError::Io { .. } | LogError::Full { .. }) = &started {
            // Nobody was told that the log exists, so it must not stay. (Where it was replaced, the name is somebody else's.)
            let _ = fs.remove(path);
        }
        started
    }

    /// Opens a log for writing: takes the lock, recovers what a crash has left, and only then returns.
    ///
    /// What the report calls recovered is durable. After a clean close nothing is written before the first append.
    ///
    /// # Errors
    /// `Locked` at once if there is another writer; `Damaged` if durable bytes are damaged or missing (nothing was changed);
    /// `NotFound`, `NotALog`, `NewerFormat`, `ReadOnlyFormat`, `Replaced`, `Full`, `Io`.
    pub fn open(fs: Arc<dyn Fs>, path: &Path, options: LogOptions) -> Result<(Self, OpenReport), LogError> {
        Self::open_after(fs, path, options, |_, _| Ok(())).map(|(writer, report, ())| (writer, report))
    }

    /// As [`LogWriter::open`], but reads first: `read` sees what a reader would see and what the open has found, before anything
    /// is written. Where it fails, nothing was; so damage that only a replay meets leaves the file as it is.
    ///
    /// # Errors
    /// As [`LogWriter::open`], and those of `read`.
    pub fn open_after<T, E: From<LogError>>(
        fs: Arc<dyn Fs>,
        path: &Path,
        options: LogOptions,
        read: impl FnOnce(&LogView, &OpenReport) -> Result<T, E>,
    ) -> Result<(Self, OpenReport, T), E> {
        let lock = WriterLock::open(&fs, path)?;
        Self::start(fs, path, lock, options, read)
    }

    fn start<T, E: From<LogError>>(
        fs: Arc<dyn Fs>,
        path: &Path,
        lock: WriterLock,
        options: LogOptions,
        read: impl FnOnce(&LogView, &OpenReport) -> Result<T, E>,
    ) -> Result<(Self, OpenReport, T), E> {
        let source = source_of(path, lock.file.clone(), &options);
        let (page, found) = look(&source)?;
        let unknown = page.info.ro_compat & !f::RO_COMPAT_KNOWN;
        if unknown != 0 {
            return Err(LogError::ReadOnlyFormat { path: path.to_path_buf(), ro_compat: unknown }.into());
        }
        let report = found.report(page.watermark, source.counters.get().bytes_read);
        let decision = plan(found.tail);
        if decision == Plan::Refuse {
            return Err(LogError::Damaged { path: path.to_path_buf(), report: Box::new(report) }.into());
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
        let counters = view.source.counters.clone();
        let tail = Arc::new(Tail::new(path.to_path_buf(), lock.file.clone(), counters, found.end, found.size));
        // Nobody else has given it one.
        let _ = view.source.tail.set(tail.clone());
        let durable = view.source.durable_end.clone();
        let window = (options.window_bytes, options.window);
        let commit = Commit::new(fs, tail.clone(), page.info.file_tag, durable, window);
        let core = Core {
            spare: Batch::new(),
            end: found.end,
            chain: found.chain,
            marked: found.tip.is_none() || mark_again.is_some(),
            mark_again,
            open_due: true,
            touched: false,
            indexed: None,
            index_given_up: false,
        };
        let appender = Appender {
            view,
            commit: Arc::new(commit),
            tail,
            lock,
            options,
            core: Mutex::new(core),
            stop: AtomicBool::new(false),
        };
        let read = read(&appender.view, &report)?;
        let mut report = report;
        if let Plan::Reopen(cause) = decision {
            // Asked for first, so that a log of which the state cannot be read is left as it is.
            appender.view.state(&mut locked(&appender.view.edge))?;
            appender.recover(&found, cause)?;
            report.end = appender.view.end();
            report.durable_end = appender.view.durable_end();
            report.bytes_read = appender.view.io().bytes_read;
        }
        appender.view.source.let_go();
        let writer = Self { appender: Arc::new(appender), flusher: Arc::default() };
        if decision != Plan::Keep {
            // The OPEN of the recovery wants its MARK too, if nothing follows; without a thread the close writes it.
            writer.flusher.start(&writer.appender);
        }
        Ok((writer, report, read))
    }

    /// Appends one batch: all of its records or none. When it returns, the bytes survive the end of this process; with
    /// [`Durability::Sync`] they are on the disk, with [`Durability::Buffered`] in this process's memory only.
    ///
    /// The note is what will hold once the batch is in.
    ///
    /// # Errors
    /// `RecordTooLarge` and `BadRecord` before anything is written; `ForkedProcess`; `Poisoned` after an earlier failure;
    /// `ForeignWrite`, `Full` and `Io` poison the writer: whether the batch is in the log, only a new open can tell.
    pub fn append(&self, records: &[Record<'_>], note: Note, durability: Durability) -> Result<Appended, LogError> {
        let mut batch = std::mem::take(&mut locked(&self.appender.core).spare);
        batch.clear();
        records.iter().for_each(|record| batch.push(record));
        let receipt = self.append_batch(&mut batch, note, durability)?;
        let offsets = batch.offsets().to_vec();
        batch.clear();
        locked(&self.appender.core).spare = batch;
        Ok(Appended { offsets, receipt })
    }

    /// As [`LogWriter::append`] with records that are encoded already. Where they stand, the batch says afterwards; its
    /// bytes are used up.
    ///
    /// # Errors
    /// As [`LogWriter::append`].
    pub fn append_batch(&self, batch: &mut Batch, note: Note, durability: Durability) -> Result<Receipt, LogError> {
        let receipt = self.append_quietly(batch, note, durability, true);
        self.flusher.tell(&self.appender.commit);
        receipt
    }

    /// As [`LogWriter::append_batch`], but a sync that is asked for is still to come: who holds something that others wait for
    /// lets go of it, and then waits for the receipt.
    pub(crate) fn append_unsynced(
        &self,
        batch: &mut Batch,
        note: Note,
        durability: Durability,
    ) -> Result<Receipt, LogError> {
        let receipt = self.append_quietly(batch, note, durability, false);
        self.flusher.tell(&self.appender.commit);
        receipt
    }

    fn append_quietly(
        &self,
        batch: &mut Batch,
        note: Note,
        durability: Durability,
        syncs: bool,
    ) -> Result<Receipt, LogError> {
        let appender = &*self.appender;
        appender.check_process()?;
        appender.check_batch(batch)?;
        if batch.is_empty() {
            return Ok(Receipt::done());
        }
        let end = appender.append(&mut locked(&appender.core), batch, note, durability)?;
        let flushing = self.flusher.start(&self.appender);
        match durability {
            Durability::Sync if syncs => appender.commit.sync_to(end)?,
            // No thread to be had: the sync that the receipt promises happens here.
            Durability::Group if !flushing => appender.commit.sync_to(end)?,
            // Nor anybody who would write it later.
            Durability::Buffered if !flushing => {
                appender.commit.flush()?;
                return Ok(Receipt::until(appender.commit.clone(), end));
            }
            Durability::Sync | Durability::Group | Durability::Os | Durability::Buffered => {
                return Ok(Receipt::until(appender.commit.clone(), end));
            }
        }
        Ok(Receipt::done())
    }

    /// Writes what is held back, so that it survives the end of this process.
    pub(crate) fn write_held(&self) -> Result<(), LogError> {
        self.appender.check_process()?;
        let written = self.appender.commit.flush();
        self.flusher.tell(&self.appender.commit);
        written
    }

    /// Returns when everything that was appended is durable.
    ///
    /// # Errors
    /// `ForkedProcess`, `Poisoned`; `Io` or `Full` if the sync fails, which poisons the writer.
    pub fn sync(&self) -> Result<(), LogError> {
        self.appender.check_process()?;
        let core = locked(&self.appender.core);
        let target = if core.touched { core.end } else { 0 };
        drop(core);
        self.appender.commit.check()?;
        let outcome = self.appender.commit.sync_to(target);
        self.flusher.tell(&self.appender.commit);
        outcome
    }

    /// A receipt for everything that was appended so far.
    pub fn receipt(&self) -> Receipt {
        let core = locked(&self.appender.core);
        if core.touched { Receipt::until(self.appender.commit.clone(), core.end) } else { Receipt::done() }
    }

    /// Closes the log: everything is durable, a MARK vouches for it, the file ends behind that, and the watermark names its
    /// end. A log that was opened clean and not written to is left as it was, to the byte.
    ///
    /// # Errors
    /// As [`LogWriter::sync`].
    pub fn close(self) -> Result<(), LogError> {
        self.end()
        // Drop finds the work done.
    }

    fn end(&self) -> Result<(), LogError> {
        let appender = &*self.appender;
        appender.check_process()?;
        if appender.stop.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        appender.commit.bell.ring();
        self.flusher.join();
        let closed = appender.commit.check().and_then(|()| appender.mark()).and_then(|()| appender.final_slot());
        let unlocked =
            appender.lock.file.unlock().map_err(|source| LogError::io(appender.view.path(), "unlock", 0, source));
        appender.commit.wake();
        closed.and(unlocked)
    }
}

impl Deref for LogWriter {
    type Target = LogView;

    fn deref(&self) -> &LogView {
        &self.appender.view
    }
}

impl Drop for LogWriter {
    fn drop(&mut self) {
        // A forked child has a copy of the handle, but no thread to join and nothing to close.
        let _ = self.end();
    }
}
