//! One open file of the simulated disk.

use std::io;
use std::sync::{Arc, MutexGuard};

use super::faults::{Call, Fault};
use super::machine::{Machine, State};
use super::medium::{Entry, Inode, Op};
use crate::log::{FileId, FsFile, Map};

#[derive(Debug)]
pub(super) struct Handle {
    machine: Arc<Machine>,
    inode: Inode,
    id: u64,
    /// How many kills there had been when it was opened.
    kills: u64,
}

impl Handle {
    pub(super) fn new(machine: Arc<Machine>, inode: Inode, id: u64, kills: u64) -> Self {
        Self { machine, inode, id, kills }
    }

    /// Enters a call, if the process that has the file open is alive: the dead do nothing, and meet no fault.
    fn enter(&self, call: Call) -> io::Result<(MutexGuard<'_, State>, Option<Fault>)> {
        let state = self.machine.state();
        if self.kills != state.kills {
            return Err(io::Error::other("the process is gone"));
        }
        Ok(self.machine.enter(state, call))
    }

    /// Enters a call that does its work or fails, and nothing in between.
    fn checked(&self, call: Call) -> io::Result<MutexGuard<'_, State>> {
        match self.enter(call)? {
            (_, Some(Fault::Errno(errno) | Fault::Dropped(errno))) => Err(io::Error::from_raw_os_error(errno)),
            (state, _) => Ok(state),
        }
    }

    /// Enters a call that may do a part of its work: so many bytes at most.
    fn partial(&self, call: Call) -> io::Result<(MutexGuard<'_, State>, usize)> {
        match self.enter(call)? {
            (_, Some(Fault::Errno(errno) | Fault::Dropped(errno))) => Err(io::Error::from_raw_os_error(errno)),
            (state, Some(Fault::Short(limit))) => Ok((state, limit)),
            (state, _) => Ok((state, usize::MAX)),
        }
    }

    fn visible<'a>(&self, state: &'a State) -> &'a [u8] {
        state.medium.files.get(&self.inode).map(|blocks| blocks.visible.as_slice()).unwrap_or_default()
    }
}

impl FsFile for Handle {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let (state, limit) = self.partial(Call::Read)?;
        let rest = self.visible(&state).get(usize::try_from(offset).unwrap_or(usize::MAX)..).unwrap_or_default();
        let count = rest.len().min(buffer.len()).min(limit);
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        let (mut state, limit) = self.partial(Call::Write)?;
        let count = bytes.len().min(limit);
        state.apply(Op::Write(self.inode, offset, bytes[..count].into()));
        Ok(count)
    }

    fn sync_data(&self) -> io::Result<()> {
        let (mut state, fault) = self.enter(Call::Sync)?;
        let (op, outcome) = match fault {
            Some(Fault::Errno(errno)) => (Op::SyncFailed(self.inode, false), Err(errno)),
            Some(Fault::Dropped(errno)) => (Op::SyncFailed(self.inode, true), Err(errno)),
            _ => (Op::Synced(self.inode), Ok(())),
        };
        state.apply(op);
        outcome.map_err(io::Error::from_raw_os_error)
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.visible(&*self.checked(Call::Size)?).len() as u64)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.checked(Call::SetLen)?.apply(Op::SetLen(self.inode, len));
        Ok(())
    }

    fn try_lock(&self) -> io::Result<bool> {
        let mut state = self.checked(Call::Lock)?;
        Ok(*state.locks.entry(self.inode).or_insert(self.id) == self.id)
    }

    fn unlock(&self) -> io::Result<()> {
        let mut state = self.checked(Call::Lock)?;
        if state.locks.get(&self.inode) == Some(&self.id) {
            state.locks.remove(&self.inode);
        }
        Ok(())
    }

    fn identity(&self) -> io::Result<Option<FileId>> {
        drop(self.checked(Call::Identity)?);
        Ok(Some(FileId { device: 1, inode: self.inode }))
    }

    fn is_named(&self) -> io::Result<bool> {
        let state = self.machine.state();
        Ok(state.medium.names.values().any(|entry| *entry == Entry::File(self.inode)))
    }

    fn map(&self, _: u64) -> io::Result<Option<Map>> {
        Ok(None)
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        let mut state = self.machine.state();
        if state.locks.get(&self.inode) == Some(&self.id) {
            state.locks.remove(&self.inode);
        }
    }
}
