//! A reader written from `format-spec/FORMAT.md` alone, for comparison: the whole file is in memory, nothing is fast, and
//! each piece names its section. It shares no line with the library.

use super::reference_survey::displaced_at;
use super::seal::crc32;

pub const PAGE: usize = 4096;
const OPEN: u8 = 16;
const MARK: u8 = 17;
const INDEX: u8 = 18;
const BATCH: u8 = 1;
const SKIPPABLE: u8 = 128;

/// What the header page says [2].
#[derive(Debug)]
pub enum Said<'a> {
    NotALog,
    Newer { major: u16, incompat: u64 },
    Log(Reference<'a>),
}

/// One file.
#[derive(Debug)]
pub struct Reference<'a> {
    /// The bytes up to E [7.2], or fewer where the file ends before.
    pub data: &'a [u8],
    /// E.
    pub end: usize,
    /// A copy of the header is good.
    pub has_header: bool,
    pub page_damaged: bool,
    pub read_only: bool,
    pub tag: u32,
    pub max_record: u32,
    /// The checksum of the header copy that counts; without one any chain fits the first frame.
    pub first_chain: Option<u32>,
    /// 0: none.
    pub watermark: u64,
}

/// A frame, as far as its header goes [3.1].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Where it stands.
    pub at: usize,
    /// Where it was written for.
    pub place: u64,
    pub hcrc: u32,
    pub payload_len: usize,
    pub kind: u8,
    pub flags: u8,
    pub header_len: usize,
    pub hint: u8,
    pub durable: u64,
    pub chain: u32,
    pub id: [u8; 16],
    pub parent_off: u64,
    pub boundary_off: u64,
}

impl Head {
    pub fn total(&self) -> usize {
        self.header_len + self.payload_len.next_multiple_of(8) + 8
    }

    /// Where the next one starts.
    pub fn next(&self) -> usize {
        self.at + self.total()
    }

    pub fn is_own(&self) -> bool {
        matches!(self.kind, OPEN | MARK | INDEX)
    }

    pub fn goes_on(&self) -> bool {
        self.flags & BATCH != 0
    }

    pub fn is_open(&self) -> bool {
        self.kind == OPEN
    }
}

/// A range that is set aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Aside {
    pub from: usize,
    pub to: usize,
    /// As in an OPEN's payload [5].
    pub cause: u8,
    pub ids: Vec<[u8; 16]>,
}

/// In one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    Clean,
    Recovered,
    Damaged,
}

/// What an open says [7].
#[derive(Debug)]
pub struct Opened {
    pub verdict: Word,
    /// B.
    pub end: usize,
    pub durable_end: u64,
    /// Told where nothing is damaged.
    pub asides: Vec<Aside>,
    /// The last frame is a MARK with unsynced 0, or there is none [8.1].
    pub closed: bool,
}

pub fn bytes<const N: usize>(data: &[u8], at: usize) -> Option<[u8; N]> {
    data.get(at..at.checked_add(N)?)?.try_into().ok()
}

pub fn u32_at(data: &[u8], at: usize) -> Option<u32> {
    bytes(data, at).map(u32::from_le_bytes)
}

pub fn u64_at(data: &[u8], at: usize) -> Option<u64> {
    bytes(data, at).map(u64::from_le_bytes)
}

/// A sealed copy that is good or newer [2.1].
struct Copy<'a> {
    raw: &'a [u8],
    /// The major version and the unknown bits of `incompat`.
    newer: Option<(u16, u64)>,
}

fn copy(file: &[u8], at: usize) -> Option<Copy<'_>> {
    let len = u32_at(file, at + 12).filter(|len| (116..=1024).contains(len))? as usize;
    let raw = file.get(at..at + len)?;
    let sum = u32_at(raw, len - 4)?;
    if raw[..8] != *b"\x89SLOG\r\n\x1a" || sum != crc32(&[&raw[..len - 4]]) {
        return None;
    }
    let (major, incompat) = (u16::from_le_bytes(bytes(raw, 8)?), u64_at(raw, 32)?);
    let unknown = incompat & !1;
    if major != 1 || unknown != 0 {
        return Some(Copy { raw, newer: Some((major, unknown)) });
    }
    let good = (4096..=268_435_456).contains(&u32_at(raw, 88)?)
        && u32_at(raw, 92)? != 0
        && raw[96] == 1
        && raw[97..104].iter().all(|byte| *byte == 0);
    good.then_some(Copy { raw, newer: None })
}

