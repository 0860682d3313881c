//! What can still be said of records that are gone: how many, which, and what is left of one whose header is damaged.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::checksum::crc32;
use super::error::LogError;
use super::format as f;
use super::frame::{padded, target_count};
use super::kind::{FrameType, HintClass};
use super::report::Cause;
use super::state::State;
use super::survey::Survey;
use super::survey_frame::FrameStatus;
use super::table::{Kind, Table};

/// What is known of the records of a damaged log that are gone.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LostRecords {
    /// How many records the last OPEN, MARK or INDEX had counted before it that are gone; none if there is no such frame behind
    /// the first damage.
    pub count: Option<u64>,
    /// Those of them whose ids are known: from a header that is right, or from an INDEX. In the order of the file.
    pub ids: Vec<Uuid>,
}

/// What is left of a frame whose header is damaged, its payload not.
#[derive(Debug)]
pub(crate) struct Left {
    /// As the header names it, which nothing vouches for.
    pub(crate) parent_off: u64,
    /// The caller's payload; its own checksum fits.
    pub(crate) payload: Vec<u8>,
}

impl Survey {
    /// How many records are gone, and which.
    ///
    /// # Errors
    /// `Io`; `NoFrame` if the file has changed.
    pub fn lost_records(&self) -> Result<LostRecords, LogError> {
        let Some(first) = self.damage.iter().map(|damage| damage.offset).min() else {
            return Ok(LostRecords { count: None, ids: Vec::new() });
        };
        let mut hits: Vec<(u64, u64)> = self.damage.iter().map(|hit| (hit.offset, hit.offset + hit.len)).collect();
        hits.sort_unstable();
        let mut ids = BTreeMap::new();
        let mut counted = None;
        for frame in self.frames.iter().filter(|frame| frame.status.counts() && frame.head.frame_type.is_own()) {
            let whole = self.load(frame)?;
            let state = State::decode(whole.stored_payload(), 0, 0);
            if let Ok(state) = state
                && frame.head.offset > first
            {
                counted = Some((frame.head.offset, state.records));
            }
            if frame.head.frame_type == FrameType::Index && frame.at == frame.head.offset {
                self.indexed_and_lost(frame.at, &hits, &mut ids)?;
            }
        }
        // Damage of no length is a whole frame that fits nothing before it: it is not lost.
        for damage in self.damage.iter().filter(|damage| damage.len > 0) {
            if let Some(head) = self.header_at(damage.offset)?.filter(|head| !head.frame_type.is_own()) {
                ids.insert(head.offset, head.id);
            }
        }
        let count = counted.map(|(offset, records)| {
            let found = self.frames.iter().filter(|frame| self.was_counted(frame.status, frame.at));
            let found = found.filter(|frame| !frame.head.frame_type.is_own() && frame.head.offset < offset).count();
            records.saturating_sub(found as u64)
        });
        Ok(LostRecords { count, ids: ids.into_values().collect() })
    }

    /// Whether the log had counted a frame. Those of half a batch that an OPEN has stepped over were never counted.
    fn was_counted(&self, status: FrameStatus, at: u64) -> bool {
        let mut aside = self.set_aside.iter().filter(|range| range.cause == Cause::IncompleteBatch);
        status.counts()
            || status == FrameStatus::Incomplete
                && !aside.any(|range| (range.offset..range.offset + range.len).contains(&at))
    }

    /// Records that an INDEX names and that lie in a damaged range.
    fn indexed_and_lost(
        &self,
        offset: u64,
        hits: &[(u64, u64)],
        ids: &mut BTreeMap<u64, Uuid>,
    ) -> Result<(), LogError> {
        let Some(head) = self.header_at(offset)? else { return Ok(()) };
        let Some(table) = Table::open(&self.source, &head)? else { return Ok(()) };
        let rows = table.rows(&self.source, Kind::Records)?.unwrap_or_default();
        let is_hit = |at: u64| {
            let behind = hits.partition_point(|(from, _)| *from <= at);
            behind.checked_sub(1).and_then(|last| hits.get(last)).is_some_and(|(_, to)| at < *to)
        };
        ids.extend(rows.iter().filter(|row| is_hit(row.offset)).map(|row| (row.offset, row.id)));
        Ok(())
    }

    /// What is left of the frame at a place, if its payload and the checksum of that are as they were.
    pub(crate) fn left_of(&self, offset: u64) -> Result<Option<Left>, LogError> {
        if offset < f::HEADER_PAGE_LEN || offset >= self.size {
            return Ok(None);
        }
        let fixed = self.source.chunk(offset, f::FRAME_HEADER_LEN as usize)?;
        let Ok(fixed) = <[u8; f::FRAME_HEADER_LEN as usize]>::try_from(&*fixed) else { return Ok(None) };
        let word = |at: usize| u32::from_le_bytes([fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]]);
        let (payload_len, payload_crc) = (word(8), word(28));
        let parent_off = u64::from(word(48)) | u64::from(word(52)) << 32;
        let start = offset + f::FRAME_HEADER_LEN;
        let (len, room) = (padded(payload_len), self.size.saturating_sub(start));
        if payload_len > self.rules.max_record || len > room || payload_len == 0 {
            return Ok(None);
        }
        let stored = self.source.chunk(start, len as usize)?;
        if crc32(&stored) != payload_crc {
            return Ok(None);
        }
        let stored = stored.get(..payload_len as usize).unwrap_or_default();
        let skip = match HintClass::from_byte(fixed[15]) {
            Some(HintClass::Targets | HintClass::ResultOf) => target_count(stored).map(|count| 4 + 16 * count),
            Some(_) => Some(0),
            None => None,
        };
        Ok(skip.and_then(|skip| stored.get(skip..)).map(|payload| Left { parent_off, payload: payload.to_vec() }))
    }
}
