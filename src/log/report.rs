//! What an open found and did.

use uuid::Uuid;

use super::damage::Damage;

/// The outcome of an open in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Verdict {
    /// Everything in the file is accepted.
    Clean,
    /// Bytes that were never acknowledged as durable are set aside: a torn tail, a hole, or half a batch.
    Recovered,
    /// Durable bytes are damaged or missing.
    Damaged,
}

/// Why bytes were set aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Cause {
    /// Nothing was set aside.
    None,
    /// An unfinished write (or rot in the last group that was synced, which looks the same).
    TornTail,
    /// Whole frames behind a hole: the disk kept later sectors and not the earlier ones.
    UnsyncedHole,
    /// A batch without its end.
    IncompleteBatch,
}

impl Cause {
    pub(crate) fn to_byte(self) -> u8 {
        match self {
            Self::None => 0,
            Self::TornTail => 1,
            Self::UnsyncedHole => 2,
            Self::IncompleteBatch => 3,
        }
    }

    /// A cause of a later version reads as a torn tail: it is information only.
    pub(crate) fn from_byte(byte: u8) -> Self {
        match byte {
            0 => Self::None,
            2 => Self::UnsyncedHole,
            3 => Self::IncompleteBatch,
            _ => Self::TornTail,
        }
    }
}

/// A range that is not part of the log: it stays in the file, and an OPEN frame steps over it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SetAside {
    /// Bytes from the start of the file.
    pub offset: u64,
    /// Bytes of the range.
    pub len: u64,
    /// Why.
    pub cause: Cause,
    /// Ids of the records whose headers can still be read in the range, in file order. None of them was acknowledged as durable.
    pub ids: Vec<Uuid>,
}

/// What the watermark slot says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WatermarkState {
    /// Never written.
    Empty,
    /// Its checksum does not fit; it is ignored.
    Torn,
    /// Bytes up to here were durable when it was written.
    At(u64),
}

/// What an open found, and, for a writer, did. Every range that is not part of the log is named.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[must_use]
pub struct OpenReport {
    /// The outcome in one word.
    pub verdict: Verdict,
    /// Where the accepted frames end, in bytes; for a writer that recovered, the end of its OPEN frame.
    pub end: u64,
    /// Up to here records never vanish, in bytes.
    pub durable_end: u64,
    /// Zero bytes at the end of the file.
    pub zero_bytes: u64,
    /// What is not part of the log, in file order.
    pub set_aside: Vec<SetAside>,
    /// What is damaged, in file order.
    pub damage: Vec<Damage>,
    /// Bytes that the open read.
    pub bytes_read: u64,
    /// The last frame is a MARK that vouches for everything before it, or the log is empty.
    pub clean_close: bool,
    /// The watermark slot.
    pub watermark: WatermarkState,
}
