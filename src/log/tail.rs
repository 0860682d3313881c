//! The end of the file in its one writer's hands: how far it is written, how long it must be, and what is appended and held
//! back in memory. Whoever reads through the writer's view finds the held bytes where they will stand.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use super::counters::Counters;
use super::error::LogError;
use super::format as f;
use super::fs::FsFile;
use super::piece::write_all;
use super::sync::{Condvar, Mutex, MutexGuard, locked, wait};

/// As many held bytes are worth a write by the thread in the background, while more come.
pub(crate) const HELD_ENOUGH: usize = if cfg!(all(test, loom)) { 1 } else { 256 << 10 };
/// Bytes that are held back, at most, those on their way to the file included: then they are written with what comes next.
const HELD_MAX: usize = 1 << 20;

/// Fewer bytes that had to be synced in a row are worth no zeros: so a small session costs none.
const ZEROED_MIN: u64 = 32 << 10;
/// Sizes of a file with zeros ahead are multiples of this: a file system works in pages.
const PAGE: u64 = 4 << 10;
static ZEROS: [u8; 64 << 10] = [0; 64 << 10];

/// What becomes of the space behind what is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Behind {
    /// It stays as it is.
    Kept,
    /// A sync follows, and more like it may: zeros that this one makes durable spare those the change of the file's size.
    Zeroed,
    /// The log comes to rest: the file ends here. Only zeros are cut off.
    Cut,
}

/// What only the holder of its lock may change: so whoever writes, writes at the end.
#[derive(Debug)]
pub(crate) struct Tail {
    pub(crate) path: PathBuf,
    pub(crate) file: Arc<dyn FsFile>,
    pub(crate) counters: Arc<Counters>,
    held: Mutex<Held>,
    /// Nothing is on its way any more.
    idle: Condvar,
}

#[derive(Debug, Default)]
struct Held {
    /// Everything before this place is written.
    start: u64,
    /// Length that the file must have, in bytes: more than `start` where zeros follow.
    size: u64,
    /// What is being written from `start` on, without the lock: nobody else writes meanwhile.
    on_its_way: Option<Arc<Vec<u8>>>,
    /// What is to be written behind that.
    bytes: Vec<u8>,
    /// Empty: the room of what was written, for what is held next.
    spare: Vec<u8>,
    /// Bytes that had to be synced since the log was at rest. So many zeros may be ahead.
    synced: u64,
    /// Zeros could not be written, so no more are tried until the log is at rest.
    is_full: bool,
    /// A write has failed, or was cut short by a panic. Nothing is written any more: not even by who has waited for the lock
    /// meanwhile.
    failed: bool,
}

impl Held {
    /// Everything before this place is written now.
    fn wrote_to(&mut self, end: u64) {
        self.start = end;
        self.size = self.size.max(end);
    }

    /// What is not in the file, in order.
    fn pieces(&self) -> [&[u8]; 2] {
        [self.on_its_way.as_ref().map_or(&[], |bytes| bytes), &self.bytes]
    }
}

/// Bytes are on their way to the file. Where they do not arrive, they stay readable; the log is poisoned, so nothing is written
/// any more.
struct OnItsWay<'a> {
    tail: &'a Tail,
}

impl Drop for OnItsWay<'_> {
    fn drop(&mut self) {
        let mut held = locked(&self.tail.held);
        if held.on_its_way.is_some() {
            held.bytes = held.pieces().concat();
            held.on_its_way = None;
        }
        drop(held);
        self.tail.idle.notify_all();
    }
}

/// Whether what is behind the end may be zeros of a writer of ours. More of them came from elsewhere, and are neither read nor cut off.
fn are_cut(size: u64, end: u64) -> bool {
    (1..=f::ZEROED_MAX).contains(&size.saturating_sub(end))
}

impl Tail {
    pub(crate) fn new(path: PathBuf, file: Arc<dyn FsFile>, counters: Arc<Counters>, start: u64, size: u64) -> Self {
        let held = Mutex::new(Held { start, size, ..Held::default() });
        Self { path, file, counters, held, idle: Condvar::new() }
    }

