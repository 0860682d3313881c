//! What damage looks like.

use std::fmt;

/// What is the matter with some bytes of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DamageKind {
    /// A copy of the header, or an unused part of its page, is not as written.
    Header,
    /// Durable bytes hold no frame where one must start.
    Frame,
    /// A frame fits none before it: its chain names another one.
    Chain,
    /// A batch lacks its end, though later frames vouch for it.
    Batch,
    /// The watermark speaks of bytes that the file does not have.
    Missing,
    /// The payload of an OPEN, MARK or INDEX cannot be read.
    Payload,
}

/// One place where durable bytes are not as they were written. Nothing was changed there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// Bytes from the start of the file.
    pub offset: u64,
    /// Bytes that are hit, as far as it can be told; 0 if not at all.
    pub len: u64,
    /// What is the matter.
    pub kind: DamageKind,
    /// What should stand there.
    pub expected: String,
    /// What stands there.
    pub found: String,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {}: expected {}, found {}", self.offset, self.expected, self.found)
    }
}