/// What the file lacks before an E that is rounded up are zeros [7.2].
pub fn padded(file: &[u8]) -> Vec<u8> {
    let mut file = file.to_vec();
    if file.len() > PAGE {
        file.resize(file.len().next_multiple_of(8), 0);
    }
    file
}

/// Reads the page [2] and finds E [7.2], of a file with its padding.
pub fn read(file: &[u8]) -> Said<'_> {
    let used = file.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let end = used.next_multiple_of(8).max(PAGE);
    let data = &file[..end.min(file.len())];
    let (a, b) = (copy(file, 0), copy(file, 2048));
    let Some(counts) = a.as_ref().or(b.as_ref()) else {
        return without_header(data, end).map_or(Said::NotALog, Said::Log);
    };
    if let Some((major, incompat)) = counts.newer {
        return Said::Newer { major, incompat };
    }
    let raw = counts.raw;
    let both = a.as_ref().zip(b.as_ref());
    let mut damaged = both.is_none_or(|(a, b)| a.raw != b.raw) || file.len() < PAGE;
    let (minor, compat) = (u16::from_le_bytes([raw[10], raw[11]]), u64_at(raw, 16).unwrap_or(0));
    if minor == 0 && compat == 0 {
        let unused = [116..1024, 1040..2048, 2048 + 116..PAGE];
        damaged |= unused.into_iter().flatten().any(|at| file.get(at).is_some_and(|byte| *byte != 0));
    }
    let tag = u32_at(raw, 92).unwrap_or(0);
    let slot = file
        .get(1024..1040)
        .filter(|slot| u32_at(slot, 12) == Some(crc32(&[&slot[..12]])) && u32_at(slot, 8) == Some(tag));
    Said::Log(Reference {
        data,
        end,
        has_header: true,
        page_damaged: damaged,
        read_only: u64_at(raw, 24) != Some(0),
        tag,
        max_record: u32_at(raw, 88).unwrap_or(0),
        first_chain: u32_at(raw, raw.len() - 4),
        watermark: slot.and_then(|slot| u64_at(slot, 0)).unwrap_or(0),
    })
}

/// A file of which only frames tell that it is a log [11.5].
fn without_header(data: &[u8], end: usize) -> Option<Reference<'_>> {
    let with_tag = |tag| Reference {
        data,
        end,
        has_header: false,
        page_damaged: true,
        read_only: false,
        tag,
        max_record: 268_435_456,
        first_chain: None,
        watermark: 0,
    };
    let named = |at: usize| u32_at(data, at + 16).filter(|tag| *tag != 0).map(with_tag);
    let at_home = |at: usize| named(at).filter(|log| log.whole(at).is_some());
    let moved = |at: usize| named(at).filter(|log| displaced_at(log, at, 0).is_some());
    (PAGE..end).step_by(8).find_map(at_home).or_else(|| (0..end).find_map(moved))
}

