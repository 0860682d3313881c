//! A disk over another one on which single calls do something odd: wait, panic, or give a lock that is taken.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use seslog::log::{Fs, FsFile};

use crate::wrapped_fs::{Calls, Wrapped};

/// The calls that can be odd.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OddCall {
    Lock,
    Read,
    Write,
    Sync,
    Size,
    Named,
    Time,
    Random,
}

/// What becomes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    Go,
    /// It panics before it does anything.
    Panic,
    /// It does its work and panics then.
    PanicAfter,
    /// Of a lock: it is given.
    Grant,
}

type Hook = Box<dyn Fn(OddCall) -> Act + Send + Sync>;

/// Over any file system; the hook is asked before each call, and may wait.
pub(crate) struct Odd(Hook);

impl Odd {
    pub(crate) fn over(below: Arc<dyn Fs>, hook: impl Fn(OddCall) -> Act + Send + Sync + 'static) -> Arc<dyn Fs> {
        Wrapped::over(below, Self(Box::new(hook)))
    }

    fn at<T>(&self, call: OddCall, work: impl FnOnce() -> T) -> T {
        let act = (self.0)(call);
        assert_ne!(act, Act::Panic, "{call:?} was to panic");
        let done = work();
        assert_ne!(act, Act::PanicAfter, "{call:?} was to panic after its work");
        done
    }
}

impl Calls for Odd {
    fn read(&self, file: &dyn FsFile, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.at(OddCall::Read, || file.read_at(buffer, offset))
    }

    fn write(&self, file: &dyn FsFile, bytes: &[u8], offset: u64) -> io::Result<usize> {
        self.at(OddCall::Write, || file.write_at(bytes, offset))
    }

    fn sync(&self, file: &dyn FsFile) -> io::Result<()> {
        self.at(OddCall::Sync, || file.sync_data())
    }

    fn size(&self, file: &dyn FsFile) -> io::Result<u64> {
        self.at(OddCall::Size, || file.size())
    }

    fn try_lock(&self, file: &dyn FsFile) -> io::Result<bool> {
        if (self.0)(OddCall::Lock) == Act::Grant { Ok(true) } else { file.try_lock() }
    }

    fn is_named(&self, file: &dyn FsFile) -> io::Result<bool> {
        self.at(OddCall::Named, || file.is_named())
    }

    fn random(&self, fs: &dyn Fs, buffer: &mut [u8]) -> io::Result<()> {
        self.at(OddCall::Random, || fs.random(buffer))
    }

    fn monotonic(&self, fs: &dyn Fs) -> Duration {
        self.at(OddCall::Time, || fs.monotonic())
    }
}
