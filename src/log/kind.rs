//! What a frame is, and what the log itself may know about the record in it. FORMAT.md sections 3.2 and 3.3.

use uuid::Uuid;

use super::format as f;

/// What a frame is, by its number in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FrameType {
    /// 1: a message or another event.
    Event,
    /// 2: a compact boundary.
    Boundary,
    /// 3: something said later about earlier records.
    Change,
    /// 4: the current leaf moves.
    Head,
    /// 16: a writer has opened the log.
    Open,
    /// 17: everything before is durable.
    Mark,
    /// 18: a look-up table.
    Index,
    /// A number of a later version.
    Other(u8),
}

impl FrameType {
    /// The number in the file.
    #[must_use]
    pub fn to_byte(self) -> u8 {
        match self {
            Self::Event => f::TYPE_EVENT,
            Self::Boundary => f::TYPE_BOUNDARY,
            Self::Change => f::TYPE_CHANGE,
            Self::Head => f::TYPE_HEAD,
            Self::Open => f::TYPE_OPEN,
            Self::Mark => f::TYPE_MARK,
            Self::Index => f::TYPE_INDEX,
            Self::Other(byte) => byte,
        }
    }

    /// The type of a number; 0 and 255 are none.
    #[must_use]
    pub fn from_byte(byte: u8) -> Option<Self> {
        Some(match byte {
            0 | 255 => return None,
            f::TYPE_EVENT => Self::Event,
            f::TYPE_BOUNDARY => Self::Boundary,
            f::TYPE_CHANGE => Self::Change,
            f::TYPE_HEAD => Self::Head,
            f::TYPE_OPEN => Self::Open,
            f::TYPE_MARK => Self::Mark,
            f::TYPE_INDEX => Self::Index,
            other => Self::Other(other),
        })
    }

    /// OPEN, MARK and INDEX: written by the log for itself, and never inside a batch.
    #[must_use]
    pub fn is_own(self) -> bool {
        matches!(self, Self::Open | Self::Mark | Self::Index)
    }
}

/// What the log itself may know about a record: by which ids it has to be found, and whether it is session meta data.
///
/// Stored with the record, so that what lies behind the last INDEX is found without knowing the payloads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IndexHint<'a> {
    /// Nothing but the record's own id.
    #[default]
    Plain,
    /// A tombstone, amend or prune: the ids it is about.
    Targets(&'a [Uuid]),
    /// A tool result: the id of the message that holds the call.
    ResultOf(Uuid),
    /// Session meta data: the latest one is named by OPEN, MARK and INDEX.
    Meta,
}

/// Class of a record's hint, as stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HintClass {
    /// See [`IndexHint::Plain`].
    Plain,
    /// See [`IndexHint::Targets`].
    Targets,
    /// See [`IndexHint::ResultOf`].
    ResultOf,
    /// See [`IndexHint::Meta`].
    Meta,
}

impl HintClass {
    pub(crate) fn to_byte(self) -> u8 {
        match self {
            Self::Plain => f::HINT_PLAIN,
            Self::Targets => f::HINT_TARGETS,
            Self::ResultOf => f::HINT_RESULT,
            Self::Meta => f::HINT_META,
        }
    }

    pub(crate) fn from_byte(byte: u8) -> Option<Self> {
        Some(match byte {
            f::HINT_PLAIN => Self::Plain,
            f::HINT_TARGETS => Self::Targets,
            f::HINT_RESULT => Self::ResultOf,
            f::HINT_META => Self::Meta,
            _ => return None,
        })
    }
}

impl IndexHint<'_> {
    pub(crate) fn class(&self) -> HintClass {
        match self {
            Self::Plain => HintClass::Plain,
            Self::Targets(_) => HintClass::Targets,
            Self::ResultOf(_) => HintClass::ResultOf,
            Self::Meta => HintClass::Meta,
        }
    }

    /// The ids of the hint.
    pub(crate) fn targets(&self) -> &[Uuid] {
        match self {
            Self::Targets(targets) => targets,
            Self::ResultOf(target) => std::slice::from_ref(target),
            Self::Plain | Self::Meta => &[],
        }
    }

    /// Bytes of the list that stands before the caller's payload.
    #[cfg(test)]
    pub(crate) fn stored_len(&self) -> u64 {
        match self {
            Self::Plain | Self::Meta => 0,
            _ => 4 + 16 * self.targets().len() as u64,
        }
    }
}
