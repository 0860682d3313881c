//! The reading side that writer and reader share: single frames, runs of frames, look-ups.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::ahead::{FRAME_MAX, FramesAhead, Ready};
use super::counters::IoCount;
use super::damage::{Damage, DamageKind};
use super::error::LogError;
use super::format as f;
use super::frame::{Decoded, Fault, Frame, FrameHead};
use super::fs::{FileId, Fs};
use super::header::LogInfo;
use super::kind::{FrameType, HintClass};
use super::load::{header_ending_at, load, load_header};
use super::locked;
use super::recent::Recent;
use super::scan::{Hit, Opens, Step, Stop, Walk, whole_before};
use super::source::{ReadAhead, Source};
use super::state::{Note, State};
use super::table::Table;

/// A log for reading: what a writer and a reader have in common.
#[derive(Debug)]
pub struct LogView {
    pub(crate) fs: Arc<dyn Fs>,
    pub(crate) source: Arc<Source>,
    pub(crate) info: LogInfo,
    pub(crate) end: AtomicU64,
    pub(crate) edge: Mutex<Edge>,
    /// Heads of INDEX frames that have been read, by offset. Taken after `edge`, if both are.
    pub(crate) tables: Mutex<HashMap<u64, Table>>,
}

/// The end of the accepted frames and what is known of it.
#[derive(Debug)]
pub(crate) struct Edge {
    /// The last accepted frame; none in an empty log.
    pub(crate) tip: Option<u64>,
    /// Checksum that the next frame must name.
    pub(crate) chain: u32,
    /// What holds at the end; read from the tail at first need.
    pub(crate) state: Option<State>,
    /// Records behind the last INDEX; read from the tail at first need.
    pub(crate) recent: Option<Recent>,
}

impl LogView {
    /// Which file this is; none where the platform cannot tell.
    pub(crate) fn file_id(&self) -> Option<FileId> {
        self.source.file.identity().ok().flatten()
    }

    /// What the header says.
    #[must_use]
    pub fn info(&self) -> &LogInfo {
        &self.info
    }

