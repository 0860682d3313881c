//! What OPEN, MARK and INDEX carry, so that the last frame tells where everything is. FORMAT.md sections 5 and 6.

use uuid::Uuid;

use super::cursor::{Cursor, OutOfBounds};
use super::format as f;
use super::report::Cause;

/// Place of another record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Place {
    /// No record: the root, or none yet.
    #[default]
    None,
    /// A record that is in the log, by its offset in bytes.
    At(u64),
    /// The record of this index, from 0, in the same batch.
    InBatch(usize),
}

impl Place {
    /// The offset; 0 for none. `offsets` are those of the batch.
    pub(crate) fn resolve(self, offsets: &[u64]) -> Option<u64> {
        match self {
            Self::None => Some(0),
            Self::At(offset) => Some(offset),
            Self::InBatch(index) => offsets.get(index).copied(),
        }
    }

    pub(crate) fn from_offset(offset: u64) -> Self {
        if offset == 0 { Self::None } else { Self::At(offset) }
    }
}

/// What the floor above wants to find from the end of the log without reading its payloads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Note {
    /// The latest session meta data.
    pub meta: Place,
    /// The last id that the log's own clock made; nil for none.
    pub last_id: Uuid,
    /// The current leaf.
    pub head: Place,
    /// The boundary that counts.
    pub boundary: Place,
}

/// The state block: what holds once everything before the frame that carries it is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct State {
    pub(crate) meta_offset: u64,
    pub(crate) last_id: Uuid,
    /// The latest INDEX frame before this one; 0 for none.
    pub(crate) last_index: u64,
    /// Records (not OPEN, MARK, INDEX) before this frame.
    pub(crate) records: u64,
    /// In the frame's header, not in the block.
    pub(crate) head: u64,
    /// In the frame's header, not in the block.
    pub(crate) boundary: u64,
}

impl State {
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.meta_offset.to_le_bytes());
        out.extend_from_slice(self.last_id.as_bytes());
        out.extend_from_slice(&self.last_index.to_le_bytes());
        out.extend_from_slice(&self.records.to_le_bytes());
    }

    /// Reads the block off the front of a payload; head and boundary come from the frame's header.
    pub(crate) fn decode(payload: &[u8], head: u64, boundary: u64) -> Result<Self, OutOfBounds> {
        let mut cursor = Cursor::new(payload);
        Ok(Self {
            meta_offset: cursor.u64()?,
            last_id: cursor.uuid()?,
            last_index: cursor.u64()?,
            records: cursor.u64()?,
            head,
            boundary,
        })
    }

    pub(crate) fn note(&self) -> Note {
        Note {
            meta: Place::from_offset(self.meta_offset),
            last_id: self.last_id,
            head: Place::from_offset(self.head),
            boundary: Place::from_offset(self.boundary),
        }
    }
}

/// Payload of an OPEN. What it sets aside is everything from `skip_from` to the frame's own start.
pub(crate) fn encode_open(state: &State, skip_from: u64, cause: Cause) -> Vec<u8> {
    let mut out = Vec::with_capacity(f::OPEN_LEN);
    state.encode(&mut out);
    out.extend_from_slice(&skip_from.to_le_bytes());
    out.push(cause.to_byte());
    out.resize(f::OPEN_LEN, 0);
    out
}

/// Start and cause of what an OPEN sets aside. Bytes behind these fields belong to later versions.
pub(crate) fn decode_open(payload: &[u8]) -> Result<(u64, Cause), OutOfBounds> {
    let mut cursor = Cursor::new(payload);
    cursor.take(f::STATE_LEN)?;
    let (skip_from, cause) = (cursor.u64()?, cursor.u8()?);
    cursor.take(f::OPEN_LEN - f::STATE_LEN - 9)?; // zero in this version
    Ok((skip_from, Cause::from_byte(cause)))
}
