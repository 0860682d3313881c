//! Section 11 of FORMAT.md, for comparison: what is in a damaged file. See `reference.rs`.

use std::ops::Range;

use super::reference::{Aside, Head, PAGE, Reference, Word, u32_at};
use super::seal::crc32;

const SHIFT_MAX: u64 = 1 << 20;

/// What a whole frame counts for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    Accepted,
    SetAside,
    Incomplete,
    Orphan,
    Displaced,
    Doubtful,
}

/// What a survey says.
#[derive(Debug)]
pub struct Surveyed {
    pub verdict: Word,
    pub frames: Vec<(Head, Status)>,
    pub asides: Vec<Aside>,
    /// Damaged ranges behind the page.
    pub damage: Vec<(usize, usize)>,
}

struct Pass<'a> {
    log: &'a Reference<'a>,
    at: usize,
    chain: Option<u32>,
    linked: bool,
    found: Surveyed,
}

/// Looks at every byte.
pub fn survey(log: &Reference<'_>) -> Surveyed {
    let found = Surveyed { verdict: Word::Clean, frames: Vec::new(), asides: Vec::new(), damage: Vec::new() };
    let mut pass = Pass { log, at: PAGE, chain: log.first_chain, linked: true, found };
    if log.end == PAGE && log.page_damaged {
        pass.found.frames = displaced(log, 0).0;
    }
    while pass.at < log.end {
        if !pass.go_on() && !pass.step_over() {
            break;
        }
    }
    let mut found = pass.found;
    if log.watermark > log.end as u64 {
        found.damage.push((log.end, log.watermark as usize));
    }
    found.verdict = match () {
        () if log.page_damaged || !found.damage.is_empty() => Word::Damaged,
        () if !found.asides.is_empty() => Word::Recovered,
        () => Word::Clean,
    };
    found
}

impl Pass<'_> {
    fn status(&self) -> Status {
        if self.linked { Status::Accepted } else { Status::Orphan }
    }

    fn take(&mut self, frame: Head, status: Status) {
        self.found.frames.push((frame, status));
        (self.at, self.chain) = (frame.next(), Some(frame.hcrc));
    }

    fn put_aside(&mut self, aside: Aside) {
        // A batch without its end had never counted, the rest had been declared gone.
        let status = if aside.cause == 3 { Status::Incomplete } else { Status::SetAside };
        let frames = self.log.whole_frames(aside.from, aside.to);
        self.found.frames.extend(frames.into_iter().map(|frame| (frame, status)));
        self.found.asides.push(aside);
    }

    /// 11.1, as far as the chain goes on.
    fn go_on(&mut self) -> bool {
        let Some((frames, aside)) = self.log.step(self.at, self.chain, self.log.end) else { return false };
        if let Some(aside) = aside {
            self.put_aside(aside);
        }
        let status = self.status();
        frames.into_iter().for_each(|frame| self.take(frame, status));
        true
    }

    /// 11.1, where the chain ends. False if nothing is left.
    fn step_over(&mut self) -> bool {
        let (log, from) = (self.log, self.at);
        let half_batch = log.half_batch_at(from, self.chain);
        // 11.2: what stands in front of the damage, of a batch that does not count.
        let (mut front, mut bad) = (Vec::new(), from);
        while half_batch && let Some(frame) = log.whole(bad).filter(Head::goes_on) {
            front.push(frame);
            bad = frame.next();
        }
        let later = log.whole_frames(bad, log.end);
        let vouched = log.watermark.max(later.iter().map(|frame| frame.durable).max().unwrap_or(0)) > from as u64;
        let start = if bad == PAGE { 0 } else { bad };
        let (moved, given_up) = if later.is_empty() { displaced(log, start) } else { Default::default() };
        if !vouched && moved.is_empty() {
            let cause = if half_batch { 3 } else { 2 - u8::from(later.is_empty()) };
            self.put_aside(log.aside(from, log.end, cause));
            return false;
        }
        // 11.4: what had been given up does not come back.
        for (frame, status) in &mut self.found.frames {
            if *status == Status::Orphan && given_up.iter().any(|range| range.contains(&frame.place)) {
                *status = Status::SetAside;
            }
        }
        let in_front = if completed(&front, &moved) { self.status() } else { Status::Incomplete };
        front.iter().for_each(|frame| self.take(*frame, in_front));
        let mut next = later.first().copied();
        let mut to = next.map_or(log.end, |next| next.at);
        let opens = later.iter().filter(|open| open.is_open() && !open.goes_on());
        let around = opens
            .filter_map(|open| Some((log.skip_from(open)?.0 as usize, *open)))
            .filter(|(start, open)| bad < *start && *start <= to && to <= open.at && *start < open.at)
            .min_by_key(|(start, open)| (*start, open.at));
        if let Some((start, open)) = around {
            (to, next) = (start, Some(open));
        }
        self.found.damage.push((bad, to));
        let Some(next) = next else {
            self.found.frames.extend(moved);
            return false;
        };
        if let Some((start, open)) = around {
            let cause = log.skip_from(&open).map_or(1, |(_, cause)| cause);
            self.put_aside(log.aside(start, open.at, cause));
        }
        let lost = log.head(bad).filter(|_| bad < to);
        let by_header = lost.is_some_and(|lost| lost.next() == to && lost.hcrc == next.chain);
        let trailer = (u32_at(log.data, to - 8), u32_at(log.data, to - 4));
        let by_trailer = trailer == (Some((to - bad) as u32), Some(next.chain));
        self.linked &= by_header || by_trailer;
        (self.at, self.chain) = (next.at, Some(next.chain));
        // 11.3: the rest of the batch that is hit.
        let last = front.last().filter(|frame| !frame.is_own());
        let mut status = match (last, lost) {
            (Some(last), _) if bad == to => (last.hcrc == next.chain).then_some(Status::Incomplete),
            (_, Some(lost)) if !lost.goes_on() => None,
            (_, Some(lost)) if lost.next() == to => Some(Status::Incomplete),
            (_, Some(_)) => Some(Status::Doubtful),
            (last, None) => last.map(|_| Status::Doubtful),
        };
        let batch = lost.map(|lost| lost.durable).or(front.last().map(|frame| frame.durable));
        while let Some(what) = status
            && let Some(frame) = log.whole(self.at).filter(|frame| !frame.is_own() && batch == Some(frame.durable))
        {
            self.take(frame, what);
            status = status.filter(|_| frame.goes_on());
        }
        // 11.2 again: an OPEN there is the place to go on from, whatever it steps over.
        let elsewhere = |open: &Head| log.skip_from(open).map(|(from, _)| from) != Some(open.at as u64);
        if let Some(open) = log.whole(self.at).filter(|frame| frame.is_open() && elsewhere(frame)) {
            let status = self.status();
            self.take(open, status);
        }
        true
    }
}

