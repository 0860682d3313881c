//! What a list found of the catalogue, and did with it.

use std::io;

use super::catalogue::Unusable;

/// What a list found and did.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
#[must_use]
pub struct ListReport {
    /// The catalogue as it was found.
    pub found: CatalogueFound,
    /// What became of it.
    pub kept: CatalogueKept,
    /// The stamp of every session was looked at; otherwise the directory's stamp vouched for those that are not told.
    pub every_stamp: bool,
    /// Sessions that were taken from the catalogue, as their stamps are the same.
    pub taken: usize,
    /// Sessions that the catalogue does not have, whose header and end were read.
    pub new: usize,
    /// Sessions whose stamp is another one, whose header and end were read.
    pub changed: usize,
    /// Sessions that were not closed, or changed a moment before they were looked at, and were read again.
    pub unsettled: usize,
    /// Sessions that are as they were, but had not been counted.
    pub uncounted: usize,
}

/// A catalogue as a list finds it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CatalogueFound {
    /// Whole.
    Whole,
    /// There is none.
    Missing,
    /// Made by another version of this library.
    OtherVersion,
    /// Not whole: cut, changed, or none at all.
    Damaged,
    /// Content of a session is being erased, or was when the program that did it was killed. What a list sees then is not kept.
    Erasing,
    /// It can't be read, for this reason, and is not where it lies behind a link.
    Unreadable(String),
}

/// What a list does with the catalogue in the end.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum CatalogueKept {
    /// Left as it was: nothing to add that is worth it, or another list or an erasure has changed it since it was read.
    AsItWas,
    /// Written anew.
    Written,
    /// Removed: the store has no sessions any more, and what it said of them is nobody's business. Or it was one that says no
    /// more than that an erasure was killed.
    Removed,
    /// It can't be written, for this reason. The next list has to look again.
    Failed(String),
}

impl From<Unusable> for CatalogueFound {
    fn from(unusable: Unusable) -> Self {
        match unusable {
            Unusable::Damaged => Self::Damaged,
            Unusable::OtherVersion => Self::OtherVersion,
            Unusable::Erasing => Self::Erasing,
        }
    }
}

impl From<&io::Error> for CatalogueFound {
    fn from(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::Missing,
            _ => Self::Unreadable(error.to_string()),
        }
    }
}
