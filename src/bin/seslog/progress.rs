//! How far a long run is, on a terminal.

use std::cell::Cell;
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use crate::sanitize::{Layout, visible};

/// So many things of so many bytes, and those of them that are done.
pub(crate) struct Progress {
    what: &'static str,
    shown: bool,
    /// When it was written last.
    written: Cell<Option<Instant>>,
    began: Instant,
    things: (usize, usize),
    bytes: (u64, u64),
}

impl Progress {
    /// What is done in a moment is not worth a look.
    const FIRST_AFTER: Duration = Duration::from_millis(500);
    /// How often it is written anew.
    pub(crate) const EVERY: Duration = Duration::from_millis(100);

    /// Nothing is shown where standard error is no terminal or one that can't do it, or where it is not wanted.
    pub(crate) fn new(what: &'static str, count: usize, bytes: u64, wanted: bool) -> Self {
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let shown = wanted && !is_dumb && io::stderr().is_terminal();
        Self { what, shown, written: Cell::new(None), began: Instant::now(), things: (0, count), bytes: (0, bytes) }
    }

    /// One of them is done.
    pub(crate) fn done(&mut self, bytes: u64) {
        self.things.0 += 1;
        self.bytes.0 += bytes;
    }

    pub(crate) fn show(&self) {
        let is_early = match self.written.get() {
            Some(written) => written.elapsed() < Self::EVERY,
            None => self.began.elapsed() < Self::FIRST_AFTER,
        };
        if !self.shown || is_early {
            return;
        }
        self.written.set(Some(Instant::now()));
        let seconds = self.began.elapsed().as_secs_f64();
        let rate = self.bytes.0 as f64 / seconds.max(0.001);
        let left = (self.bytes.1.saturating_sub(self.bytes.0)) as f64 / rate.max(1.0);
        let remaining = if self.bytes.0 == 0 { String::new() } else { format!(", {left:.0} s left") };
        let (done, all) = self.things;
        let line = format!("{done} of {all} {}, {:.1} MB/s{remaining}", self.what, rate / 1e6);
        // What can't be shown changes nothing.
        _ = write!(io::stderr(), "\r\x1b[K{}", visible(&line, Layout::Line));
    }

    pub(crate) fn clear(&self) {
        if self.written.take().is_some() {
            _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}
