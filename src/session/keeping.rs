//! The catalogue's file: read it, and write one of what was seen where that is worth it.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::cache_dir::{
    CACHE_DIR, CATALOGUE, CATALOGUE_LEN_MAX, SEARCH, catalogue_path, is_ours, is_temporary, own_cache, read_to,
    read_to_end, write_all,
};
use super::cache_lock::{Pin, put, wait_for};
use super::catalogue::{Seen, decode, decode_head, encode};
use super::file_name::id_in;
use super::list_report::CatalogueKept;
use crate::event::Uuid;
use crate::log::{Access, FileStamp, Fs, FsFile, WriterLock, parent_dir, temporary_beside};

/// How long an announcement holds. Far less than how old a stamp must be to be believed.
const ANNOUNCED_FOR: Duration = Duration::from_millis(500);
/// No file system's times are coarser than this (FAT's are 2 s).
const COARSEST: Duration = Duration::from_secs(2);
/// It is written anew if one in so many sessions would be looked at again without that; for fewer, writing costs more.
const WORTH_ONE_IN: usize = 50;
/// The front of most catalogues fits into so many bytes.
const FRONT_LEN: usize = 32 << 10;
/// What a list has seen, to be kept for the next one.
#[derive(Debug)]
pub(super) struct Keeping<'a> {
    pub(super) fs: &'a Arc<dyn Fs>,
    pub(super) dir: &'a Path,
    /// The catalogue that the list goes by, or why there is none that it could write over.
    pub(super) pin: &'a io::Result<Option<Pin>>,
    /// In the order of the list.
    pub(super) seen: &'a [Seen<'a>],
    /// The directory's stamp before it was listed.
    pub(super) dir_stamp: Option<FileStamp>,
    /// The one that the catalogue has which was read.
    pub(super) known: Option<FileStamp>,
    /// A session has changed though the directory's stamp has not: the catalogue vouches for what is no longer so.
    pub(super) is_refuted: bool,
    /// Sessions that the catalogue has were counted.
    pub(super) has_counted: bool,
    /// The monotonic time before any stamp was looked at.
    pub(super) began: Duration,
}

impl Keeping<'_> {
    pub(super) fn keep(&self) -> io::Result<CatalogueKept> {
        let pin = match self.pin {
            Ok(Some(pin)) => pin,
            Ok(None) => return Ok(CatalogueKept::AsItWas),
            Err(error) => return Err(io::Error::new(error.kind(), error.to_string())),
        };
        let kept = if self.is_worth(|_| true) { self.write(pin) } else { Ok(CatalogueKept::AsItWas) };
        if pin.is_new() && !matches!(kept, Ok(CatalogueKept::Written)) {
            let _ = remove(self.fs, self.dir, pin);
        }
        kept
    }

    fn write(&self, pin: &Pin) -> io::Result<CatalogueKept> {
        let path = catalogue_path(self.dir);
        let temporary = temporary_beside(&**self.fs, &path)?;
        let file = self.fs.create(&temporary)?;
        let filled = self.fill(&*file, &temporary);
        let kept = match filled {
            Ok(CatalogueKept::Written) => self.put(pin, file, &temporary, &path),
            other => other,
        };
        if !matches!(kept, Ok(CatalogueKept::Written)) {
            let _ = self.fs.remove(&temporary);
        }
        kept
    }

    /// Gives the new catalogue the name, unless another one has come into the place of the one that the list goes by: what
    /// was seen may have been erased since.
    fn put(&self, pin: &Pin, file: Arc<dyn FsFile>, temporary: &Path, path: &Path) -> io::Result<CatalogueKept> {
        let Some(_held) = pin.lock(self.fs, self.dir)? else { return Ok(CatalogueKept::AsItWas) };
        let _new = WriterLock::take(self.fs, temporary, file).map_err(io::Error::other)?;
        self.fs.replace(temporary, path)?;
        self.remove_leftovers();
        Ok(CatalogueKept::Written)
    }

    /// Whether a catalogue of all this would serve the next list, if it may keep the new stamps that this holds for.
    fn is_worth(&self, is_over: impl Fn(&FileStamp) -> bool) -> bool {
        let settled = self.seen.iter().filter(|seen| seen.is_new && seen.stamp.as_ref().is_some_and(&is_over)).count();
        let has_new_dir = self.dir_stamp != self.known && self.dir_stamp.as_ref().is_some_and(&is_over);
        let is_due = self.is_refuted
            || self.has_counted
            || has_new_dir
            || settled > 0 && settled * WORTH_ONE_IN >= self.seen.len();
        is_due && !self.seen.is_empty()
    }

    /// Fills the file that is to be the catalogue. It is not synced: one that is not whole is known by its checksums.
    fn fill(&self, file: &dyn FsFile, temporary: &Path) -> io::Result<CatalogueKept> {
        // By the clock of the file system, which need not be ours: this file was made just now, and the list has taken so long.
        // A stamp whose times lie before that was over when it was looked at: any later change gives a later time.
        let Some(made) = self.fs.stamp(temporary)? else { return Ok(CatalogueKept::AsItWas) };
        let spent = self.fs.monotonic().saturating_sub(self.began) + COARSEST;
        let over = made.modified.saturating_sub(i64::try_from(spent.as_nanos()).unwrap_or(i64::MAX));
        let is_over = |stamp: &FileStamp| stamp.modified < over && stamp.changed < over;
        if !self.is_worth(is_over) {
            return Ok(CatalogueKept::AsItWas);
        }
        let dir_stamp = self.dir_stamp.filter(|stamp| Some(*stamp) == self.known || is_over(stamp));
        let (mut settled, mut unsettled) = (Vec::with_capacity(self.seen.len()), Vec::new());
        for seen in self.seen {
            match seen.stamp.filter(|stamp| !seen.is_new || is_over(stamp)) {
                Some(stamp) => settled.push((seen.name, stamp, &seen.listed, seen.tally.as_ref())),
                None => unsettled.push((seen.name, seen.tally.as_ref())),
            }
        }
        let bytes = encode(dir_stamp, &unsettled, settled.into_iter());
        if bytes.len() as u64 > CATALOGUE_LEN_MAX {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        write_all(file, &bytes)?;
        Ok(CatalogueKept::Written)
    }

    /// What lists that were killed have left. One that another list is about to rename is lost to that, and no harm is done.
    fn remove_leftovers(&self) {
        let Ok(cache) = own_cache(&**self.fs, self.dir) else { return };
        for entry in self.fs.list_dir(&cache).unwrap_or_default() {
            if entry.name.to_str().is_some_and(is_temporary) {
                let _ = self.fs.remove(&cache.join(entry.name));
            }
        }
    }
}

