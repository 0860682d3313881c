//! JSON lines, as coding agents keep their transcripts: one line and one `write(2)` a message, into a file that stays open
//! or, as most of them do, one that is opened and closed for each. Two readers: one that parses the file, as agents do, and
//! a careful one that reads blocks from the end until it has the window.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use seslog::event::{Event, Message, Uuid};

use super::line::Line;
use super::{Chain, Peer, Window, Writer};
use crate::Result;

/// Bytes that the careful reader fetches at once.
const BLOCK: usize = 64 << 10;

/// A transcript of JSON lines.
#[derive(Debug, Clone, Copy)]
pub struct Jsonl {
    /// Whether each line is synced; agents don't.
    pub sync: bool,
    /// Whether the file is opened for each line and closed behind it (Node's `appendFile`).
    pub reopen: bool,
    /// Whether the reader begins at the end.
    pub careful: bool,
}

impl Jsonl {
    /// A file that stays open, parsed as a whole.
    pub const USUAL: Self = Self { sync: false, reopen: false, careful: false };
    /// The same with the careful reader.
    pub const CAREFUL: Self = Self { careful: true, ..Self::USUAL };
    /// Each line synced.
    pub const SYNCED: Self = Self { sync: true, ..Self::CAREFUL };
    /// The file opened for each line.
    pub const REOPENED: Self = Self { reopen: true, ..Self::USUAL };
}

/// The transcript's file.
pub fn file(dir: &Path) -> PathBuf {
    dir.join("session.jsonl")
}

impl Peer for Jsonl {
    fn name(&self) -> &'static str {
        match self {
            Self { sync: true, .. } => "JSONL + fdatasync",
            Self { reopen: true, .. } => "JSONL, opened for each message",
            _ => "JSONL",
        }
    }

    fn kind(&self) -> &'static str {
        if self.careful { "JSONL, careful reader" } else { "JSONL" }
    }

    fn survives(&self) -> &'static str {
        if self.sync { "survives a power cut" } else { "survives a kill" }
    }

    fn create(&self, dir: &Path) -> Result<Box<dyn Writer>> {
        let path = file(dir);
        let out = OpenOptions::new().append(true).create_new(true).open(&path)?;
        Ok(Box::new(Lines { path, out, how: *self, chain: Chain::after(None), buffer: Vec::new() }))
    }

    fn open(&self, dir: &Path) -> Result<Box<dyn Writer>> {
        let path = file(dir);
        let lines = window_from_the_end(&path)?;
        let last: Option<Uuid> = lines.last().and_then(|line| line.uuid.parse().ok());
        let out = OpenOptions::new().append(true).open(&path)?;
        Ok(Box::new(Lines { path, out, how: *self, chain: Chain::after(last), buffer: Vec::new() }))
    }

    fn resume(&self, dir: &Path) -> Result<Window> {
        let lines = if self.careful { window_from_the_end(&file(dir))? } else { window_of_all(&file(dir))? };
        Ok(Window { count: lines.len().saturating_sub(2), held: Box::new(lines) })
    }
}

/// Parses every line and keeps those from the last boundary on.
fn window_of_all(path: &Path) -> Result<Vec<Line>> {
    let mut lines: Vec<Line> = Vec::new();
    let mut reader = BufReader::with_capacity(BLOCK, File::open(path)?);
    let mut text = Vec::new();
    while reader.read_until(b'\n', &mut text)? > 0 {
        let line: Line = serde_json::from_slice(&text)?;
        if line.is_boundary() {
            lines.clear();
        }
        lines.push(line);
        text.clear();
    }
    Ok(lines)
}

/// Reads blocks from the end and parses lines from the last one back, up to the boundary.
fn window_from_the_end(path: &Path) -> Result<Vec<Line>> {
    let file = File::open(path)?;
    let mut start = file.metadata()?.len();
    // What is read and not parsed yet: from `start` on, up to the beginning of the last parsed line.
    let mut bytes: Vec<u8> = Vec::new();
    let mut lines = Vec::new();
    loop {
        // The last byte is the end of a line; the one before that ends where this one begins.
        let body = bytes.len().saturating_sub(1);
        let begins = bytes[..body].iter().rposition(|byte| *byte == b'\n').map(|at| at + 1);
        let begins = begins.or((start == 0 && !bytes.is_empty()).then_some(0));
        if let Some(begins) = begins {
            let line: Line = serde_json::from_slice(&bytes[begins..])?;
            bytes.truncate(begins);
            let is_boundary = line.is_boundary();
            lines.push(line);
            if is_boundary {
                break;
            }
            continue;
        }
        if start == 0 {
            break;
        }
        // A line longer than what is held costs one pass for each doubling.
        let len = (BLOCK.max(bytes.len()) as u64).min(start);
        start -= len;
        let mut block = vec![0; usize::try_from(len)? + bytes.len()];
        let (front, rest) = block.split_at_mut(usize::try_from(len)?);
        file.read_exact_at(front, start)?;
        rest.copy_from_slice(&bytes);
        bytes = block;
    }
    lines.reverse();
    Ok(lines)
}

struct Lines {
    path: PathBuf,
    out: File,
    how: Jsonl,
    chain: Chain,
    buffer: Vec<u8>,
}

impl Lines {
    fn write(&mut self, event: Event) -> Result<()> {
        self.buffer.clear();
        serde_json::to_writer(&mut self.buffer, &Line::of(event))?;
        self.buffer.push(b'\n');
        if self.how.reopen {
            let mut out = OpenOptions::new().append(true).create(true).open(&self.path)?;
            out.write_all(&self.buffer)?;
            return Ok(());
        }
        self.out.write_all(&self.buffer)?;
        if self.how.sync {
            self.out.sync_data()?;
        }
        Ok(())
    }
}

impl Writer for Lines {
    fn append(&mut self, message: Message) -> Result<()> {
        let event = self.chain.next(message);
        self.write(event)
    }

    fn compact(&mut self) -> Result<()> {
        self.chain.compaction().into_iter().try_for_each(|event| self.write(event))
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(self.out.sync_data()?)
    }
}
