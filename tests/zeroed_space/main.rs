//! Space that is zeroed ahead of appends that wait for a sync: what it costs, counted, that a log at rest has none, and that
//! readers, second writers and full disks find what they would find without it. Power cuts are in `tests/crash/zeroed_runs.rs`.
#![allow(clippy::unwrap_used, reason = "a test may end at once")]

#[path = "../log_support/mod.rs"]
mod log_support;

mod cost;
mod faults;
mod readers;
mod rest;

use std::time::Duration;

use log_support::{Disk, append, create_with, path};
use seslog::log::{Durability, LogOptions, LogWriter};

/// Fewer bytes in a row that had to be synced are followed by no zeros.
const FIRST: u64 = 32 << 10;
/// Zeros ahead, at most.
const MOST: u64 = seslog::log::format::ZEROED_MAX;
/// Payload of a record.
const LEN: usize = 1_000;

/// No MARK but at a close.
fn unhurried() -> LogOptions {
    LogOptions::default().window(Duration::from_secs(1_000_000))
}

fn size(disk: &Disk) -> u64 {
    disk.bytes(&path()).len() as u64
}

/// A new log of records with zeros behind them, and how many records these are.
fn zeroed(disk: &Disk) -> (LogWriter, u128) {
    let log = create_with(disk, unhurried());
    let mut count = 0;
    while size(disk) <= log.end() {
        count += 1;
        append(&log, count, LEN, Durability::Sync);
    }
    (log, count)
}
