//! What the tests of the log share: a disk in memory that fails on demand and keeps its own time, and verbs to make, cut and
//! bend logs. The simulated disk of `log/sim.rs` will know more about sectors; this one knows calls.
#![allow(dead_code, unreachable_pub, reason = "each test file uses a part")]

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, Weak};
use std::time::Duration;

use seslog::log::{
    Access, Bell, DirEntry, Durability, FileId, Frame, FrameType, Fs, FsFile, IndexHint, LogError, LogOptions,
    LogReader, LogWriter, Map, NewLog, Note, OpenReport, Place, Record,
};
use uuid::Uuid;

/// What the disk writes as a whole or not at all.
pub const SECTOR: usize = 512;

/// A kind of call that can fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Call {
    Open,
    Create,
    Publish,
    Read,
    Write,
    Sync,
    SyncDir,
    Size,
    Lock,
}

/// What a call does instead of its work.
#[derive(Debug, Clone, Copy)]
pub enum Fault {
    /// Fails with this error number and does nothing.
    Errno(i32),
    /// Writes or reads only so many bytes, and says so.
    Short(usize),
    /// Syncs nothing and says that it did.
    Lie,
    /// Opens the file; then a copy of it takes its name.
    Swap,
}

#[derive(Debug, Default)]
struct Content {
    bytes: Vec<u8>,
    durable: Vec<u8>,
    /// Sectors that the next sync has to write. A sync that fails forgets them, as Linux does.
    dirty: std::collections::BTreeSet<usize>,
    locked_by: Option<u64>,
    inode: u64,
}

#[derive(Debug, Default)]
struct State {
    files: HashMap<PathBuf, Arc<Mutex<Content>>>,
    faults: Vec<(Call, u64, Fault)>,
    calls: HashMap<Call, u64>,
    clock: Duration,
    bells: Vec<Weak<Bell>>,
    next: u64,
    random: u64,
    process: u32,
}

#[derive(Debug, Default)]
struct Inner {
    state: Mutex<State>,
    called: Condvar,
}

/// A disk in memory.
#[derive(Debug, Clone, Default)]
pub struct Disk {
    inner: Arc<Inner>,
}

impl Disk {
    pub fn new() -> Self {
        let disk = Self::default();
        disk.inner.state.lock().unwrap().random = 0x9E37_79B9_7F4A_7C15;
        disk
    }

    pub fn fs(&self) -> Arc<dyn Fs> {
        Arc::new(self.clone())
    }

    /// The `nth` call of this kind from now on (0: the next) meets a fault.
    pub fn fail(&self, call: Call, nth: u64, fault: Fault) {
        let mut state = self.inner.state.lock().unwrap();
        let at = state.calls.get(&call).copied().unwrap_or(0) + nth;
        state.faults.push((call, at, fault));
    }

    /// No fault that was not met yet comes any more.
    pub fn heal(&self) {
        self.inner.state.lock().unwrap().faults.clear();
    }

    pub fn calls(&self, call: Call) -> u64 {
        self.inner.state.lock().unwrap().calls.get(&call).copied().unwrap_or(0)
    }

    /// Blocks until there were so many calls of a kind.
    pub fn wait_for(&self, call: Call, count: u64) {
        let state = self.inner.state.lock().unwrap();
        drop(self.inner.called.wait_while(state, |state| state.calls.get(&call).copied().unwrap_or(0) < count));
    }

    /// Time goes on, and whoever waits for it wakes.
    pub fn advance(&self, by: Duration) {
        let mut state = self.inner.state.lock().unwrap();
        state.clock += by;
        let bells = std::mem::take(&mut state.bells);
        drop(state);
        bells.iter().filter_map(Weak::upgrade).for_each(|bell| bell.ring());
    }

    pub fn fork(&self) {
        self.inner.state.lock().unwrap().process += 1;
    }

    pub fn bytes(&self, path: &Path) -> Vec<u8> {
        self.content(path).lock().unwrap().bytes.clone()
    }

    pub fn durable(&self, path: &Path) -> Vec<u8> {
        self.content(path).lock().unwrap().durable.clone()
    }

    pub fn names(&self) -> Vec<PathBuf> {
        self.inner.state.lock().unwrap().files.keys().cloned().collect()
    }

