//! The bytes of a catalogue: what a list has seen, kept as a cache. Pure: it reads no file, and believes nothing that is not whole.
//!
//! A head with checksums, the names of the sessions that must be looked at each time, then the settled ones, the newest
//! first. The head covers a front of few entries by a checksum of its own, so that the newest are had without the rest.
//! All integers are little endian. Another version has another magic: there is nothing to convert in a cache.

use std::path::{Path, PathBuf};

use super::listed::Listed;
use super::report::Opened;
use super::store::EXTENSION;
use crate::event::Uuid;
use crate::log::{FileStamp, crc32};

const MAGIC: [u8; 8] = *b"SLcat\x00\x00\x01";
const HEAD_LEN: usize = 80;
/// Entries in the front.
const FRONT_COUNT: usize = 64;
/// No entry is shorter: bounds what a count can make us allocate.
const ENTRY_LEN_MIN: usize = 80;
/// No name is shorter, its length included.
const NAME_LEN_MIN: usize = 40;
/// In the place of a text's length: there is none.
const NO_TEXT: u32 = u32::MAX;

/// A session as a list has seen it, or as a catalogue remembers it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Seen<'a> {
    /// Its file's name in the directory.
    pub(super) name: &'a str,
    /// The file's stamp before it was looked at; none if the same stamp would not mean the same content.
    pub(super) stamp: Option<FileStamp>,
    /// It was looked at now, and not taken from the catalogue.
    pub(super) is_new: bool,
    /// What was seen; its path is the directory's with the name.
    pub(super) listed: Listed,
}

/// What a catalogue holds, or its front.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Catalogue<'a> {
    /// The stamp of the directory as it was listed, if it was over by then.
    pub(super) dir: Option<FileStamp>,
    /// Names of the sessions that are not settled.
    pub(super) unsettled: Vec<&'a str>,
    /// The settled ones, the newest first.
    pub(super) settled: Vec<Seen<'a>>,
    /// How many settled ones the whole catalogue has.
    pub(super) settled_count: usize,
}

/// Why bytes are no catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unusable {
    /// Not whole, or never was one.
    Damaged,
    /// Made by another version.
    OtherVersion,
}

/// What the head says.
#[derive(Debug, Clone, Copy)]
pub(super) struct Head {
    front_crc: u32,
    rest_crc: u32,
    pub(super) front_len: usize,
    pub(super) total_len: usize,
    settled_count: usize,
    unsettled_count: usize,
    dir: Option<FileStamp>,
}

/// The bytes of a catalogue. Entries must stand newest first.
pub(super) fn encode<'a>(
    dir: Option<FileStamp>,
    unsettled: &[&str],
    settled: impl ExactSizeIterator<Item = (&'a str, FileStamp, &'a Listed)>,
) -> Vec<u8> {
    let settled_count = settled.len();
    let mut out = Vec::with_capacity(HEAD_LEN + unsettled.len() * 48 + settled_count * 256);
    out.resize(HEAD_LEN, 0);
    unsettled.iter().for_each(|name| put_name(&mut out, name));
    let mut front_len = out.len();
    for (index, (name, stamp, listed)) in settled.enumerate() {
        put_entry(&mut out, name, stamp, listed);
        if index < FRONT_COUNT {
            front_len = out.len();
        }
    }
    let total_len = out.len();
    let mut head = Vec::with_capacity(HEAD_LEN);
    head.extend_from_slice(&MAGIC);
    head.extend_from_slice(&[0; 4]);
    head.extend_from_slice(&crc32(&out[front_len..]).to_le_bytes());
    head.extend_from_slice(&(front_len as u64).to_le_bytes());
    head.extend_from_slice(&(total_len as u64).to_le_bytes());
    head.extend_from_slice(&(settled_count as u32).to_le_bytes());
    head.extend_from_slice(&(unsettled.len() as u32).to_le_bytes());
    head.push(u8::from(dir.is_some()));
    let nothing = FileStamp { size: 0, modified: 0, changed: 0, inode: None };
    put_stamp(&mut head, dir.unwrap_or(nothing));
    head.resize(HEAD_LEN, 0);
    out[..HEAD_LEN].copy_from_slice(&head);
    let front_crc = crc32(&out[12..front_len]);
    out[8..12].copy_from_slice(&front_crc.to_le_bytes());
    out
}

