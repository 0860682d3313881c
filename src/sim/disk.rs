//! The simulated disk as the log sees it.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, MutexGuard, Weak};
use std::time::Duration;

use super::blocks::Blocks;
use super::crash::Trace;
use super::faults::{Call, Fault};
use super::file::Handle;
use super::machine::{Machine, State};
use super::medium::{Entry, Image, Inode, Medium, Op};
use crate::log::{Access, Bell, DirEntry, FileId, FileStamp, Fs, FsFile};

/// A disk in memory. A clone is the same disk.
#[derive(Clone, Default)]
pub struct SimDisk {
    machine: Arc<Machine>,
}

impl fmt::Debug for SimDisk {
    /// Without the contents: whatever is open on it shows it too.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SimDisk").field("names", &self.state().medium.names.keys()).finish_non_exhaustive()
    }
}

impl SimDisk {
    /// An empty disk.
    #[must_use]
    pub fn new() -> Self {
        Self::holding(&Image::default())
    }

    /// A disk that holds this and nothing else, all of it durable.
    #[must_use]
    pub fn holding(image: &Image) -> Self {
        let disk = Self::default();
        let mut state = disk.state();
        state.medium = Medium::of(image);
        state.last_inode = image.files.len() as u64;
        state.random = 0x9E37_79B9_7F4A_7C15;
        drop(state);
        disk
    }

    /// Random bytes come from this seed. Two openings that share theirs are not what the format is made for: where one disk
    /// is made of another's image, give it a seed of its own.
    #[must_use]
    pub fn seeded(self, seed: u64) -> Self {
        self.state().random = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        self
    }

    /// The disk as the log takes it.
    #[must_use]
    pub fn fs(&self) -> Arc<dyn Fs> {
        Arc::new(self.clone())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.machine.state()
    }

    // Faults.

    /// The `nth` call of this kind from now on (0: the next) meets a fault.
    pub fn fail(&self, call: Call, nth: u64, fault: Fault) {
        self.state().plan.fail(call, nth, fault);
    }

    /// The `nth` call of any kind from now on (0: the next) meets a fault.
    pub fn fail_any(&self, nth: u64, fault: Fault) {
        self.state().plan.fail_any(nth, fault);
    }

    /// No fault that was not met yet comes any more.
    pub fn heal(&self) {
        self.state().plan.heal();
    }

    /// The number of calls of a kind so far.
    #[must_use]
    pub fn calls(&self, call: Call) -> u64 {
        self.state().plan.count(call)
    }

    /// The number of all calls so far.
    #[must_use]
    pub fn all_calls(&self) -> u64 {
        self.state().plan.total()
    }

    /// Blocks until there were so many calls of a kind.
    pub fn wait_for(&self, call: Call, count: u64) {
        self.machine.wait_for(call, count);
    }

    // Recording.

    /// From now on the run is recorded.
    pub fn record(&self) {
        let mut state = self.state();
        state.trace = Some(Trace { start: state.medium.clone(), ops: Vec::new() });
    }

    /// Puts a note into the recording, such as the number of a record that was just acknowledged.
    pub fn note(&self, note: u64) {
        self.state().apply(Op::Note(note));
    }

    /// What was recorded; nothing if [`SimDisk::record`] was not called.
    #[must_use]
    pub fn trace(&self) -> Trace {
        let state = self.state();
        state.trace.clone().unwrap_or_else(|| Trace { start: state.medium.clone(), ops: Vec::new() })
    }

    // Processes and time.

    /// The process dies as by SIGKILL and another one runs: nothing that has a file open reaches the disk any more, its
    /// locks are gone, and what it had written is still seen.
    pub fn kill(&self) {
        let mut state = self.state();
        state.kills += 1;
        state.process += 1;
        state.locks.clear();
        drop(state);
        // Its threads find themselves dead and end.
        self.advance(Duration::from_secs(3600));
    }

    /// From now on this is a forked child of the process.
    pub fn fork(&self) {
        self.state().process += 1;
    }

