//! A read-only memory map of the durable part of a log, and one that is only advice to the disk: the one place with unsafe code.
//!
//! Bytes that may still change, or that the disk may not have, are never read through a map (`source.rs`).

use std::fs::File;
use std::io;
use std::ops::Deref;

/// The first bytes of a file, mapped for reading.
#[derive(Debug)]
pub struct Map {
    bytes: memmap2::Mmap,
}

impl Map {
    /// Maps the first `len` bytes of a file.
    ///
    /// # Errors
    /// Those of the operating system, and if the file is shorter.
    #[expect(unsafe_code, reason = "a memory map cannot be made without")]
    pub fn new(file: &File, len: u64) -> io::Result<Self> {
        let len = usize::try_from(len).map_err(io::Error::other)?;
        if file.metadata()?.len() < len as u64 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        // SAFETY: the map is read-only and private to this type, which hands out shared slices. No writer of this crate ever
        // changes, moves or cuts bytes below the durable end: recovery writes only equal bytes, and only behind it, and the
        // watermark slot lies in the header page, which is never read through the map. Somebody else who cuts the file can
        // make a later access fail with SIGBUS, though the size is compared before each new slice: so nothing is mapped
        // unless `LogOptions::mapped` asks for it, which says so.
        let bytes = unsafe { memmap2::MmapOptions::new().len(len).map(file)? };
        Ok(Self { bytes })
    }
}

/// Has the operating system fetch a range of a file without waiting for it. Where it does not, a read is as slow as ever.
#[cfg(unix)]
#[expect(unsafe_code, reason = "the safe way to give this advice leads over a memory map")]
pub(super) fn fetch(file: &File, offset: u64, len: u64) {
    let Ok(len) = usize::try_from(len) else { return };
    // SAFETY: no byte is read through this map; it is gone when this returns.
    if let Ok(map) = unsafe { memmap2::MmapOptions::new().offset(offset).len(len).map(file) } {
        let _ = map.advise(memmap2::Advice::WillNeed);
    }
}

impl Deref for Map {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}
