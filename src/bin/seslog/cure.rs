//! Commands that a message names as the next step.

use std::borrow::Cow;
use std::path::Path;

/// A path as a word of a command that is shown to be pasted.
pub(crate) fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

/// The command that saves a damaged session, as it is told: it runs as it stands, wherever the session lies.
pub(crate) fn saving(path: &Path) -> String {
    format!("`seslog salvage {} --in-place` saves what is whole", quoted(path))
}

/// What is wrong with a session's file, as the library says it, with what a person does next.
pub(crate) fn with_cure<'a>(problem: &'a str, path: &Path) -> Cow<'a, str> {
    match problem.split_once("; open it for reading") {
        Some((what, _)) => format!("{what}; {}", saving(path)).into(),
        None if problem.starts_with("at byte ") => format!("damaged {problem}; {}", saving(path)).into(),
        None => problem.into(),
    }
}
