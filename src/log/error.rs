//! What can go wrong on this floor.

use std::io;
use std::path::{Path, PathBuf};

use super::report::OpenReport;

/// Errors of the log floor. The text names the path, the place, what was expected and found, and the cure where there is one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LogError {
    /// The file does not start with the header of a log, in neither copy.
    #[error("`{}` is not a log: expected a header, found {found}", path.display())]
    NotALog {
        /// The file.
        path: PathBuf,
        /// What stands there instead.
        found: String,
    },
    /// A newer version of the format, which this one must not read.
    #[error("`{}` needs a newer version of this library: format {major}, unknown incompatible features {incompat:#x}", path.display())]
    NewerFormat {
        /// The file.
        path: PathBuf,
        /// Its major version.
        major: u16,
        /// The incompatible feature bits that are unknown here.
        incompat: u64,
    },
    /// The log may be read but not written by this version.
    #[error("`{}` can only be read by this version of the library: unknown features {ro_compat:#x}", path.display())]
    ReadOnlyFormat {
        /// The file.
        path: PathBuf,
        /// The feature bits that are unknown here.
        ro_compat: u64,
    },
    /// Another writer has the log open.
    #[error("`{}` is being written by another process or handle; close that one first", path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// What had been durable is damaged. The file was not touched; a reader still gets the valid part, salvage the rest.
    #[error("`{}` is damaged {}; open it for reading, or salvage it into a new file", path.display(), first_damage(report))]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Everything that the open found.
        report: Box<OpenReport>,
    },
    /// The operating system refused.
    #[error("cannot {op} `{}`{}{}", path.display(), place(*offset), cure(source))]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// What was tried.
        op: &'static str,
        /// Bytes from the start of the file; 0 where no place is meant.
        offset: u64,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// No space, no quota, or the largest file size reached. Free some space, then open the log again.
    #[error("no space for `{}` at byte {offset}; free some, then open the log again", path.display())]
    Full {
        /// The file.
        path: PathBuf,
        /// Bytes from the start of the file.
        offset: u64,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// An earlier write or sync of this writer failed. What lies in the range may or may not be durable: open the log again.
    #[error("an earlier write to `{}` failed: whether bytes {from} to {to} are durable is unknown; open the log again", path.display())]
    Poisoned {
        /// The file.
        path: PathBuf,
        /// Start of the range, in bytes.
        from: u64,
        /// End of the range, in bytes.
        to: u64,
    },
    /// A record, or the records of a batch together, are longer than the log allows.
    #[error("{len} bytes in one append to `{}`, at most {max} are allowed", path.display())]
    RecordTooLarge {
        /// The file.
        path: PathBuf,
        /// Bytes of all payloads together.
        len: u64,
        /// The log's limit.
        max: u64,
    },
    /// The caller's batch makes no sense; nothing was written.
    #[error("cannot append to `{}`: {reason}", path.display())]
    BadRecord {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: &'static str,
    },
    /// No whole frame stands at this place.
    #[error("no frame at byte {offset} of `{}`: expected {expected}, found {found}", path.display())]
    NoFrame {
        /// The file.
        path: PathBuf,
        /// Bytes from the start of the file.
        offset: u64,
        /// What should stand there.
        expected: String,
        /// What stands there.
        found: String,
    },
    /// A frame of a type that this version does not know and must not skip.
    #[error("frame of unknown type {frame_type} at byte {offset} of `{}`; a newer version of this library can read it", path.display())]
    UnknownFrame {
        /// The file.
        path: PathBuf,
        /// Bytes from the start of the file.
        offset: u64,
        /// The type's number.
        frame_type: u8,
    },
    /// There is a file of this name already.
    #[error("`{}` exists already", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// There is no such file.
    #[error("`{}` does not exist", path.display())]
    NotFound {
        /// The file.
        path: PathBuf,
    },
    /// This handle came over a fork; only the process that opened the log may use it.
    #[error("the writer of `{}` belongs to the process that opened it; open the log again in this one", path.display())]
    ForkedProcess {
        /// The file.
        path: PathBuf,
    },
    /// The path names another file by now, or the file has become shorter.
    #[error("`{}` was replaced or cut while it was open: expected {expected}, found {found}; open it again", path.display())]
    Replaced {
        /// The file.
        path: PathBuf,
        /// What should be there.
        expected: String,
        /// What is there.
        found: String,
    },
    /// Somebody else wrote to the log in spite of the lock. This writer has stopped before overwriting anything.
    #[error("somebody else wrote to `{}`: expected it to end at byte {expected}, found {found}; open the log again", path.display())]
    ForeignWrite {
        /// The file.
        path: PathBuf,
        /// Where this writer left the end of the file, in bytes.
        expected: u64,
        /// Where it is now, in bytes.
        found: u64,
    },
}

fn first_damage(report: &OpenReport) -> String {
    match report.damage.first() {
        Some(first) if report.damage.len() == 1 => first.to_string(),
        Some(first) => match report.damage.len() - 1 {
            1 => format!("{first} (and 1 more place)"),
            more => format!("{first} (and {more} more places)"),
        },
        None => String::from("in durable data"),
    }
}

fn place(offset: u64) -> String {
    if offset == 0 { String::new() } else { format!(" at byte {offset}") }
}

fn cure(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "; give the rights to the file and its directory, or use another place"
        }
        _ => "",
    }
}

impl LogError {
    /// An error of the system, sorted by what a caller can do about it.
    pub(crate) fn io(path: &Path, op: &'static str, offset: u64, source: io::Error) -> Self {
        let path = path.to_path_buf();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                Self::Full { path, offset, source }
            }
            io::ErrorKind::NotFound => Self::NotFound { path },
            io::ErrorKind::AlreadyExists => Self::Exists { path },
            _ => Self::Io { path, op, offset, source },
        }
    }
}
