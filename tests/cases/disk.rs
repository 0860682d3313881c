//! What happens to files: kills, damage, and a look at their bytes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value as Json;
use seslog::event::Uuid;
use seslog::log::{LogReader, RealFs};
use seslog::session::Session;

use super::names::Names;

/// Kills the process that writes this session: what it does on its way out is undone, so no MARK stands behind the
/// last append and no watermark names it.
pub fn kill(session: Session) {
    let path = session.path().to_owned();
    let bytes = std::fs::read(&path).unwrap();
    drop(session);
    std::fs::write(&path, bytes).unwrap();
}

/// The frames of one event; of a compaction, those of its whole batch.
#[derive(Debug, Clone, Copy)]
pub struct Extent {
    pub from: usize,
    pub to: usize,
}

/// Where the frames of the event of this id stand.
pub fn extent(path: &Path, id: Uuid) -> Extent {
    let (log, report) = LogReader::open(Arc::new(RealFs::new()), path).unwrap();
    drop(report);
    let mut from = None;
    for frame in log.frames(0) {
        let head = *frame.unwrap().head();
        if head.id == id {
            from = Some(head.offset);
        }
        if let Some(from) = from.filter(|_| !head.batch_goes_on()) {
            return Extent { from: usize::try_from(from).unwrap(), to: usize::try_from(head.next_offset()).unwrap() };
        }
    }
    panic!("the log has no frame of {id}");
}

/// Does to a session's file what a case says.
pub fn damage(path: &Path, names: &Names, damage: &Json) {
    let extent_of = |key: &str| extent(path, names.id(damage[key].as_str().unwrap()));
    let count = |key: &str| usize::try_from(damage[key].as_u64().unwrap_or_else(|| panic!("{damage}: {key}"))).unwrap();
    let mut bytes = std::fs::read(path).unwrap();
    match damage["op"].as_str().unwrap() {
        "truncate_tail" => bytes.truncate(bytes.len() - count("bytes")),
        "truncate_to" => bytes.truncate(count("bytes")),
        "append_bytes" => bytes.extend(from_hex(damage["hex"].as_str().unwrap()).repeat(count("count"))),
        "zero_frame" => {
            let Extent { from, to } = extent_of("event");
            bytes[from..to].fill(0);
        }
        "truncate_frame" => {
            let Extent { from, to } = extent_of("event");
            let keep = if damage["keep"] == "half" { (to - from) / 2 } else { count("keep_bytes") };
            assert!(keep < to - from, "{damage}: the frame is not cut");
            bytes.truncate(from + keep);
        }
        "kill_after" => bytes.truncate(extent_of("event").to),
        "zero_bytes" => bytes[count("from")..][..count("count")].fill(0),
        other => panic!("{other} is no damage to a file"),
    }
    std::fs::write(path, bytes).unwrap();
}

fn from_hex(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().chunks(2);
    digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

/// All files below a folder, in order.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

/// All folders from this one down.
pub fn folders(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![folder.to_owned()];
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(folders(&path));
        }
    }
    found
}

/// The permission bits of a file or folder, as four octal digits; none where the platform has none.
pub fn mode(path: &Path) -> Option<String> {
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(path).unwrap().permissions());
        Some(format!("{:04o}", mode & 0o7777))
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        None
    }
}

/// Whether these bytes stand somewhere in a file.
pub fn holds(path: &Path, text: &str) -> bool {
    let bytes = std::fs::read(path).unwrap();
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}