/// Reads the head alone; its checksum is not looked at yet.
pub(super) fn decode_head(bytes: &[u8]) -> Result<Head, Unusable> {
    let mut cursor = Cursor { rest: bytes };
    let magic = cursor.take(MAGIC.len()).ok_or(Unusable::Damaged)?;
    if magic != MAGIC {
        return Err(if magic[..5] == MAGIC[..5] { Unusable::OtherVersion } else { Unusable::Damaged });
    }
    cursor.head().filter(|head| HEAD_LEN <= head.front_len && head.front_len <= head.total_len).ok_or(Unusable::Damaged)
}

/// Reads a front, of which more may follow in the bytes.
pub(super) fn decode_front<'a>(bytes: &'a [u8], dir: &Path) -> Result<Catalogue<'a>, Unusable> {
    let head = decode_head(bytes)?;
    decode_part(head, bytes.get(..head.front_len).ok_or(Unusable::Damaged)?, dir)
}

/// Reads a whole catalogue.
pub(super) fn decode<'a>(bytes: &'a [u8], dir: &Path) -> Result<Catalogue<'a>, Unusable> {
    let head = decode_head(bytes)?;
    if bytes.len() != head.total_len || crc32(&bytes[head.front_len..]) != head.rest_crc {
        return Err(Unusable::Damaged);
    }
    let catalogue = decode_part(head, bytes, dir)?;
    if catalogue.settled.len() == head.settled_count { Ok(catalogue) } else { Err(Unusable::Damaged) }
}

/// Front or whole: `bytes` end behind an entry.
fn decode_part<'a>(head: Head, bytes: &'a [u8], dir: &Path) -> Result<Catalogue<'a>, Unusable> {
    if crc32(&bytes[12..head.front_len]) != head.front_crc {
        return Err(Unusable::Damaged);
    }
    let mut cursor = Cursor { rest: &bytes[HEAD_LEN..] };
    let mut catalogue = Catalogue { dir: head.dir, settled_count: head.settled_count, ..Catalogue::default() };
    // As many as the bytes can hold, whatever was claimed.
    catalogue.unsettled.reserve(head.unsettled_count.min(bytes.len() / NAME_LEN_MIN));
    for _ in 0..head.unsettled_count {
        catalogue.unsettled.push(cursor.name().ok_or(Unusable::Damaged)?);
    }
    catalogue.settled.reserve(head.settled_count.min(cursor.rest.len() / ENTRY_LEN_MIN));
    while !cursor.rest.is_empty() {
        catalogue.settled.push(cursor.entry(dir).ok_or(Unusable::Damaged)?);
    }
    if catalogue.unsettled.iter().any(|name| id_in(name).is_none()) {
        return Err(Unusable::Damaged);
    }
    Ok(catalogue)
}

/// The id in the name of a session's file; none for any other name, so that no name leads out of the directory.
pub(super) fn id_in(name: &str) -> Option<Uuid> {
    name.strip_suffix(EXTENSION)?.strip_suffix('.')?.parse().ok()
}

fn put_name(out: &mut Vec<u8>, name: &str) {
    out.push(name.len() as u8);
    out.extend_from_slice(name.as_bytes());
}

fn put_stamp(out: &mut Vec<u8>, stamp: FileStamp) {
    out.extend_from_slice(&stamp.size.to_le_bytes());
    out.extend_from_slice(&stamp.modified.to_le_bytes());
    out.extend_from_slice(&stamp.changed.to_le_bytes());
    out.push(u8::from(stamp.inode.is_some()));
    out.extend_from_slice(&stamp.inode.unwrap_or(0).to_le_bytes());
}

fn put_text(out: &mut Vec<u8>, text: Option<&str>) {
    out.extend_from_slice(&text.map_or(NO_TEXT, |text| text.len() as u32).to_le_bytes());
    out.extend_from_slice(text.unwrap_or_default().as_bytes());
}

fn put_id(out: &mut Vec<u8>, id: Option<Uuid>) {
    out.push(u8::from(id.is_some()));
    id.iter().for_each(|id| out.extend_from_slice(id.as_bytes()));
}

