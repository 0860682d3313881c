//! Sessions of Seslog's own, from another store or a salvage: taken in file by file, or merged where the session is there.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read};
use std::path::{Path, PathBuf};
use std::thread;

use seslog::event::Uuid;
use seslog::interop::{ExportError, ImportReport, import_events, read_events, write_events};
use seslog::log::{LogError, RealFs};
use seslog::session::{EXTENSION, Opened, SalvageReport, Session, SessionError, SessionReader, Store};

use super::document::Document;
use super::{Args, Format};
use crate::cure::quoted;
use crate::exit::{Outcome, Told};
use crate::salvage::is_not_as_it_was;

/// The first bytes of a session's file (FORMAT.md, section 3).
pub(super) const MAGIC: [u8; 8] = *b"\x89SLOG\r\n\x1a";
/// The first bytes of what zstd has packed.
const PACKED: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Whether the file is a session's: it begins like one, or is named like one and holds no text. A pipe is read only once.
pub(super) fn is_own(file: &Path) -> bool {
    if !std::fs::metadata(file).is_ok_and(|found| found.is_file()) {
        return false;
    }
    let mut first = Vec::new();
    let read = File::open(file).and_then(|opened| opened.take(MAGIC.len() as u64).read_to_end(&mut first));
    let is_named = file.extension().is_some_and(|extension| extension == EXTENSION);
    let is_lines = first.trim_ascii_start().starts_with(b"{") || first.starts_with(&PACKED);
    first == MAGIC || (is_named && !(read.is_ok() && is_lines))
}

/// It is read from both ends.
pub(super) fn not_from_a_pipe() -> Told {
    Told::usage("a session's file of Seslog's own can't come from standard input; name the file")
}

/// Takes in a session's file. It is only read.
pub(super) fn import(file: &Path, args: &Args, store: &Store) -> Outcome<Document> {
    if args.session.is_some() {
        let message = "a session of Seslog's keeps its id; leave --session out (`seslog fork` makes another one of it)";
        return Err(Told::usage(message).into());
    }
    if file.as_os_str() == "-" {
        return Err(not_from_a_pipe().into());
    }
    let failed = |error: io::Error| Told::reading(file, &error);
    let path = std::fs::canonicalize(file).map_err(failed)?;
    match store.adopt(&path) {
        Ok(report) => {
            let count = usize::try_from(report.kept).unwrap_or(usize::MAX);
            let messages = store.read(&report.session.to_string())?.whole_state()?.counts().messages;
            let fed = ImportReport { read: count, written: count, messages, ..ImportReport::default() };
            let (session, target) = (report.session.to_string(), report.target.display().to_string());
            let mut document = Document::new(session, target, Format::Seslog, true, fed);
            document.salvage = Some(report).filter(is_not_as_it_was);
            Ok(document)
        }
        Err(SessionError::Log(LogError::Exists { path: own })) => merge(&path, &own, store),
        Err(error) => Err(error.into()),
    }
}

/// Whether a file lies in the store's own directory.
pub(super) fn is_in(path: &Path, store: &Store) -> bool {
    let dir = store.dir().canonicalize().ok();
    dir.is_some() && path.parent() == dir.as_deref()
}