    /// The lock, once nothing is on its way.
    fn idle(&self) -> MutexGuard<'_, Held> {
        let mut held = locked(&self.held);
        while held.on_its_way.is_some() {
            held = wait(&self.idle, held);
        }
        held
    }

    /// Takes in bytes that go behind the last ones; nothing is written. `noted` is told how many are held now, before anybody
    /// else can write.
    pub(crate) fn hold(&self, bytes: &[u8], noted: impl FnOnce(usize)) {
        let mut held = locked(&self.held);
        held.bytes.extend_from_slice(bytes);
        noted(held.bytes.len());
    }

    /// Everything before this place is written.
    pub(crate) fn written(&self) -> u64 {
        locked(&self.held).start
    }

    /// Whether so many bytes more can be held back.
    pub(crate) fn has_room(&self, len: usize) -> bool {
        locked(&self.held).pieces().iter().fold(len, |sum, piece| sum + piece.len()) <= HELD_MAX
    }

    /// Writes these bytes at a place, with what is held before them, in one piece. `written` is called before anybody else
    /// can write.
    ///
    /// # Errors
    /// `ForeignWrite` if the file is not as it was left, and nothing was written then; those of the write.
    pub(crate) fn write(
        &self,
        start: u64,
        bytes: &[u8],
        behind: Behind,
        written: impl FnOnce(),
    ) -> Result<(), LogError> {
        let mut held = self.idle();
        if held.bytes.is_empty() {
            // A MARK may be written again, and what lies behind the end may be stepped over.
            self.put(&mut held, start, bytes, behind)?;
        } else {
            let before = held.bytes.len();
            held.bytes.extend_from_slice(bytes);
            let put = self.put_held(&mut held, behind);
            if put.is_err() {
                held.bytes.truncate(before);
            }
            put?;
        }
        written();
        Ok(())
    }

    /// Writes what is held; more may be held meanwhile. `written` is told the new end and how many bytes are held behind it,
    /// before anybody else can write; it is not called if there was nothing.
    ///
    /// # Errors
    /// As [`Tail::write`].
    pub(crate) fn flush(&self, written: impl FnOnce(u64, usize)) -> Result<(), LogError> {
        let mut held = self.idle();
        if held.bytes.is_empty() {
            return Ok(());
        }
        let start = held.start;
        let end = start + held.bytes.len() as u64;
        self.begin(&mut held, end, end)?;
        // A burst goes on in the room of what was written before; else none is kept.
        let is_burst = held.bytes.len() >= HELD_ENOUGH;
        let room = std::mem::take(&mut held.spare);
        let next = if is_burst { room } else { Vec::new() };
        let mut bytes = Arc::new(std::mem::replace(&mut held.bytes, next));
        held.on_its_way = Some(bytes.clone());
        let on_its_way = OnItsWay { tail: self };
        drop(held);
        self.write_all(start, &bytes)?;
        let mut held = locked(&self.held);
        held.on_its_way = None;
        held.wrote_to(end);
        held.failed = false;
        if let Some(room) = Arc::get_mut(&mut bytes).filter(|_| is_burst) {
            room.clear();
            held.spare = std::mem::take(room);
        }
        written(end, held.bytes.len());
        drop(held);
        drop(on_its_way);
        Ok(())
    }

    fn put_held(&self, held: &mut Held, behind: Behind) -> Result<(), LogError> {
        let (start, bytes) = (held.start, std::mem::take(&mut held.bytes));
        let put = self.put(held, start, &bytes, behind);
        held.bytes = bytes;
        // What could not be written stays readable; the log is poisoned, so nothing is written any more.
        put?;
        held.bytes.clear();
        held.bytes.shrink_to(HELD_ENOUGH);
        Ok(())
    }

    fn put(&self, held: &mut Held, start: u64, bytes: &[u8], behind: Behind) -> Result<(), LogError> {
        let end = start + bytes.len() as u64;
        let cuts = behind == Behind::Cut && are_cut(held.size, end);
        self.begin(held, end, if cuts { held.size } else { end })?;
        self.write_all(start, bytes)?;
        held.wrote_to(end);
        match behind {
            Behind::Kept => {}
            Behind::Zeroed => self.zero_ahead(held, bytes.len() as u64)?,
            Behind::Cut => self.cut(held),
        }
        held.failed = false;
        Ok(())
    }

    /// Before bytes are written that end at `end`: the file is untouched up to `to`. From here on nothing is written any more,
    /// until [`Held::failed`] is taken back.
    fn begin(&self, held: &mut Held, end: u64, to: u64) -> Result<(), LogError> {
        if std::mem::replace(&mut held.failed, true) {
            return Err(LogError::Poisoned { path: self.path.clone(), from: held.start, to: end });
        }
        self.check_untouched(held, to)
    }

    fn write_all(&self, start: u64, bytes: &[u8]) -> Result<(), LogError> {
        write_all(&*self.file, &self.counters, bytes, start)
            .map_err(|source| LogError::io(&self.path, "write", start, source))
    }

    /// Writes zeros behind the end once it has come to the file's: as many as had to be synced since the log was at rest, so
    /// that what is written is bounded by what was appended. What was appended stands whole before them, so a disk that does not
    /// take them is no failure.
    fn zero_ahead(&self, held: &mut Held, len: u64) -> Result<(), LogError> {
        held.synced += len;
        if held.size > held.start || held.synced < ZEROED_MIN || held.is_full {
            return Ok(());
        }
        let goal = (held.start + held.synced.min(f::ZEROED_MAX)) / PAGE * PAGE;
        while held.size < goal {
            let zeros = &ZEROS[..ZEROS.len().min((goal - held.size) as usize)];
            if write_all(&*self.file, &self.counters, zeros, held.size).is_err() {
                held.is_full = true;
                held.size = self.size()?;
                break;
            }
            held.size += zeros.len() as u64;
        }
        Ok(())
    }

    /// Cuts off what is behind the end: zeros, as was just seen. Where that fails they stay; they do no harm.
    fn cut(&self, held: &mut Held) {
        (held.synced, held.is_full) = (0, false);
        if !are_cut(held.size, held.start) {
            return;
        }
        if self.file.set_len(held.start).is_ok() {
            held.size = held.start;
        } else if let Ok(size) = self.size()
            && (held.start..held.size).contains(&size)
        {
            // It was said to have failed and has not.
            held.size = size;
        }
    }

    fn size(&self) -> Result<u64, LogError> {
        self.file.size().map_err(|source| LogError::io(&self.path, "stat", 0, source))
    }

    /// Before a byte is overwritten or cut off: the file is as long as this writer left it, and there are only zeros from its end
    /// up to this place. If not, a second writer has come past the lock.
    fn check_untouched(&self, held: &Held, to: u64) -> Result<(), LogError> {
        let size = self.size()?;
        if size != held.size {
            return Err(self.foreign(held, size));
        }
        let to = to.min(size);
        if held.start < to { self.check_zero(held, to) } else { Ok(()) }
    }

    /// The room that this takes on the stack, an append without zeros ahead does not.
    #[inline(never)]
    fn check_zero(&self, held: &Held, to: u64) -> Result<(), LogError> {
        let mut at = held.start;
        let mut there = [0; 8 << 10];
        while at < to {
            let wanted = (to - at).min(there.len() as u64) as usize;
            let count = self.read(&mut there[..wanted], at)?;
            if there[..count] != ZEROS[..count] {
                let byte = there.iter().position(|byte| *byte != 0).unwrap_or_default();
                return Err(self.foreign(held, at + byte as u64));
            }
            if count == 0 {
                return Err(self.foreign(held, at));
            }
            at += count as u64;
        }
        Ok(())
    }

    fn foreign(&self, held: &Held, found: u64) -> LogError {
        LogError::ForeignWrite { path: self.path.clone(), expected: held.size, found }
    }

    fn read(&self, buffer: &mut [u8], at: u64) -> Result<usize, LogError> {
        loop {
            match self.file.read_at(buffer, at) {
                Ok(count) => {
                    self.counters.read(count as u64);
                    return Ok(count);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => return Err(LogError::io(&self.path, "read", at, source)),
            }
        }
    }

    /// What lies behind the accepted frames is stepped over: the next bytes go there. The file may have ended a few zeros
    /// before the end of the frames.
    pub(crate) fn step_over(&self, to: u64, size: u64) {
        let mut held = locked(&self.held);
        held.start = to;
        held.size = held.size.max(size);
    }

    /// Fills in what is held of a range; gives how many bytes at its beginning the file has, and up to where it is filled
    /// behind them.
    pub(crate) fn copy(&self, buffer: &mut [u8], offset: u64) -> (usize, usize) {
        let held = locked(&self.held);
        let from = held.start.saturating_sub(offset).min(buffer.len() as u64) as usize;
        let (mut at, mut filled) = (held.start, from);
        for piece in held.pieces() {
            let there = (offset + filled as u64).checked_sub(at).and_then(|skip| piece.get(skip as usize..));
            let there = there.unwrap_or_default();
            let count = there.len().min(buffer.len() - filled);
            buffer[filled..filled + count].copy_from_slice(&there[..count]);
            filled += count;
            at += piece.len() as u64;
        }
        if filled == from { (buffer.len(), buffer.len()) } else { (from, filled) }
    }
}
