//! Commands that a message names as the next step.

use std::borrow::Cow;
use std::path::Path;

use seslog::log::{LogError, RealFs, survey};

use crate::salvage::has_whole_records;

/// A path as a word of a command that is shown to be pasted.
pub(crate) fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

/// The command that saves a damaged session, as it is told: it runs as it stands, wherever the session lies.
pub(crate) fn saving(path: &Path) -> String {
    format!("`seslog salvage {} --in-place` saves what is whole", quoted(path))
}

/// Not a single record of the file is whole, so that a salvage would make an empty session of it. Reads all of it.
pub(crate) fn saves_nothing(path: &Path) -> bool {
    match survey(RealFs::shared(), path) {
        Ok(found) => !has_whole_records(&found),
        Err(error) => matches!(error, LogError::NotALog { .. }),
    }
}

/// What a file is called that has no header. It may be a session all the same.
const HEADLESS: &str = " is not a log: expected a header";

/// What is wrong with a session's file, as the library says it, with what a person does next.
pub(crate) fn with_cure<'a>(problem: &'a str, path: &Path) -> Cow<'a, str> {
    match problem.split_once("; open it for reading") {
        Some((what, _)) => format!("{what}; {}", saving(path)).into(),
        None if problem.starts_with("at byte ") => format!("damaged {problem}; {}", saving(path)).into(),
        None if problem.contains(HEADLESS) => match saves_nothing(path) {
            true => format!("{problem}; nothing can be saved from it, `seslog doctor` says what is left to do").into(),
            false => format!("{problem}; {}", saving(path)).into(),
        },
        None => problem.into(),
    }
}

/// What is told of a session that was not read to its end. `done` is what was done with it as far as it could be read.
pub(crate) fn not_to_its_end(problem: &str, path: &Path, done: &str) -> String {
    let (file, cure) = (path.display(), with_cure(problem, path));
    match problem.contains(HEADLESS) {
        true => format!("`{file}` was not {done} at all: {cure}"),
        false => format!("`{file}` was {done} up to its damage only: {cure}"),
    }
}
