//! There is one writer, whatever name it comes by, and the lock goes where it goes.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Barrier};

use seslog::log::{Durability, Fs, LogError, LogOptions, LogWriter, NewLog, RealFs};
use seslog::session::{Session, SessionError, SessionOptions};

use crate::child::Other;
use crate::log_support::{append, id, ids};

pub(crate) fn real(dir: &Path) -> (Arc<dyn Fs>, PathBuf, LogWriter) {
    let (fs, path) = (RealFs::shared(), dir.join("a.seslog"));
    let log = LogWriter::create(fs.clone(), &path, NewLog::new(id(1), 0), LogOptions::default()).unwrap();
    (fs, path, log)
}

fn open(path: &Path) -> Result<LogWriter, LogError> {
    LogWriter::open(RealFs::shared(), path, LogOptions::default()).map(|(log, _)| log)
}

#[test]
fn of_many_threads_that_open_at_once_one_wins_and_the_others_are_told_who_does() {
    const THREADS: usize = 6;
    let dir = tempfile::tempdir().unwrap();
    let (_, path, log) = real(dir.path());
    append(&log, 1, 10, Durability::Sync);
    log.close().unwrap();
    for round in 0..20 {
        let (start, tried) = (Barrier::new(THREADS), Barrier::new(THREADS));
        let won: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS)
                .map(|_| {
                    scope.spawn(|| {
                        start.wait();
                        let opened = open(&path);
                        tried.wait(); // the winner keeps it until everybody has tried
                        match opened {
                            Ok(log) => {
                                append(&log, 2 + round, 10, Durability::Os);
                                1
                            }
                            Err(LogError::Locked { path: named }) => {
                                assert_eq!(named, path);
                                0
                            }
                            Err(error) => panic!("{error}"),
                        }
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(won, 1, "round {round}");
    }
    assert_eq!(ids(&open(&path).unwrap()), (1..=21).collect::<Vec<_>>());
}

#[test]
fn of_many_threads_that_make_the_same_log_one_wins_and_nothing_else_is_left() {
    const THREADS: usize = 6;
    for _ in 0..10 {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.seslog");
        let start = Barrier::new(THREADS);
        let made: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS)
                .map(|n| {
                    let (start, path) = (&start, &path);
                    scope.spawn(move || {
                        start.wait();
                        LogWriter::create(
                            RealFs::shared(),
                            path,
                            NewLog::new(id(n as u128 + 1), 0),
                            LogOptions::default(),
                        )
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let mut won = made.iter().flatten();
        let log = won.next().unwrap();
        assert!(won.next().is_none());
        assert!(made.iter().all(|made| matches!(made, Ok(_) | Err(LogError::Exists { .. }))), "{made:?}");
        append(log, 1, 10, Durability::Sync);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}

#[test]
fn another_process_is_refused_by_every_name_of_the_file_and_told_the_cure() {
    let dir = tempfile::tempdir().unwrap();
    let (_, path, log) = real(dir.path());
    append(&log, 1, 10, Durability::Sync);
    let (hard, soft) = (dir.path().join("hard.seslog"), dir.path().join("soft.seslog"));
    std::fs::hard_link(&path, &hard).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(&path, &soft).unwrap();
    let names = [path.clone(), hard, soft];
    for name in names.iter().filter(|name| name.exists()) {
        let mut other = Other::start("try to open", name);
        let said = other.says().unwrap();
        assert!(said.starts_with("locked: "), "{said}");
        assert!(said.contains(&*name.to_string_lossy()) && said.contains("close that one first"), "{said}");
        assert!(other.ends_well());
        assert!(matches!(open(name), Err(LogError::Locked { .. })), "and so is this process");
    }
    log.close().unwrap();
    for name in names.iter().filter(|name| name.exists()) {
        assert_eq!(Other::start("try to open", name).ended().1, ["opened"]);
    }
    // By a link, the session is the same one.
    let log = open(&names[1]).unwrap();
    append(&log, 2, 10, Durability::Sync);
    assert_eq!(ids(&log), [1, 2]);
}

#[test]
fn a_writer_whose_path_another_file_has_taken_keeps_its_own_and_the_new_file_has_its_own_lock() {
    let dir = tempfile::tempdir().unwrap();
    let (_, path, log) = real(dir.path());
    append(&log, 1, 10, Durability::Sync);
    let copy = dir.path().join("copy");
    std::fs::copy(&path, &copy).unwrap();
    std::fs::rename(&copy, &path).unwrap();
    let new = open(&path).unwrap();
    append(&new, 2, 10, Durability::Sync);
    // Writer of a file without a name: it is told at its close at the latest, and has touched nothing of the new one.
    assert!(matches!(log.close(), Err(LogError::Replaced { .. })));
    append(&new, 3, 10, Durability::Sync);
    new.close().unwrap();
    assert_eq!(ids(&open(&path).unwrap()), [1, 2, 3]);
}

#[test]
fn the_lock_goes_with_its_process_even_if_that_is_killed() {
    let dir = tempfile::tempdir().unwrap();
    let (_, path, log) = real(dir.path());
    log.close().unwrap();
    let mut other = Other::start("hold", &path);
    assert_eq!(other.says().as_deref(), Some("holding"));
    let refused = open(&path);
    assert!(matches!(refused, Err(LogError::Locked { .. })), "{refused:?}");
    let session = Session::open(&path, SessionOptions::default());
    assert!(matches!(session, Err(SessionError::Log(LogError::Locked { .. }))));
    other.kill();
    assert_eq!(ids(&open(&path).unwrap()), [1000]);
}

/// An agent's tools outlive their call, and often the agent. A handle that they had inherited would keep the lock.
#[test]
#[cfg(unix)]
fn a_program_that_was_started_meanwhile_has_no_handle_and_keeps_no_lock() {
    let dir = tempfile::tempdir().unwrap();
    let (_, path, log) = real(dir.path());
    append(&log, 1, 10, Durability::Group);
    let mut tool = Command::new("sleep").arg("600").stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    let reopened_beside = append(&log, 2, 10, Durability::Sync);
    assert!(reopened_beside > 0);
    drop(log);
    let again = open(&path).map(|log| ids(&log));
    let handles = std::fs::read_dir(format!("/proc/{}/fd", tool.id())).map(|entries| {
        let targets = entries.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
        targets.filter(|target| target.extension().is_some_and(|ending| ending == "seslog")).collect::<Vec<_>>()
    });
    tool.kill().unwrap();
    tool.wait().unwrap();
    assert_eq!(again.unwrap(), [1, 2]);
    // Where there is no `/proc`, that the log opened again has shown it.
    assert_eq!(handles.unwrap_or_default(), Vec::<PathBuf>::new());
}
