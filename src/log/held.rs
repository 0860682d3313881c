//! A log whose writer's lock is held, and that is only read: not even a recovery writes to it.

use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use super::error::LogError;
use super::format as f;
use super::fs::{Access, Fs, FsFile};
use super::header::LogInfo;
use super::lock::WriterLock;
use super::options::LogOptions;
use super::reader::{look, new_view, read_page, source_of};
use super::recovery::{Plan, plan};
use super::report::OpenReport;
use super::source::Source;
use super::view::LogView;

/// A log that nobody else can write to as long as this lives.
#[derive(Debug)]
pub(crate) struct HeldLog {
    view: LogView,
    lock: WriterLock,
}

impl HeldLog {
    /// Locks a log and looks at it. What a crash has left behind its accepted frames stays where it is.
    ///
    /// # Errors
    /// Those of [`LogWriter::open`](super::LogWriter::open).
    pub(crate) fn open(fs: &Arc<dyn Fs>, path: &Path, options: LogOptions) -> Result<(Self, OpenReport), LogError> {
        let lock = WriterLock::open(fs, path)?;
        let source = source_of(path, lock.file.clone(), &options);
        let (page, found) = look(&source)?;
        let unknown = page.info.ro_compat & !f::RO_COMPAT_KNOWN;
        if unknown != 0 {
            return Err(LogError::ReadOnlyFormat { path: path.to_path_buf(), ro_compat: unknown });
        }
        let report = found.report(page.watermark, source.counters.get().bytes_read);
        if plan(found.tail) == Plan::Refuse {
            return Err(LogError::Damaged { path: path.to_path_buf(), report: Box::new(report) });
        }
        source.let_go();
        Ok((Self { view: new_view(fs.clone(), source, &page, &found), lock }, report))
    }

    /// Length of the file, in bytes.
    ///
    /// # Errors
    /// `Io`.
    pub(crate) fn size(&self) -> Result<u64, LogError> {
        self.view.source.size()
    }

    /// The open file.
    pub(crate) fn file(&self) -> &dyn FsFile {
        &*self.lock.file
    }

    /// Whether the file is to be found under some name, as far as the platform can tell.
    pub(crate) fn is_named(&self) -> bool {
        let file = &self.lock.file;
        file.identity().is_ok_and(|id| id.is_some()) && file.is_named().unwrap_or(false)
    }
}

impl Deref for HeldLog {
    type Target = LogView;

    fn deref(&self) -> &LogView {
        &self.view
    }
}

/// What the header of a log says, without a look at the rest of the file.
///
/// # Errors
/// `NotFound`, `NotALog`, `NewerFormat`, `Io`.
pub(crate) fn read_info(fs: &dyn Fs, path: &Path) -> Result<LogInfo, LogError> {
    let file = fs.open(path, Access::Read).map_err(|source| LogError::io(path, "open", 0, source))?;
    Ok(read_page(&Source::new(path, file, false))?.info)
}
