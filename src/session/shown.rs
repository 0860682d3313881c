//! Paths in documents: text, whatever their bytes are.

use std::path::{Path, PathBuf};

use serde::Serializer;

/// A path as it is shown. One that is no UTF-8 is no reason to lose the report that it stands in.
pub(super) fn path<S: Serializer>(path: &Path, out: S) -> Result<S::Ok, S::Error> {
    out.collect_str(&path.display())
}

/// The same of one that may not be there.
pub(super) fn some_path<S: Serializer>(path: &Option<PathBuf>, out: S) -> Result<S::Ok, S::Error> {
    match path {
        Some(path) => out.collect_str(&path.display()),
        None => out.serialize_none(),
    }
}
