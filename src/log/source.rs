//! Reading a log's bytes: single places by pread or through the map, runs through a read-ahead buffer. Everything is counted.

use std::io;
use std::ops::{Deref, Range};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use super::counters::Counters;
use super::error::LogError;
use super::format as f;
use super::fs::FsFile;
use super::locked;
use super::map::Map;
use super::tail::Tail;

/// Smallest and largest piece that a read-ahead fetches. The largest stays in a processor's cache until it is taken apart.
const PIECE_MIN: usize = 4 << 10;
const PIECE_MAX: usize = 256 << 10;
/// What is held of a file while it is opened: no less is worth it, and no more is. A writer syncs before its window is larger.
const HELD_MIN: u64 = 16 << 10;
const HELD_MAX: u64 = 16 << 20;
/// As much is fetched ahead of its reading, at most: behind that, the system sees a run by itself.
const FETCHED_MAX: u64 = 8 << 20;
/// The largest piece of a short run.
const RUN_PIECE_MIN: u64 = 64 << 10;
/// The first piece of a walk back from the end: mostly it holds all that an open asks for.
pub(crate) const TAIL_PIECE: usize = 16 << 10;
/// The map grows at least by so much, so that following a growing log does not map it anew for each frame.
const MAP_STEP: u64 = 16 << 20;

/// Bytes of the file: part of a map or of a buffer. A clone is cheap.
#[derive(Clone)]
pub(crate) struct Chunk {
    store: Store,
    range: Range<usize>,
}

#[derive(Clone)]
enum Store {
    Map(Arc<Map>),
    Buffer(Arc<Vec<u8>>),
}

impl Chunk {
    pub(crate) fn copy(bytes: &[u8]) -> Self {
        Self { range: 0..bytes.len(), store: Store::Buffer(Arc::new(bytes.to_vec())) }
    }

    /// A part; cut to what there is.
    pub(crate) fn slice(&self, from: usize, to: usize) -> Self {
        let end = self.range.start.saturating_add(to).min(self.range.end);
        let start = self.range.start.saturating_add(from).min(end);
        Self { store: self.store.clone(), range: start..end }
    }
}

impl Deref for Chunk {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        let all: &[u8] = match &self.store {
            Store::Map(map) => map,
            Store::Buffer(buffer) => buffer,
        };
        all.get(self.range.clone()).unwrap_or_default()
    }
}

/// One open log file, for reading.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) path: PathBuf,
    pub(crate) file: Arc<dyn FsFile>,
    pub(crate) counters: Arc<Counters>,
    /// End of what is durable, in bytes; only below it the map may be used.
    pub(crate) durable_end: Arc<AtomicU64>,
    /// The largest end of data that was seen. No writer ever cuts a file before it; zeros behind it come and go.
    seen: AtomicU64,
    /// Where the data ends, if the file ends a few bytes before: these are zeros.
    zeros_to: AtomicU64,
    map: Mutex<Option<Arc<Map>>>,
    mapped: bool,
    /// The unsynced window, where an open reads it more than once: where it begins, and its bytes.
    held: Mutex<Option<(u64, Vec<u8>)>>,
    /// Of a writer's own view: what it holds back, to be read as if it were written.
    pub(crate) tail: OnceLock<Arc<Tail>>,
}

impl Source {
    pub(crate) fn new(path: &Path, file: Arc<dyn FsFile>, mapped: bool) -> Self {
        Self {
            path: path.to_path_buf(),
            file,
            counters: Arc::default(),
            durable_end: Arc::default(),
            seen: AtomicU64::default(),
            zeros_to: AtomicU64::default(),
            map: Mutex::new(None),
            mapped,
            held: Mutex::new(None),
            tail: OnceLock::new(),
        }
    }

    /// Reads a range and keeps it, unless it is too short or too long for that: reads in it then cost none of the file.
    pub(crate) fn hold(&self, from: u64, to: u64) -> Result<(), LogError> {
        self.let_go();
        let len = to.saturating_sub(from);
        if (HELD_MIN..=HELD_MAX).contains(&len) {
            let mut bytes = vec![0; len as usize];
            let count = self.read(&mut bytes, from)?;
            bytes.truncate(count);
            *locked(&self.held) = Some((from, bytes));
        }
        Ok(())
    }

    /// Forgets the range that is held. Whoever opens does that in the end: somebody else may write there later.
    pub(crate) fn let_go(&self) {
        *locked(&self.held) = None;
    }

    /// The last bytes of a read, from the range that is held: how many are left to read before them.
    fn take_held(&self, buffer: &mut [u8], offset: u64) -> usize {
        let held = locked(&self.held);
        let Some((start, bytes)) = &*held else { return buffer.len() };
        let front = start.saturating_sub(offset).min(buffer.len() as u64) as usize;
        let place = (offset + front as u64).saturating_sub(*start) as usize;
        match bytes.get(place..place + (buffer.len() - front)) {
            Some(there) => {
                buffer[front..].copy_from_slice(there);
                front
            }
            None => buffer.len(),
        }
    }

    pub(crate) fn size(&self) -> Result<u64, LogError> {
        self.file.size().map_err(|source| self.error("stat", 0, source))
    }

