//! `seslog __sessions`: what a shell offers where a command line asks for a session. Hidden: the scripts of `seslog completions`
//! call it.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Arg, Command, CommandFactory};
use seslog::session::{Listed, Listing};

use crate::exit::{Exit, Outcome};
use crate::sanitize::excerpt;
use crate::store::Place;
use crate::{Cli, Context};

/// More are found by the beginning of an id.
const SESSIONS_MAX: usize = 500;
/// Of so many that have no title the first words are looked for, in files of this size: a shell waits for it.
const LOOKED_AT_MAX: usize = 20;
const LOOKED_AT_BYTES: u64 = 256 * 1024;
const TITLE_CHARS: usize = 60;

/// Write the sessions that may stand at the end of a command line, each with a tab and what it is called
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The words of the command line, from the program's name up to the one that is being written, which may be empty
    #[arg(last = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

pub(crate) fn run(args: &Args, context: &mut Context) -> Outcome {
    let Some(asked) = Asked::of(&args.words) else { return Ok(Exit::Fine) };
    let store = Place { given: asked.store }.store()?;
    let meant = |listing: Listing| -> Vec<(String, Listed)> {
        let sessions = listing.sessions.into_iter().filter_map(|session| Some((session.id?.to_string(), session)));
        sessions.filter(|(id, _)| id.starts_with(asked.begins)).take(SESSIONS_MAX).collect()
    };
    let mut sessions = meant(store.newest(SESSIONS_MAX)?);
    if sessions.is_empty() && !asked.begins.is_empty() {
        sessions = meant(store.listing()?);
    }
    let mut left = LOOKED_AT_MAX;
    for (id, mut session) in sessions {
        if session.title.is_none() && session.first_words.is_none() && session.bytes <= LOOKED_AT_BYTES && left > 0 {
            left -= 1;
            session.first_words = store.look(&session.path).first_words;
        }
        let called = session.title.or(session.first_words).unwrap_or_default();
        let called = excerpt(&called, TITLE_CHARS).replace('\t', " ");
        context.out.line(format!("{id}\t{called}").trim_end())?;
    }
    Ok(Exit::Fine)
}

/// A session, as a command line asks for it.
#[derive(Debug, PartialEq)]
struct Asked<'a> {
    store: Option<PathBuf>,
    /// What is written of it so far.
    begins: &'a str,
}

impl<'a> Asked<'a> {
    /// None where the last word is to be something else.
    fn of(words: &'a [String]) -> Option<Self> {
        let (begins, words) = words.split_last()?;
        let root = Cli::command();
        let (mut command, mut given, mut is_bare) = (&root, 0, false);
        let (mut waiting, mut store): (Option<&Arg>, _) = (None, None);
        for word in words.iter().skip(1) {
            if let Some(arg) = waiting {
                // Some shells take `--store=DIR` for three words.
                if word != "=" {
                    store = store.or_else(|| (arg.get_id() == "store").then(|| dir(word)));
                    waiting = None;
                }
            } else if is_bare || !word.starts_with('-') {
                match command.find_subcommand(word) {
                    Some(found) if std::ptr::eq(command, &raw const root) => command = found,
                    _ => given += 1,
                }
            } else if word == "--" {
                is_bare = true;
            } else {
                let (name, value) =
                    word.split_once('=').map_or((word.as_str(), None), |(name, value)| (name, Some(value)));
                let arg = option(command, name).or_else(|| option(&root, name));
                match value {
                    Some(value) if name == "--store" => store = Some(dir(value)),
                    Some(_) => {}
                    None => waiting = arg.filter(|arg| arg.get_action().takes_values()),
                }
            }
        }
        let arg = waiting.or_else(|| command.get_positionals().nth(given))?;
        let is_session = matches!(arg.get_id().as_str(), "session" | "a" | "b");
        // What has a slash in it is a path, which the shell knows better.
        let is_id = begins.chars().all(|c| c.is_ascii_hexdigit() || c == '-') && !begins.starts_with('-');
        (is_session && is_id).then_some(Self { store, begins })
    }
}

fn option<'a>(command: &'a Command, name: &str) -> Option<&'a Arg> {
    let is_meant = |arg: &&Arg| match name.strip_prefix("--") {
        Some(long) => arg.get_long() == Some(long),
        None => arg.get_short().is_some_and(|short| name.strip_prefix('-') == Some(short.encode_utf8(&mut [0; 4]))),
    };
    command.get_arguments().find(is_meant)
}

/// A directory as it was written in a shell.
fn dir(word: &str) -> PathBuf {
    let bare = word.trim_matches(['"', '\'']);
    if let Some((value, rest)) = variable(bare) {
        let mut whole = value;
        whole.push(rest);
        return whole.into();
    }
    match (bare.strip_prefix("~/"), etcetera::home_dir()) {
        (Some(below), Ok(home)) => home.join(below),
        _ => bare.into(),
    }
}

/// What the variable of the environment holds with which the word begins, and the rest of that.
fn variable(word: &str) -> Option<(OsString, &str)> {
    let named = word.strip_prefix('$')?;
    let (name, rest) = match named.strip_prefix('{') {
        Some(named) => named.split_once('}')?,
        None => named.split_at(named.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(named.len())),
    };
    (!name.is_empty()).then(|| std::env::var_os(name)).flatten().map(|value| (value, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: Option<(&str, Option<&str>)>) {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let expected = expected.map(|(begins, store)| Asked { store: store.map(PathBuf::from), begins });
        assert_eq!(Asked::of(&words), expected, "{line}");
    }

    #[test]
    fn a_session_is_offered_where_one_is_asked_for_and_nowhere_else() {
        check("seslog show ", Some(("", None)));
        check("seslog show 01a", Some(("01a", None)));
        check("seslog show --full 01a", Some(("01a", None)));
        check("seslog --store /x show --view model 01a", Some(("01a", Some("/x"))));
        check("seslog show --store=/x ", Some(("", Some("/x"))));
        check("seslog show --store = /x ", Some(("", Some("/x"))));
        check("seslog diff 01a 01", Some(("01", None)));
        check("seslog search --session 01", Some(("01", None)));
        check("seslog show -- 01", Some(("01", None)));
        // A variable that every test has.
        let dir = format!("{}/x", env!("CARGO_MANIFEST_DIR"));
        for word in ["$CARGO_MANIFEST_DIR/x", "${CARGO_MANIFEST_DIR}/x", "\"$CARGO_MANIFEST_DIR/x\""] {
            check(&format!("seslog --store {word} show "), Some(("", Some(&dir))));
        }
        check("seslog --store $ show ", Some(("", Some("$"))));
        for line in [
            "seslog ",
            "seslog sh",
            "seslog show --view ",
            "seslog show 01 ",
            "seslog show --",
            "seslog list ",
            "seslog",
        ] {
            check(line, None);
        }
        for line in ["seslog show ./0", "seslog show ~/x", "seslog import ", "seslog nothing ", ""] {
            check(line, None);
        }
    }
}
