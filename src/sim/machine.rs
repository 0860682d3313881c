//! What a simulated disk and the files that are open on it share.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use super::crash::Trace;
use super::faults::{Call, Fault, Plan};
use super::medium::{Entry, Inode, Medium, Op, Renaming};
use super::times::Times;
use crate::log::Bell;

/// One machine: its disk, its clock, and the process that runs.
#[derive(Debug, Default)]
pub(super) struct Machine {
    state: Mutex<State>,
    called: Condvar,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) medium: Medium,
    /// The number of the last handle that took each file's lock.
    pub(super) locks: HashMap<Inode, u64>,
    pub(super) trace: Option<Trace>,
    pub(super) plan: Plan,
    pub(super) clock: Duration,
    pub(super) times: Times,
    pub(super) bells: Vec<Weak<Bell>>,
    pub(super) last_inode: Inode,
    last_handle: u64,
    pub(super) random: u64,
    pub(super) process: u32,
    /// Handles that were opened before this many kills are dead.
    pub(super) kills: u64,
}

impl State {
    /// Does it, and writes it down where that is asked for.
    pub(super) fn apply(&mut self, op: Op) {
        self.times.note(&op, self.clock, |path| self.medium.file_at(path));
        self.medium.apply(&op);
        if let Some(trace) = &mut self.trace {
            trace.ops.push(op);
        }
    }

    pub(super) fn file(&self, path: &Path) -> io::Result<Inode> {
        match self.medium.names.get(path) {
            Some(Entry::File(inode)) => Ok(*inode),
            Some(Entry::Dir) => Err(io::ErrorKind::IsADirectory.into()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    pub(super) fn rename(&mut self, set: Option<(PathBuf, Entry)>, unset: Option<PathBuf>) {
        self.apply(Op::Name(Renaming { set, unset }));
    }

    /// A name that is durable at once.
    pub(super) fn put_name(&mut self, path: &Path, inode: Inode) {
        let (entry, now) = (Entry::File(inode), self.clock);
        self.medium.put(path.to_path_buf(), entry);
        self.times.wrote(inode, now);
        self.times.named(path, now);
    }

    pub(super) fn new_file(&mut self) -> Inode {
        self.last_inode += 1;
        self.last_inode
    }

    /// The number of one more open file.
    pub(super) fn new_handle(&mut self) -> u64 {
        self.last_handle += 1;
        self.last_handle
    }
}

impl Machine {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enters a call; whoever waits for one looks again.
    pub(super) fn enter<'a>(
        &self,
        mut state: MutexGuard<'a, State>,
        call: Call,
    ) -> (MutexGuard<'a, State>, Option<Fault>) {
        let fault = state.plan.enter(call);
        self.called.notify_all();
        (state, fault)
    }

    /// Blocks until there were so many calls of a kind.
    pub(super) fn wait_for(&self, call: Call, count: u64) {
        let waiting = |state: &mut State| state.plan.count(call) < count;
        drop(self.called.wait_while(self.state(), waiting));
    }
}