    /// Puts a file there, durable, in place of what was there; nobody has it locked.
    pub fn put(&self, path: &Path, bytes: &[u8]) {
        let mut state = self.inner.state.lock().unwrap();
        state.next += 1;
        let (bytes, durable) = (bytes.to_vec(), bytes.to_vec());
        let content = Content { bytes, durable, inode: state.next, ..Content::default() };
        state.files.insert(path.to_path_buf(), Arc::new(Mutex::new(content)));
    }

    /// Lets the threads of writers that were killed come to their end; what they still do is on files that nobody uses.
    pub fn bury(&self) {
        self.advance(Duration::from_secs(10));
    }

    /// The same file with the same page cache, which nobody has locked or open.
    pub fn move_to_new_inode(&self, path: &Path) {
        let old = self.content(path);
        let old = old.lock().unwrap();
        let mut state = self.inner.state.lock().unwrap();
        state.next += 1;
        let (bytes, durable, dirty) = (old.bytes.clone(), old.durable.clone(), old.dirty.clone());
        let content = Content { bytes, durable, dirty, inode: state.next, locked_by: None };
        state.files.insert(path.to_path_buf(), Arc::new(Mutex::new(content)));
    }

    /// Changes a file behind everybody's back.
    pub fn change(&self, path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
        change(&mut self.content(path).lock().unwrap().bytes);
    }

    fn content(&self, path: &Path) -> Arc<Mutex<Content>> {
        self.inner.state.lock().unwrap().files.get(path).expect("the file is there").clone()
    }

    fn enter(&self, call: Call) -> Option<Fault> {
        let mut state = self.inner.state.lock().unwrap();
        let count = state.calls.entry(call).or_default();
        let now = *count;
        *count += 1;
        self.inner.called.notify_all();
        let index = state.faults.iter().position(|(kind, at, _)| *kind == call && *at == now)?;
        Some(state.faults.remove(index).2)
    }

    fn checked(&self, call: Call) -> io::Result<()> {
        match self.enter(call) {
            Some(Fault::Errno(errno)) => Err(io::Error::from_raw_os_error(errno)),
            _ => Ok(()),
        }
    }

    fn handle(&self, content: Arc<Mutex<Content>>) -> Arc<dyn FsFile> {
        let mut state = self.inner.state.lock().unwrap();
        state.next += 1;
        Arc::new(Handle { disk: self.clone(), content, id: state.next })
    }
}

impl Fs for Disk {
    fn open(&self, path: &Path, _: Access) -> io::Result<Arc<dyn FsFile>> {
        let fault = self.enter(Call::Open);
        if let Some(Fault::Errno(errno)) = fault {
            return Err(io::Error::from_raw_os_error(errno));
        }
        let content = self.inner.state.lock().unwrap().files.get(path).cloned();
        let handle = self.handle(content.ok_or(io::ErrorKind::NotFound)?);
        if let Some(Fault::Swap) = fault {
            self.put(path, &self.bytes(path));
        }
        Ok(handle)
    }

