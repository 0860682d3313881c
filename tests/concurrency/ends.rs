//! How a writer ends: dropped here or there, or with its process.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use seslog::event::Message;
use seslog::log::{Durability, LogOptions, LogReader, LogWriter, NewLog, RealFs, Verdict};
use seslog::session::{Session, SessionOptions, SessionReader};

use crate::child::Other;
use crate::log_support::*;
use crate::odd_disk::{Act, Odd, OddCall};
use crate::writers::real;

#[test]
fn a_writer_dropped_on_another_thread_or_in_a_panic_closes_its_log() {
    let dir = tempfile::tempdir().unwrap();
    let (fs, path, log) = real(dir.path());
    append(&log, 1, 10, Durability::Os);
    std::thread::spawn(move || drop(log)).join().unwrap();
    let (log, report) = LogWriter::open(fs.clone(), &path, LogOptions::default()).unwrap();
    assert!(report.clean_close);
    append(&log, 2, 10, Durability::Group);
    let panicked = std::thread::spawn(move || {
        let _log = log;
        panic!("with a writer in hand");
    });
    assert!(panicked.join().is_err());
    let (log, report) = LogWriter::open(fs, &path, LogOptions::default()).unwrap();
    assert!(report.clean_close);
    assert_eq!(ids(&log), [1, 2]);
}

#[test]
fn a_session_dropped_without_a_close_opens_clean_with_all_that_was_appended() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.seslog");
    let session = Arc::new(Session::create(&path, SessionOptions::default()).unwrap());
    let threads: Vec<_> = (0..4)
        .map(|thread| {
            let session = session.clone();
            std::thread::spawn(move || {
                for n in 0..20 {
                    let durability = [Durability::Os, Durability::Group, Durability::Sync][n % 3];
                    drop(session.append(Message::user(format!("{thread} {n}")), durability).unwrap().receipt);
                }
                drop(session); // the last one to do so ends it
            })
        })
        .collect();
    drop(session);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let reader = SessionReader::open(&path, RealFs::shared()).unwrap();
    assert_eq!(reader.state().entries().len(), 80);
    assert!(reader.log().durable_end() > 0);
    let report = LogReader::open(RealFs::shared(), &path).unwrap().1;
    assert!(report.clean_close && report.verdict == Verdict::Clean, "{report:?}");
}

/// `exit` ends all threads where they stand, and drops nothing.
#[test]
fn an_exit_in_another_thread_loses_nothing_that_was_acknowledged() {
    for _ in 0..5 {
        let dir = tempfile::tempdir().unwrap();
        let (fs, path, log) = real(dir.path());
        log.close().unwrap();
        let mut other = Other::start("exit in another thread", &path);
        let mut last: HashMap<u128, u128> = HashMap::new();
        let mut note = |said: String| {
            let number: u128 = said.parse().unwrap();
            last.insert(number / 1_000_000, number % 1_000_000);
        };
        (0..200).for_each(|_| note(other.says().unwrap()));
        other.let_go();
        while let Some(said) = other.says() {
            note(said);
        }
        assert!(other.ends_well());
        let (log, report) = LogWriter::open(fs, &path, LogOptions::default()).unwrap();
        assert_ne!(report.verdict, Verdict::Damaged);
        let found = ids(&log);
        for (thread, acknowledged) in last {
            let own: Vec<u128> =
                found.iter().filter(|id| **id / 1_000_000 == thread).map(|id| id % 1_000_000).collect();
            assert_eq!(own, (1..=own.len() as u128).collect::<Vec<_>>());
            assert!(own.len() as u128 >= acknowledged, "thread {thread}");
        }
    }
}

/// Says so when the thread ends that has it.
struct End(mpsc::Sender<()>);

impl Drop for End {
    fn drop(&mut self) {
        let _ = self.0.send(());
    }
}

thread_local! {
    static END: RefCell<Option<End>> = const { RefCell::new(None) };
}

/// What is held back can't be written any more; a thread that tried would never be done.
#[test]
fn the_background_thread_of_a_killed_process_ends_though_something_is_held_back() {
    let disk = Disk::new();
    let ((told, seen), (end, ended)) = (mpsc::channel(), mpsc::channel());
    let ends = Mutex::new((told, end));
    let fs = Odd::over(disk.fs(), move |call| {
        if call == OddCall::Time && std::thread::current().name() == Some("seslog-flush") {
            let (told, end) = &*ends.lock().unwrap();
            END.with_borrow_mut(|own| *own = own.take().or_else(|| Some(End(end.clone()))));
            let _ = told.send(());
        }
        Act::Go
    });
    let log = LogWriter::create(fs, &path(), NewLog::new(id(9), 0), LogOptions::default()).unwrap();
    append(&log, 1, 10, Durability::Os);
    append(&log, 2, 10, Durability::Buffered);
    seen.recv().unwrap();
    disk.kill();
    ended.recv_timeout(Duration::from_secs(60)).expect("it ends");
    drop(log);
    assert_eq!(ids(&reopen(&disk).unwrap().0), [1]);
}
