//! Where the sessions are, and which one is meant.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;
use seslog::event::Uuid;
use seslog::log::{LogOptions, LogReader, OpenReport, RealFs};
use seslog::session::{EXTENSION, Session, SessionError, SessionOptions, SessionReader, Store};

use crate::cure::quoted;
use crate::exit::{Outcome, Told};
use crate::output::tell;

/// Where the user says that the sessions are.
#[derive(Debug, Clone, Default)]
pub(crate) struct Place {
    /// `--store`.
    pub(crate) given: Option<PathBuf>,
}

/// How a session is made, for the commands that make one.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct Making {
    /// Compress the large events of a session that is made (zstd), whoever writes to it later; it takes two thirds of the
    /// bytes and three times as long, and only programs that know of it can read it
    #[arg(long)]
    pub(crate) compress: bool,
}

impl Making {
    pub(crate) fn options(self) -> SessionOptions {
        SessionOptions { log: LogOptions::default().compress(self.compress), ..SessionOptions::default() }
    }
}

/// Whether nothing in the directory is named like a session.
fn is_empty(dir: &Path) -> bool {
    let mut entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    !entries.any(|entry| Path::new(&entry.file_name()).extension().is_some_and(|end| end == EXTENSION))
}

impl Place {
    /// The store: `--store`, else `SESLOG_HOME`, else `seslog` in the data directory (XDG's, on macOS too).
    pub(crate) fn store(&self) -> Outcome<Store> {
        self.store_with(SessionOptions::default())
    }

    /// The same, for a session that is going to be made so.
    pub(crate) fn store_with(&self, options: SessionOptions) -> Outcome<Store> {
        let dir = match (&self.given, std::env::var_os("SESLOG_HOME").filter(|dir| !dir.is_empty())) {
            (Some(dir), _) => dir.clone(),
            (None, Some(dir)) => dir.into(),
            (None, None) => match etcetera::base_strategy::choose_base_strategy() {
                Ok(strategy) => strategy.data_dir().join("seslog"),
                Err(_) => {
                    return Err(
                        Told::usage("no home directory is known; name the store with --store or SESLOG_HOME").into()
                    );
                }
            },
        };
        if dir.is_file() {
            let what = "is a file; --store and SESLOG_HOME name the directory of the sessions";
            let message = format!("`{}` {what}", dir.display());
            return Err(Told::usage(message).into());
        }
        Ok(Store::at(dir, options))
    }

    /// What names the store in a command that is shown to be pasted: nothing, or `--store` with a space in front.
    pub(crate) fn as_option(&self) -> String {
        self.given.as_ref().map_or_else(String::new, |dir| format!(" --store {}", quoted(dir)))
    }

    /// What names a session in a command that is shown to be pasted, and what names the store in it: the file, where that is not
    /// the store's own one of this id.
    pub(crate) fn to_paste(&self, id: Uuid, path: &Path) -> (String, String) {
        let own = self.store().ok().and_then(|store| store.resolve(&id.to_string()).ok());
        match own.is_some_and(|own| own.canonicalize().ok() == path.canonicalize().ok()) {
            true => (id.to_string(), self.as_option()),
            false => (quoted(path), String::new()),
        }
    }

    /// The file of a session: an id, the beginning of one, or a path.
    pub(crate) fn file(&self, name: impl AsRef<OsStr>) -> Outcome<PathBuf> {
        let (store, name) = (self.store()?, name.as_ref());
        // What is no text is no id.
        let Some(text) = name.to_str() else { return Ok(name.into()) };
        match store.resolve(text) {
            Err(SessionError::NoSuchSession { .. }) if Path::new(name).is_file() => Ok(Path::new(".").join(name)),
            Err(SessionError::NoSuchSession { .. }) if is_empty(store.dir()) => {
                let dir = store.dir().display();
                let message =
                    format!("there are no sessions in {dir}; `seslog import --all` takes in those of your agents");
                Err(Told::not_found("noSuchSession", message).into())
            }
            other => Ok(other?),
        }
    }

    /// The session, open for reading.
    pub(crate) fn read(&self, name: impl AsRef<OsStr>) -> Outcome<SessionReader> {
        let path = self.file(name)?;
        let reader = SessionReader::open(&path, RealFs::shared())?;
        warn_if_open_to_others(&path);
        Ok(reader)
    }

    /// The session's log alone, open for reading: nothing of what it says is held in memory.
    pub(crate) fn log(&self, name: impl AsRef<OsStr>) -> Outcome<(LogReader, OpenReport)> {
        let path = self.file(name)?;
        let opened = LogReader::open(RealFs::shared(), &path)?;
        warn_if_open_to_others(&path);
        Ok(opened)
    }

    /// The session, open for writing.
    pub(crate) fn write(&self, name: impl AsRef<OsStr>) -> Outcome<Session> {
        let path = self.file(name)?;
        let session = Session::open(&path, SessionOptions::default())?;
        warn_if_open_to_others(&path);
        let report = session.report();
        if report.cut_bytes > 0 {
            let (bytes, events) = (report.cut_bytes, report.cut_events);
            tell(&format!("set aside {bytes} bytes with {events} readable events that had never been durable"));
        }
        Ok(session)
    }
}

/// Says so if others than the owner can reach a session's file, which was opened as one before. Ours are made for the owner
/// alone; a copy may not be.
fn warn_if_open_to_others(path: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let Ok(about) = std::fs::metadata(path) else { return };
        let mode = about.permissions().mode() & 0o777;
        // What is no file is refused anyway, and its mode is nobody's to change here.
        if about.is_file() && mode & 0o077 != 0 {
            let path = path.display();
            tell(&format!("others can reach `{path}` (mode {mode:03o}); `chmod 600` keeps it to its owner"));
        }
    }
    #[cfg(not(unix))]
    let _ = (path, tell);
}
