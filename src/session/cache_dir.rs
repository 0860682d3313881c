//! The directory of the store's cache, the names in it, and a file of it read and written.

use std::io;
use std::path::{Path, PathBuf};

use crate::log::{Access, Fs, FsFile};

/// The cache's directory in the store's. One of its own, so that a catalogue that is renamed leaves the store's stamp alone.
pub(super) const CACHE_DIR: &str = ".cache";
pub(super) const CATALOGUE: &str = "catalogue";
const TEMPORARY: &str = ".tmp";
/// What a search keeps in the same directory.
pub(super) const SEARCH: [&str; 4] = ["search.db", "search.db-wal", "search.db-shm", "search.db-journal"];
/// A file of more bytes is no catalogue: room for a million sessions.
pub(super) const CATALOGUE_LEN_MAX: u64 = 256 << 20;

/// A name of ours in the cache's directory.
pub(super) fn is_cache(name: &str) -> bool {
    name == CATALOGUE || SEARCH.contains(&name) || is_temporary(name)
}

/// The first bytes of each catalogue, whatever its version, and of an erasure's mark.
pub(super) const CATALOGUE_BEGINS: [u8; 5] = *b"SLcat";
/// The first bytes of each SQLite database, how long its header is, and where in it stands whose it is.
const DATABASE_BEGINS: &[u8] = b"SQLite format 3\0";
const DATABASE_HEAD_LEN: u64 = 100;
const APPLICATION_AT: usize = 68;
/// Whose database the index of a search is.
const APPLICATION: [u8; 4] = 0x5e51_0601_u32.to_be_bytes();

/// Whether the file of this name in the cache's directory is a cache of ours, which may be removed. Any directory may have a
/// `.cache`, a home too, and what others keep in it under such a name is theirs.
///
/// # Errors
/// What reading it gives.
pub(super) fn is_ours(fs: &dyn Fs, cache: &Path, name: &str) -> io::Result<bool> {
    if name == CATALOGUE {
        return is_catalogue(&*fs.open(&cache.join(name), Access::Read)?);
    }
    if !SEARCH.contains(&name) {
        return Ok(is_temporary(name));
    }
    // What lies beside a database belongs to it.
    let database = match fs.open(&cache.join(SEARCH[0]), Access::Read) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        other => other?,
    };
    let head = head_of(&*database, DATABASE_HEAD_LEN)?;
    let is_our_index =
        head.starts_with(DATABASE_BEGINS) && head.get(APPLICATION_AT..).is_some_and(|at| at.starts_with(&APPLICATION));
    Ok(is_blank(&head) || is_our_index)
}

/// Whether it is a catalogue of ours, or one of which nothing was written.
pub(super) fn is_catalogue(file: &dyn FsFile) -> io::Result<bool> {
    let head = head_of(file, CATALOGUE_BEGINS.len() as u64)?;
    Ok(is_blank(&head) || head == CATALOGUE_BEGINS)
}

/// Nothing, or the zeros that a power cut leaves.
fn is_blank(head: &[u8]) -> bool {
    head.iter().all(|byte| *byte == 0)
}

fn head_of(file: &dyn FsFile, len: u64) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    read_to(file, &mut head, len)?;
    Ok(head)
}

/// The name of a catalogue that is being written: `.catalogue.`, sixteen digits, `.tmp`.
pub(super) fn is_temporary(name: &str) -> bool {
    let random = name.strip_prefix('.').and_then(|name| name.strip_prefix(CATALOGUE)?.strip_prefix('.'));
    let random = random.and_then(|name| name.strip_suffix(TEMPORARY));
    random.is_some_and(|random| random.len() == 16 && random.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// The cache's directory, if it lies in the store's. Through a link nothing is read, written or removed: what is there may be
/// somebody else's.
pub(super) fn own_cache(fs: &dyn Fs, dir: &Path) -> io::Result<PathBuf> {
    let cache = dir.join(CACHE_DIR);
    if fs.canonical(&cache)? != fs.canonical(dir)?.join(CACHE_DIR) {
        let what = "it is a link, and what it leads to is not touched; remove the link";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    Ok(cache)
}

/// The catalogue of the store in this directory.
pub(super) fn catalogue_path(dir: &Path) -> PathBuf {
    dir.join(CACHE_DIR).join(CATALOGUE)
}

/// All bytes of a catalogue.
pub(super) fn read_to_end(file: &dyn FsFile) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    read_to(file, &mut bytes, CATALOGUE_LEN_MAX)?;
    Ok(bytes)
}

/// Reads on until there are so many bytes, or the file ends.
pub(super) fn read_to(file: &dyn FsFile, bytes: &mut Vec<u8>, len: u64) -> io::Result<()> {
    let mut done = bytes.len();
    // No more room than the file fills, whatever it claims.
    bytes.resize(done.max(file.size()?.min(len) as usize), 0);
    while done < bytes.len() {
        match file.read_at(&mut bytes[done..], done as u64) {
            Ok(0) => break,
            Ok(count) => done += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(done);
    Ok(())
}

/// Writes all of it, from the beginning of the file.
pub(super) fn write_all(file: &dyn FsFile, bytes: &[u8]) -> io::Result<()> {
    let mut done = 0;
    while done < bytes.len() {
        match file.write_at(&bytes[done..], done as u64) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => done += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