    /// A range is about to be read: what of it is not in memory is fetched meanwhile, up to a limit.
    pub(crate) fn will_read(&self, offset: u64, len: u64) {
        if len > 0 {
            self.file.will_read(offset, len.min(FETCHED_MAX));
        }
    }

    /// There is data up to here.
    pub(crate) fn saw(&self, end: u64) {
        self.seen.fetch_max(end, Ordering::AcqRel);
    }

    /// Whether durable bytes are read through a map.
    pub(crate) fn is_mapped(&self) -> bool {
        self.mapped
    }

    /// The data of a file that ends off the alignment goes on up to here, with zeros.
    pub(crate) fn goes_on_to(&self, end: u64) {
        self.zeros_to.store(end, Ordering::Release);
    }

    pub(crate) fn error(&self, op: &'static str, offset: u64, source: io::Error) -> LogError {
        LogError::io(&self.path, op, offset, source)
    }

    /// Fills the buffer from a position as far as the file goes. A short count is the end of the file, an error never is;
    /// an end before data that was seen earlier means that somebody has cut the file.
    pub(crate) fn read(&self, buffer: &mut [u8], offset: u64) -> Result<usize, LogError> {
        let (in_file, filled) = match self.tail.get() {
            Some(tail) => tail.copy(buffer, offset),
            None => (buffer.len(), buffer.len()),
        };
        let (mut done, wanted) = (0, self.take_held(&mut buffer[..in_file], offset));
        while done < wanted {
            match self.file.read_at(&mut buffer[done..wanted], offset + done as u64) {
                Ok(0) => break,
                Ok(count) => done += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => return Err(self.error("read", offset + done as u64, source)),
            }
        }
        if wanted > 0 {
            self.counters.read(done as u64);
        }
        if done == wanted {
            done = filled;
        } else if let Some(tail) = self.tail.get() {
            self.saw(tail.written());
        }
        let seen = self.seen.load(Ordering::Acquire);
        if done < wanted && offset + (done as u64) < seen {
            let size = self.size()?;
            if size.next_multiple_of(f::FRAME_ALIGN) < seen {
                return Err(self.cut(seen, size));
            }
        }
        let rest = self.zeros_to.load(Ordering::Acquire).saturating_sub(offset).min(buffer.len() as u64) as usize;
        if done < rest {
            buffer[done..rest].fill(0);
            done = rest;
        }
        Ok(done)
    }

    fn cut(&self, expected: u64, found: u64) -> LogError {
        LogError::Replaced {
            path: self.path.clone(),
            expected: format!("at least {expected} bytes"),
            found: format!("{found}"),
        }
    }

    /// Bytes from a position, fewer only at the end of the file. The caller has bounded `len`.
    pub(crate) fn chunk(&self, offset: u64, len: usize) -> Result<Chunk, LogError> {
        if let Some(chunk) = self.mapped_chunk(offset, len)? {
            return Ok(chunk);
        }
        let mut buffer = vec![0; len];
        let count = self.read(&mut buffer, offset)?;
        Ok(Chunk { range: 0..count, store: Store::Buffer(Arc::new(buffer)) })
    }

    fn mapped_chunk(&self, offset: u64, len: usize) -> Result<Option<Chunk>, LogError> {
        if !self.mapped || self.zeros_to.load(Ordering::Acquire) > 0 {
            return Ok(None);
        }
        let limit = self.durable_end.load(Ordering::Acquire);
        let Some(end) = offset.checked_add(len as u64).filter(|end| *end <= limit && offset >= f::HEADER_PAGE_LEN)
        else {
            return Ok(None);
        };
        let mut slot = locked(&self.map);
        if slot.as_ref().is_none_or(|map| (map.len() as u64) < end) {
            let have = slot.as_ref().map_or(0, |map| map.len() as u64);
            // In steps: a small new piece is read by pread until it is worth a new map.
            if have > 0 && limit < have + MAP_STEP.min(have) {
                return Ok(None);
            }
            match self.file.map(limit) {
                Ok(Some(map)) => *slot = Some(Arc::new(map)),
                Ok(None) => return Ok(None),
                Err(source) => return Err(self.error("map", offset, source)),
            }
        }
        let Some(map) = slot.clone() else { return Ok(None) };
        drop(slot);
        // A file that was cut under the map would end this process with SIGBUS.
        let size = self.size()?;
        if size < end {
            return Err(self.cut(end, size));
        }
        self.counters.read(len as u64);
        Ok(Some(Chunk { store: Store::Map(map), range: offset as usize..end as usize }))
    }
}

/// Reads runs of bytes forwards or backwards through one buffer, each byte of a forward run once.
#[derive(Debug)]
pub(crate) struct ReadAhead<'a> {
    source: &'a Source,
    /// Bytes at and behind this place do not exist for this reader.
    limit: u64,
    /// Where in the file the buffer begins, and how many of its bytes are those of the file.
    start: u64,
    filled: usize,
    /// Shared with the chunks that were handed out of it. Once none is left, the next piece goes into the same memory.
    buffer: Arc<Vec<u8>>,
    piece: usize,
    largest: usize,
}