    /// The log's path, as it was opened.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.source.path
    }

    /// Where the visible frames end, in bytes. What lies behind the durable end may be gone after a power cut.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.end.load(Ordering::Acquire)
    }

    /// Frames that end at or before this place never vanish, in bytes from the start of the file.
    #[must_use]
    pub fn durable_end(&self) -> u64 {
        self.source.durable_end.load(Ordering::Acquire)
    }

    /// How much this handle has read, written and synced.
    #[must_use]
    pub fn io(&self) -> IoCount {
        self.source.counters.get()
    }

    /// The last visible frame; none in an empty log.
    ///
    /// # Errors
    /// `Io`; `NoFrame` if it was damaged since the open.
    pub fn tip(&self) -> Result<Option<Frame>, LogError> {
        let tip = locked(&self.edge).tip;
        tip.map(|offset| self.frame(offset)).transpose()
    }

    /// The header of the last visible frame.
    pub(crate) fn tip_head(&self) -> Result<Option<FrameHead>, LogError> {
        let tip = locked(&self.edge).tip;
        tip.map(|offset| self.header(offset)).transpose()
    }

    /// What lies from this place on is about to be read.
    pub(crate) fn will_read_from(&self, offset: u64) {
        self.source.will_read(offset, self.end().saturating_sub(offset));
    }

    /// What holds at the end of the log: from the nearest OPEN, MARK or INDEX and the headers behind it.
    ///
    /// `last_id` is the larger of what that frame names and the UUIDv7s of the records behind it.
    ///
    /// # Errors
    /// `Io`; `Damaged` if a frame between that one and the end is damaged.
    pub fn note(&self) -> Result<Note, LogError> {
        Ok(self.state(&mut locked(&self.edge))?.note())
    }

    /// Number of records in the log (messages and other events, not the log's own frames).
    ///
    /// # Errors
    /// As [`LogView::note`].
    pub fn record_count(&self) -> Result<u64, LogError> {
        Ok(self.state(&mut locked(&self.edge))?.records)
    }

    /// The whole frame at a place; header, payload and trailer are checked.
    ///
    /// # Errors
    /// `NoFrame` if none stands there, `Io`, `Replaced` if the file was cut.
    pub fn frame(&self, offset: u64) -> Result<Frame, LogError> {
        let rules = self.info.rules();
        let durable = offset.saturating_add(f::FRAME_LEN_MIN) <= self.durable_end();
        if offset < f::HEADER_PAGE_LEN || !durable || !self.source.is_mapped() {
            let mut pages = ReadAhead::new(&self.source, self.end());
            return self.expect_whole(offset, self.load_at(&mut pages, offset)?);
        }
        // Durable bytes may come out of the map without a copy.
        let head = self.header(offset)?;
        if head.next_offset() > self.end() {
            return self.expect_whole(offset, Decoded::Short { missing: head.next_offset() - self.end() });
        }
        let bytes = self.source.chunk(offset, head.total_len() as usize)?;
        self.expect_whole(offset, Frame::check(bytes, offset, rules))
    }

    /// The header at a place; 64 bytes are read, the payload is not.
    ///
    /// # Errors
    /// `NoFrame` if none stands there, `Io`.
    pub fn header(&self, offset: u64) -> Result<FrameHead, LogError> {
        if !self.is_place(offset) {
            return self.expect_whole(offset, Decoded::Wrong(Fault::Place));
        }
        let bytes = self.source.chunk(offset, f::FRAME_HEADER_LEN as usize)?;
        let decoded = match super::frame::decode_header(&bytes, offset, self.info.rules()) {
            Decoded::Short { .. } => {
                load_header(&mut ReadAhead::new(&self.source, self.end()), offset, self.info.rules())?
            }
            decoded => decoded,
        };
        self.expect_whole(offset, decoded)
    }

    /// Whether a frame may stand there.
    pub(crate) fn is_place(&self, offset: u64) -> bool {
        (f::HEADER_PAGE_LEN..self.end()).contains(&offset)
    }

    /// Frames in file order from the one at `from` (0: from the first), OPEN, MARK and INDEX among them. What an OPEN has set
    /// aside is left out. Damage, or a frame of an unknown type that must not be skipped, ends the walk with an error.
    #[must_use]
    pub fn frames(&self, from: u64) -> Frames<'_> {
        let first = from <= f::HEADER_PAGE_LEN;
        let at = from.max(f::HEADER_PAGE_LEN);
        self.frames_of(Walk { at, chain: first.then_some(self.info.header_crc), rules: self.info.rules() })
    }

    fn frames_of(&self, walk: Walk) -> Frames<'_> {
        let end = self.end();
        Frames {
            view: self,
            pages: ReadAhead::run(&self.source, walk.at, end),
            ahead: FramesAhead::start(&self.source, &walk, end),
            walk,
            opens: None,
            ready: Vec::new().into_iter(),
            end,
            done: false,
        }
    }

    /// Checksum of the last visible frame's header, and so of all before it; of the log's header in an empty log.
    pub(crate) fn chain(&self) -> u32 {
        locked(&self.edge).chain
    }

    /// Frames behind the place that an earlier reader had reached, with the checksum that [`LogView::chain`] gave there. If what
    /// it had read is not what lies there now, the walk ends with an error.
    pub(crate) fn frames_behind(&self, at: u64, chain: u32) -> Frames<'_> {
        self.frames_of(Walk { at: at.max(f::HEADER_PAGE_LEN), chain: Some(chain), rules: self.info.rules() })
    }

    /// The INDEX at a place; its head is read once and kept. None if there is no readable one.
    pub(crate) fn table(&self, offset: u64) -> Result<Option<Table>, LogError> {
        if let Some(table) = locked(&self.tables).get(&offset) {
            return Ok(Some(*table));
        }
        let frame = match self.header(offset) {
            Ok(frame) if frame.frame_type == FrameType::Index => frame,
            Ok(_) | Err(LogError::NoFrame { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        let table = Table::open(&self.source, &frame)?;
        if let Some(table) = table {
            locked(&self.tables).insert(offset, table);
        }
        Ok(table)
    }

    pub(crate) fn load_at(&self, pages: &mut ReadAhead<'_>, offset: u64) -> Result<Decoded<Frame>, LogError> {
        if offset < f::HEADER_PAGE_LEN || offset >= pages.limit() {
            return Ok(Decoded::Wrong(Fault::Place));
        }
        load(pages, offset, self.info.rules())
    }

    pub(crate) fn expect_whole<T>(&self, offset: u64, decoded: Decoded<T>) -> Result<T, LogError> {
        let found = match decoded {
            Decoded::Whole(whole) => return Ok(whole),
            Decoded::Short { missing } => format!("{missing} bytes too few"),
            Decoded::Wrong(fault) => fault.to_string(),
        };
        Err(LogError::NoFrame {
            path: self.source.path.clone(),
            offset,
            expected: String::from("a whole frame"),
            found,
        })
    }

    /// The state at the end, read from the tail if it is not known yet.
    pub(crate) fn state(&self, edge: &mut Edge) -> Result<State, LogError> {
        if let Some(state) = edge.state {
            return Ok(state);
        }
        let state = self.state_before(self.end())?;
        edge.state = Some(state);
        Ok(state)
    }

    /// The state at a place between two accepted frames: back to the nearest frame that carries one, then forward over headers.
    pub(crate) fn state_before(&self, end: u64) -> Result<State, LogError> {
        let mut pages = ReadAhead::new(&self.source, end);
        let mut heads = Vec::new();
        let mut at = end;
        let mut state = State::default();
        let mut last_index = None;
        while at > f::HEADER_PAGE_LEN {
            // Later frames stand behind this place, so what is not whole here had been accepted.
            let Some(head) = header_ending_at(&mut pages, at, self.info.rules())? else {
                return Err(self.damaged_before(&mut pages, at, Fault::Trailer)?);
            };
            if head.frame_type == FrameType::Index {
                last_index = last_index.or(Some(head.offset));
                // Its head has a checksum of its own. If that is damaged, an earlier frame and more headers tell the same.
                if let Some(table) = self.table(head.offset)? {
                    state = table.head.state;
                    break;
                }
            } else if head.frame_type.is_own() {
                let frame = match load(&mut pages, head.offset, self.info.rules())? {
                    Decoded::Whole(frame) => frame,
                    Decoded::Wrong(fault) => return Err(self.damaged_before(&mut pages, at, fault)?),
                    Decoded::Short { .. } => return Err(self.damaged_before(&mut pages, at, Fault::Trailer)?),
                };
                // A payload that is too short is of no known version; the walk then goes on behind it.
                if let Ok(found) = State::decode(frame.stored_payload(), head.parent_off, head.boundary_off) {
                    state = found;
                    break;
                }
            } else {
                heads.push(head);
            }
            at = head.offset;
        }
        state.last_index = last_index.unwrap_or(state.last_index);
        for head in heads.iter().rev() {
            state_after(&mut state, head);
        }
        Ok(state)
    }

    /// What lies between this place, where a whole frame must end, and the whole frame before it, as an error with a report.
    fn damaged_before(&self, pages: &mut ReadAhead<'_>, end: u64, fault: Fault) -> Result<LogError, LogError> {
        let offset = whole_before(pages, end, self.info.rules())?;
        let (expected, found) = (String::from("a frame of this log"), fault.to_string());
        Ok(self.damaged(Damage { offset, len: end - offset, kind: DamageKind::Frame, expected, found }))
    }

    /// One place of damage that a walk has met, as an error with a report.
    pub(crate) fn damaged(&self, damage: Damage) -> LogError {
        let report = super::report::OpenReport {
            verdict: super::report::Verdict::Damaged,
            end: self.end(),
            durable_end: self.durable_end(),
            zero_bytes: 0,
            set_aside: Vec::new(),
            damage: vec![damage],
            bytes_read: self.io().bytes_read,
            clean_close: false,
            watermark: super::report::WatermarkState::Empty,
        };
        LogError::Damaged { path: self.source.path.clone(), report: Box::new(report) }
    }
}

/// What a record's header adds to the state.
fn state_after(state: &mut State, head: &FrameHead) {
    // A hostile state may claim any number.
    state.records = state.records.saturating_add(1);
    state.boundary = if head.frame_type == FrameType::Boundary { head.offset } else { head.boundary_off };
    if head.is_leaf() {
        state.head = head.offset;
    } else if head.frame_type == FrameType::Head {
        state.head = head.parent_off;
    }
    if head.hint == HintClass::Meta {
        state.meta_offset = head.offset;
    }
    if head.id.get_version_num() == 7 {
        state.last_id = state.last_id.max(head.id);
    }
}

/// Frames in file order. See [`LogView::frames`].
#[derive(Debug)]
pub struct Frames<'a> {
    view: &'a LogView,
    pages: ReadAhead<'a>,
    ahead: Option<FramesAhead>,
    walk: Walk,
    /// The OPEN frames, once the chain has ended where none steps over anything.
    opens: Option<Opens>,
    ready: std::vec::IntoIter<Frame>,
    end: u64,
    done: bool,
}

impl Iterator for Frames<'_> {
    type Item = Result<Frame, LogError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if self.done {
                return None;
            }
            if let Some(frame) = self.ready.next() {
                let head = frame.head();
                if let FrameType::Other(frame_type) = head.frame_type
                    && !head.is_skippable()
                {
                    self.done = true;
                    let (path, offset) = (self.view.source.path.clone(), head.offset);
                    return Some(Err(LogError::UnknownFrame { path, offset, frame_type }));
                }
                return Some(Ok(frame));
            }
            if self.walk.at >= self.end {
                self.done = true;
                continue;
            }
            if let Some(Ready { frames, walk }) = self.ahead.as_mut().and_then(FramesAhead::next) {
                (self.ready, self.walk) = (frames.into_iter(), walk);
                continue;
            }
            let from = self.walk.at;
            let step = match &self.opens {
                Some(opens) => self.walk.step_among(&mut self.pages, opens),
                None => self.walk.step(&mut self.pages),
            };
            match step {
                Ok(Step::Frames { frames, .. }) => {
                    self.ready = frames.into_iter();
                    self.ahead = match self.walk.at - from > FRAME_MAX {
                        true => FramesAhead::start(&self.view.source, &self.walk, self.end),
                        false => None,
                    };
                }
                Ok(Step::End(_)) if matches!(self.step_over_index(), Ok(true)) => {}
                Ok(Step::End(stop)) => {
                    self.done = true;
                    let hit = self.hit(stop);
                    let expected = String::from("a frame of this log");
                    return Some(Err(hit.map_or_else(|e| e, |hit| self.view.damaged(hit.damage(stop, expected)))));
                }
                Err(error) => {
                    self.done = true;
                    return Some(Err(error));
                }
            }
        }
    }
}