/// 11.3: whether the rest of a batch follows displaced.
fn completed(front: &[Head], moved: &[(Head, Status)]) -> bool {
    let Some(mut last) = front.last() else { return false };
    for (frame, _) in moved {
        if frame.place != last.place + (last.next() - last.at) as u64 || frame.chain != last.hcrc {
            return false;
        }
        if !frame.goes_on() {
            return true;
        }
        last = frame;
    }
    false
}

/// 11.4: frames that stand somewhere else than where they were written, and what OPENs among them have stepped over.
fn displaced(log: &Reference<'_>, from: usize) -> (Vec<(Head, Status)>, Vec<Range<u64>>) {
    let (mut at, mut shift) = (from, 0);
    let (mut found, mut given_up): (Vec<Head>, Vec<Range<u64>>) = (Vec::new(), Vec::new());
    while at < log.end {
        let Some(frame) = displaced_at(log, at, shift) else {
            at += 1;
            continue;
        };
        (at, shift) = (frame.next(), frame.place as i64 - frame.at as i64);
        let home = usize::try_from(frame.place).ok().and_then(|place| log.whole(place));
        let is_copy = home.is_some_and(|home| home.hcrc == frame.hcrc);
        if is_copy || found.iter().any(|known| known.place == frame.place) {
            continue;
        }
        given_up.extend(log.skip_from(&frame).filter(|_| frame.is_open()).map(|(start, _)| start..frame.place));
        found.push(frame);
    }
    let status = |frame: &Head| match given_up.iter().any(|range| range.contains(&frame.place)) {
        true => Status::SetAside,
        false => Status::Displaced,
    };
    let moved = found.iter().map(|frame| (*frame, status(frame))).collect();
    (moved, given_up)
}

pub fn displaced_at(log: &Reference<'_>, at: usize, shift: i64) -> Option<Head> {
    let fixed = log.data.get(at..at + 64).filter(|fixed| fixed[..4] == [0xC1, b'S', b'L', b'F'])?;
    // The place is looked for last: everything else is tested with a header that is taken for right.
    let (header_len, payload_len) = (usize::from(fixed[14]) * 8, u32_at(fixed, 8)? as usize);
    if header_len < 64 || u32_at(fixed, 16)? != log.tag || payload_len as u64 > u64::from(log.max_record) {
        return None;
    }
    let next = at + header_len + payload_len.next_multiple_of(8) + 8;
    let trailer = log.data.get(next - 8..next)?;
    if trailer[..4] != ((next - at) as u32).to_le_bytes() || trailer[4..] != fixed[4..8] {
        return None;
    }
    let header = &log.data[at + 8..at + header_len];
    let near = (at as u64).saturating_sub(SHIFT_MAX).next_multiple_of(8).max(4096);
    let first = (at as u64).checked_add_signed(shift).filter(|place| place.is_multiple_of(8));
    let fits = |place: &u64| crc32(&[&place.to_le_bytes(), header]) == u32_at(fixed, 4).unwrap_or(0);
    let place = first.filter(fits).or_else(|| (near..=at as u64 + SHIFT_MAX).step_by(8).find(fits))?;
    log.head_for(at, place).filter(|head| log.body_fits(head))
}