impl Reference<'_> {
    /// Rules 1 to 3 for what stands at `at` and was written for `place` [3.1].
    pub fn head_for(&self, at: usize, place: u64) -> Option<Head> {
        let fixed = self.data.get(at..at.checked_add(64)?)?;
        if !place.is_multiple_of(8) || place < 4096 || fixed[..4] != [0xC1, 0x53, 0x4C, 0x46] {
            return None;
        }
        let header_len = usize::from(fixed[14]) * 8;
        let header = self.data.get(at..at + header_len.max(64))?;
        let hcrc = u32_at(fixed, 4)?;
        if header_len < 64 || crc32(&[&place.to_le_bytes(), &header[8..]]) != hcrc {
            return None;
        }
        let (payload_len, unsynced) = (u32_at(fixed, 8)?, u32_at(fixed, 20)?);
        let durable = place.checked_sub(u64::from(unsynced) * 8)?;
        let head = Head {
            at,
            place,
            hcrc,
            payload_len: payload_len as usize,
            kind: fixed[12],
            flags: fixed[13],
            header_len,
            hint: fixed[15],
            durable,
            chain: u32_at(fixed, 24)?,
            id: bytes(fixed, 32)?,
            parent_off: u64_at(fixed, 48)?,
            boundary_off: u64_at(fixed, 56)?,
        };
        let known = !matches!(head.kind, 0 | 255) && head.hint <= 3 && head.flags & !133 == 0;
        let ours = u32_at(fixed, 16)? == self.tag && payload_len <= self.max_record && durable >= 4096;
        (known && ours).then_some(head)
    }

    pub fn head(&self, at: usize) -> Option<Head> {
        self.head_for(at, at as u64)
    }

    /// Rules 4 and 5.
    pub fn body_fits(&self, head: &Head) -> bool {
        let Some(frame) = self.data.get(head.at..head.next()) else { return false };
        let (rest, trailer) = frame.split_at(frame.len() - 8);
        let stored = &rest[head.header_len..];
        let (payload, padding) = stored.split_at(head.payload_len);
        let list_fits = || u32_at(payload, 0).is_some_and(|count| 4 + 16 * u64::from(count) <= payload.len() as u64);
        u32_at(trailer, 0) == Some(head.total() as u32)
            && u32_at(trailer, 4) == Some(head.hcrc)
            && u32_at(frame, 28) == Some(crc32(&[stored]))
            && padding.iter().all(|byte| *byte == 0)
            && (!matches!(head.hint, 1 | 2) || list_fits())
    }

    /// The whole frame at a place.
    pub fn whole(&self, at: usize) -> Option<Head> {
        self.head(at).filter(|head| self.body_fits(head))
    }

    pub fn payload(&self, head: &Head) -> &[u8] {
        let start = head.at + head.header_len;
        &self.data[start..start + head.payload_len]
    }

    /// The whole frames that start in a range, none inside another.
    pub fn whole_frames(&self, from: usize, to: usize) -> Vec<Head> {
        let (mut at, mut found) = (from.next_multiple_of(8), Vec::new());
        while at < to {
            let frame = self.whole(at);
            at = frame.map_or(at + 8, |frame| frame.next());
            found.extend(frame);
        }
        found
    }

    /// The ids of the records in a range of which the header is right; none inside a whole frame.
    fn ids(&self, from: usize, to: usize) -> Vec<[u8; 16]> {
        let (mut at, mut ids) = (from.next_multiple_of(8), Vec::new());
        while at < to {
            ids.extend(self.head(at).filter(|head| !head.is_own()).map(|head| head.id));
            at = self.whole(at).map_or(at + 8, |frame| frame.next());
        }
        ids
    }

    pub fn aside(&self, from: usize, to: usize, cause: u8) -> Aside {
        Aside { from, to, cause, ids: self.ids(from, to) }
    }

    /// The whole frame that ends at a place.
    fn ending_at(&self, end: usize) -> Option<Head> {
        let total = u32_at(self.data, end.checked_sub(8)?)? as usize;
        let start = end.checked_sub(total).filter(|start| *start >= PAGE)?;
        self.whole(start).filter(|frame| frame.next() == end)
    }

    /// Where an OPEN says that it steps over from, and why [5].
    pub fn skip_from(&self, open: &Head) -> Option<(u64, u8)> {
        let payload = self.payload(open);
        (payload.len() >= 56).then(|| (u64_at(payload, 40).unwrap_or(0), payload[48]))
    }

    /// The batch that starts at a place behind a chain, if it counts [3.4, 7.6a].
    fn batch(&self, at: usize, chain: Option<u32>) -> Option<Vec<Head>> {
        let (mut at, mut chain) = (at, chain);
        let (mut frames, mut sum) = (Vec::new(), 0);
        loop {
            let frame = self.whole(at).filter(|frame| chain.is_none_or(|chain| chain == frame.chain))?;
            sum += frame.payload_len as u64;
            let misplaced = frame.is_own() && (!frames.is_empty() || frame.goes_on());
            let elsewhere = frame.is_open() && self.skip_from(&frame).map(|(from, _)| from) != Some(at as u64);
            if misplaced || elsewhere || sum > u64::from(self.max_record) {
                return None;
            }
            frames.push(frame);
            if !frame.goes_on() {
                return Some(frames);
            }
            (at, chain) = (frame.next(), Some(frame.hcrc));
        }
    }

    /// The OPEN that steps over everything from a place [7.6b].
    fn open_over(&self, at: usize, chain: Option<u32>, end: usize) -> Option<(Head, u8)> {
        (at + 8..end).step_by(8).find_map(|place| {
            let open = self.whole(place).filter(|frame| frame.is_open() && !frame.goes_on() && frame.next() <= end)?;
            let (from, cause) = self.skip_from(&open)?;
            (from == at as u64 && chain.is_none_or(|chain| chain == open.chain)).then_some((open, cause))
        })
    }

    /// Step 6 at a place: what is accepted there, and what an OPEN sets aside.
    pub fn step(&self, at: usize, chain: Option<u32>, end: usize) -> Option<(Vec<Head>, Option<Aside>)> {
        if let Some(batch) = self.batch(at, chain).filter(|batch| batch.iter().all(|frame| frame.next() <= end)) {
            return Some((batch, None));
        }
        let (open, cause) = self.open_over(at, chain, end)?;
        let cause = if cause <= 3 { cause } else { 1 };
        Some((vec![open], Some(self.aside(at, open.at, cause))))
    }

    /// A batch begins at this place of which the end is missing or wrong [7.7].
    pub fn half_batch_at(&self, at: usize, chain: Option<u32>) -> bool {
        let first = self.whole(at);
        first.is_some_and(|frame| frame.goes_on() && chain.is_none_or(|chain| chain == frame.chain))
    }

    /// The steps of section 7.
    pub fn open(&self) -> Opened {
        let last = (PAGE..=self.end).rev().step_by(8).find_map(|end| self.ending_at(end));
        let durable = last.map_or(PAGE as u64, |frame| frame.durable) as usize;
        let before = if durable > PAGE { self.ending_at(durable) } else { None };
        let durable_lost = durable > PAGE && before.is_none();
        let mut tip = before;
        let mut at = if before.is_some() { durable } else { PAGE };
        let mut chain = before.map_or(self.first_chain, |frame| Some(frame.hcrc));
        let mut durable_end = at as u64;
        let mut asides = Vec::new();
        while let Some((frames, aside)) = self.step(at, chain, self.end) {
            for frame in frames {
                durable_end = durable_end.max(frame.durable);
                (at, chain, tip) = (frame.next(), Some(frame.hcrc), Some(frame));
            }
            asides.extend(aside);
        }
        let (end, behind) = (at, self.whole_frames(at, self.end));
        let vouched = behind.iter().any(|frame| frame.durable > end as u64) || self.watermark > end as u64;
        let damaged = durable_lost || self.page_damaged || self.watermark > self.end as u64 || vouched;
        let cause = match () {
            () if self.half_batch_at(end, chain) => 3,
            () if !behind.is_empty() => 2,
            () => 1,
        };
        if end < self.end && !vouched {
            asides.push(self.aside(end, self.end, cause));
        }
        let verdict = match (damaged, end == self.end) {
            (true, _) => Word::Damaged,
            (false, true) => Word::Clean,
            (false, false) => Word::Recovered,
        };
        let closed = tip.is_none_or(|tip| tip.kind == MARK && tip.durable == tip.place);
        Opened {
            verdict,
            end,
            durable_end: durable_end.min(end as u64),
            asides,
            closed: closed && verdict == Word::Clean,
        }
    }

    /// All frames up to B, and whether the walk comes so far [7, last paragraph; 3.2].
    pub fn frames(&self, end: usize) -> (Vec<Head>, bool) {
        let (mut at, mut chain, mut found) = (PAGE, self.first_chain, Vec::new());
        while at < end {
            let frames = match self.step(at, chain, end) {
                Some((frames, _)) => frames,
                None => match self.readable_index(at, chain, end) {
                    Some(index) => {
                        (at, chain) = (index.next(), Some(index.hcrc));
                        continue;
                    }
                    None => return (found, false),
                },
            };
            for frame in frames {
                let known = frame.is_own() || frame.kind <= 4 || frame.flags & SKIPPABLE != 0;
                if !known {
                    return (found, false);
                }
                found.push(frame);
                (at, chain) = (frame.next(), Some(frame.hcrc));
            }
        }
        (found, true)
    }

    /// An INDEX of which only the payload is not right may be stepped over.
    fn readable_index(&self, at: usize, chain: Option<u32>, end: usize) -> Option<Head> {
        let head = self.head(at).filter(|head| head.kind == INDEX && !head.goes_on() && head.next() <= end)?;
        let trailer = (u32_at(self.data, head.next() - 8)?, u32_at(self.data, head.next() - 4)?);
        let fits = trailer == (head.total() as u32, head.hcrc) && chain.is_none_or(|chain| chain == head.chain);
        fits.then_some(head)
    }
}
