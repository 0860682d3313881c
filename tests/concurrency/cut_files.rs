//! A stranger cuts, replaces or removes the file under those who read it: they get an error or what they had, and never a
//! SIGBUS. On a disk's file system, since one in memory may behave otherwise; in another process, since a SIGBUS ends it.
#![cfg(unix)]

use std::fs::OpenOptions;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};

use seslog::event::Message;
use seslog::log::{Durability, Frame, LogError, LogOptions, LogReader, LogWriter, NewLog, RealFs};
use seslog::session::{Session, SessionError, SessionOptions, SessionReader};

use crate::child::Other;
use crate::log_support::*;

const RECORDS: u128 = 60;
const LEN: usize = 5_000;

/// A directory beside the build, which is on a disk nearly everywhere.
fn dir() -> tempfile::TempDir {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mounts = std::fs::read_to_string("/proc/mounts").unwrap_or_default();
    let kind = mounts
        .lines()
        .filter_map(|line| {
            let mut fields = line.split(' ').skip(1);
            Some((fields.next()?, fields.next()?))
        })
        .filter(|(mount, _)| dir.path().starts_with(mount))
        .max_by_key(|(mount, _)| mount.len())
        .map_or("unknown", |(_, kind)| kind);
    if matches!(kind, "tmpfs" | "ramfs" | "unknown") {
        crate::say!("the build's directory is on {kind}: what a disk's file system would do was not tried");
    }
    dir
}

/// A closed log with records that are read through the map where there is one.
fn write_log(path: &Path) {
    let log = LogWriter::create(RealFs::shared(), path, NewLog::new(id(1), 0), LogOptions::default()).unwrap();
    for number in 1..=RECORDS {
        append(&log, number, LEN, Durability::Os);
    }
    log.close().unwrap();
}

fn ended(task: &str, path: &Path) -> (ExitStatus, Vec<String>) {
    Other::start(task, path).ended()
}

#[test]
fn a_race_of_readers_against_a_stranger_with_the_file_gives_errors_or_the_old_content() {
    let dir = dir();
    let path = dir.path().join("a.seslog");
    write_log(&path);
    let (status, said) = ended("race a stranger", &path);
    assert!(status.success(), "{status}: {said:?}");
    println!("{said:?}");
}

/// What the option says in its documentation: this is why nobody gets the map without asking.
#[test]
#[cfg(target_os = "linux")]
fn with_the_map_asked_for_a_frame_that_is_held_while_its_file_is_cut_ends_the_process() {
    const SIGBUS: i32 = 7;
    let dir = dir();
    for (task, signal) in [("hold a mapped frame", Some(SIGBUS)), ("hold a frame", None)] {
        let path = dir.path().join(format!("{}.seslog", task.replace(' ', "-")));
        write_log(&path);
        let (status, said) = ended(task, &path);
        assert_eq!(status.signal(), signal, "{task}: {said:?}");
        assert_eq!(said.last().map(String::as_str), Some(if signal.is_some() { "checked" } else { "held" }));
    }
}

/// Run in another process.
pub(crate) fn hold_a_frame(path: &Path, mapped: bool, say: fn(&str)) {
    let options = LogOptions::default().mapped(mapped);
    let reader = LogReader::open_with(RealFs::shared(), path, options).unwrap().0;
    let frames: Vec<Frame> = reader.frames(0).map(Result::unwrap).filter(|f| !f.frame_type().is_own()).collect();
    let held = reader.frame(frames[50].offset()).unwrap();
    cut(path, 8_192);
    // Where it can be checked, it is.
    assert!(matches!(reader.frame(held.offset()), Err(LogError::Replaced { .. })));
    say("checked");
    assert_eq!(held.payload(), payload(51, LEN));
    say("held");
}

fn cut(path: &Path, len: u64) {
    OpenOptions::new().write(true).open(path).unwrap().set_len(len).unwrap();
}