impl Frames<'_> {
    fn hit(&mut self, stop: Stop) -> Result<Hit, LogError> {
        let opens = match self.opens.take() {
            Some(opens) => opens,
            None => Opens::behind(&mut self.pages, self.walk.at, self.walk.rules)?,
        };
        Hit::at(&mut self.pages, self.walk.at, stop, self.walk.rules, &opens)
    }

    /// An INDEX whose header fits and whose payload is damaged hides no record: the walk goes on behind it. (That no OPEN steps
    /// over it is known by then.)
    fn step_over_index(&mut self) -> Result<bool, LogError> {
        let rules = self.walk.rules;
        let Decoded::Whole(head) = load_header(&mut self.pages, self.walk.at, rules)? else { return Ok(false) };
        let fits = self.walk.chain.is_none_or(|chain| chain == head.chain);
        if head.frame_type != FrameType::Index || head.batch_goes_on() || !fits || head.next_offset() > self.end {
            return Ok(false);
        }
        if header_ending_at(&mut self.pages, head.next_offset(), rules)? != Some(head) {
            return Ok(false);
        }
        self.walk.at = head.next_offset();
        self.walk.chain = Some(head.header_crc);
        if self.opens.is_none() {
            // The file was searched for one to its end; with many such frames it would be at each of them.
            self.opens = Some(Opens::behind(&mut self.pages, self.walk.at, rules)?);
        }
        Ok(true)
    }
}
