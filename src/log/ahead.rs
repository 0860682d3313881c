//! A second thread that reads the next pieces of a long run while the first one looks at those before.
//!
//! A help only: where a piece does not come whole, the thread ends, and who asks reads for itself and meets what is wrong.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{Builder, JoinHandle};

use super::counters::Counters;
use super::fs::FsFile;

/// Bytes of a piece. It stays in a processor's cache until it is taken apart.
const PIECE: usize = 256 << 10;
/// Room before a piece, for what is left of the one before it.
pub(super) const ROOM: usize = 64 << 10;
/// Pieces that may wait.
const WAITING: usize = 3;
/// A shorter run is over before the thread would help.
const RUN_MIN: u64 = 4 << 20;

/// The pieces of one run, in order.
#[derive(Debug)]
pub(super) struct Ahead {
    pieces: Option<Receiver<Vec<u8>>>,
    used: Sender<Vec<u8>>,
    /// Where the next piece begins.
    next: u64,
    thread: Option<JoinHandle<()>>,
}

impl Ahead {
    /// Begins to read from a place on. None where the run is short, or there is no thread to be had.
    pub(super) fn start(file: Arc<dyn FsFile>, counters: Arc<Counters>, from: u64, to: u64) -> Option<Self> {
        if to.saturating_sub(from) < RUN_MIN {
            return None;
        }
        let (ready, pieces) = sync_channel(WAITING);
        let (used, spare) = channel();
        let reads = move || read_pieces(&*file, &counters, from, to, &ready, &spare);
        let thread = Builder::new().name(String::from("seslog-read")).spawn(reads).ok()?;
        Some(Self { pieces: Some(pieces), used, next: from, thread: Some(thread) })
    }

    /// The piece that begins here, behind `ROOM` bytes that are free; none if it is not the next one, or could not be read.
    pub(super) fn take(&mut self, offset: u64) -> Option<Vec<u8>> {
        if offset != self.next {
            return None;
        }
        let piece = self.pieces.as_ref()?.recv().ok()?;
        self.next += (piece.len() - ROOM) as u64;
        Some(piece)
    }

    /// Gives a buffer back for a later piece.
    pub(super) fn give_back(&self, buffer: Vec<u8>) {
        // One that a large frame has stretched is not kept, nor one that is too small and would have to grow: the thread's own
        // are of just that size. Nobody may be there any more to take it.
        if buffer.capacity() == ROOM + PIECE {
            let _ = self.used.send(buffer);
        }
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        // Without a receiver the thread ends with the piece at hand. It does not outlive the run, nor keep the file open.
        drop(self.pieces.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn read_pieces(
    file: &dyn FsFile,
    counters: &Counters,
    mut at: u64,
    to: u64,
    ready: &SyncSender<Vec<u8>>,
    spare: &Receiver<Vec<u8>>,
) {
    while at < to {
        let len = (to - at).min(PIECE as u64) as usize;
        let mut buffer = spare.try_recv().unwrap_or_default();
        buffer.resize(ROOM + len, 0);
        let mut done = 0;
        while done < len {
            match file.read_at(&mut buffer[ROOM + done..], at + done as u64) {
                Ok(0) => return,
                Ok(count) => done += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
        counters.read(len as u64);
        if ready.send(buffer).is_err() {
            return;
        }
        at += len as u64;
    }
}