fn put_entry(out: &mut Vec<u8>, name: &str, stamp: FileStamp, listed: &Listed) {
    let Listed { id, path: _, open, problem, bytes, records, created_at, last_event, .. } = listed;
    let Listed { last_original_id, last_at, title, tags, cwd, model, agent, parent, .. } = listed;
    put_name(out, name);
    put_stamp(out, stamp);
    out.push(match open {
        Opened::Clean => 0,
        Opened::Recovered => 1,
        Opened::Damaged => 2,
    });
    out.extend_from_slice(&bytes.to_le_bytes());
    out.extend_from_slice(&records.to_le_bytes());
    out.extend_from_slice(&created_at.to_le_bytes());
    out.push(u8::from(last_at.is_some()));
    out.extend_from_slice(&last_at.unwrap_or(0).to_le_bytes());
    for id in [id, last_event, parent] {
        put_id(out, *id);
    }
    for text in [problem, last_original_id, title, cwd, model, agent] {
        put_text(out, text.as_deref());
    }
    out.extend_from_slice(&(tags.len() as u32).to_le_bytes());
    tags.iter().for_each(|tag| put_text(out, Some(tag)));
}

/// Takes values off the front of some bytes; none where they end, or hold what nobody writes.
struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn i64(&mut self) -> Option<i64> {
        self.array().map(i64::from_le_bytes)
    }

    fn flag(&mut self) -> Option<bool> {
        match self.array()? {
            [0] => Some(false),
            [1] => Some(true),
            [_] => None,
        }
    }

    /// What stands behind the magic.
    fn head(&mut self) -> Option<Head> {
        let (front_crc, rest_crc) = (self.u32()?, self.u32()?);
        let (front_len, total_len) = (usize::try_from(self.u64()?).ok()?, usize::try_from(self.u64()?).ok()?);
        let (settled_count, unsettled_count) = (self.u32()? as usize, self.u32()? as usize);
        let dir = self.flag()?;
        let dir = Some(self.stamp()?).filter(|_| dir);
        Some(Head { front_crc, rest_crc, front_len, total_len, settled_count, unsettled_count, dir })
    }

    fn stamp(&mut self) -> Option<FileStamp> {
        let (size, modified, changed, inode) = (self.u64()?, self.i64()?, self.i64()?, self.flag()?);
        Some(FileStamp { size, modified, changed, inode: Some(self.u64()?).filter(|_| inode) })
    }

    fn name(&mut self) -> Option<&'a str> {
        let [len] = self.array()?;
        std::str::from_utf8(self.take(len.into())?).ok()
    }

    fn text(&mut self) -> Option<Option<String>> {
        match self.u32()? {
            NO_TEXT => Some(None),
            len => Some(Some(std::str::from_utf8(self.take(len as usize)?).ok()?.to_owned())),
        }
    }

    fn id(&mut self) -> Option<Option<Uuid>> {
        if self.flag()? { Some(Some(Uuid::from_bytes(self.array()?))) } else { Some(None) }
    }

    fn entry(&mut self, dir: &Path) -> Option<Seen<'a>> {
        let name = self.name()?;
        let stamp = self.stamp()?;
        let open = match self.array()? {
            [0] => Opened::Clean,
            [1] => Opened::Recovered,
            [2] => Opened::Damaged,
            [_] => return None,
        };
        let (bytes, records, created_at) = (self.u64()?, self.u64()?, self.i64()?);
        let has_last = self.flag()?;
        let last_at = Some(self.i64()?).filter(|_| has_last);
        let (id, last_event, parent) = (self.id()?, self.id()?, self.id()?);
        let (problem, last_original_id, title) = (self.text()?, self.text()?, self.text()?);
        let (cwd, model, agent) = (self.text()?, self.text()?, self.text()?);
        let mut tags = Vec::new();
        for _ in 0..self.u32()? {
            tags.push(self.text()??);
        }
        id_in(name)?;
        let mut path = PathBuf::with_capacity(dir.as_os_str().len() + 1 + name.len());
        path.extend([dir, Path::new(name)]);
        let listed = Listed {
            id,
            path,
            open,
            problem,
            bytes,
            records,
            created_at,
            last_event,
            last_original_id,
            last_at,
            title,
            tags,
            cwd,
            model,
            agent,
            parent,
        };
        Some(Seen { name, stamp: Some(stamp), is_new: false, listed })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(name: &str, text: &str) -> Listed {
        Listed {
            id: Some(Uuid::from_u128(7)),
            path: Path::new("/s").join(name),
            open: Opened::Recovered,
            problem: None,
            bytes: 5000,
            records: 3,
            created_at: -1,
            last_event: None,
            last_original_id: Some(String::new()),
            last_at: Some(i64::MIN),
            title: Some(text.to_owned()),
            tags: vec![text.to_owned(), String::new()],
            cwd: None,
            model: None,
            agent: None,
            parent: Some(Uuid::nil()),
        }
    }

    fn name(number: u128) -> String {
        format!("{}.{EXTENSION}", Uuid::from_u128(number))
    }

    fn stamp(number: u64) -> FileStamp {
        FileStamp { size: number, modified: -3, changed: i64::MAX, inode: number.is_multiple_of(2).then_some(number) }
    }

    fn sample(names: &[String]) -> Vec<u8> {
        let rows: Vec<Listed> = names.iter().map(|name| listed(name, "ä title")).collect();
        let rows = names.iter().zip(&rows).enumerate();
        let settled = rows.map(|(number, (name, row))| (name.as_str(), stamp(number as u64), row));
        encode(Some(stamp(9)), &[&name(1), &name(2)], settled)
    }

    /// Makes the checksums fit whatever is in the bytes.
    fn seal(bytes: &mut [u8]) {
        let Ok(front_len) = usize::try_from(u64::from_le_bytes(bytes[16..24].try_into().unwrap())) else { return };
        let Some(rest) = bytes.get(front_len..) else { return };
        let rest = crc32(rest);
        bytes[12..16].copy_from_slice(&rest.to_le_bytes());
        let front = crc32(&bytes[12..front_len.max(12)]);
        bytes[8..12].copy_from_slice(&front.to_le_bytes());
    }

    #[test]
    fn what_was_encoded_is_decoded_and_the_front_is_its_beginning() {
        for count in [0, 1, FRONT_COUNT, FRONT_COUNT + 1, 300] {
            let names: Vec<String> = (10..10 + count as u128).map(name).collect();
            let bytes = sample(&names);
            let whole = decode(&bytes, Path::new("/s")).unwrap();
            assert_eq!((whole.dir, whole.settled_count, whole.unsettled.len()), (Some(stamp(9)), count, 2));
            for (index, entry) in whole.settled.iter().enumerate() {
                assert_eq!((entry.name, entry.stamp), (names[index].as_str(), Some(stamp(index as u64))));
                assert!(!entry.is_new);
                assert_eq!(entry.listed, listed(&names[index], "ä title"));
            }
            let head = decode_head(&bytes).unwrap();
            for more in [&bytes[..head.front_len], &bytes] {
                let front = decode_front(more, Path::new("/s")).unwrap();
                assert_eq!(front.settled, whole.settled[..count.min(FRONT_COUNT)]);
                assert_eq!((front.settled_count, &front.unsettled), (count, &whole.unsettled));
            }
        }
    }

    #[test]
    fn a_name_that_leads_out_of_the_directory_or_is_no_sessions_is_refused() {
        for bad in [
            "../x.seslog",
            "/etc/passwd",
            "..",
            "",
            "x.seslog",
            "0198.seslog/../y.seslog",
            "a/00000000-0000-0000-0000-000000000007.seslog",
        ] {
            let row = listed("x", "t");
            assert_eq!(decode(&encode(None, &[bad], std::iter::empty()), Path::new("/s")), Err(Unusable::Damaged));
            let entry = encode(None, &[], std::iter::once((bad, stamp(0), &row)));
            assert_eq!(decode(&entry, Path::new("/s")), Err(Unusable::Damaged), "{bad}");
            assert_eq!(decode_front(&entry, Path::new("/s")), Err(Unusable::Damaged), "{bad}");
        }
    }

    #[test]
    fn hostile_bytes_with_right_checksums_end_in_an_answer() {
        let names: Vec<String> = (10..80).map(name).collect();
        let whole = sample(&names);
        // All counts and lengths, and whatever lies between, at their largest and smallest, and cut anywhere.
        for at in 8..whole.len() - 8 {
            for value in [0, 1, 0x7f, 0xff] {
                let mut bytes = whole.clone();
                bytes[at..at + 4].fill(value);
                seal(&mut bytes);
                let _ = (decode(&bytes, Path::new("/s")), decode_front(&bytes, Path::new("/s")));
            }
            let mut bytes = whole[..at.max(HEAD_LEN)].to_vec();
            let len = bytes.len() as u64;
            bytes[24..32].copy_from_slice(&len.to_le_bytes());
            seal(&mut bytes);
            let _ = (decode(&bytes, Path::new("/s")), decode_front(&bytes, Path::new("/s")));
        }
        // A count that is claimed makes no room that the bytes can't fill.
        let mut bytes = sample(&[]);
        bytes[32..40].fill(0xff);
        seal(&mut bytes);
        assert_eq!(decode(&bytes, Path::new("/s")), Err(Unusable::Damaged));
    }
}