    fn create(&self, path: &Path) -> io::Result<Arc<dyn FsFile>> {
        self.checked(Call::Create)?;
        if self.inner.state.lock().unwrap().files.contains_key(path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.put(path, &[]);
        Ok(self.handle(self.content(path)))
    }

    fn publish(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.checked(Call::Publish)?;
        if self.inner.state.lock().unwrap().files.contains_key(to) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.replace(from, to)
    }

    fn replace(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.inner.state.lock().unwrap();
        let content = state.files.remove(from).ok_or(io::ErrorKind::NotFound)?;
        state.files.insert(to.to_path_buf(), content);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let removed = self.inner.state.lock().unwrap().files.remove(path);
        removed.map(drop).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn create_dir(&self, _: &Path) -> io::Result<()> {
        Ok(())
    }

    fn sync_dir(&self, _: &Path) -> io::Result<()> {
        self.checked(Call::SyncDir)
    }

    fn list_dir(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        let state = self.inner.state.lock().unwrap();
        let inside = state.files.keys().filter(|file| file.parent() == Some(path));
        Ok(inside.map(|file| DirEntry { name: file.file_name().unwrap().into(), is_dir: false }).collect())
    }

    fn identity(&self, path: &Path) -> io::Result<Option<FileId>> {
        let state = self.inner.state.lock().unwrap();
        let content = state.files.get(path).ok_or(io::ErrorKind::NotFound)?;
        Ok(Some(FileId { device: 1, inode: content.lock().unwrap().inode }))
    }

    fn random(&self, buffer: &mut [u8]) -> io::Result<()> {
        let mut state = self.inner.state.lock().unwrap();
        for byte in buffer {
            state.random ^= state.random << 13;
            state.random ^= state.random >> 7;
            state.random ^= state.random << 17;
            *byte = state.random as u8;
        }
        Ok(())
    }

    fn monotonic(&self) -> Duration {
        self.inner.state.lock().unwrap().clock
    }

    fn wait(&self, bell: &Arc<Bell>, seen: u64, until: Option<Duration>) {
        let mut state = self.inner.state.lock().unwrap();
        if until.is_some_and(|until| until <= state.clock) {
            return;
        }
        state.bells.push(Arc::downgrade(bell));
        drop(state);
        bell.wait(seen, None);
    }

    fn process_id(&self) -> u32 {
        self.inner.state.lock().unwrap().process
    }
}

#[derive(Debug)]
struct Handle {
    disk: Disk,
    content: Arc<Mutex<Content>>,
    id: u64,
}

impl FsFile for Handle {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let limit = match self.disk.enter(Call::Read) {
            Some(Fault::Errno(errno)) => return Err(io::Error::from_raw_os_error(errno)),
            Some(Fault::Short(limit)) => limit,
            _ => usize::MAX,
        };
        let content = self.content.lock().unwrap();
        let rest = content.bytes.get(offset as usize..).unwrap_or_default();
        let count = rest.len().min(buffer.len()).min(limit);
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        let limit = match self.disk.enter(Call::Write) {
            Some(Fault::Errno(errno)) => return Err(io::Error::from_raw_os_error(errno)),
            Some(Fault::Short(limit)) => limit,
            _ => usize::MAX,
        };
        let mut content = self.content.lock().unwrap();
        let (start, count) = (offset as usize, bytes.len().min(limit));
        if content.bytes.len() < start + count {
            content.bytes.resize(start + count, 0);
        }
        content.bytes[start..start + count].copy_from_slice(&bytes[..count]);
        content.dirty.extend(start / SECTOR..(start + count).div_ceil(SECTOR));
        Ok(count)
    }

    fn sync_data(&self) -> io::Result<()> {
        let fault = self.disk.enter(Call::Sync);
        let mut content = self.content.lock().unwrap();
        let content = &mut *content;
        let dirty = std::mem::take(&mut content.dirty);
        match fault {
            Some(Fault::Errno(errno)) => return Err(io::Error::from_raw_os_error(errno)),
            Some(_) => return Ok(()),
            None => {}
        }
        content.durable.resize(content.bytes.len(), 0);
        for sector in dirty {
            let range = sector * SECTOR..((sector + 1) * SECTOR).min(content.bytes.len());
            content.durable[range.clone()].copy_from_slice(&content.bytes[range]);
        }
        Ok(())
    }

    fn size(&self) -> io::Result<u64> {
        self.disk.checked(Call::Size)?;
        Ok(self.content.lock().unwrap().bytes.len() as u64)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.content.lock().unwrap().bytes.resize(len as usize, 0);
        Ok(())
    }

    fn try_lock(&self) -> io::Result<bool> {
        self.disk.checked(Call::Lock)?;
        let mut content = self.content.lock().unwrap();
        Ok(*content.locked_by.get_or_insert(self.id) == self.id)
    }

    fn unlock(&self) -> io::Result<()> {
        let mut content = self.content.lock().unwrap();
        content.locked_by = content.locked_by.filter(|id| *id != self.id);
        Ok(())
    }

    fn identity(&self) -> io::Result<Option<FileId>> {
        Ok(Some(FileId { device: 1, inode: self.content.lock().unwrap().inode }))
    }

    fn map(&self, _: u64) -> io::Result<Option<Map>> {
        Ok(None)
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let _ = self.unlock();
    }
}

// Verbs.

pub fn path() -> PathBuf {
    PathBuf::from("/sessions/a.seslog")
}

pub fn id(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

/// A plain record.
pub fn event(number: u128, payload: &[u8]) -> Record<'_> {
    Record {
        frame_type: FrameType::Event,
        skippable: false,
        id: id(number),
        parent: Place::None,
        boundary: Place::None,
        payload,
        index: IndexHint::Plain,
    }
}

/// The state after an append whose last record is the leaf.
pub fn leaf(index: usize) -> Note {
    Note { head: Place::InBatch(index), ..Note::default() }
}

pub fn create(disk: &Disk) -> LogWriter {
    create_with(disk, LogOptions::default())
}

pub fn create_with(disk: &Disk, options: LogOptions) -> LogWriter {
    LogWriter::create(disk.fs(), &path(), NewLog::new(id(0x5e5), 1_700_000_000_000_000), options).expect("a new log")
}

pub fn append(log: &LogWriter, number: u128, len: usize, durability: Durability) -> u64 {
    let payload = payload(number, len);
    log.append(&[event(number, &payload)], leaf(0), durability).expect("an append").offsets[0]
}

/// Bytes that differ from record to record.
pub fn payload(number: u128, len: usize) -> Vec<u8> {
    (0..len).map(|index| (number as usize * 31 + index * 7) as u8).collect()
}

pub fn reopen(disk: &Disk) -> Result<(LogWriter, OpenReport), LogError> {
    LogWriter::open(disk.fs(), &path(), LogOptions::default())
}

pub fn read(disk: &Disk) -> Result<(LogReader, OpenReport), LogError> {
    LogReader::open(disk.fs(), &path())
}

/// Ids of the records that the log has, in order. The walk must not meet damage.
pub fn ids(log: &seslog::log::LogView) -> Vec<u128> {
    records(log).iter().map(|frame| frame.id().as_u128()).collect()
}

pub fn records(log: &seslog::log::LogView) -> Vec<Frame> {
    log.frames(0).map(|frame| frame.expect("a whole frame")).filter(|frame| !frame.frame_type().is_own()).collect()
}

/// A disk that holds nothing but this file.
pub fn disk_with(bytes: &[u8]) -> Disk {
    let disk = Disk::new();
    disk.put(&path(), bytes);
    disk
}

/// The writer ends as by SIGKILL: nothing more is written, and its lock is gone.
pub fn kill(log: LogWriter, disk: &Disk) -> Vec<u8> {
    let bytes = disk.bytes(&path());
    disk.fork(); // its Drop now believes to be in a child and does nothing
    drop(log);
    disk.put(&path(), &bytes); // the lock of the dead process, and what its thread still does, stay with the old file
    bytes
}

// Bending bytes.

pub fn crc32(parts: &[&[u8]]) -> u32 {
    let mut crc = u32::MAX;
    for byte in parts.iter().copied().flatten() {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 };
        }
    }
    !crc
}

