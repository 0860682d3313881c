//! Damage to closed files: kinds, and the places where each is done, in an even grid over all bytes of a session.

use std::collections::{BTreeMap, BTreeSet};

use crate::message::owners;
use crate::random::Random;

/// The files of a session by their names.
pub type Files = BTreeMap<String, Vec<u8>>;

const SECTOR: usize = 512;
const PAGE: usize = 4096;

/// What is done to the bytes at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Damage {
    /// One bit is another one.
    BitFlipped,
    /// 512 bytes are zeros.
    SectorZeroed,
    /// 512 bytes are 0xFF.
    SectorOnes,
    /// 4096 bytes are zeros.
    PageZeroed,
    /// Two sectors of 512 bytes, one behind the other, have changed places.
    SectorsSwapped,
    /// 512 bytes are what they were after an earlier message.
    SectorOlder,
    /// Everything from a place on is gone.
    CutOff,
    /// Some bytes are put in, and what was behind has moved.
    BytesInserted,
    /// Some bytes are gone, and what was behind has moved.
    BytesRemoved,
    /// There is noise behind the end.
    GarbageBehind,
}

/// All kinds, with what they are called.
pub const ALL: [(Damage, &str); 10] = [
    (Damage::BitFlipped, "one bit flipped"),
    (Damage::SectorZeroed, "a sector zeroed"),
    (Damage::SectorOnes, "a sector all 0xFF"),
    (Damage::PageZeroed, "a page zeroed"),
    (Damage::SectorsSwapped, "two neighbouring sectors swapped"),
    (Damage::SectorOlder, "a sector as it was earlier"),
    (Damage::CutOff, "the end cut off"),
    (Damage::BytesInserted, "1 to 64 bytes inserted"),
    (Damage::BytesRemoved, "1 to 64 bytes removed"),
    (Damage::GarbageBehind, "noise behind the end"),
];

/// A session whose files are to be damaged.
#[derive(Debug)]
pub struct Session {
    /// As they are.
    pub files: Files,
    /// As they were after each message, from the first on.
    pub older: Vec<Files>,
}

/// A damaged session.
#[derive(Debug)]
pub struct Damaged {
    /// As they are now.
    pub files: Files,
    /// Messages of which a byte was changed or taken, or put into.
    pub hit: BTreeSet<usize>,
}

impl Session {
    /// Each damaged form of a kind, at most `places` of them.
    pub fn each(&self, damage: Damage, places: usize, mut visit: impl FnMut(&Damaged)) {
        let owners: BTreeMap<&str, Vec<Vec<usize>>> =
            self.files.iter().map(|(name, bytes)| (name.as_str(), owners(bytes))).collect();
        let step = match damage {
            Damage::BitFlipped | Damage::BytesInserted | Damage::BytesRemoved | Damage::CutOff => 1,
            Damage::PageZeroed => PAGE,
            Damage::GarbageBehind => usize::MAX,
            _ => SECTOR,
        };
        let mut all = Vec::new();
        for (name, bytes) in &self.files {
            let starts = (0..bytes.len())
                .step_by(step)
                .filter(|at| damage != Damage::SectorOlder || self.was(name, *at).is_some());
            all.extend(starts.map(|at| (name, at)));
        }
        if damage == Damage::GarbageBehind {
            // The place says how much.
            all = all.into_iter().flat_map(|(name, _)| (1..=16).map(move |step| (name, step * 97))).collect();
        }
        let count = places.min(all.len());
        for index in 0..count {
            let (name, at) = all[index * all.len() / count];
            let mut random = Random::at(index as u64);
            let mut files = self.files.clone();
            let Some(bytes) = files.get_mut(name) else { continue };
            let hit: BTreeSet<usize> = match self.apply(damage, name, at, bytes, &mut random) {
                Some(touched) => touched.into_iter().flat_map(|at| owners[name.as_str()][at].iter().copied()).collect(),
                None => continue,
            };
            visit(&Damaged { files, hit });
        }
    }

    /// Does it, and says which bytes of before it has touched; nothing if no byte would change.
    fn apply(
        &self,
        damage: Damage,
        name: &str,
        at: usize,
        bytes: &mut Vec<u8>,
        random: &mut Random,
    ) -> Option<Vec<usize>> {
        let before = bytes.clone();
        let sector = at..(at + SECTOR).min(bytes.len());
        match damage {
            Damage::BitFlipped => bytes[at] ^= 1 << (random.bits() % 8),
            Damage::SectorZeroed => bytes[sector].fill(0),
            Damage::SectorOnes => bytes[sector].fill(0xFF),
            Damage::PageZeroed => bytes[at..(at + PAGE).min(before.len())].fill(0),
            Damage::SectorsSwapped => {
                let other = at + SECTOR..(at + 2 * SECTOR).min(bytes.len());
                if other.len() < SECTOR {
                    return None;
                }
                let (one, two) = bytes[at..other.end].split_at_mut(SECTOR);
                one.swap_with_slice(two);
            }
            Damage::SectorOlder => bytes[sector.clone()].copy_from_slice(&self.was(name, at)?[..sector.len()]),
            Damage::CutOff => {
                bytes.truncate(at);
                return Some((at..before.len()).collect());
            }
            Damage::BytesInserted => {
                let count = 1 + random.bits() as usize % 64;
                let new: Vec<u8> = (0..count).map(|_| random.bits() as u8).collect();
                bytes.splice(at..at, new);
                return Some(vec![at]);
            }
            Damage::BytesRemoved => {
                let end = (at + 1 + random.bits() as usize % 64).min(bytes.len());
                bytes.drain(at..end);
                return Some((at..end).collect());
            }
            Damage::GarbageBehind => {
                bytes.extend((0..at).map(|_| random.bits() as u8));
                return Some(Vec::new());
            }
        }
        let touched: Vec<usize> = (0..before.len()).filter(|at| bytes[*at] != before[*at]).collect();
        (!touched.is_empty()).then_some(touched)
    }

    /// The last other content of a sector.
    fn was(&self, name: &str, at: usize) -> Option<[u8; SECTOR]> {
        let sector = |files: &Files| {
            let rest = files.get(name)?.get(at..).filter(|rest| !rest.is_empty())?;
            let mut sector = [0; SECTOR];
            let len = rest.len().min(SECTOR);
            sector[..len].copy_from_slice(&rest[..len]);
            Some(sector)
        };
        let now = sector(&self.files)?;
        self.older.iter().rev().filter_map(sector).find(|was| *was != now)
    }
}
