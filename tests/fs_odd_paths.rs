//! Paths that name no regular file, and files that no path names any more.
#![cfg(unix)]

use seslog::event::Message;
use seslog::log::{Durability, LogError, LogOptions, RealFs};
use seslog::session::SessionError;
use seslog::session::{Session, SessionOptions, SessionReader, Store};

/// To open a pipe for reading waits for somebody who writes: a list of sessions would hang for ever.
#[test]
fn a_pipe_or_a_directory_in_a_store_is_told_and_never_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let pipe = dir.path().join("0193a000-0000-7000-8000-000000000001.seslog");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(made.success());
    let directory = dir.path().join("0193a000-0000-7000-8000-000000000002.seslog");
    std::fs::create_dir(&directory).unwrap();
    for path in [&pipe, &directory, &std::path::PathBuf::from("/dev/zero")] {
        let error = |error: seslog::session::SessionError| format!("{error:?}");
        for found in [
            SessionReader::open(path, RealFs::shared()).map(drop).map_err(error),
            Session::open(path, SessionOptions::default()).map(drop).map_err(error),
        ] {
            assert!(found.as_ref().is_err_and(|error| error.contains("not a regular file")), "{path:?}: {found:?}");
        }
    }
    let listed = Store::at(dir.path(), SessionOptions::default()).list().unwrap();
    assert_eq!(listed.len(), 2);
    assert!(listed.iter().all(|listed| listed.problem.is_some()));
}

/// Appends to a file that somebody had removed, or renamed another one over, were acknowledged as durable for as long as
/// the agent ran, and nobody could ever find them.
#[test]
fn a_writer_whose_file_is_removed_or_replaced_ends_at_the_latest_with_its_close() {
    for replace in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s.seslog");
        // A look at each sync: the shortest window.
        let log = LogOptions::default().window(std::time::Duration::from_millis(1));
        let session = Session::create(&path, SessionOptions { log, ..SessionOptions::default() }).unwrap();
        let _ = session.append(Message::user("before"), Durability::Sync).unwrap();
        if replace {
            std::fs::copy(&path, dir.path().join("copy")).unwrap();
            std::fs::rename(dir.path().join("copy"), &path).unwrap();
        } else {
            std::fs::remove_file(&path).unwrap();
        }
        let appends = (0..1_000_000).map(|_| session.append(Message::user("behind"), Durability::Sync));
        let ended = appends.filter_map(Result::err).next();
        assert!(
            matches!(ended, Some(SessionError::Log(LogError::Replaced { .. } | LogError::Poisoned { .. }))),
            "{ended:?}"
        );
        assert!(session.close().is_err());
    }
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.seslog");
    let session = Session::create(&path, SessionOptions::default()).unwrap();
    let _ = session.append(Message::user("hello"), Durability::Sync).unwrap();
    std::fs::remove_file(&path).unwrap();
    let closed = session.close();
    assert!(matches!(closed, Err(SessionError::Log(LogError::Replaced { .. }))), "{closed:?}");
}
