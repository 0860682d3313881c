//! The names of sessions' files.

use crate::event::Uuid;

/// The ending of a session's file name.
pub const EXTENSION: &str = "seslog";

/// The name of a session's file in a store.
pub(super) fn name_of(id: Uuid) -> String {
    format!("{id}.{EXTENSION}")
}

/// The id in the name of a session's file; none for any other name, so that no name leads out of the directory.
pub(super) fn id_in(name: &str) -> Option<Uuid> {
    name.strip_suffix(EXTENSION)?.strip_suffix('.')?.parse().ok()
}
