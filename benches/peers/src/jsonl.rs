//! One JSON line a message, as coding agents write their transcripts: one write each, no lock, no checksum, nothing done at
//! the start. The reader leaves out lines that are no JSON or no message.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::seslog::log::{Access, Fs as _, FsFile};
use serde_json::{Value, json};

use crate::peer::{Disk, Peer, Reading, Result, Writer};

/// A transcript of JSON lines.
#[derive(Debug)]
pub struct Jsonl {
    /// Whether each line is synced; agents don't.
    pub sync: bool,
}

impl Peer for Jsonl {
    fn create(&self, disk: &Disk, dir: &Path) -> Result<Box<dyn Writer>> {
        let out = match disk {
            Disk::Real => Out::Real(OpenOptions::new().append(true).create_new(true).open(path(dir))?),
            Disk::Sim(disk) => {
                let file = disk.create(&path(dir))?;
                disk.sync_dir(dir)?;
                Out::Sim(file)
            }
        };
        Ok(Box::new(Lines { out, sync: self.sync, next: 0 }))
    }

    fn open(&self, disk: &Disk, dir: &Path) -> Result<Box<dyn Writer>> {
        let next = self.read(disk, dir)?.texts.len();
        let out = match disk {
            Disk::Real => Out::Real(OpenOptions::new().append(true).open(path(dir))?),
            Disk::Sim(disk) => Out::Sim(disk.fs().open(&path(dir), Access::Write)?),
        };
        Ok(Box::new(Lines { out, sync: self.sync, next }))
    }

    fn read(&self, disk: &Disk, dir: &Path) -> Result<Reading> {
        let bytes = match disk {
            Disk::Real => std::fs::read(path(dir))?,
            Disk::Sim(disk) => disk.bytes(&path(dir)),
        };
        let texts = bytes.split(|byte| *byte == b'\n').filter_map(content).collect();
        Ok(Reading { texts, told: false })
    }

    /// A strict reader: every line must be a message, the last one too.
    fn check(&self, dir: &Path) -> bool {
        std::fs::read(path(dir)).map_or(true, |bytes| {
            let lines = bytes.strip_suffix(b"\n");
            lines.is_none_or(|lines| lines.split(|byte| *byte == b'\n').any(|line| content(line).is_none()))
        })
    }

    fn repair(&self, dir: &Path) -> Result<Vec<String>> {
        Ok(self.read(&Disk::Real, dir)?.texts)
    }
}

fn path(dir: &Path) -> PathBuf {
    dir.join("session.jsonl")
}

fn content(line: &[u8]) -> Option<String> {
    let value: Value = serde_json::from_slice(line).ok()?;
    Some(value.get("message")?.get("content")?.as_str()?.to_owned())
}

enum Out {
    Real(File),
    Sim(Arc<dyn FsFile>),
}

struct Lines {
    out: Out,
    sync: bool,
    next: usize,
}

impl Writer for Lines {
    fn append(&mut self, text: &str) -> Result<()> {
        let parent = self.next.checked_sub(1);
        let message = json!({ "role": "user", "content": text });
        let mut line = json!({ "type": "user", "id": self.next, "parent": parent, "message": message }).to_string();
        line.push('\n');
        self.next += 1;
        match &mut self.out {
            Out::Real(file) => {
                file.write_all(line.as_bytes())?;
                if self.sync {
                    file.sync_data()?;
                }
            }
            Out::Sim(file) => {
                file.write_at(line.as_bytes(), file.size()?)?;
                if self.sync {
                    file.sync_data()?;
                }
            }
        }
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}
