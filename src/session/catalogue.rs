//! The bytes of a catalogue: what a list has seen, kept as a cache. Pure: it reads no file, and believes nothing that is not whole.
//!
//! A head with checksums, the sessions that must be looked at each time (names, and how far they were counted), then the settled ones, the newest
//! first. The head covers a front of few entries by a checksum of its own, so that the newest are had without the rest.
//! All integers are little endian. Another version has another magic: there is nothing to convert in a cache.

use std::path::{Path, PathBuf};

use super::file_name::id_in;
use super::listed::Listed;
use super::report::Opened;
use super::tally::{Mark, Tally};
use crate::event::Uuid;
use crate::log::{FileStamp, crc32};

const MAGIC: [u8; 8] = *b"SLcat\x00\x00\x04";
/// In the place of a catalogue while something is erased from a session; also left by an erasure that was killed.
pub(super) const ERASING: [u8; 8] = *b"SLcat\xffER";
const HEAD_LEN: usize = 80;
/// Entries in the front.
const FRONT_COUNT: usize = 64;
/// No entry is shorter: bounds what a count can make us allocate.
const ENTRY_LEN_MIN: usize = 80;
/// No unsettled session takes less, its name's length included.
const UNSETTLED_LEN_MIN: usize = 41;
/// What an entry says of counts: nothing; the counts; those with a place to go on from, which is the end; an earlier such place.
const NOT_COUNTED: u8 = 0;
const COUNTED: u8 = 1;
const COUNTED_TO_END: u8 = 2;
const COUNTED_BEFORE: u8 = 3;
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
    /// How far it was counted, if that is worth keeping.
    pub(super) tally: Option<Tally>,
}

/// A session that must be looked at each time.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Unsettled<'a> {
    /// Its file's name in the directory.
    pub(super) name: &'a str,
    /// How far it was counted, if that is worth keeping.
    pub(super) tally: Option<Tally>,
}

