//! Logs of random histories, bent in random ways.

use seslog::log::{Durability, LogOptions};

use super::bend::frame_offsets;
use super::story::*;

/// Random numbers from a seed.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        let mut random = Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        for _ in 0..8 {
            random.next();
        }
        random
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// Below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() >> 11) as usize % end.max(1)
    }

    pub fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }
}

/// A random history: batches of random records, killed and closed writers, files cut before the next one comes. With it, the
/// file as each writer left it.
pub fn history(random: &mut Random) -> Vec<Vec<u8>> {
    let options = if random.one_in(2) { LogOptions::default().index_records(16) } else { LogOptions::default() };
    let mut story = Story::with(new_log(), options, random.below(100));
    let mut files = Vec::new();
    let mut next = 1;
    for _ in 0..=random.below(4) {
        for _ in 0..random.below(12) {
            let batch = batch(random, &story, &mut next);
            let durability = [Durability::Sync, Durability::Os, Durability::Os, Durability::Group][random.below(4)];
            story.write(&batch, durability);
        }
        if random.one_in(4) {
            story.sync();
        }
        if random.one_in(3) {
            (story, _) = story.close_and_reopen();
            files.push(story.bytes());
        } else {
            let mut bytes = story.bytes();
            files.push(bytes.clone());
            // What was never synced may be lost: cut it anywhere, or lose some of its sectors.
            let durable = story.durable_len();
            if bytes.len() > durable && random.one_in(2) {
                bytes.truncate(durable + random.below(bytes.len() - durable));
            }
            if bytes.len() > durable && random.one_in(2) {
                let from = durable + random.below(bytes.len() - durable);
                let to = bytes.len().min(from - from % 512 + 512);
                bytes[from..to].fill(0);
            }
            files.push(bytes.clone());
            (story, _) = story.reopened(&bytes);
            files.push(story.bytes());
        }
    }
    files.push(if random.one_in(2) { story.close() } else { story.kill() });
    files
}

fn batch(random: &mut Random, story: &Story, next: &mut u64) -> Vec<Item> {
    let count = if random.one_in(3) { 1 + random.below(4) } else { 1 };
    let mut items: Vec<Item> = Vec::new();
    for _ in 0..count {
        let number = *next;
        *next += 1;
        let earlier: Vec<u64> = (1..number)
            .filter(|earlier| story.has(uid(*earlier)) || items.iter().any(|item| item.id == uid(*earlier)))
            .collect();
        let text = "x".repeat(if random.one_in(8) { random.below(1500) } else { random.below(60) });
        let Some(one) = (!earlier.is_empty()).then(|| earlier[random.below(earlier.len())]) else {
            items.push(user(number, None, &text));
            continue;
        };
        items.push(match random.below(14) {
            0 => boundary(number, one, &[one]),
            1 => tombstone(number, &[one, earlier[0]]),
            2 => amend(number, one),
            3 => prune(number, &[one]),
            4 => head(number, if random.one_in(3) { None } else { Some(one) }),
            5 => meta(number, &text),
            6 => started(number),
            7 | 8 => result(number, one),
            9 => Item { payload: text.into_bytes(), ..user(number, Some(one), "") },
            10 => assistant(number, one, &text),
            _ => user(number, Some(one), &text),
        });
    }
    items
}

/// One random piece of damage.
pub fn bend(random: &mut Random, file: &[u8]) -> Vec<u8> {
    let mut bytes = file.to_vec();
    // Mostly behind the page, so that most files can still be read.
    let first = if random.one_in(8) { 0 } else { 4096.min(bytes.len().saturating_sub(1)) };
    let spot = |random: &mut Random, len: usize| first + random.below(len - first);
    for _ in 0..1 + random.below(3) {
        if bytes.len() <= first + 64 {
            break;
        }
        let len = bytes.len();
        let at = spot(random, len);
        match random.below(10) {
            0 => bytes.truncate(at),
            1 => bytes[at..len.min(at + 1 + random.below(64))].fill(0),
            2 => {
                let start = at - at % 512;
                bytes[start.max(first)..len.min(start + 512)].fill(if random.one_in(3) { 0xFF } else { 0 });
            }
            3 | 4 => bytes[at] ^= 1 << random.below(8),
            5 => bytes.resize(len + random.below(5000), 0),
            6 => {
                // A frame, or the end of the file from there on, at another place.
                let frames = frame_offsets(&bytes);
                if frames.len() > 1 {
                    let (from, to) = (frames[random.below(frames.len())], frames[random.below(frames.len())]);
                    let count = (frames.get(1).map_or(128, |second| second - frames[0])).min(len - from.max(to));
                    bytes.copy_within(from..from + count, to);
                }
            }
            7 => {
                let frames = frame_offsets(&bytes);
                if let Some(start) = (!frames.is_empty()).then(|| frames[random.below(frames.len())]) {
                    bytes.truncate(start);
                }
            }
            8 => drop(bytes.splice(at..at, vec![0x33; 1 + random.below(20)])),
            _ => drop(bytes.drain(at..len.min(at + 1 + random.below(20)))),
        }
    }
    bytes
}
