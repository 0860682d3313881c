//! Frames that go to the file together, in one write.

use std::io;
use std::ops::Range;

use uuid::Uuid;

use super::counters::Counters;
use super::encode::{Draft, encode, seal};
use super::fs::FsFile;
use super::kind::{FrameType, HintClass, IndexHint};

/// Frames that are written together.
#[derive(Debug)]
pub(crate) struct Piece {
    pub(crate) start: u64,
    pub(crate) bytes: Vec<u8>,
    pub(crate) chain: u32,
    pub(crate) durable_end: u64,
    pub(crate) file_tag: u32,
    /// Where its last frame starts.
    pub(crate) tip: u64,
}

impl Piece {
    /// Where the next frame goes.
    pub(crate) fn at(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }

    /// A frame at the next place with nothing in it.
    pub(crate) fn draft<'a>(&self, frame_type: FrameType) -> Draft<'a> {
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

    pub(crate) fn push(&mut self, draft: Draft<'_>) {
        self.tip = draft.offset;
        self.chain = encode(&draft, &mut self.bytes);
    }

    /// Fills in the frame whose body is among the bytes already, behind those that were pushed.
    pub(crate) fn seal(&mut self, draft: &Draft<'_>, class: HintClass, frame: Range<usize>, stored_len: usize) {
        self.tip = draft.offset;
        self.chain = seal(draft, class, &mut self.bytes[frame], stored_len);
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
