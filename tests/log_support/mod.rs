//! What the tests of the log share: verbs to make, cut and bend logs on the simulated disk.
#![allow(dead_code, unreachable_pub, unused_imports, reason = "each test file uses a part")]

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use seslog::log::{
    Durability, Frame, FrameType, IndexHint, LogError, LogOptions, LogReader, LogWriter, NewLog, Note, OpenReport,
    Place, Receipt, Record,
};
pub use seslog::sim::{Call, Fault, SECTOR, SimDisk as Disk};
use uuid::Uuid;

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

/// Lets the threads of writers that were killed come to their end; what they still do is on files that nobody uses.
pub fn bury(disk: &Disk) {
    disk.advance(Duration::from_secs(10));
}

/// All files.
pub fn names(disk: &Disk) -> Vec<PathBuf> {
    disk.image().files.into_keys().collect()
}

/// The writer ends as by SIGKILL: nothing more is written, and its lock is gone.
pub fn kill(log: LogWriter, disk: &Disk) -> Vec<u8> {
    let bytes = disk.bytes(&path());
    disk.fork(); // its Drop now believes to be in a child and does nothing
    drop(log);
    disk.put(&path(), &bytes); // the lock of the dead process, and what its thread still does, stay with the old file
    bytes
}

/// Wakes a plain thread.
struct Bridge(mpsc::Sender<()>);

impl Wake for Bridge {
    fn wake(self: Arc<Self>) {
        let _ = self.0.send(());
    }
}

/// Waits for a receipt as a future.
pub fn block_on(mut receipt: Receipt) -> Result<(), LogError> {
    let (sender, woken) = mpsc::channel();
    let waker = Waker::from(Arc::new(Bridge(sender)));
    loop {
        match Pin::new(&mut receipt).poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(outcome) => return outcome,
            Poll::Pending => woken.recv().expect("the waker is kept"),
        }
    }
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
