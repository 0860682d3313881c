//! Reading without a lock, beside a writer that may be alive. FORMAT.md section 10.

use std::ops::Deref;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::error::LogError;
use super::format as f;
use super::fs::{Access, Fs, FsFile};
use super::header::{NoHeader, Page, decode_page};
use super::kind::FrameType;
use super::lock::check_identity;
use super::locked;
use super::opening::{Analysis, analyze, data_end};
use super::options::LogOptions;
use super::quiet::{Glance, Quiet};
use super::recent::Recent;
use super::recovery::Tail;
use super::report::OpenReport;
use super::scan::{Step, Walk};
use super::source::{ReadAhead, Source, TAIL_PIECE};
use super::view::{Edge, LogView};

/// A claim of damage is looked at so many times before it is believed: a writer may have moved between two reads.
const LOOKS_MAX: usize = 8;

/// A reader of a log: it takes no lock and never disturbs the writer.
#[derive(Debug)]
pub struct LogReader {
    view: LogView,
    /// The file as it was at the last search for an OPEN.
    searched: Searched,
    quiet: Quiet,
}

/// What says whether an OPEN may have come since: the file's size, and where its data ended. A writer puts its OPEN behind all data,
/// where zeros may have been before: then it changes no size.
#[derive(Debug, Clone, Copy)]
struct Searched {
    size: u64,
    data_end: u64,
}

impl Searched {
    /// `end`: where the accepted frames end. They may have gone on over the data's end.
    fn is_stale(self, pages: &mut ReadAhead<'_>, end: u64) -> Result<bool, LogError> {
        let (size, at) = (pages.limit(), self.data_end.max(end));
        Ok(self.size != size || pages.fetch(at, f::FRAME_ALIGN as usize)?.iter().any(|byte| *byte != 0))
    }
}

impl LogReader {
    /// Opens a log for reading. Damage is in the report and is no error, as long as one copy of the header can be read.
    ///
    /// # Errors
    /// `NotFound`, `NotALog`, `NewerFormat`, `Io`.
    pub fn open(fs: Arc<dyn Fs>, path: &Path) -> Result<(Self, OpenReport), LogError> {
        Self::open_with(fs, path, LogOptions::default())
    }

    /// As [`LogReader::open`], with options.
    ///
    /// # Errors
    /// As [`LogReader::open`].
    pub fn open_with(fs: Arc<dyn Fs>, path: &Path, options: LogOptions) -> Result<(Self, OpenReport), LogError> {
        let file = fs.open(path, Access::Read).map_err(|source| LogError::io(path, "open", 0, source))?;
        let source = Source::new(path, file, options.mapped);
        let (mut page, mut found) = look(&source)?;
        for _ in 1..LOOKS_MAX {
            if found.tail != Tail::Damaged {
                break;
            }
            let before = (found.end, found.damage);
            (page, found) = look(&source)?;
            if before == (found.end, found.damage.clone()) {
                break;
            }
        }
        source.let_go();
        let report = found.report(page.watermark, source.counters.get().bytes_read);
        let searched = Searched { size: found.size, data_end: found.data_end };
        Ok((Self { view: new_view(fs, source, &page, &found), searched, quiet: Quiet::default() }, report))
    }

    /// Looks for frames that have come since. True if there are new ones.
    ///
    /// Bytes behind the last accepted frame that are no whole frame are not there yet, and never damage.
    ///
    /// It may be called often: of a file that has not changed for some seconds, by its stamp, nothing is read (but for a look
    /// once a minute).
    ///
    /// # Errors
    /// `Io`; `Replaced` if the path names another file by now, or the file is shorter than what was accepted.
    pub fn refresh(&mut self) -> Result<bool, LogError> {
        let glance = Glance::at(&*self.view.fs, self.view.path());
        if self.quiet.holds(glance) {
            return Ok(false);
        }
        let has_news = self.look_for_frames()?;
        self.quiet.read_after(glance);
        Ok(has_news)
    }