/// What a catalogue holds, or its front.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Catalogue<'a> {
    /// The stamp of the directory as it was listed, if it was over by then.
    pub(super) dir: Option<FileStamp>,
    /// The sessions that are not settled.
    pub(super) unsettled: Vec<Unsettled<'a>>,
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
    /// Something is being erased, or was as the program was killed.
    Erasing,
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
    unsettled: &[(&str, Option<&Tally>)],
    settled: impl ExactSizeIterator<Item = (&'a str, FileStamp, &'a Listed, Option<&'a Tally>)>,
) -> Vec<u8> {
    let settled_count = settled.len();
    let mut out = Vec::with_capacity(HEAD_LEN + unsettled.len() * 48 + settled_count * 256);
    out.resize(HEAD_LEN, 0);
    for (name, tally) in unsettled {
        put_name(&mut out, name);
        out.push(u8::from(tally.is_some()));
        tally.iter().for_each(|tally| put_tally(&mut out, tally));
    }
    let mut front_len = out.len();
    for (index, (name, stamp, listed, tally)) in settled.enumerate() {
        put_entry(&mut out, name, stamp, listed);
        put_counts(&mut out, listed, tally);
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
    if bytes == ERASING {
        return Err(Unusable::Erasing);
    }
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
    catalogue.unsettled.reserve(head.unsettled_count.min(bytes.len() / UNSETTLED_LEN_MIN));
    for _ in 0..head.unsettled_count {
        catalogue.unsettled.push(cursor.unsettled().ok_or(Unusable::Damaged)?);
    }
    catalogue.settled.reserve(head.settled_count.min(cursor.rest.len() / ENTRY_LEN_MIN));
    while !cursor.rest.is_empty() {
        catalogue.settled.push(cursor.entry(dir).ok_or(Unusable::Damaged)?);
    }
    if catalogue.unsettled.iter().any(|unsettled| id_in(unsettled.name).is_none()) {
        return Err(Unusable::Damaged);
    }
    Ok(catalogue)
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

fn put_time(out: &mut Vec<u8>, time: Option<i64>) {
    out.push(u8::from(time.is_some()));
    out.extend_from_slice(&time.unwrap_or(0).to_le_bytes());
}

fn put_id(out: &mut Vec<u8>, id: Option<Uuid>) {
    out.push(u8::from(id.is_some()));
    id.iter().for_each(|id| out.extend_from_slice(id.as_bytes()));
}

/// The counts, and how far it was counted, which may be less: a list need not count.
fn put_counts(out: &mut Vec<u8>, listed: &Listed, tally: Option<&Tally>) {
    match (listed.messages, listed.branches, tally) {
        (Some(_), Some(_), Some(tally)) => {
            out.push(COUNTED_TO_END);
            put_tally(out, tally);
        }
        (Some(messages), Some(branches), None) => {
            out.push(COUNTED);
            out.extend_from_slice(&messages.to_le_bytes());
            out.extend_from_slice(&branches.to_le_bytes());
            put_text(out, listed.first_words.as_deref());
            put_time(out, listed.first_at);
        }
        (_, _, Some(tally)) => {
            out.push(COUNTED_BEFORE);
            put_tally(out, tally);
        }
        _ => out.push(NOT_COUNTED),
    }
}

fn put_tally(out: &mut Vec<u8>, tally: &Tally) {
    let Tally { messages, first_words, first_at, model, mark: Mark { file_tag, end, chain, ends }, is_turned: _ } =
        tally;
    out.extend_from_slice(&messages.to_le_bytes());
    put_text(out, first_words.as_deref());
    put_time(out, *first_at);
    put_text(out, model.as_deref());
    out.extend_from_slice(&file_tag.to_le_bytes());
    out.extend_from_slice(&end.to_le_bytes());
    out.extend_from_slice(&chain.to_le_bytes());
    out.extend_from_slice(&(ends.len() as u32).to_le_bytes());
    for ids in ends {
        out.extend_from_slice(&(ids.len() as u32).to_le_bytes());
        ids.iter().for_each(|id| out.extend_from_slice(id.as_bytes()));
    }
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
    put_time(out, *last_at);
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

    fn time(&mut self) -> Option<Option<i64>> {
        let is_known = self.flag()?;
        Some(Some(self.i64()?).filter(|_| is_known))
    }

    fn id(&mut self) -> Option<Option<Uuid>> {
        if self.flag()? { Some(Some(Uuid::from_bytes(self.array()?))) } else { Some(None) }
    }

    fn tally(&mut self) -> Option<Tally> {
        let (messages, first_words, first_at, model) = (self.u64()?, self.text()?, self.time()?, self.text()?);
        let (file_tag, end, chain) = (self.u32()?, self.u64()?, self.u32()?);
        let mut ends = Vec::new();
        for _ in 0..self.u32()? {
            let count = self.u32()? as usize;
            let ids = self.take(count.checked_mul(16)?)?;
            let (ids, []) = ids.as_chunks::<16>() else { return None };
            ends.push(ids.iter().map(|id| Uuid::from_bytes(*id)).collect());
        }
        let mark = Mark { file_tag, end, chain, ends };
        Some(Tally { messages, first_words, first_at, model, mark, is_turned: false })
    }

    fn unsettled(&mut self) -> Option<Unsettled<'a>> {
        let name = self.name()?;
        Some(Unsettled { name, tally: if self.flag()? { Some(self.tally()?) } else { None } })
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
        let last_at = self.time()?;
        let (id, last_event, parent) = (self.id()?, self.id()?, self.id()?);
        let (problem, last_original_id, title) = (self.text()?, self.text()?, self.text()?);
        let (cwd, model, agent) = (self.text()?, self.text()?, self.text()?);
        let mut tags = Vec::new();
        for _ in 0..self.u32()? {
            tags.push(self.text()??);
        }
        let (messages, branches, (first_words, first_at), tally) = match self.array()? {
            [NOT_COUNTED] => (None, None, (None, None), None),
            [COUNTED] => (Some(self.u64()?), Some(self.u64()?), (self.text()?, self.time()?), None),
            [COUNTED_TO_END] => {
                let tally = self.tally()?;
                let firsts = (tally.first_words.clone(), tally.first_at);
                (Some(tally.messages), Some(tally.branches()), firsts, Some(tally))
            }
            [COUNTED_BEFORE] => (None, None, (None, None), Some(self.tally()?)),
            [_] => return None,
        };
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
            messages,
            branches,
            first_words,
            first_at,
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
        Some(Seen { name, stamp: Some(stamp), is_new: false, listed, tally })
    }
}

#[cfg(test)]
#[path = "catalogue_bytes.rs"]
mod bytes;
