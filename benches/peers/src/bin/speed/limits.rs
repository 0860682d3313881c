//! The limits: what the machine takes for the same bytes with nothing around it.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use seslog::event::{Event, Message, decode, encode, encode_into};
use seslog::log::{FrameType, LogReader, Map, RealFs};

use crate::Result;
use crate::measure::{Cost, Watch};
use crate::peer::Chain;

/// Encoded messages, as they go into a log.
pub fn encoded(messages: &[Message]) -> Result<Vec<Vec<u8>>> {
    let mut chain = Chain::after(None);
    messages.iter().map(|message| Ok(encode(&chain.next(message.clone()))?)).collect()
}

/// One `write(2)` for each of them.
pub fn write(path: &Path, encoded: &[Vec<u8>]) -> Result<Cost> {
    let mut file = File::create(path)?;
    let watch = Watch::start();
    for bytes in encoded {
        file.write_all(bytes)?;
    }
    Ok(watch.stop(encoded.len()))
}

/// The practical limit: each message made an event, encoded, one checksum over the bytes, one `write(2)`.
pub fn encode_and_write(path: &Path, messages: Vec<Message>) -> Result<Cost> {
    let mut file = File::create(path)?;
    let (mut chain, mut bytes, mut checksum) = (Chain::after(None), Vec::with_capacity(1 << 20), 0);
    let count = messages.len();
    let watch = Watch::start();
    for message in messages {
        let event = chain.next(message);
        bytes.clear();
        encode_into(&event, &mut bytes)?;
        checksum ^= crc32fast::hash(&bytes);
        file.write_all(&bytes)?;
    }
    let cost = watch.stop(count);
    std::hint::black_box(checksum);
    Ok(cost)
}

/// One `pwrite` and one `fdatasync` for each of them, or for each group of them, on a file that grows, or on one whose
/// space was written with zeros before.
pub fn write_and_sync(path: &Path, encoded: &[Vec<u8>], group: usize, zeroed: bool) -> Result<Cost> {
    let file = File::create(path)?;
    if zeroed {
        let len: usize = encoded.iter().map(Vec::len).sum();
        file.write_all_at(&vec![0; len], 0)?;
    }
    file.sync_all()?;
    let mut end = 0;
    let watch = Watch::start();
    for group in encoded.chunks(group) {
        for bytes in group {
            file.write_all_at(bytes, end)?;
            end += bytes.len() as u64;
        }
        file.sync_data()?;
    }
    Ok(watch.stop(encoded.len()))
}

/// What a recovery can't do without: the unsynced bytes read, written again and synced.
pub fn write_again(path: &Path, unsynced: &[u8]) -> Result<Cost> {
    std::fs::write(path, unsynced)?;
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    let watch = Watch::start();
    let mut bytes = vec![0; unsynced.len()];
    file.read_exact_at(&mut bytes, 0)?;
    file.write_all_at(&bytes, 0)?;
    file.sync_data()?;
    let cost = watch.stop(1);
    std::fs::remove_file(path)?;
    Ok(cost)
}

/// Where the window of a log lies.
#[derive(Debug, Clone)]
pub struct Place {
    /// Offset of the boundary.
    pub start: u64,
    /// End of the log.
    pub end: u64,
    /// Offset and length of each event's bytes.
    payloads: Vec<(u64, usize)>,
}

impl Place {
    /// From the latest boundary of this log to its end; from its first frame where `whole`.
    pub fn of(path: &Path, whole: bool) -> Result<Self> {
        let (log, _) = LogReader::open(RealFs::shared(), path)?;
        let start = match log.note()?.boundary {
            seslog::log::Place::At(offset) if !whole => offset,
            _ => seslog::log::format::HEADER_PAGE_LEN,
        };
        let mut payloads = Vec::new();
        for frame in log.frames(if whole { 0 } else { start }) {
            let frame = frame?;
            if matches!(frame.frame_type(), FrameType::Event | FrameType::Boundary) {
                let (head, len) = (frame.head(), frame.payload().len());
                payloads.push((head.offset + head.header_len + u64::from(head.payload_len) - len as u64, len));
            }
        }
        Ok(Self { start, end: log.end(), payloads })
    }

