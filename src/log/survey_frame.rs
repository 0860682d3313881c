//! A whole frame that a survey has found, and what it counts for.

use super::frame::FrameHead;

/// What a whole frame in the file counts for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FrameStatus {
    /// Part of the log: the chain reaches it, at most over single records that are lost.
    Accepted,
    /// An OPEN has stepped over it, or the next writer will. It had been declared gone.
    SetAside,
    /// Of a batch that is not whole. It had never counted.
    Incomplete,
    /// Behind half a batch whose next frame is lost with its header: the end of that batch, or the next record. No byte tells.
    Doubtful,
    /// Behind damage that the chain does not reach over.
    Orphan,
    /// Whole, but bytes were put in or taken out before it: it belongs where its head says.
    Displaced,
}

impl FrameStatus {
    /// A salvage takes the frame's record: it is of the log, or may be.
    #[must_use]
    pub fn counts(self) -> bool {
        matches!(self, Self::Accepted | Self::Orphan | Self::Displaced | Self::Doubtful)
    }
}

/// One whole frame of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SurveyFrame {
    /// Its header; the offset there is the one it was written for.
    pub head: FrameHead,
    /// Where it stands now, in bytes from the start of the file.
    pub at: u64,
    /// What it counts for.
    pub status: FrameStatus,
}