/// Removes the catalogue that a list goes by, if it is still the store's; whether it was.
pub(super) fn remove(fs: &Arc<dyn Fs>, dir: &Path, pin: &Pin) -> io::Result<bool> {
    let Some(_held) = pin.lock(fs, dir)? else { return Ok(false) };
    fs.remove(&catalogue_path(dir)).map(|()| true)
}

/// The same of the mark of an erasure that was killed. What a search keeps goes first: the erasure may not have come to it.
pub(super) fn remove_mark(fs: &Arc<dyn Fs>, dir: &Path, pin: &Pin) -> io::Result<bool> {
    let Some(_held) = pin.lock(fs, dir)? else { return Ok(false) };
    let cache = dir.join(CACHE_DIR);
    let is_search_ours = is_ours(&**fs, &cache, SEARCH[0])?;
    for name in SEARCH.iter().filter(|_| is_search_ours) {
        match fs.remove(&cache.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    fs.remove(&catalogue_path(dir)).map(|()| true)
}

/// Writes the catalogue without a session.
pub(super) fn forget(fs: &Arc<dyn Fs>, dir: &Path, id: Uuid) -> io::Result<()> {
    match own_cache(&**fs, dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => drop(other?),
    }
    // From here to the end no list puts another one there.
    let Some(held) = wait_for(fs, dir)? else { return Ok(()) };
    let path = catalogue_path(dir);
    let bytes = read_to_end(&*held.file)?;
    let Ok(catalogue) = decode(&bytes, dir) else { return fs.remove(&path) };
    let is_other = |name: &str| id_in(name) != Some(id);
    let unsettled = catalogue.unsettled.iter().filter(|one| is_other(one.name));
    let unsettled: Vec<_> = unsettled.map(|one| (one.name, one.tally.as_ref())).collect();
    let settled = catalogue.settled.iter().filter(|seen| is_other(seen.name));
    let settled: Vec<_> =
        settled.filter_map(|seen| Some((seen.name, seen.stamp?, &seen.listed, seen.tally.as_ref()))).collect();
    // The stamp of the directory is another one by now.
    put(fs, &path, &encode(None, &unsettled, settled.into_iter())).map(drop)
}

/// Tells whoever has listed the directory of a session that it is going to be written now, by a new stamp of the directory.
///
/// A catalogue that vouches for a session has seen it closed, and a stamp of the directory that was over by then. The
/// log is written behind such an end by an append only, and each is announced a moment before: so the stamp is another one
/// afterwards. That holds but for a writer that stops for longer than [`COARSEST`] between the two and is listed meanwhile.
/// Who can't tell the directory writes all the same; a list that looks at every stamp needs no announcement.
pub(super) fn announce(fs: &dyn Fs, path: &Path, last: &mut Option<Duration>) {
    let now = fs.monotonic();
    if last.is_none_or(|last| now.saturating_sub(last) >= ANNOUNCED_FOR) {
        *last = fs.touch_dir(parent_dir(path)).is_ok().then_some(now);
    }
}

/// The bytes of a catalogue's front, and perhaps some behind it; all of them where they are asked for.
pub(super) fn front_of(fs: &dyn Fs, dir: &Path, is_all: bool) -> io::Result<Vec<u8>> {
    let file = fs.open(&own_cache(fs, dir)?.join(CATALOGUE), Access::Read)?;
    if is_all {
        return read_to_end(&*file);
    }
    let mut bytes = Vec::new();
    read_to(&*file, &mut bytes, FRONT_LEN as u64)?;
    if let Ok(head) = decode_head(&bytes) {
        read_to(&*file, &mut bytes, head.front_len.min(CATALOGUE_LEN_MAX as usize) as u64)?;
    }
    Ok(bytes)
}