/// Adds what the session in the store lacks, which lies in the file `own`.
fn merge(path: &Path, own: &Path, store: &Store) -> Outcome<Document> {
    let name = own.file_stem().and_then(|stem| stem.to_str()).and_then(|stem| Uuid::try_parse(stem).ok());
    let id = name.ok_or_else(|| {
        Told::not_found(
            "notASession",
            format!("`{}` is not named for a session; `seslog list` shows the sessions", own.display()),
        )
    })?;
    if own.canonicalize().is_ok_and(|own| own == path) {
        let message = format!("`{}` is the store's own file; there is nothing to import", path.display());
        return Err(Told { code: "refused", ..Told::usage(message) }.into());
    }
    let session = store.open(&id.to_string()).map_err(|error| of_the_store(error, id))?;
    if session.id() != id {
        return Err(another(&session, id, store).into());
    }
    let whole =
        SessionReader::open(path, RealFs::shared()).ok().filter(|reader| reader.report().open != Opened::Damaged);
    let read = whole.map(|reader| merged(&reader, &session)).transpose()?;
    let (report, salvage) = match read {
        Some(Merged::Whole(report)) => (report, None),
        other => {
            // The session is open, so nobody else removes what lies beside it meanwhile.
            let saved = Unfinished(beside(own));
            let mut salvage = Session::salvage(path, &saved.0, store.options())?;
            salvage.target = session.path().to_owned();
            let reader = SessionReader::open(&saved.0, RealFs::shared())?;
            let (Merged::Whole(mut report) | Merged::Damaged(mut report)) = merged(&reader, &session)?;
            if let Some(Merged::Damaged(first)) = other {
                report.written += first.written;
                report.meta_kept.extend(first.meta_kept);
                report.known = report.known.saturating_sub(first.written);
            }
            (report, Some(salvage))
        }
    };
    let mut document = Document::new(id.to_string(), own.display().to_string(), Format::Seslog, false, report);
    document.salvage = salvage.filter(is_not_as_it_was);
    document.lost_is_there = match &document.salvage {
        Some(salvage) => is_there(salvage, &session)?,
        None => false,
    };
    session.close()?;
    Ok(document)
}

/// Whether all that is gone from a file is known by name, and in this session.
fn is_there(salvage: &SalvageReport, session: &Session) -> Outcome<bool> {
    if salvage.lost_records != u64::try_from(salvage.lost_events.len()).ok() {
        return Ok(false);
    }
    for id in &salvage.lost_events {
        if !session.contains(*id)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A file that is there only for a while.
struct Unfinished(PathBuf);

impl Drop for Unfinished {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// A name beside the session's file, of a kind that a later salvage clears away.
fn beside(own: &Path) -> PathBuf {
    let mut name = own.as_os_str().to_owned();
    name.push(format!("-unfinished-{:016x}", std::process::id()));
    PathBuf::from(name)
}

/// The file that should hold this session holds another one.
fn another(session: &Session, id: Uuid, store: &Store) -> Told {
    let (path, is) = (session.path(), session.id());
    let (from, to) = (quoted(path), quoted(&store.dir().join(format!("{is}.{EXTENSION}"))));
    let next = format!("`mv -n {from} {to}` gives it its own name, then import this again");
    Told::not_found("wrongName", format!("`{}` holds the session {is}, not {id}; {next}", path.display()))
}

/// Why the session in the store can't take anything in.
fn of_the_store(error: SessionError, id: Uuid) -> Told {
    match error {
        SessionError::Log(LogError::Damaged { path, .. }) => {
            let next = format!("`seslog salvage {} --in-place` mends it, then import this again", quoted(&path));
            Told::not_found("damaged", format!("the session {id} of the store is damaged; {next}"))
        }
        other => other.into(),
    }
}

/// What became of reading a session's events into another.
enum Merged {
    Whole(ImportReport),
    /// Only what lies before the damage was read.
    Damaged(ImportReport),
}

/// The events go through a pipe, as the lines that they are exported as: what an import of those does, this does.
fn merged(reader: &SessionReader, session: &Session) -> Outcome<Merged> {
    let (input, output) = io::pipe().map_err(|error| Told::io("can't make a pipe", &error))?;
    thread::scope(|scope| {
        let write = move || write_events(reader, &mut BufWriter::new(output));
        let writing = thread::Builder::new().spawn_scoped(scope, write);
        let writing = writing.map_err(|error| Told::io("can't start the thread that reads the session", &error))?;
        let fed = import_events(session, &reader.id().to_string(), read_events(BufReader::new(input)));
        let written = writing.join();
        let report = fed.map_err(|error| of_the_store(error, reader.id()))?;
        match written {
            Ok(Ok(_)) => Ok(Merged::Whole(report)),
            Ok(Err(ExportError::Session(SessionError::Log(LogError::Damaged { .. })))) => Ok(Merged::Damaged(report)),
            Ok(Err(ExportError::Session(error))) => Err(error.into()),
            Ok(Err(ExportError::Output(error))) => Err(Told::io("can't hand the events on", &error).into()),
            Ok(Err(error)) => Err(Told::io("can't read the session", &io::Error::other(error)).into()),
            Err(_) => Err(Told::usage("the thread that reads the session failed").into()),
        }
    })
}