    /// Time goes on, and whoever waits for it wakes.
    pub fn advance(&self, by: Duration) {
        let mut state = self.state();
        state.clock += by;
        let bells = std::mem::take(&mut state.bells);
        drop(state);
        bells.iter().filter_map(Weak::upgrade).for_each(|bell| bell.ring());
    }

    // Looking and meddling.

    /// What is seen of the whole disk.
    #[must_use]
    pub fn image(&self) -> Image {
        self.state().medium.visible()
    }

    /// What is seen of a file; nothing if there is none.
    #[must_use]
    pub fn bytes(&self, path: &Path) -> Vec<u8> {
        let state = self.state();
        let blocks = state.file(path).ok().and_then(|inode| state.medium.files.get(&inode));
        blocks.map(|blocks| blocks.visible.clone()).unwrap_or_default()
    }

    /// What is surely on the disk of a file, at its smallest possible size; nothing if there is none.
    #[must_use]
    pub fn durable(&self, path: &Path) -> Vec<u8> {
        let state = self.state();
        let blocks = state.file(path).ok().and_then(|inode| state.medium.files.get(&inode));
        blocks.map(Blocks::surely_durable).unwrap_or_default()
    }

    /// Puts a file there, durable, in place of what was there. Who has the old one open, keeps that.
    pub fn put(&self, path: &Path, bytes: &[u8]) {
        let mut state = self.state();
        let inode = state.new_file();
        state.medium.files.insert(inode, Blocks::durable(bytes));
        state.put_name(path, inode);
    }

    /// Gives a file another number, with all that is known of it: who has the old one open or locked, keeps that.
    pub fn move_to_new_inode(&self, path: &Path) {
        let mut state = self.state();
        let Ok(old) = state.file(path) else { return };
        let Some(blocks) = state.medium.files.get(&old).cloned() else { return };
        let inode = state.new_file();
        state.medium.files.insert(inode, blocks);
        state.put_name(path, inode);
    }

    /// Changes what is seen of a file, behind everybody's back and unknown to the disk.
    pub fn change(&self, path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
        let mut state = self.state();
        if let Ok(inode) = state.file(path)
            && let Some(blocks) = state.medium.files.get_mut(&inode)
        {
            change(&mut blocks.visible);
            let now = state.clock;
            state.times.wrote(inode, now);
        }
    }

    /// Sets the time at which a file was changed last, as a restore from a backup does. When that was done, is seen.
    pub fn set_modified(&self, path: &Path, modified: Duration) {
        let mut state = self.state();
        if let Ok(inode) = state.file(path) {
            let now = state.clock;
            state.times.set_modified(inode, modified, now);
        }
    }

    // The seam.

    fn handle(&self, state: &mut State, inode: Inode) -> Arc<dyn FsFile> {
        Arc::new(Handle::new(self.machine.clone(), inode, state.new_handle(), state.kills))
    }

    /// Enters a call that does its work or fails, and nothing in between.
    fn checked(&self, call: Call) -> io::Result<MutexGuard<'_, State>> {
        match self.machine.enter(self.state(), call) {
            (_, Some(Fault::Errno(errno) | Fault::Dropped(errno))) => Err(io::Error::from_raw_os_error(errno)),
            (state, _) => Ok(state),
        }
    }
}

impl Fs for SimDisk {
    fn open(&self, path: &Path, _: Access) -> io::Result<Arc<dyn FsFile>> {
        let (mut state, fault) = self.machine.enter(self.state(), Call::Open);
        if let Some(Fault::Errno(errno)) = fault {
            return Err(io::Error::from_raw_os_error(errno));
        }
        let inode = state.file(path)?;
        let handle = self.handle(&mut state, inode);
        drop(state);
        if fault == Some(Fault::Swap) {
            self.put(path, &self.bytes(path));
        }
        Ok(handle)
    }