    fn look_for_frames(&mut self) -> Result<bool, LogError> {
        let view = &self.view;
        check_identity(&*view.fs, view.path(), &*view.source.file)?;
        let (size, old_end) = (view.source.size()?, view.end());
        if size.next_multiple_of(f::FRAME_ALIGN) < old_end {
            return Err(LogError::Replaced {
                path: view.path().to_path_buf(),
                expected: format!("at least {old_end} bytes"),
                found: format!("{size}"),
            });
        }
        let mut edge = locked(&view.edge);
        // Small at first: behind what is new there may be zeros only.
        let mut pages = ReadAhead::new(&view.source, size);
        let mut walk = Walk { at: old_end, chain: Some(edge.chain), rules: view.info.rules() };
        loop {
            let step = match walk.step_without_search(&mut pages)? {
                Step::End(_) if walk.at < size && self.searched.is_stale(&mut pages, walk.at)? => {
                    // Asked for first: what comes during the search is looked for by the next one.
                    let data_end = data_end(&mut ReadAhead::back(&view.source, size))?;
                    self.searched = Searched { size, data_end };
                    walk.step(&mut pages)?
                }
                step => step,
            };
            let Step::Frames { frames, .. } = step else { break };
            let Some(last) = frames.last() else { break };
            edge.tip = Some(last.offset());
            edge.chain = last.head().header_crc;
            edge.state = None;
            for frame in &frames {
                view.source.durable_end.fetch_max(frame.head().durable_end(), Ordering::AcqRel);
                if frame.frame_type() == FrameType::Index {
                    edge.recent = None;
                }
            }
            view.source.saw(last.next_offset());
            view.end.store(last.next_offset(), Ordering::Release);
        }
        Ok(view.end() > old_end)
    }
}

impl Deref for LogReader {
    type Target = LogView;

    fn deref(&self) -> &LogView {
        &self.view
    }
}

/// One look at the whole file: the page first, so that the slot is never newer than the size.
///
/// What it holds of the file, the caller lets go.
pub(crate) fn look(source: &Source) -> Result<(Page, Analysis), LogError> {
    source.let_go();
    // Both ends of the file come from the disk at once.
    source.will_read(source.size()?.saturating_sub(TAIL_PIECE as u64), TAIL_PIECE as u64);
    let page = read_page(source)?;
    let size = source.size()?;
    let found = analyze(source, &page, size)?;
    Ok((page, found))
}

/// Reads and decodes the header page.
pub(crate) fn read_page(source: &Source) -> Result<Page, LogError> {
    let mut bytes = vec![0; f::HEADER_PAGE_LEN as usize];
    let count = source.read(&mut bytes, 0)?;
    bytes.truncate(count);
    decode_page(&bytes).map_err(|error| match error {
        NoHeader::NotALog { found } => LogError::NotALog { path: source.path.clone(), found },
        NoHeader::Newer { major, incompat } => LogError::NewerFormat { path: source.path.clone(), major, incompat },
    })
}

/// The reading side of a log after its open.
pub(crate) fn new_view(fs: Arc<dyn Fs>, source: Source, page: &Page, found: &Analysis) -> LogView {
    source.durable_end.store(found.durable_end, Ordering::Release);
    let empty = found.end == f::HEADER_PAGE_LEN;
    LogView {
        fs,
        source: Arc::new(source),
        info: page.info,
        end: AtomicU64::new(found.end),
        edge: Mutex::new(Edge {
            tip: found.tip.map(|tip| tip.offset),
            chain: found.chain,
            state: None,
            recent: empty.then(|| Recent::starting_at(f::HEADER_PAGE_LEN)),
        }),
        tables: Mutex::default(),
    }
}

/// A file that is open, by its handle: what a writer does to read it as well.
pub(crate) fn source_of(path: &Path, file: Arc<dyn FsFile>, options: &LogOptions) -> Source {
    Source::new(path, file, options.mapped)
}
