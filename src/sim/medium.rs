//! The whole simulated disk: names and files, as they are seen and as the disk may hold them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::blocks::Blocks;

/// A file's number.
pub(super) type Inode = u64;

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entry {
    File(Inode),
    Dir,
}

/// A change of names; a crash keeps all of it or nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Renaming {
    pub(super) set: Option<(PathBuf, Entry)>,
    pub(super) unset: Option<PathBuf>,
}

impl Renaming {
    pub(super) fn apply(&self, names: &mut BTreeMap<PathBuf, Entry>) {
        if let Some(path) = &self.unset {
            names.remove(path);
        }
        if let Some((path, entry)) = &self.set {
            names.insert(path.clone(), *entry);
        }
    }

    fn is_in(&self, dir: &Path) -> bool {
        let inside = |path: &Path| path.parent() == Some(dir);
        self.set.as_ref().is_some_and(|(path, _)| inside(path)) || self.unset.as_deref().is_some_and(inside)
    }
}

/// Something that changes what the disk holds or may hold, or a note that the test has taken.
#[derive(Debug, Clone)]
pub(super) enum Op {
    New(Inode),
    Name(Renaming),
    Write(Inode, u64, Arc<[u8]>),
    SetLen(Inode, u64),
    Synced(Inode),
    SyncFailed(Inode, bool),
    SyncedDir(PathBuf),
    Note(u64),
}

/// Names and files.
#[derive(Debug, Clone, Default)]
pub(super) struct Medium {
    pub(super) files: BTreeMap<Inode, Blocks>,
    /// As they are seen.
    pub(super) names: BTreeMap<PathBuf, Entry>,
    /// As the disk holds them for sure.
    pub(super) sure_names: BTreeMap<PathBuf, Entry>,
    /// What was changed since, in order.
    pub(super) renamings: Vec<Renaming>,
}

impl Medium {
    pub(super) fn of(image: &Image) -> Self {
        let mut medium = Self::default();
        for dir in &image.dirs {
            medium.put(dir.clone(), Entry::Dir);
        }
        for (inode, (path, bytes)) in (1..).zip(&image.files) {
            medium.files.insert(inode, Blocks::durable(bytes));
            medium.put(path.clone(), Entry::File(inode));
        }
        medium
    }

    /// The file of this name.
    pub(super) fn file_at(&self, path: &Path) -> Option<Inode> {
        if let Some(Entry::File(inode)) = self.names.get(path) { Some(*inode) } else { None }
    }

    /// A name that is durable at once.
    pub(super) fn put(&mut self, path: PathBuf, entry: Entry) {
        self.names.insert(path.clone(), entry);
        self.sure_names.insert(path, entry);
    }

    pub(super) fn apply(&mut self, op: &Op) {
        match op {
            Op::New(inode) => drop(self.files.insert(*inode, Blocks::durable(&[]))),
            Op::Name(renaming) => {
                renaming.apply(&mut self.names);
                self.renamings.push(renaming.clone());
            }
            Op::Write(inode, offset, bytes) => self.with(*inode, |blocks| blocks.write(*offset, bytes)),
            Op::SetLen(inode, len) => self.with(*inode, |blocks| blocks.set_len(*len)),
            Op::Synced(inode) => self.with(*inode, Blocks::synced),
            Op::SyncFailed(inode, dropped) => self.with(*inode, |blocks| blocks.sync_failed(*dropped)),
            Op::SyncedDir(dir) => {
                let renamings = std::mem::take(&mut self.renamings);
                let (settled, open) = renamings.into_iter().partition(|renaming| renaming.is_in(dir));
                self.renamings = open;
                let settled: Vec<Renaming> = settled;
                settled.iter().for_each(|renaming| renaming.apply(&mut self.sure_names));
            }
            Op::Note(_) => {}
        }
    }

    fn with(&mut self, inode: Inode, change: impl FnOnce(&mut Blocks)) {
        if let Some(blocks) = self.files.get_mut(&inode) {
            change(blocks);
        }
    }

    /// What a reader sees.
    pub(super) fn visible(&self) -> Image {
        self.image_of(&self.names, |blocks| blocks.visible.as_slice().into())
    }

    pub(super) fn image_of(&self, names: &BTreeMap<PathBuf, Entry>, content: impl Fn(&Blocks) -> Arc<[u8]>) -> Image {
        let mut image = Image::default();
        for (path, entry) in names {
            match entry {
                Entry::Dir => drop(image.dirs.insert(path.clone())),
                Entry::File(inode) => {
                    if let Some(blocks) = self.files.get(inode) {
                        image.files.insert(path.clone(), content(blocks));
                    }
                }
            }
        }
        image
    }
}

/// What is on a disk: all files by their paths.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Image {
    /// Content by path.
    pub files: BTreeMap<PathBuf, Arc<[u8]>>,
    /// Directories that were made. Those above a file that was put there by hand need no mention.
    pub dirs: BTreeSet<PathBuf>,
}

impl Image {
    /// A disk with this file alone.
    #[must_use]
    pub fn with(path: &Path, bytes: &[u8]) -> Self {
        Self { files: BTreeMap::from([(path.to_path_buf(), bytes.into())]), dirs: BTreeSet::new() }
    }
}
