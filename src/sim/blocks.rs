//! One file on the simulated disk: what a reader sees, and what the disk may hold of it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Bytes that the disk writes as a whole or not at all.
pub const SECTOR: usize = 512;
/// Sizes between two writes' ends that a file system may leave are multiples of this.
const PAGE: u64 = 4096;

/// What the disk may hold of one sector.
#[derive(Debug, Clone)]
pub(super) struct Versions {
    /// Behind what the last sync covered: the sector may not be there yet.
    pub(super) fresh: bool,
    /// From the oldest; the first one is what was there before the first write.
    pub(super) contents: Vec<Version>,
    /// The next sync writes it. A sync that failed leaves it clean, and nobody knows which version is on the disk.
    dirty: bool,
}

/// One content of a sector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Version {
    pub(super) bytes: Box<[u8; SECTOR]>,
    /// So many of its bytes belonged to the file then.
    pub(super) len: usize,
}

/// A file's content.
#[derive(Debug, Clone)]
pub(super) struct Blocks {
    /// What a reader sees.
    pub(super) visible: Vec<u8>,
    /// What the disk holds where nothing is open.
    pub(super) sure: Vec<u8>,
    /// Sectors of which the disk may hold one of several versions.
    pub(super) open: BTreeMap<usize, Versions>,
    /// Sizes that the file may have on the disk.
    pub(super) sizes: BTreeSet<u64>,
    /// The next sync writes the size too.
    size_dirty: bool,
}

impl Blocks {
    /// A file that is on the disk as it is seen.
    pub(super) fn durable(bytes: &[u8]) -> Self {
        Self {
            visible: bytes.to_vec(),
            sure: bytes.to_vec(),
            open: BTreeMap::new(),
            sizes: BTreeSet::from([bytes.len() as u64]),
            size_dirty: false,
        }
    }

    pub(super) fn write(&mut self, offset: u64, bytes: &[u8]) {
        let (start, end) = (offset as usize, offset as usize + bytes.len());
        if end > self.visible.len() {
            let old = self.visible.len() as u64;
            self.sizes.extend((old / PAGE + 1..).map(|page| page * PAGE).take_while(|size| *size < end as u64));
            self.sizes.insert(end as u64);
            self.size_dirty = true;
            self.visible.resize(end, 0);
        }
        self.visible[start..end].copy_from_slice(bytes);
        sectors_of(start..end).for_each(|sector| self.changed(sector));
    }

    pub(super) fn set_len(&mut self, len: u64) {
        let old = self.visible.len();
        self.visible.resize(len as usize, 0);
        self.sizes.insert(len);
        self.size_dirty = true;
        // What was cut off and grown again reads as zeros.
        sectors_of((len as usize).min(old)..old.max(len as usize)).for_each(|sector| self.changed(sector));
    }

    /// What is seen of a sector is one more version that the disk may hold.
    fn changed(&mut self, sector: usize) {
        let fresh = sector * SECTOR >= self.sure.len();
        let (before, now) = (sector_of(&self.sure, sector), sector_of(&self.visible, sector));
        let versions =
            self.open.entry(sector).or_insert_with(|| Versions { fresh, contents: vec![before], dirty: true });
        versions.dirty = true;
        if versions.contents.last() != Some(&now) {
            versions.contents.push(now);
        }
    }

    /// A sync that succeeds. What an earlier failed one has left in doubt stays so, until it is written again.
    pub(super) fn synced(&mut self) {
        let end = self.visible.len() as u64;
        let mut reached = 0;
        self.open.retain(|sector, versions| {
            if !versions.dirty {
                return true;
            }
            let range = sector * SECTOR..((sector + 1) * SECTOR).min(self.visible.len());
            if !range.is_empty() {
                reached = reached.max(range.end as u64);
                if self.sure.len() < range.end {
                    self.sure.resize(range.end, 0);
                }
                self.sure[range.clone()].copy_from_slice(&self.visible[range]);
            }
            false
        });
        if self.size_dirty {
            self.sizes = BTreeSet::from([end]);
            self.sure.resize(end as usize, 0);
            self.size_dirty = false;
        } else {
            self.sizes = self.sizes.iter().map(|size| (*size).max(reached)).collect();
        }
    }

    /// A sync that fails: some of it may be on the disk, and the system calls it clean from now on. `dropped`: nothing is
    /// on the disk and the system forgets the data, so that a reader sees what was there before.
    pub(super) fn sync_failed(&mut self, dropped: bool) {
        let (visible, sure) = (&mut self.visible, &self.sure);
        self.open.retain(|sector, versions| {
            if dropped && versions.dirty {
                let range = sector * SECTOR..((sector + 1) * SECTOR).min(visible.len());
                let before = sector_of(sure, *sector);
                let len = range.len();
                visible[range].copy_from_slice(&before.bytes[..len]);
                return false;
            }
            versions.dirty = false;
            true
        });
        self.size_dirty = false;
    }

    /// What is on the disk for sure, at its smallest size.
    pub(super) fn surely_durable(&self) -> Vec<u8> {
        let len = self.sizes.first().copied().unwrap_or(0) as usize;
        let mut bytes = self.sure.clone();
        bytes.resize(len, 0);
        bytes
    }
}

fn sectors_of(range: Range<usize>) -> Range<usize> {
    range.start / SECTOR..range.end.div_ceil(SECTOR)
}

/// The content of a sector; zeros where the file does not reach.
fn sector_of(bytes: &[u8], sector: usize) -> Version {
    let there = bytes.get(sector * SECTOR..).unwrap_or_default();
    let len = there.len().min(SECTOR);
    let mut content = Box::new([0; SECTOR]);
    content[..len].copy_from_slice(&there[..len]);
    Version { bytes: content, len }
}