    /// For a child's command line.
    pub fn to_text(&self) -> String {
        let mut text = format!("{} {}", self.start, self.end);
        self.payloads.iter().for_each(|(offset, len)| text.push_str(&format!(" {offset} {len}")));
        text
    }

    /// What [`Place::to_text`] has made.
    pub fn from_text(text: &str) -> Result<Self> {
        let mut numbers = text.split(' ').map(str::parse::<u64>);
        let mut next = || numbers.next().ok_or("a place is cut short");
        let (start, end) = (next()??, next()??);
        let mut payloads = Vec::new();
        while let Some(offset) = numbers.next() {
            payloads.push((offset?, usize::try_from(numbers.next().ok_or("a place is cut short")??)?));
        }
        Ok(Self { start, end, payloads })
    }

    /// Bytes of the window.
    pub fn len(&self) -> u64 {
        self.end - self.start
    }

    /// Bytes of its events.
    pub fn payload_len(&self) -> usize {
        self.payloads.iter().map(|(_, len)| len).sum()
    }

    /// How many events there are.
    pub fn count(&self) -> usize {
        self.payloads.len()
    }

    /// A map, and each event decoded to values of its own, without a checksum.
    pub fn only_decode(&self, path: &Path) -> Result<Vec<Event>> {
        let map = Map::new(&File::open(path)?, self.end)?;
        let event = |(offset, len): &(u64, usize)| -> Result<Event> {
            let start = usize::try_from(*offset)?;
            Ok(decode(&map[start..start + len])?)
        };
        self.payloads.iter().map(event).collect()
    }

    /// The same, each event let go before the next; says how many there were.
    pub fn decode_each(&self, path: &Path) -> Result<usize> {
        let map = Map::new(&File::open(path)?, self.end)?;
        for &(offset, len) in &self.payloads {
            let start = usize::try_from(offset)?;
            std::hint::black_box(decode(&map[start..start + len])?);
        }
        Ok(self.payloads.len())
    }

    /// One `pread` of all of it.
    pub fn read(&self, path: &Path) -> Result<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(self.len())?];
        File::open(path)?.read_exact_at(&mut bytes, self.start)?;
        Ok(bytes)
    }

    /// A map of the tail, a checksum over it, and each event decoded to values of its own.
    pub fn map_and_decode(&self, path: &Path) -> Result<Vec<Event>> {
        let map = Map::new(&File::open(path)?, self.end)?;
        self.check_and_decode(&map, 0)
    }

    /// The same with one `pread` in the map's place.
    pub fn read_and_decode(&self, path: &Path) -> Result<Vec<Event>> {
        self.check_and_decode(&self.read(path)?, self.start)
    }

    /// `bytes` begins at `from` in the file.
    fn check_and_decode(&self, bytes: &[u8], from: u64) -> Result<Vec<Event>> {
        let at = |offset: u64| usize::try_from(offset - from);
        let mut events = Vec::with_capacity(self.payloads.len());
        let mut checked = self.start;
        for &(offset, len) in &self.payloads {
            let start = at(offset)?;
            // The bytes between the last event and the end of this one: checked while they are in the cache.
            std::hint::black_box(crc32fast::hash(&bytes[at(checked)?..start + len]));
            checked = offset + len as u64;
            events.push(decode(&bytes[start..start + len])?);
        }
        Ok(events)
    }
}

/// Drops the file's pages from the page cache. What is not on the disk stays, so the file is synced first.
pub fn forget(path: &Path) -> Result<()> {
    let file = OpenOptions::new().read(true).open(path)?;
    file.sync_all()?;
    Ok(rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed)?)
}

/// Drops all files of a directory, and of those in it, from the page cache.
pub fn forget_all(dir: &Path) -> Result<()> {
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() { forget_all(&path)? } else { forget(&path)? }
    }
    Ok(())
}
