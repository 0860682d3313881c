//! What can go wrong on this floor.

/// An event could not be read, written or changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EventError {
    /// A field that this version knows holds something else, or a needed one is absent.
    #[error("field `{field}`: expected {expected}, found {found}")]
    Field {
        /// The path to the field, such as `content[2].call_id`.
        field: String,
        /// What it should hold.
        expected: &'static str,
        /// What it holds, shortened.
        found: String,
    },
    /// The bytes are no MessagePack, or none that the log uses.
    #[error("bytes of an event: expected {expected} at byte {offset}, found {found}")]
    Bytes {
        /// Where, counted from the event's first byte.
        offset: usize,
        /// What should stand there.
        expected: &'static str,
        /// What stands there.
        found: String,
    },
    /// The event is compressed, and this build can't read such events.
    #[error("the event is compressed by zstd (byte {offset}): build with the feature `zstd` to read it")]
    Compressed {
        /// Where its compressed bytes begin.
        offset: usize,
    },
    /// The text is no JSON.
    #[error("JSON: expected {expected} at byte {offset}, found {found}")]
    Json {
        /// Where, counted from the text's first byte.
        offset: usize,
        /// What should stand there.
        expected: &'static str,
        /// What stands there.
        found: String,
    },
    /// Lists and objects stand inside one another more deeply than the log takes.
    #[error("nested deeper than {limit} levels at byte {offset}")]
    TooDeep {
        /// How deep it may be.
        limit: usize,
        /// Where the first level too many begins.
        offset: usize,
    },
    /// There is something behind the event.
    #[error("{left} bytes too many behind the end, at byte {offset}")]
    Trailing {
        /// Where the event ends.
        offset: usize,
        /// How many bytes follow.
        left: usize,
    },
    /// The event holds something that a reader of the log could not give back.
    #[error("this event can't be stored: {why}")]
    NotStorable {
        /// What, and where known why.
        why: String,
    },
    /// A patch names a field that never changes.
    #[error("a patch can't change `{field}`: append a new message instead")]
    FixedField {
        /// The field.
        field: String,
    },
}

impl EventError {
    /// The same error, seen from the object that holds the field under `outer`.
    pub(crate) fn within(self, outer: &str) -> Self {
        match self {
            Self::Field { field, expected, found } if field.is_empty() => {
                Self::Field { field: outer.to_owned(), expected, found }
            }
            Self::Field { field, expected, found } if field.starts_with('[') => {
                Self::Field { field: format!("{outer}{field}"), expected, found }
            }
            Self::Field { field, expected, found } => {
                Self::Field { field: format!("{outer}.{field}"), expected, found }
            }
            other => other,
        }
    }
}