    fn create(&self, path: &Path) -> io::Result<Arc<dyn FsFile>> {
        let mut state = self.checked(Call::Create)?;
        if state.medium.names.contains_key(path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let inode = state.new_file();
        state.apply(Op::New(inode));
        state.rename(Some((path.to_path_buf(), Entry::File(inode))), None);
        Ok(self.handle(&mut state, inode))
    }

    fn publish(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.checked(Call::Publish)?;
        if state.medium.names.contains_key(to) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        // Two steps, as the real one: a second name, and the first one goes.
        let inode = state.file(from)?;
        state.rename(Some((to.to_path_buf(), Entry::File(inode))), None);
        state.rename(None, Some(from.to_path_buf()));
        Ok(())
    }

    fn replace(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.checked(Call::Publish)?;
        let inode = state.file(from)?;
        state.rename(Some((to.to_path_buf(), Entry::File(inode))), Some(from.to_path_buf()));
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.checked(Call::Remove)?;
        state.file(path)?;
        state.rename(None, Some(path.to_path_buf()));
        Ok(())
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        let mut state = self.checked(Call::CreateDir)?;
        let above: Vec<&Path> = path.ancestors().filter(|above| above.parent().is_some()).collect();
        for dir in above.into_iter().rev() {
            if !state.medium.names.contains_key(dir) {
                state.rename(Some((dir.to_path_buf(), Entry::Dir)), None);
            }
        }
        Ok(())
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.checked(Call::SyncDir)?.apply(Op::SyncedDir(path.to_path_buf()));
        Ok(())
    }

    fn list_dir(&self, path: &Path) -> io::Result<Vec<DirEntry>> {
        let state = self.checked(Call::ListDir)?;
        let inside = state.medium.names.iter().filter(|(name, _)| name.parent() == Some(path));
        let entry = |(name, entry): (&PathBuf, &Entry)| {
            Some(DirEntry { name: name.file_name()?.to_owned(), is_dir: *entry == Entry::Dir })
        };
        Ok(inside.filter_map(entry).collect())
    }

    fn identity(&self, path: &Path) -> io::Result<Option<FileId>> {
        let state = self.checked(Call::Identity)?;
        match state.medium.names.get(path) {
            Some(Entry::File(inode)) => Ok(Some(FileId { device: 1, inode: *inode })),
            Some(Entry::Dir) => Ok(Some(FileId { device: 2, inode: 0 })),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn stamp(&self, path: &Path) -> io::Result<Option<FileStamp>> {
        let state = self.checked(Call::Stamp)?;
        let Some(entry) = state.medium.names.get(path) else { return Err(io::ErrorKind::NotFound.into()) };
        let inode = if let Entry::File(inode) = entry { *inode } else { 0 };
        let size = state.medium.files.get(&inode).map_or(0, |blocks| blocks.visible.len() as u64);
        let (modified, changed) = state.times.of(path, inode);
        Ok(Some(FileStamp { size, modified, changed, inode: Some(inode) }))
    }

    fn touch_dir(&self, path: &Path) -> io::Result<()> {
        let mut state = self.checked(Call::TouchDir)?;
        let now = state.clock;
        state.times.touched(path, now);
        Ok(())
    }

    fn random(&self, buffer: &mut [u8]) -> io::Result<()> {
        let mut state = self.checked(Call::Random)?;
        for byte in buffer {
            state.random ^= state.random << 13;
            state.random ^= state.random >> 7;
            state.random ^= state.random << 17;
            *byte = state.random as u8;
        }
        Ok(())
    }

    fn monotonic(&self) -> Duration {
        self.state().clock
    }

    fn wait(&self, bell: &Arc<Bell>, seen: u64, until: Option<Duration>) {
        let mut state = self.state();
        if until.is_some_and(|until| until <= state.clock) {
            return;
        }
        state.bells.push(Arc::downgrade(bell));
        drop(state);
        bell.wait(seen, None);
    }

    fn process_id(&self) -> u32 {
        self.state().process
    }
}
