//! Exit codes, and failures with the code that they end in.

use std::error::Error;
use std::fmt;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use seslog::log::{DamageKind, LogError};
use seslog::session::{EXTENSION, SessionError};

use crate::cure::{quoted, saves_nothing, saving};
use crate::held::{Holder, Locks};

/// How a command ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// Done. A torn tail that was set aside is no fault.
    Fine = 0,
    /// The answer is no: damage was found, or what was named was not.
    Found = 1,
    /// Wrong use.
    Usage = 2,
    /// Reading or writing failed, or another process holds the session.
    Io = 3,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a command could not do what it was asked for.
#[derive(Debug)]
pub(crate) enum Failure {
    /// To be told.
    Told(Told),
    /// Whoever read the output has gone: nothing is to be told.
    PipeClosed,
}

/// A failure that is to be told.
#[derive(Debug, Clone)]
pub(crate) struct Told {
    /// The exit code.
    pub(crate) exit: Exit,
    /// Its name in JSON.
    pub(crate) code: &'static str,
    /// What went wrong, with the cure; one line.
    pub(crate) message: String,
}

/// What a command gives back.
pub(crate) type Outcome<T = Exit> = Result<T, Failure>;

impl Told {
    /// Something that was named is not there.
    pub(crate) fn not_found(code: &'static str, message: impl Into<String>) -> Self {
        Self { exit: Exit::Found, code, message: message.into() }
    }

    /// The command was used wrongly.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { exit: Exit::Usage, code: "usage", message: message.into() }
    }

    /// A file that a person named can't be read.
    pub(crate) fn reading(path: &Path, error: &io::Error) -> Self {
        let path = path.display();
        match error.kind() {
            io::ErrorKind::NotFound => {
                Self::not_found("noSuchFile", format!("there is no file `{path}`; look at its name"))
            }
            io::ErrorKind::IsADirectory => {
                Self { exit: Exit::Io, code: "io", message: format!("`{path}` is a directory; name a file in it") }
            }
            _ => Self::io(format!("can't read `{path}`"), error),
        }
    }

    /// Reading or writing failed.
    pub(crate) fn io(what: impl fmt::Display, error: &io::Error) -> Self {
        Self { exit: Exit::Io, code: "io", message: format!("{what}: {error}") }
    }
}

impl From<Told> for Failure {
    fn from(told: Told) -> Self {
        Self::Told(told)
    }
}

impl From<SessionError> for Told {
    fn from(error: SessionError) -> Self {
        let (exit, code) = match &error {
            SessionError::Log(log) => return Self::of_log(log),
            SessionError::Event(_) => (Exit::Usage, "badEvent"),
            SessionError::Unreadable { .. } => (Exit::Found, "unreadable"),
            SessionError::UnknownEvent { .. } => (Exit::Io, "unknownEventType"),
            SessionError::UnknownParent { .. } => (Exit::Found, "unknownParent"),
            SessionError::NoSuchEvent { .. } => (Exit::Found, "noSuchEvent"),
            SessionError::DuplicateId { .. } => (Exit::Usage, "duplicateId"),
            SessionError::Refused { .. } => (Exit::Usage, "refused"),
            SessionError::NoSuchSession { .. } => (Exit::Found, "noSuchSession"),
            SessionError::AmbiguousSession { .. } => (Exit::Usage, "ambiguousSession"),
            _ => (Exit::Io, "session"),
        };
        let message = match &error {
            // A title, an amend, a move of the leaf.
            SessionError::Refused { why, .. } if why.ends_with("is no message") => {
                format!("{error}; `seslog tree SESSION --all` shows the ids of those that are")
            }
            // The names that the library has for these are no commands.
            SessionError::Refused { what: "erase" | "mend" | "tombstone" | "prune" | "amend", why } => {
                why.replace("is a literal", "is for --literal")
            }
            _ => error.to_string(),
        };
        Self { exit, code, message }
    }
}