/// Run in another process: one thread does to the file what it must not, others read.
pub(crate) fn race(path: &Path, say: fn(&str)) {
    const ROUNDS: u64 = 150;
    let whole = std::fs::read(path).unwrap();
    let offsets: Vec<u64> = {
        let reader = LogReader::open(RealFs::shared(), path).unwrap().0;
        records(&reader).iter().map(Frame::offset).collect()
    };
    let done = AtomicBool::new(false);
    let counts = std::thread::scope(|scope| {
        let readers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let (mut good, mut refused) = (0_u64, 0_u64);
                    while !done.load(Ordering::Acquire) {
                        let Ok((mut reader, _)) = LogReader::open(RealFs::shared(), path) else {
                            refused += 1;
                            continue;
                        };
                        let mut held: Vec<(usize, Frame)> = Vec::new();
                        for index in (0..offsets.len()).step_by(3) {
                            match reader.frame(offsets[index]) {
                                Ok(frame) => held.push((index, frame)),
                                Err(_) => refused += 1,
                            }
                            let _ = reader.header(offsets[offsets.len() - 1 - index]);
                            let _ = reader.find(id(index as u128 + 1));
                        }
                        let _ = reader.refresh();
                        for (number, frame) in
                            (1..).zip(reader.frames(0).map_while(Result::ok).filter(|f| !f.frame_type().is_own()))
                        {
                            assert_eq!(frame.payload(), payload(number, LEN));
                        }
                        for (index, frame) in &held {
                            assert_eq!(frame.payload(), payload(*index as u128 + 1, LEN), "what was read stays");
                        }
                        good += held.len() as u64;
                    }
                    (good, refused)
                })
            })
            .collect();
        let other_name = path.with_extension("other");
        for round in 0..ROUNDS {
            match round % 3 {
                0 => cut(path, (round * 7_919) % whole.len() as u64),
                1 => {
                    std::fs::write(&other_name, &whole[..(round as usize * 104_729) % whole.len()]).unwrap();
                    std::fs::rename(&other_name, path).unwrap();
                }
                _ => std::fs::remove_file(path).unwrap(),
            }
            std::thread::yield_now();
            std::fs::write(path, &whole).unwrap();
            std::thread::yield_now();
        }
        done.store(true, Ordering::Release);
        readers.into_iter().map(|reader| reader.join().unwrap()).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1))
    });
    say(&format!("{} frames read, {} refused, {ROUNDS} times something was done to the file", counts.0, counts.1));
}

fn session(path: &Path) -> Session {
    let session = Session::create(path, SessionOptions::default()).unwrap();
    for n in 0..50 {
        drop(session.append(Message::user("x".repeat(2_000) + &n.to_string()), Durability::Os).unwrap().receipt);
    }
    session.sync().unwrap();
    session
}

#[test]
fn a_session_whose_file_is_cut_says_so_when_it_is_followed_read_and_written_to() {
    let dir = dir();
    let path = dir.path().join("s.seslog");
    let session = session(&path);
    let mut reader = SessionReader::open(&path, RealFs::shared()).unwrap();
    cut(&path, 20_000);
    for error in [reader.follow().unwrap_err(), reader.whole_state().unwrap_err(), session.whole_state().unwrap_err()] {
        let SessionError::Log(LogError::Replaced { .. }) = &error else { panic!("{error:?}") };
        assert!(error.to_string().contains("was replaced or cut while it was open"), "{error}");
    }
    assert_eq!(reader.state().entries().len(), 50, "what it knew, it knows");
    let refused = session.append(Message::user("more"), Durability::Sync).unwrap_err();
    assert!(matches!(refused, SessionError::Log(LogError::ForeignWrite { .. })), "{refused:?}");
    assert_eq!(std::fs::metadata(&path).unwrap().len(), 20_000, "nothing is written behind the cut");
    assert!(session.close().is_err());
    // What is left is told for what it is, and can be salvaged.
    assert!(
        Session::open(&path, SessionOptions::default()).is_ok() || SessionReader::open(&path, RealFs::shared()).is_ok()
    );
}

#[test]
fn a_session_whose_file_is_removed_or_replaced_says_so_when_it_is_followed_and_keeps_its_content() {
    for replace in [false, true] {
        let dir = dir();
        let path = dir.path().join("s.seslog");
        session(&path).close().unwrap();
        let mut reader = SessionReader::open(&path, RealFs::shared()).unwrap();
        if replace {
            std::fs::copy(&path, dir.path().join("copy")).unwrap();
            std::fs::rename(dir.path().join("copy"), &path).unwrap();
        } else {
            std::fs::remove_file(&path).unwrap();
        }
        let error = reader.follow().unwrap_err();
        assert!(matches!(error, SessionError::Log(LogError::Replaced { .. })), "{error:?}");
        assert_eq!(reader.whole_state().unwrap().entries().len(), 50);
    }
}