impl<'a> ReadAhead<'a> {
    /// For reads here and there.
    pub(crate) fn new(source: &'a Source, limit: u64) -> Self {
        Self { source, limit, start: u64::MAX, filled: 0, buffer: Arc::default(), piece: PIECE_MIN, largest: PIECE_MAX }
    }

    /// For a run from this place on, of which all is wanted: in large pieces, though small beside what they are made into.
    pub(crate) fn run(source: &'a Source, from: u64, limit: u64) -> Self {
        let largest = (limit.saturating_sub(from) / 8).clamp(RUN_PIECE_MIN, PIECE_MAX as u64) as usize;
        Self { start: from, piece: largest, largest, ..Self::new(source, limit) }
    }

    /// For a walk back from the limit.
    pub(crate) fn back(source: &'a Source, limit: u64) -> Self {
        Self { start: limit, piece: TAIL_PIECE / 2, ..Self::new(source, limit) }
    }

    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }

    /// What lies behind this place is no longer there for this reader.
    pub(crate) fn end_at(&mut self, limit: u64) {
        self.limit = limit;
    }

    pub(crate) fn source(&self) -> &'a Source {
        self.source
    }

    /// Bytes at a place; fewer than `len` only at the limit or the end of the file.
    pub(crate) fn fetch(&mut self, offset: u64, len: usize) -> Result<&[u8], LogError> {
        let range = self.hold(offset, len)?;
        Ok(&self.buffer[range])
    }

    /// Bytes at a place, as many as are at hand or come with one piece, and no more than so many; none only at the limit or the
    /// end of the file.
    pub(crate) fn some(&mut self, offset: u64, most: u64) -> Result<&[u8], LogError> {
        let have = self.have();
        let held = if have.contains(&offset) { have.end - offset } else { self.largest as u64 };
        self.fetch(offset, held.min(most) as usize)
    }

    /// As `fetch`, to keep. It shares the buffer: who keeps it keeps the whole piece.
    pub(crate) fn chunk(&mut self, offset: u64, len: usize) -> Result<Chunk, LogError> {
        let range = self.hold(offset, len)?;
        Ok(Chunk { store: Store::Buffer(self.buffer.clone()), range })
    }

    /// Goes on at a place a little further on as one run, reading what lies between as well. A place far away is gone to by the
    /// next read.
    pub(crate) fn go_on_to(&mut self, offset: u64) -> Result<(), LogError> {
        let end = self.have().end;
        match offset.checked_sub(end) {
            Some(gap) if (1..=self.piece as u64).contains(&gap) => self.hold(end, gap as usize).map(drop),
            _ => Ok(()),
        }
    }

    /// Whether these bytes are in the buffer.
    pub(crate) fn holds(&self, offset: u64, len: u64) -> bool {
        offset >= self.start && offset - self.start + len <= self.filled as u64
    }

    /// Where in the buffer these bytes are, once they have been read.
    fn hold(&mut self, offset: u64, len: usize) -> Result<Range<usize>, LogError> {
        let len = len.min(usize::try_from(self.limit.saturating_sub(offset)).unwrap_or(usize::MAX));
        if len > 0 && !self.holds(offset, len as u64) {
            self.fill(offset, len)?;
        }
        let from = usize::try_from(offset.saturating_sub(self.start)).unwrap_or(usize::MAX).min(self.filled);
        let to = from.saturating_add(len).min(self.filled);
        Ok(from..to)
    }

    fn fill(&mut self, offset: u64, len: usize) -> Result<(), LogError> {
        let (end, have) = (offset + len as u64, self.have());
        // A read beside the last one is a run, and runs are worth larger pieces.
        let forward = offset >= have.start && offset <= have.end;
        let backward = offset < have.start && end.saturating_add(f::FRAME_HEADER_LEN) >= have.start;
        self.piece = if forward || backward { (self.piece * 2).min(self.largest) } else { PIECE_MIN };
        let want = len.max(self.piece) as u64;
        let from = if backward { end.saturating_sub(want).min(offset) } else { offset };
        let len = ((from + want).max(end).min(self.limit) - from) as usize;
        let kept = if forward { (offset - have.start) as usize..self.filled } else { 0..0 };
        let keep = kept.len();
        match Arc::get_mut(&mut self.buffer) {
            // One that a large frame has stretched is given back.
            Some(buffer) if buffer.len() >= len && buffer.len() <= len.max(PIECE_MAX) => buffer.copy_within(kept, 0),
            _ => {
                let mut buffer = vec![0; len];
                buffer[..keep].copy_from_slice(&self.buffer[kept]);
                self.buffer = Arc::new(buffer);
            }
        }
        (self.start, self.filled) = (from, keep);
        let buffer = Arc::get_mut(&mut self.buffer).expect("nobody else has the buffer, or it is new");
        self.filled += self.source.read(&mut buffer[keep..len], from + keep as u64)?;
        Ok(())
    }

    /// What of the file is in the buffer.
    fn have(&self) -> Range<u64> {
        self.start..self.start.saturating_add(self.filled as u64)
    }
}