impl Told {
    fn of_log(error: &LogError) -> Self {
        let (exit, code) = match error {
            // Its header is lost, and what it holds is not.
            LogError::NotALog { path, .. } if !saves_nothing(path) => (Exit::Found, "damaged"),
            LogError::NotALog { .. } => (Exit::Found, "notASession"),
            LogError::Damaged { .. } => (Exit::Found, "damaged"),
            LogError::NoFrame { .. } => (Exit::Found, "damaged"),
            LogError::NotFound { .. } => (Exit::Found, "noSuchFile"),
            LogError::RecordTooLarge { .. } => (Exit::Usage, "tooLarge"),
            LogError::BadRecord { .. } => (Exit::Usage, "refused"),
            LogError::Exists { .. } => (Exit::Usage, "exists"),
            LogError::Locked { .. } => (Exit::Io, "locked"),
            LogError::Full { .. } => (Exit::Io, "full"),
            LogError::Poisoned { .. } => (Exit::Io, "poisoned"),
            LogError::NewerFormat { .. } | LogError::ReadOnlyFormat { .. } | LogError::UnknownFrame { .. } => {
                (Exit::Io, "newerFormat")
            }
            _ => (Exit::Io, "io"),
        };
        // The texts of this layer leave the system's own words to the source.
        let message = match error.source() {
            Some(source) => format!("{error}: {source}"),
            None => error.to_string(),
        };
        // What a program does next is not what a person does.
        let next;
        let (message, next) = match error {
            LogError::NotALog { path, .. } if code == "damaged" => {
                next = format!("; {}", saving(path));
                (message.as_str(), next.as_str())
            }
            // Named like ours, it is no other program's.
            LogError::NotALog { path, .. } if path.extension().is_some_and(|extension| extension == EXTENSION) => (
                message.as_str(),
                "; nothing can be saved from it: bring back a copy, or `seslog delete` it and `seslog import --all`, if an agent has it",
            ),
            LogError::NotALog { .. } => (message.as_str(), "; `seslog import` takes in what other programs wrote"),
            LogError::Damaged { path, report } => {
                let what = message.split("; open it for reading").next().unwrap_or(&message);
                let file = quoted(path);
                next = match report.damage.iter().all(|damage| damage.kind == DamageKind::Header) {
                    true if !report.damage.is_empty() => format!(
                        "; that is its header, and all of the session is whole: `seslog salvage {file} --in-place` writes a new one"
                    ),
                    _ => format!("; `seslog show {file}` reads what lies before, {}", saving(path)),
                };
                (what, next.as_str())
            }
            LogError::NoFrame { path, .. } => {
                next = format!("; {}", saving(path));
                (message.as_str(), next.as_str())
            }
            LogError::Exists { .. } => (message.as_str(), "; name another file"),
            LogError::NotFound { .. } => (message.as_str(), "; `seslog list` shows what is there"),
            LogError::Io { .. } if message.ends_with("not a regular file") => {
                (message.as_str(), "; a session is a file, and `seslog list` shows what is there")
            }
            LogError::Locked { path } => return Self { exit, code, message: locked(path) },
            _ => (message.as_str(), ""),
        };
        let message = format!("{message}{next}");
        Self { exit, code, message }
    }
}

/// Who writes the session, as far as the system tells.
fn locked(path: &Path) -> String {
    let who = match Locks::now().holder(path, false) {
        Some(Holder::Process(process)) => format!("process {process}"),
        _ => "another process".to_owned(),
    };
    format!("{who} writes `{}`; end it first, or wait until it is done", path.display())
}

impl From<LogError> for Told {
    fn from(error: LogError) -> Self {
        Self::of_log(&error)
    }
}

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Self {
        Self::Told(error.into())
    }
}

impl From<LogError> for Failure {
    fn from(error: LogError) -> Self {
        Self::Told(error.into())
    }
}

/// An error of writing the output. One of a file names it.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::PipeClosed,
            _ => Self::Told(Told::io("can't write the output", &error)),
        }
    }
}