/// Makes all checksums of the frame at `offset` right again after its bytes were bent.
pub fn reseal(file: &mut [u8], offset: usize) {
    let payload_len = u32::from_le_bytes(file[offset + 8..offset + 12].try_into().unwrap()) as usize;
    let header_len = file[offset + 14] as usize * 8;
    let end = offset + header_len + payload_len.next_multiple_of(8);
    let payload_crc = crc32(&[&file[offset + header_len..end]]);
    file[offset + 28..offset + 32].copy_from_slice(&payload_crc.to_le_bytes());
    let header_crc = crc32(&[&(offset as u64).to_le_bytes(), &file[offset + 8..offset + header_len]]);
    file[offset + 4..offset + 8].copy_from_slice(&header_crc.to_le_bytes());
    file[end..end + 4].copy_from_slice(&((end - offset + 8) as u32).to_le_bytes());
    file[end + 4..end + 8].copy_from_slice(&header_crc.to_le_bytes());
}

/// Makes the frame at `offset` right again, and the chain of all frames behind it.
pub fn reseal_chain(file: &mut [u8], mut offset: usize) {
    loop {
        reseal(file, offset);
        let payload_len = u32::from_le_bytes(file[offset + 8..offset + 12].try_into().unwrap()) as usize;
        let next = offset + file[offset + 14] as usize * 8 + payload_len.next_multiple_of(8) + 8;
        if file.get(next..next + 4) != Some(&[0xC1, b'S', b'L', b'F']) {
            return;
        }
        file.copy_within(offset + 4..offset + 8, next + 24);
        offset = next;
    }
}

/// Makes the checksum of the header copy at `start` right again.
pub fn reseal_header(file: &mut [u8], start: usize) {
    let len = u32::from_le_bytes(file[start + 12..start + 16].try_into().unwrap()) as usize;
    let sum = crc32(&[&file[start..start + len - 4]]);
    file[start + len - 4..start + len].copy_from_slice(&sum.to_le_bytes());
}
