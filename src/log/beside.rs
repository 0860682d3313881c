//! Names beside a file: of its directory, and of what is made before it has a name.

use std::io;
use std::path::{Path, PathBuf};

use super::fs::Fs;

/// A temporary name beside a path: hidden, and with a random part.
///
/// # Errors
/// If there is no randomness.
pub(crate) fn temporary_beside(fs: &dyn Fs, path: &Path) -> io::Result<PathBuf> {
    let mut random = [0; 8];
    fs.random(&mut random)?;
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{:016x}.tmp", u64::from_le_bytes(random)));
    Ok(path.with_file_name(name))
}

/// Directory that holds a path.
pub(crate) fn parent_dir(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}
