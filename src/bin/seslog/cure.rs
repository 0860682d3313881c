//! Commands that a message names as the next step.

use std::borrow::Cow;
use std::path::Path;

use seslog::log::{LogError, RealFs, Survey, survey};

use crate::sanitize::{Layout, visible};

/// A path as a word of a command that is shown to be pasted. One with bytes that are no text, or characters that are shown
/// and not sent, is written with escapes (`$'…'`), so that it names the file all the same.
pub(crate) fn quoted(path: &Path) -> String {
    let text = path.to_str().filter(|text| visible(text, Layout::Line) == *text);
    match text {
        Some(text) => format!("'{}'", text.replace('\'', r"'\''")),
        None => escaped(path.as_os_str().as_encoded_bytes()),
    }
}

fn escaped(bytes: &[u8]) -> String {
    let mut word = "$'".to_owned();
    let byte = |word: &mut String, byte: u8| {
        // Always three digits, so that none that follows is taken for one of them.
        word.push_str(&format!("\\{byte:03o}"));
    };
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\'' | '\\' => word.extend(['\\', c]),
                c if visible(c.encode_utf8(&mut [0; 4]), Layout::Line) == *c.encode_utf8(&mut [0; 4]) => word.push(c),
                c => c.encode_utf8(&mut [0; 4]).bytes().for_each(|part| byte(&mut word, part)),
            }
        }
        chunk.invalid().iter().for_each(|part| byte(&mut word, *part));
    }
    word.push('\'');
    word
}

/// The command that saves a damaged session, as it is told: it runs as it stands, wherever the session lies.
pub(crate) fn saving(path: &Path) -> String {
    format!("`seslog salvage {} --in-place` saves what is whole", quoted(path))
}

/// Whether a salvage has anything to save.
pub(crate) fn has_whole_records(found: &Survey) -> bool {
    found.frames.iter().any(|frame| frame.status.counts() && !frame.head.frame_type.is_own())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_a_word_of_the_shell_that_names_the_same_file() {
        assert_eq!(quoted(Path::new("/a b/it's")), r"'/a b/it'\''s'");
        assert_eq!(quoted(Path::new("/ä/\u{1f680}")), "'/ä/\u{1f680}'");
        assert_eq!(quoted(Path::new("/a\nb'\\\u{1b}7")), r"$'/a\012b\'\\\0337'");
        #[cfg(unix)]
        {
            use std::ffi::OsStr;
            use std::os::unix::ffi::OsStrExt;
            assert_eq!(quoted(Path::new(OsStr::from_bytes(b"/n\xffon"))), r"$'/n\377on'");
        }
    }
}
